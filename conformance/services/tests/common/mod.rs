//! How tests reach the services.
#![allow(dead_code, reason = "each test uses what it needs")]

use zarr_services::Moto;
use zarr_store::{Access, Schemes};
use zarr_traits::{Storage, block_on};

/// The storage at a URL.
pub(crate) fn opened(url: &str, access: &Access) -> Storage {
    block_on(Schemes::new(&[zarr_store_object::SCHEMES]).open(url, access)).unwrap().storage
}

/// Who may do everything in what speaks S3 at `endpoint`.
pub(crate) fn s3(endpoint: &str) -> Access {
    Access::new().environment(Moto::variables(endpoint))
}
