//! The manifests that were read, up to a number of bytes.

use std::sync::Arc;

use zarr_store::references::Kept;
use zarr_traits::{Prefix, Storage, StoreError, StoreResult};

use crate::id::SnapshotId;
use crate::limits::IcechunkLimits;
use crate::manifest::Manifest;

/// The manifests of a repository. Each is read once, however many reads of chunks wait for it.
#[derive(Debug)]
pub(crate) struct Manifests {
    storage: Storage,
    root: Prefix,
    limits: IcechunkLimits,
    kept: Kept<SnapshotId, Arc<Manifest>>,
}

impl Manifests {
    pub(crate) fn new(storage: &Storage, root: &Prefix, limits: &IcechunkLimits) -> Self {
        let kept = Kept::new(limits.cache_bytes, 1);
        Self { storage: storage.clone(), root: root.clone(), limits: limits.clone(), kept }
    }

    /// Returns an error of the content of a manifest with its file.
    pub(crate) fn failed(&self, id: SnapshotId, e: StoreError) -> StoreError {
        e.with_key(format!("{}manifests/{id}", self.root))
    }

    /// Returns the manifest with this id.
    pub(crate) async fn get(&self, id: SnapshotId) -> StoreResult<Arc<Manifest>> {
        let read = || {
            let (storage, root, limits) = (self.storage.clone(), self.root.clone(), self.limits.clone());
            Box::pin(async move { Manifest::read(&storage, &root, id, &limits).await.map(Arc::new) }) as _
        };
        self.kept.get(id, read, |manifest| manifest.size()).await
    }
}
