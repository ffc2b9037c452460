//! The manifests that were read, up to a number of bytes.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::Shared;
use zarr_traits::lock::unpoisoned;
use zarr_traits::{BoxFuture, Prefix, Storage, StoreError, StoreResult};

use crate::id::SnapshotId;
use crate::limits::IcechunkLimits;
use crate::manifest::Manifest;

/// Reads manifests once, however many reads of chunks wait for one. The least recently used are dropped.
pub(crate) struct Manifests {
    storage: Storage,
    root: Prefix,
    limits: IcechunkLimits,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<SnapshotId, Entry>,
    /// The bytes of all entries that were read.
    bytes: u64,
    /// The number of uses so far.
    uses: u64,
}

struct Entry {
    manifest: Shared<BoxFuture<'static, StoreResult<Arc<Manifest>>>>,
    /// The size, once it was read.
    bytes: Option<u64>,
    used: u64,
}

impl Manifests {
    /// Returns an empty cache of the manifests of a repository.
    pub(crate) fn new(storage: &Storage, root: &Prefix, limits: &IcechunkLimits) -> Self {
        let (storage, root, limits) = (storage.clone(), root.clone(), limits.clone());
        Self { storage, root, limits, kept: Mutex::default() }
    }

    /// Returns an error of the content of a manifest with its file.
    pub(crate) fn failed(&self, id: SnapshotId, e: StoreError) -> StoreError {
        e.with_key(format!("{}manifests/{id}", self.root))
    }

    /// Returns the manifest with this id.
    pub(crate) async fn get(&self, id: SnapshotId) -> StoreResult<Arc<Manifest>> {
        let read = unpoisoned(self.kept.lock()).used(id, || {
            let (storage, root, limits) = (self.storage.clone(), self.root.clone(), self.limits.clone());
            let read = async move { Manifest::read(&storage, &root, id, &limits).await.map(Arc::new) };
            read.boxed().shared()
        });
        let manifest = read.clone().await;
        let mut kept = unpoisoned(self.kept.lock());
        match &manifest {
            Ok(manifest) => kept.add(id, manifest.size(), self.limits.cache_bytes),
            // The next read tries again. Another reader may have begun that already.
            Err(_) => kept.forget(id, &read),
        }
        drop(kept);
        manifest
    }
}

impl Kept {
    fn used(
        &mut self,
        id: SnapshotId,
        read: impl FnOnce() -> Shared<BoxFuture<'static, StoreResult<Arc<Manifest>>>>,
    ) -> Shared<BoxFuture<'static, StoreResult<Arc<Manifest>>>> {
        self.uses += 1;
        let entry =
            self.entries.entry(id).or_insert_with(|| Entry { manifest: read(), bytes: None, used: 0 });
        entry.used = self.uses;
        entry.manifest.clone()
    }

    /// Notes the size of a manifest that was read, and drops others.
    fn add(&mut self, id: SnapshotId, bytes: u64, most: u64) {
        let Some(entry) = self.entries.get_mut(&id).filter(|entry| entry.bytes.is_none()) else { return };
        entry.bytes = Some(bytes);
        self.bytes += bytes;
        while self.bytes > most {
            let read =
                self.entries.iter().filter_map(|(other, entry)| Some((entry.used, *other, entry.bytes?)));
            let Some((_, oldest, bytes)) = read.filter(|(_, other, _)| *other != id).min() else { return };
            self.entries.remove(&oldest);
            self.bytes -= bytes;
        }
    }

    fn forget(&mut self, id: SnapshotId, read: &Shared<BoxFuture<'static, StoreResult<Arc<Manifest>>>>) {
        if self.entries.get(&id).is_some_and(|entry| entry.manifest.ptr_eq(read)) {
            self.entries.remove(&id);
        }
    }
}

impl fmt::Debug for Manifests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = unpoisoned(self.kept.lock());
        write!(f, "Manifests({}, {} bytes)", kept.entries.len(), kept.bytes)
    }
}
