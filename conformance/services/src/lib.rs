//! Services for tests of network stores.
//!
//! [`Server`] is a web server or an S3 bucket in the memory of the test: it counts requests and has scripted faults.
//! [`Moto`], [`Azurite`] and [`Nginx`] are real services. They are child processes on free ports of this machine, and
//! end with the test.
//!
//! `docs/SERVICES.md` says what is tested with each, and how to install them.
//!
//! ```
//! use zarr_services::{Fault, Server, When, client};
//!
//! let server = Server::http();
//! server.insert("/image/zarr.json", "{}");
//! server.script(When::on("GET", "zarr.json").first(1), Fault::status(503));
//!
//! for expected in [503, 200] {
//!     let answer = client::request(server.address(), "GET", "/image/zarr.json", &[], b"")?;
//!     assert_eq!(answer.status, expected);
//! }
//! assert_eq!(server.requests().len(), 2);
//! # Ok::<(), std::io::Error>(())
//! ```

mod azurite;
mod cargo;
pub mod client;
mod fault;
mod http;
mod moto;
mod nginx;
mod objects;
mod s3;
mod server;
mod service;

pub use azurite::Azurite;
pub use cargo::{cargo, target_dir};
pub use fault::{Fault, When};
pub use http::Request;
pub use moto::Moto;
pub use nginx::Nginx;
pub use server::Server;
pub use service::{Error, cache, or_skip};
