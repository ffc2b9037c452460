//! Access to the services for tests.
#![allow(dead_code, reason = "each test uses what it needs")]

use std::sync::{Mutex, PoisonError};
use std::thread;

use zarr_services::Moto;
use zarr_store::{Access, Schemes};
use zarr_traits::{Storage, block_on};

/// Runs `work` for each item on some threads: most of the time they wait.
pub(crate) fn at_once<T: Send>(items: impl IntoIterator<Item = T, IntoIter: Send>, work: impl Fn(T) + Sync) {
    let items = Mutex::new(items.into_iter());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| std::iter::from_fn(next).for_each(&work));
        }
    });
}

/// Opens the storage at a URL.
pub(crate) fn opened(url: &str, access: &Access) -> Storage {
    block_on(Schemes::new(&[zarr_store_object::SCHEMES]).open(url, access)).unwrap().storage
}

/// Returns credentials with all permissions for S3 at `endpoint`.
pub(crate) fn s3(endpoint: &str) -> Access {
    Access::new().environment(Moto::variables(endpoint))
}
