//! Copies that the service makes.

use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use zarr_traits::{StoreResult, store::Copied};

use crate::bucket::Bucket;
use crate::error::{is_absent, write_error};

/// The object at a path of a bucket: the origin of a copy.
pub(crate) struct Source {
    store: Arc<dyn ObjectStore>,
    container: Option<Arc<str>>,
    path: Path,
}

impl Source {
    pub(crate) fn new(bucket: &Bucket, path: Path) -> Self {
        Self { store: bucket.store.clone(), container: bucket.service.container.clone(), path }
    }

    /// Returns the path of the object if it is in this bucket. Another handle may have been opened for the same bucket.
    pub(crate) fn within(&self, bucket: &Bucket) -> Option<&Path> {
        let same_handle = Arc::ptr_eq(&self.store, &bucket.store);
        let same_name = self.container.is_some() && self.container == bucket.service.container;
        (same_handle || same_name).then_some(&self.path)
    }
}

impl Bucket {
    /// Copies an object within the bucket.
    pub(crate) async fn copy(&self, from: &Path, to: &Path) -> StoreResult<Copied> {
        let _slot = self.slot().await;
        match self.store.copy(from, to).await {
            Ok(()) => Ok(Copied::Done),
            Err(e) if is_absent(&e) => Ok(Copied::Absent),
            Err(e) => Err(write_error(&e)),
        }
    }
}
