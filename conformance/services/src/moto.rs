//! S3 by the emulator [moto](https://github.com/getmoto/moto).

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::sync::OnceLock;

use crate::client;
use crate::service::{Error, Service, or_skip, program};

/// Starts moto's server so that it answers one request at a time. Otherwise it checks the condition of a `PUT` and puts
/// without a lock around both, and may tell two writers that each was the first.
const ONE_AT_A_TIME: &str = "
import threading
from moto import server

lock = threading.Lock()

class OneAtATime(server.DomainDispatcherApplication):
    def __call__(self, *request):
        with lock:
            return super().__call__(*request)

server.DomainDispatcherApplication = OneAtATime
server.main()
";

/// An empty S3 server.
#[derive(Debug)]
pub struct Moto {
    address: SocketAddr,
    service: Service,
}

impl Moto {
    /// The access key. Any key works, and signatures are not checked, but without a key moto only returns public
    /// objects.
    pub const ACCESS_KEY: &str = "test";
    /// The secret key.
    pub const SECRET_KEY: &str = "test";
    /// The region of buckets.
    pub const REGION: &str = "us-east-1";

    /// A header in place of a signature, for requests that are built by hand.
    pub const AUTHORIZATION: (&str, &str) = (
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
    );

    /// Starts a separate service, which stops on drop.
    ///
    /// # Errors
    /// If moto is not installed, or does not start.
    pub fn start() -> Result<Self, Error> {
        let server = program("moto", "moto/bin", "moto_server")?;
        // The Python of moto's environment is in the same folder.
        let python = server.canonicalize().unwrap_or(server).with_file_name("python3");
        let arguments = ["-c", ONE_AT_A_TIME, "-H", "127.0.0.1", "-p", "0"].map(OsStr::new);
        let service = Service::start("moto", &python, &arguments, None)?;
        Ok(Self { address: service.announced()?, service })
    }

    /// Returns the service that all tests of a process share, each with its own buckets. `None` if it is not installed
    /// ([`or_skip`]).
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<Moto, Error>> = OnceLock::new();
        or_skip(SHARED.get_or_init(Self::start).as_ref())
    }

    /// The address of the service.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The endpoint: buckets are the first part of the path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Environment variables with all permissions for S3 at an endpoint, of moto or of a [`Server`](crate::Server).
    pub fn variables(endpoint: &str) -> [(String, String); 4] {
        [
            ("AWS_ACCESS_KEY_ID", Self::ACCESS_KEY),
            ("AWS_SECRET_ACCESS_KEY", Self::SECRET_KEY),
            ("AWS_REGION", Self::REGION),
            ("AWS_ENDPOINT_URL", endpoint),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    }

    /// Creates an empty bucket.
    ///
    /// # Errors
    /// If the name is invalid or taken.
    pub fn make_bucket(&self, name: &str) -> Result<(), Error> {
        let target = format!("/{name}");
        match client::request(self.address, "PUT", &target, &[Self::AUTHORIZATION], b"") {
            Ok(answer) if answer.status == 200 => Ok(()),
            Ok(answer) => Err(self.service.failed(&format!("bucket {name}: {}", answer.text()))),
            Err(error) => Err(self.service.failed(&format!("bucket {name}: {error}"))),
        }
    }
}
