//! Azure Blob Storage by the emulator [Azurite](https://github.com/Azure/Azurite).

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::sync::OnceLock;

use crate::client;
use crate::service::{Error, Service, or_skip, program};

/// An empty server with the protocol of Azure Blob Storage.
#[derive(Debug)]
pub struct Azurite {
    address: SocketAddr,
    service: Service,
}

impl Azurite {
    /// The account of every Azurite.
    pub const ACCOUNT: &str = "devstoreaccount1";
    /// Its key, which is public: it is the same everywhere.
    pub const KEY: &str =
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    /// The query of a signed URL with all permissions until 2099: an account SAS of that key.
    pub const SAS: &str = "sv=2019-12-12&ss=b&srt=sco&sp=rwdlac&se=2099-12-31T00%3A00%3A00Z&spr=https%2Chttp&sig=%2FhrDqolfkJL4KpUA5HS6iDfRheIynnwdLg17eTFJs%2FQ%3D";

    /// Starts a separate service, which stops on drop. Blobs are in its memory.
    ///
    /// # Errors
    /// If Azurite is not installed, or does not start.
    pub fn start() -> Result<Self, Error> {
        let server = program("azurite", "azurite/node_modules/.bin", "azurite-blob")?;
        let arguments = [
            "--blobHost=127.0.0.1",
            "--blobPort=0",
            "--inMemoryPersistence",
            "--skipApiVersionCheck",
            "--loose",
            "--disableTelemetry",
            "--silent",
        ];
        let service = Service::start("azurite", &server, &arguments.map(OsStr::new), None)?;
        Ok(Self { address: service.announced()?, service })
    }

    /// Returns the service that all tests of a process share, each with its own containers. `None` if it is not
    /// installed ([`or_skip`]).
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<Azurite, Error>> = OnceLock::new();
        or_skip(SHARED.get_or_init(Self::start).as_ref())
    }

    /// The address of the service.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The endpoint, with the account; containers follow in the path.
    pub fn url(&self) -> String {
        format!("http://{}/{}", self.address, Self::ACCOUNT)
    }

    /// Environment variables with the key, for all permissions.
    pub fn variables(&self) -> [(String, String); 3] {
        self.known_by("AZURE_STORAGE_ACCOUNT_KEY", Self::KEY)
    }

    /// Environment variables with a signed URL, for all permissions.
    pub fn signed_variables(&self) -> [(String, String); 3] {
        self.known_by("AZURE_STORAGE_SAS_TOKEN", Self::SAS)
    }

    fn known_by(&self, name: &str, secret: &str) -> [(String, String); 3] {
        [
            ("AZURE_STORAGE_ACCOUNT_NAME", Self::ACCOUNT),
            ("AZURE_STORAGE_ENDPOINT", &self.url()),
            (name, secret),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    }

    /// Creates an empty container.
    ///
    /// # Errors
    /// If the name is invalid (valid are 3 to 63 of `a-z`, `0-9` and `-`), or is taken.
    pub fn make_container(&self, name: &str) -> Result<(), Error> {
        let target = format!("/{}/{name}?restype=container&{}", Self::ACCOUNT, Self::SAS);
        match client::request(self.address, "PUT", &target, &[], b"") {
            Ok(answer) if answer.status == 201 => Ok(()),
            Ok(answer) => Err(self.service.failed(&format!("container {name}: {}", answer.text()))),
            Err(error) => Err(self.service.failed(&format!("container {name}: {error}"))),
        }
    }
}
