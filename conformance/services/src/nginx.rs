//! A plain web server: [nginx](https://nginx.org) over a temporary folder.

use std::ffi::OsStr;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::client;
use crate::service::{Error, Service, or_skip, program};

/// A web server over a new, empty folder.
#[derive(Debug)]
pub struct Nginx {
    address: SocketAddr,
    /// The process. It is dropped before its folder.
    _service: Service,
    folder: TempDir,
}

/// One process, which runs as the current user and writes only below its folder (`-p`).
const CONFIGURATION: &str = "
daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events { worker_connections 512; }
http {
    access_log off;
    default_type application/octet-stream;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {
        listen ADDRESS;
        root ROOT;
    }
}
";

/// The number of attempts, because a free port may be taken before nginx binds it.
const TRIES: usize = 5;

impl Nginx {
    /// Starts a separate service. On drop it stops and its folder is deleted.
    ///
    /// # Errors
    /// If nginx is not installed, or does not start.
    pub fn start() -> Result<Self, Error> {
        let server = program("nginx", "nginx", "nginx")?;
        let mut started = Self::start_once(&server);
        for _ in 1..TRIES {
            if started.is_ok() {
                break;
            }
            started = Self::start_once(&server);
        }
        started
    }

    fn start_once(server: &Path) -> Result<Self, Error> {
        let (folder, address) =
            prepared().map_err(|e| Error::Failed { service: "nginx", message: e.to_string() })?;
        let here = folder.path();
        let arguments = ["-p".as_ref(), here.as_os_str(), "-e".as_ref(), "stderr".as_ref()];
        let configuration = here.join("nginx.conf");
        let arguments: Vec<&OsStr> =
            arguments.into_iter().chain(["-c".as_ref(), configuration.as_os_str()]).collect();
        let service = Service::start("nginx", server, &arguments, Some(here))?;
        // Only this service has this file.
        let own = format!("/{}", own_name(here));
        service.wait(|| client::request(address, "HEAD", &own, &[], b"").ok().filter(|a| a.status == 200))?;
        Ok(Self { address, _service: service, folder })
    }

    /// Returns the service that all tests of a process share, each with its own folders. `None` if it is not installed
    /// ([`or_skip`]).
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<Nginx, Error>> = OnceLock::new();
        or_skip(SHARED.get_or_init(Self::start).as_ref())
    }

    /// The address of the service.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of [`root`](Self::root).
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The folder of served files.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }
}

fn own_name(folder: &Path) -> String {
    folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Returns a folder with the configuration, and a free port.
fn prepared() -> std::io::Result<(TempDir, SocketAddr)> {
    let folder = tempfile::Builder::new().prefix("zarr-nginx-").tempdir()?;
    let root = folder.path().join("root");
    std::fs::create_dir(&root)?;
    std::fs::write(root.join(own_name(folder.path())), "")?;
    let address = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
    let configuration = CONFIGURATION
        .replace("ADDRESS", &address.to_string())
        .replace("ROOT", &format!("\"{}\"", root.display()));
    std::fs::write(folder.path().join("nginx.conf"), configuration)?;
    Ok((folder, address))
}
