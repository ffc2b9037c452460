//! Services for tests of network stores.
//!
//! [`Server`] is that of [`zarr_conformance::server`].
//! [`Moto`], [`Azurite`] and [`Nginx`] are real services. They are child processes on free ports of this machine, and
//! end with the test.
//!
//! `docs/SERVICES.md` says what is tested with each, and how to install them.

mod azurite;
mod cargo;
mod moto;
mod nginx;
mod service;

pub use azurite::Azurite;
pub use cargo::{cargo, target_dir};
pub use moto::Moto;
pub use nginx::Nginx;
pub use service::{Error, cache, or_skip};
pub use zarr_conformance::server::{Fault, HttpRequest, Server, When, client};
