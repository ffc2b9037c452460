//! Access to the services for tests.
#![allow(dead_code, reason = "each test uses what it needs")]

use zarr_services::Moto;
use zarr_store::{Access, Schemes};
use zarr_traits::{Storage, block_on};

/// Opens the storage at a URL.
pub(crate) fn opened(url: &str, access: &Access) -> Storage {
    block_on(Schemes::new(&[zarr_store_object::SCHEMES]).open(url, access)).unwrap().storage
}

/// Returns credentials with all permissions for S3 at `endpoint`.
pub(crate) fn s3(endpoint: &str) -> Access {
    Access::new().environment(Moto::variables(endpoint))
}
