//! S3, as [moto](https://github.com/getmoto/moto) does it.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::sync::OnceLock;

use crate::client;
use crate::service::{Error, Service, or_skip, program};

/// Starts moto's server so that it does one request after the other. By itself it looks whether the condition of a `PUT`
/// holds, and puts, without a lock around both; so two writers may both be told that they were the first.
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

/// A server that speaks S3, with nothing in it.
#[derive(Debug)]
pub struct Moto {
    address: SocketAddr,
    service: Service,
}

impl Moto {
    /// Any key will do, and no signature is checked. Without one moto refuses to give back what is not public.
    pub const ACCESS_KEY: &str = "test";
    /// The secret that belongs to it.
    pub const SECRET_KEY: &str = "test";
    /// Where buckets are.
    pub const REGION: &str = "us-east-1";

    /// What takes the place of a signature in a request that is put together by hand.
    pub const AUTHORIZATION: (&str, &str) = (
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0",
    );

    /// Starts one of its own, which ends with the value.
    ///
    /// # Errors
    /// If it is not installed, or does not start.
    pub fn start() -> Result<Self, Error> {
        let server = program("moto", "moto/bin", "moto_server")?;
        // The Python that has it lies beside it.
        let python = server.canonicalize().unwrap_or(server).with_file_name("python3");
        let arguments = ["-c", ONE_AT_A_TIME, "-H", "127.0.0.1", "-p", "0"].map(OsStr::new);
        let service = Service::start("moto", &python, &arguments, None)?;
        Ok(Self { address: service.announced()?, service })
    }

    /// The one that all tests of a process share, each in buckets of its own; `None` where it is not installed
    /// ([`or_skip`]).
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Result<Moto, Error>> = OnceLock::new();
        or_skip(SHARED.get_or_init(Self::start).as_ref())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The endpoint: buckets are the first part of the path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The environment of who may do everything in what speaks S3 at an endpoint: here, or in a [`Server`](crate::Server).
    pub fn variables(endpoint: &str) -> [(String, String); 4] {
        [
            ("AWS_ACCESS_KEY_ID", Self::ACCESS_KEY),
            ("AWS_SECRET_ACCESS_KEY", Self::SECRET_KEY),
            ("AWS_REGION", Self::REGION),
            ("AWS_ENDPOINT_URL", endpoint),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    }

    /// Makes an empty bucket.
    ///
    /// # Errors
    /// If the name is none, or is taken.
    pub fn make_bucket(&self, name: &str) -> Result<(), Error> {
        let target = format!("/{name}");
        match client::request(self.address, "PUT", &target, &[Self::AUTHORIZATION], b"") {
            Ok(answer) if answer.status == 200 => Ok(()),
            Ok(answer) => Err(self.service.failed(&format!("no bucket {name}: {}", answer.text()))),
            Err(error) => Err(self.service.failed(&format!("no bucket {name}: {error}"))),
        }
    }
}
