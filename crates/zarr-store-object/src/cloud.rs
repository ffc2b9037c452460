//! What the stores that URLs lead to have in common.

use std::sync::Arc;

use object_store::ObjectStore;
use zarr_store::Access;
use zarr_traits::StoreResult;

use crate::retries::Retries;
use crate::runtime::Runtime;
use crate::store::ObjectStorage;

/// A bucket or container, and the prefix of all keys in it, as a URL names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) container: &'a str,
    pub(crate) prefix: &'a str,
}

impl Place<'_> {
    /// The store there.
    pub(crate) fn storage(&self, store: Arc<dyn ObjectStore>, access: &Access) -> StoreResult<ObjectStorage> {
        let storage = ObjectStorage::on(Runtime::new()?, store).below(self.prefix)?;
        let storage = storage.with_service(|service| service.retries = retries(access));
        Ok(match access.in_flight {
            Some(requests) => storage.with_in_flight(requests),
            None => storage,
        })
    }
}

/// The retry policy that `access` asks for.
pub(crate) fn retries(access: &Access) -> Retries {
    let mut retries = Retries::default();
    if let Some(again) = access.retries {
        retries.again = again;
    }
    if let Some(timeout) = access.timeout {
        (retries.timeout, retries.silence) = (timeout, retries.silence.min(timeout / 3));
    }
    retries
}
