//! Code shared by all stores that are opened by URL.

use std::sync::Arc;

use object_store::ObjectStore;
use zarr_store::Access;
use zarr_traits::StoreResult;

use crate::pace::MOST;
use crate::retries::Retries;
use crate::runtime::Runtime;
use crate::store::ObjectStorage;

/// A bucket or container and the prefix of all keys in it, as in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) container: &'a str,
    pub(crate) prefix: &'a str,
}

impl Place<'_> {
    /// Makes the storage of this place.
    pub(crate) fn storage(&self, store: Arc<dyn ObjectStore>, access: &Access) -> StoreResult<ObjectStorage> {
        let storage = ObjectStorage::on(Runtime::new()?, store).below(self.prefix)?;
        let storage = storage.with_service(|service| service.retries = retries(access));
        Ok(storage.with_in_flight(access.in_flight.unwrap_or(MOST)))
    }
}

/// Returns the retry policy of `access`.
pub(crate) fn retries(access: &Access) -> Retries {
    let mut retries = Retries::default();
    if let Some(again) = access.retries {
        retries.again = again;
    }
    if let Some(timeout) = access.timeout {
        // A single attempt has the whole time, also to connect.
        let silence = if retries.again == 0 { timeout } else { retries.silence.min(timeout / 3) };
        (retries.timeout, retries.silence) = (timeout, silence);
    }
    retries
}
