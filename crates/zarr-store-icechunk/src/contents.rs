//! What a repository holds: branches, tags, the history of snapshots, and where its virtual chunks may be.

use std::collections::{BTreeMap, HashSet};

use zarr_traits::{Prefix, Storage, StoreError, StoreResult};

use crate::config;
use crate::flat::{Flat, Table};
use crate::id::SnapshotId;
use crate::info::{SnapshotInfo, VirtualChunkContainer};
use crate::limits::IcechunkLimits;
use crate::repository::{FILE, Information, Named, circle, time};
use crate::revision::{Ref, all_of_files, snapshot_of};
use crate::snapshot;

/// What a repository holds. [`Repository::contents`](crate::Repository::contents) reads it.
///
/// The names and the history of specification 2 are those at the time of that call: they are in one file. In specification 1
/// each method reads its own files.
#[derive(Debug, Clone)]
pub struct Contents {
    pub(crate) storage: Storage,
    pub(crate) root: Prefix,
    pub(crate) limits: IcechunkLimits,
    /// The file `repo`, which specification 1 does not have.
    pub(crate) information: Option<Information>,
}

impl Contents {
    pub(crate) async fn read(storage: &Storage, root: &Prefix, limits: &IcechunkLimits) -> StoreResult<Self> {
        let information = Information::read(storage, root, limits).await?;
        Ok(Self::of(storage, root, limits, information))
    }

    pub(crate) fn of(
        storage: &Storage,
        root: &Prefix,
        limits: &IcechunkLimits,
        information: Option<Information>,
    ) -> Self {
        Self { storage: storage.clone(), root: root.clone(), limits: limits.clone(), information }
    }

    /// The version of the specification: 1 or 2.
    pub fn spec_version(&self) -> u8 {
        // It was checked when the file was read.
        self.information.as_ref().and_then(|information| information.version().ok()).unwrap_or(1)
    }

    /// Returns the branches, with the newest snapshot of each.
    ///
    /// In specification 1 there is a request for each branch.
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`](zarr_traits::StoreErrorKind::Corrupt) for damaged files; `LimitExceeded` for more than
    /// [`IcechunkLimits::names`]; `Unsupported` if the store cannot list its objects, which only specification 1 needs;
    /// `Io` if there is no repository; and those of the store.
    pub async fn branches(&self) -> StoreResult<BTreeMap<String, SnapshotId>> {
        self.named(Named::Branch).await
    }

    /// Returns the tags, with their snapshots. Deleted tags are not among them.
    ///
    /// In specification 1 there are two requests for each tag.
    ///
    /// # Errors
    /// As [`branches`](Self::branches).
    pub async fn tags(&self) -> StoreResult<BTreeMap<String, SnapshotId>> {
        self.named(Named::Tag).await
    }

    async fn named(&self, kind: Named) -> StoreResult<BTreeMap<String, SnapshotId>> {
        match &self.information {
            Some(information) => {
                information.named(kind, self.limits.names).map_err(|e| of_file(&self.root, e))
            }
            None => all_of_files(&self.storage, &self.root, kind, self.limits.names).await,
        }
    }

    /// Returns the id of the snapshot that a state has.
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`](zarr_traits::StoreErrorKind::Io) if there is no branch or tag of this name; and as
    /// [`branches`](Self::branches).
    pub async fn snapshot(&self, at: &Ref) -> StoreResult<SnapshotId> {
        snapshot_of(&self.storage, &self.root, at.state()?, self.information.as_ref()).await
    }

    /// Returns a snapshot and those before it, the newest first, at most `most`.
    ///
    /// In specification 1 there is a request for each snapshot, for a file with all its nodes.
    ///
    /// ```no_run
    /// # use zarr_store::MemoryStore;
    /// # use zarr_store_icechunk::{Ref, Repository};
    /// # use zarr_traits::{Prefix, Storage, block_on};
    /// # let storage = Storage::from(MemoryStore::new());
    /// let contents = block_on(Repository::new(&storage, Prefix::root()).contents())?;
    /// let newest = block_on(contents.snapshot(&Ref::default()))?;
    /// for snapshot in block_on(contents.ancestry(newest, 10))? {
    ///     println!("{} {:?}", snapshot.id, snapshot.message);
    /// }
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreErrorKind::Io`](zarr_traits::StoreErrorKind::Io) if there is no such snapshot, or one before it is missing;
    /// `Corrupt` for damaged files; and those of the store.
    pub async fn ancestry(&self, from: SnapshotId, most: usize) -> StoreResult<Vec<SnapshotInfo>> {
        if let Some(information) = &self.information {
            return information.ancestry(from, most).map_err(|e| of_file(&self.root, e));
        }
        let (mut found, mut seen, mut next) = (Vec::new(), HashSet::new(), Some(from));
        while let Some(id) = next
            && found.len() < most
        {
            let (key, payload) = snapshot::payload(&self.storage, &self.root, id, &self.limits).await?;
            let info = info(&snapshot::checked(&payload, id)?, id).map_err(|e| e.with_key(&key))?;
            if !seen.insert(id) {
                return Err(circle().with_key(key));
            }
            next = info.parent;
            found.push(info);
        }
        Ok(found)
    }

    /// Returns the containers of virtual chunks.
    ///
    /// In specification 1 they are in `config.yaml`, which is one request.
    ///
    /// ```no_run
    /// # use zarr_store::{MemoryStore, Targets};
    /// # use zarr_store_icechunk::Repository;
    /// # use zarr_traits::{Prefix, Storage, block_on};
    /// # let storage = Storage::from(MemoryStore::new());
    /// let contents = block_on(Repository::new(&storage, Prefix::root()).contents())?;
    /// for container in block_on(contents.virtual_chunk_containers())? {
    ///     println!("{:?} at {}", container.name, container.url_prefix);
    /// }
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`](zarr_traits::StoreErrorKind::Corrupt) for a damaged file; `Unsupported` for a
    /// `config.yaml` in another form than that of Icechunk; `LimitExceeded` for more than [`IcechunkLimits::names`]; and
    /// those of the store.
    pub async fn virtual_chunk_containers(&self) -> StoreResult<Vec<VirtualChunkContainer>> {
        containers(&self.storage, &self.root, self.information.as_ref(), &self.limits).await
    }
}

/// Returns the containers of virtual chunks of a repository, of which this is the file `repo`.
pub(crate) async fn containers(
    storage: &Storage,
    root: &Prefix,
    information: Option<&Information>,
    limits: &IcechunkLimits,
) -> StoreResult<Vec<VirtualChunkContainer>> {
    match information {
        Some(information) => information.containers(limits.names).map_err(|e| of_file(root, e)),
        None => config::read(storage, root, limits).await,
    }
}

/// Returns an error of the file `repo` with its key.
fn of_file(root: &Prefix, e: StoreError) -> StoreError {
    e.with_key(format!("{root}{FILE}"))
}

/// Returns what the file of a snapshot of specification 1 says of it.
fn info(snapshot: &Table<'_>, id: SnapshotId) -> StoreResult<SnapshotInfo> {
    let fields = || -> Flat<_> {
        let parent = snapshot.fixed(1, "parent_id")?.map(|parent| SnapshotId::new(*parent));
        let message = snapshot.text(4, "message")?.ok_or(snapshot.missing("message"))?;
        Ok((parent, snapshot.u64(3, "flushed_at")?, message.to_owned()))
    };
    let (parent, micros, message) = fields()?;
    Ok(SnapshotInfo { id, parent, time: time(micros)?, message })
}
