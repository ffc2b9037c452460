//! The place of a copy in a storage. The copy grows there without metadata documents, so it is no node until it is
//! complete. A marker names the source meanwhile.

use zarr_array::node::{self, Writing};
use zarr_array::traits::store::{Outcome, PutMode, ReadVersion};
use zarr_array::traits::{ByteRange, Bytes, Prefix, Version};
use zarr_array::{Format, Limits, Storage};
use zarr_store::Prefixed;

use crate::error::{CopyError, CopyErrorKind, CopyResult};
use crate::marker;
use crate::plan::CopyPlan;

/// The content of the destination before a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DestinationState {
    /// Nothing.
    Nothing,
    /// The same copy, which an earlier run has begun.
    Unfinished,
    /// The same copy, which an earlier run has finished.
    Complete,
}

/// A checked place. **For authors of tools**; other programs call [`CopyPlan::run`].
#[derive(Debug)]
pub struct CopyDestination {
    storage: Storage,
    root: Prefix,
    /// The marker of an existing unfinished copy.
    unfinished: Option<Bytes>,
    /// The version of an empty marker, which a power cut may leave. Nothing was done yet that it must explain.
    empty: Option<Version>,
    /// Whether there is something else.
    is_taken: bool,
}

impl CopyDestination {
    /// Returns the destination at `root`, after a look at what is stored there: an unfinished copy, something else, or
    /// nothing.
    ///
    /// # Errors
    /// If the storage is read-only, and those of the store.
    pub async fn find(storage: Storage, root: Prefix) -> CopyResult<Self> {
        storage.check_writable()?;
        let key = marker::key(&root)?;
        let ranges = [ByteRange::All];
        let found = storage.get_ranges(&key, &ranges, ReadVersion::Report, marker::LARGEST).await?;
        let (unfinished, empty) = match found {
            Some(found) if found.size == Some(0) => (None, found.version),
            found => (found.map(|found| found.bytes.concat().into()), None),
        };
        let is_taken = unfinished.is_none() && is_taken(&storage, &root).await?;
        Ok(Self { storage, root, unfinished, empty, is_taken })
    }

    /// Whether there is something that is no unfinished copy.
    pub fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// Checks that the place is empty. With `resume` it may hold an unfinished or a complete copy; whether that is the
    /// same copy is known when it [begins](Self::begin).
    ///
    /// # Errors
    /// [`Taken`](CopyErrorKind::Taken) if something is there.
    pub fn check(&self, resume: bool) -> CopyResult<()> {
        if resume {
            return Ok(());
        }
        if let Some(found) = &self.unfinished {
            let of = marker::source(found).unwrap_or_default();
            return Err(taken(format!("an unfinished copy of {of:?} exists already; `resume` continues it")));
        }
        if self.is_taken { Err(taken("the place is not empty")) } else { Ok(()) }
    }

    /// Returns the format of the nearest group above the place.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn format_above(&self) -> CopyResult<Option<Format>> {
        for group in node::above(&self.root).iter().rev() {
            let found = node::documents(&self.storage, group, None, &Limits::default()).await?;
            if let Some(format) = found.format() {
                return Ok(Some(format));
            }
        }
        Ok(None)
    }

    /// Returns the storage whose root is the root of the copy.
    pub fn storage(&self) -> Storage {
        below(&self.storage, &self.root)
    }

    /// Creates the groups above the copy and puts the marker, or compares the marker with the existing one. Returns
    /// what an earlier run has done.
    ///
    /// # Errors
    /// [`Taken`](CopyErrorKind::Taken) if another copy is there, and those of the store.
    pub async fn begin(&self, plan: &CopyPlan) -> CopyResult<DestinationState> {
        let marker = plan.marker();
        if let Some(found) = &self.unfinished {
            if found == marker.as_bytes() {
                return Ok(DestinationState::Unfinished);
            }
            let of = marker::source(found).unwrap_or_default();
            return Err(taken(format!(
                "an unfinished copy of {of:?} exists, but of another source or with other options: it cannot be \
                 resumed with these"
            )));
        }
        if self.is_taken {
            if plan.is_complete(&self.storage()).await? {
                return Ok(DestinationState::Complete);
            }
            return Err(taken("the place is not empty, and it holds no unfinished copy"));
        }
        node::create_above(&self.storage, &self.root, plan.format(), &Writing::default()).await?;
        let key = marker::key(&self.root)?;
        let is_put = match &self.empty {
            None => node::put_new(&self.storage, &key, marker).await?,
            Some(empty) => {
                let put = self.storage.put_document(&key, marker, PutMode::IfUnchanged(empty));
                matches!(put.await?, Outcome::Done(_))
            }
        };
        if is_put {
            Ok(DestinationState::Nothing)
        } else {
            Err(taken("another writer has begun a copy there"))
        }
    }

    /// Writes the documents, updates the consolidated metadata above the copy, and deletes the marker last: until then
    /// the copy can be resumed.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn publish(&self, plan: &CopyPlan, found: DestinationState) -> CopyResult<()> {
        // The copy must be durable before it becomes a node.
        self.storage.sync().await?;
        plan.write_documents(&self.storage(), found).await?;
        self.storage.sync().await?;
        plan.refresh(&self.storage, &self.root, plan.format()).await?;
        if found == DestinationState::Unfinished {
            return self.unmark().await;
        }
        Ok(self.storage.delete(&marker::key(&self.root)?).await?)
    }

    /// Deletes the marker, and then what workers have recorded.
    pub(crate) async fn unmark(&self) -> CopyResult<()> {
        self.storage.delete(&marker::key(&self.root)?).await?;
        self.clear_jobs().await
    }

    /// Whether the marker of an unfinished copy is still there.
    pub(crate) async fn is_unfinished(&self) -> CopyResult<bool> {
        Ok(self.storage.exists(&marker::key(&self.root)?).await?)
    }

    /// Deletes what workers have recorded.
    pub(crate) async fn clear_jobs(&self) -> CopyResult<()> {
        Ok(self.storage().delete_prefix(&Prefix::new(marker::JOBS)?).await?)
    }
}

/// Returns the storage whose root is `prefix` of another one.
pub(crate) fn below(storage: &Storage, prefix: &Prefix) -> Storage {
    if prefix.is_root() {
        return storage.clone();
    }
    // Errors name the path in the whole destination.
    Prefixed::over(storage, prefix.clone()).made_of(storage).with_location(storage.location())
}

/// Whether there is an object below `root` beside the marker. If the store cannot list, whether there is a node.
async fn is_taken(storage: &Storage, root: &Prefix) -> CopyResult<bool> {
    if storage.capabilities().list {
        let (page, marker) = (storage.list(root, None).await?, marker::key(root)?);
        return Ok(page.more || page.entries.iter().any(|object| object.key != marker));
    }
    Ok(node::documents(storage, root, None, &Limits::default()).await?.make_node())
}

fn taken(message: impl Into<String>) -> CopyError {
    CopyError::new(CopyErrorKind::Taken, message)
}
