//! The place of the arrays: a directory, a bucket, or a service that is started for the race.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use zarr_array::Storage;
use zarr_services::{Azurite, Fault, Moto, Server, When, or_skip};
use zarr_store::scheme_of;
use zarr_store::{Access, Schemes};
use zarr_store_fs::FsStore;
use zarr_traits::block_on;

/// A service that is started for the race, and ends with it.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Service {
    /// S3 by moto
    Moto,
    /// Azure Blob Storage by Azurite
    Azurite,
    /// S3 by the server of zarr-services, with slow PUTs, so that writers meet
    Server,
}

/// The delay of a PUT.
const PUT: Duration = Duration::from_millis(5);

/// The place of the arrays.
#[derive(Debug)]
pub(crate) struct Place {
    /// A directory, or a URL.
    root: String,
    /// Environment variables for opening it.
    variables: Vec<(String, String)>,
    /// The service, which stops on drop.
    _service: Option<Running>,
}

#[derive(Debug)]
#[expect(dead_code, reason = "they are held, and dropped")]
enum Running {
    Moto(Moto),
    Azurite(Azurite),
    Server(Server),
}

impl Place {
    /// Returns a place in a directory or at a URL. The environment has the credentials.
    pub(crate) fn new(root: impl Into<String>) -> Self {
        Self { root: root.into(), variables: environment().collect(), _service: None }
    }

    /// Starts a service and creates a bucket or container. Returns `None` if it is not installed ([`or_skip`]).
    pub(crate) fn start(service: Service) -> Result<Option<Self>> {
        let place = match service {
            Service::Moto => {
                let Some(moto) = or_skip(Moto::start()) else { return Ok(None) };
                moto.make_bucket("race")?;
                Self::s3(&moto.url(), Running::Moto(moto))
            }
            Service::Azurite => {
                let Some(azurite) = or_skip(Azurite::start()) else { return Ok(None) };
                azurite.make_container("race")?;
                Self::with("az://race", azurite.variables().into(), Running::Azurite(azurite))
            }
            Service::Server => {
                let server = Server::s3();
                server.script(When::on("PUT", "/c/"), Fault::Delay(PUT));
                Self::s3(&server.url(""), Running::Server(server))
            }
        };
        Ok(Some(place))
    }

    fn s3(endpoint: &str, service: Running) -> Self {
        Self::with("s3://race", Moto::variables(endpoint).into(), service)
    }

    fn with(root: &str, variables: Vec<(String, String)>, service: Running) -> Self {
        Self { root: root.to_owned(), variables, _service: Some(service) }
    }

    /// Returns the store with this name.
    pub(crate) fn store(&self, name: &str) -> Store<'_> {
        Store { url: format!("{}/{name}", self.root.trim_end_matches('/')), place: self }
    }
}

/// The store of one array.
#[derive(Clone, Debug)]
pub(crate) struct Store<'a> {
    /// A directory, or a URL.
    pub(crate) url: String,
    place: &'a Place,
}

impl Store<'_> {
    /// The directory, if the store is one.
    pub(crate) fn directory(&self) -> Option<&Path> {
        directory(&self.url)
    }

    /// Returns a store below this one.
    pub(crate) fn below(&self, name: &str) -> Self {
        Self { url: format!("{}/{name}", self.url), place: self.place }
    }

    pub(crate) fn create(&self) -> Result<Storage> {
        match self.directory() {
            Some(directory) => Ok(FsStore::create(directory)?.into()),
            None => self.open(),
        }
    }

    pub(crate) fn open(&self) -> Result<Storage> {
        open(&self.url, self.variables())
    }

    /// The environment variables for opening it.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (String, String)> {
        self.place.variables.iter().cloned()
    }
}

/// Opens a directory or URL with the given environment variables.
pub(crate) fn open(url: &str, variables: impl IntoIterator<Item = (String, String)>) -> Result<Storage> {
    if let Some(directory) = directory(url) {
        return Ok(FsStore::open(directory)?.into());
    }
    let access = Access::new().environment(variables);
    Ok(block_on(Schemes::new(&[zarr_store_object::SCHEMES]).open(url, &access))?.storage)
}

/// Returns the environment variables of this process that are text.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn directory(url: &str) -> Option<&Path> {
    scheme_of(url).is_none().then(|| Path::new(url))
}
