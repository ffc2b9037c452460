//! Transfers of objects from one storage to another, several at a time. **For authors of tools on hierarchies**, such as a
//! command that copies arrays; other programs call [`copy`](crate::copy()).

use std::ops::AddAssign;

use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use zarr_array::traits::store::{Copied, List, Listed, Op, Put, PutMode};
use zarr_array::traits::{Bytes, Key, Prefix, StoreError, StoreErrorKind, StoreResult};
use zarr_array::{Storage, node};

/// The default for the number of objects at once, which is enough for any storage. Each is held in memory.
const AT_ONCE: usize = 16;

/// A transfer between two storages.
#[derive(Debug, Clone)]
pub struct Transfer {
    pub(crate) from: Storage,
    pub(crate) to: Storage,
    at_once: usize,
}

/// The number of transferred or compared objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Moved {
    /// The number of objects, without those that were deleted meanwhile.
    pub objects: u64,
    /// The sum of their sizes.
    pub bytes: u64,
}

impl Moved {
    /// Returns this number of objects, whose sizes are `bytes` in all.
    pub const fn new(objects: u64, bytes: u64) -> Self {
        Self { objects, bytes }
    }
}

impl AddAssign for Moved {
    fn add_assign(&mut self, more: Self) {
        self.objects += more.objects;
        self.bytes += more.bytes;
    }
}

/// The reason why a transfer ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The source cannot be read or listed.
    #[error(transparent)]
    From(StoreError),
    /// The destination cannot be read or written.
    #[error(transparent)]
    To(StoreError),
    /// The object at this key of the destination differs from that of the source.
    #[error("the object {:?} differs from the object of the source", .0.as_str())]
    Differs(Key),
}

/// The work on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Copy,
    Mend,
    Compare,
}

impl Transfer {
    /// Builds a transfer of as many objects at once as the storages recommend, at most 16.
    pub fn new(from: Storage, to: Storage) -> Self {
        let at_once = node::at_once(&from).max(node::at_once(&to)).min(AT_ONCE);
        Self { from, to, at_once }
    }

    /// Sets the number of objects at once. Each is held in memory.
    #[must_use]
    pub fn at_once(mut self, objects: usize) -> Self {
        self.at_once = objects.max(1);
        self
    }

    /// Copies objects from the source to the destination. Each item of `pairs` is an object as the source listed it,
    /// and the key for its copy. If both storages are on one service that can copy objects itself, no bytes pass through
    /// this process. An object that was deleted since it was listed is skipped. `done` is called with the key of each
    /// copy, and of each skipped object. If an object at the key of a copy is replaced, a power cut leaves the old one or
    /// the copy.
    ///
    /// # Errors
    /// If a storage fails or `pairs` yields an error. Some objects may have been copied already.
    pub async fn copy(
        &self,
        pairs: impl Stream<Item = StoreResult<(Listed, Key)>>,
        done: impl Fn(&Key),
    ) -> Result<Moved, TransferError> {
        self.each(Action::Copy, pairs, done).await
    }

    /// As [`copy`](Self::copy), but puts only objects that the destination lacks or that differ.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    pub async fn mend(
        &self,
        pairs: impl Stream<Item = StoreResult<(Listed, Key)>>,
        done: impl Fn(&Key),
    ) -> Result<Moved, TransferError> {
        self.each(Action::Mend, pairs, done).await
    }

    /// Compares objects byte for byte.
    ///
    /// # Errors
    /// As [`copy`](Self::copy), and [`TransferError::Differs`] for the first object that differs or is missing.
    pub async fn compare(
        &self,
        pairs: impl Stream<Item = StoreResult<(Listed, Key)>>,
        done: impl Fn(&Key),
    ) -> Result<Moved, TransferError> {
        self.each(Action::Compare, pairs, done).await
    }

    async fn each(
        &self,
        action: Action,
        pairs: impl Stream<Item = StoreResult<(Listed, Key)>>,
        done: impl Fn(&Key),
    ) -> Result<Moved, TransferError> {
        let one = |pair: StoreResult<(Listed, Key)>| async move {
            let (from, to) = pair.map_err(TransferError::From)?;
            let size = match action {
                Action::Copy => self.copy_one(&from, &to).await?,
                _ => self.one(action, &from.key, &to).await?,
            };
            Ok::<_, TransferError>((to, size))
        };
        let mut sum = Moved::default();
        let mut sizes = std::pin::pin!(pairs.map(one).buffer_unordered(self.at_once));
        while let Some((key, size)) = sizes.try_next().await? {
            done(&key);
            sum += Moved::new(size.is_some().into(), size.unwrap_or(0));
        }
        Ok(sum)
    }

    /// As [`one`](Self::one), but the service makes the copy if it can.
    async fn copy_one(&self, from: &Listed, to: &Key) -> Result<Option<u64>, TransferError> {
        match self.to.copy_from(&self.from, &from.key, to).await {
            Ok(Copied::Absent) => Ok(None),
            Ok(Copied::Done) => match from.meta.size {
                None => self.from.size(&from.key).await.map_err(TransferError::From),
                size => Ok(size),
            },
            // The handle of the destination may have no permission to read what the handle of the source reads.
            Err(e) if e.kind() != StoreErrorKind::PermissionDenied => Err(TransferError::To(e)),
            _ => self.one(Action::Copy, &from.key, to).await,
        }
    }

    /// Returns the size of the object, or `None` if the source does not have it.
    async fn one(&self, action: Action, from: &Key, to: &Key) -> Result<Option<u64>, TransferError> {
        let source = whole(&self.from, from).await.map_err(TransferError::From)?;
        let size = source.as_ref().map(|bytes| bytes.len() as u64);
        let there = match action {
            Action::Copy => None,
            _ => whole(&self.to, to).await.map_err(TransferError::To)?,
        };
        match (action, source) {
            (Action::Compare, source) if source != there => return Err(TransferError::Differs(to.clone())),
            (Action::Copy | Action::Mend, Some(bytes)) if there.as_ref() != Some(&bytes) => {
                let parts = [bytes];
                let put = Op::Put(Put::new(to, &parts, PutMode::Replace).keeping_old());
                self.to.call(put).await.map_err(TransferError::To)?;
            }
            _ => {}
        }
        Ok(size)
    }
}

/// The largest object that is copied, in bytes: each is held in memory once.
const LARGEST: u64 = 4 << 30;

/// Returns the object at a key. This is the only place where objects are read whole.
pub(crate) async fn whole(storage: &Storage, key: &Key) -> StoreResult<Option<Bytes>> {
    storage.get(key, LARGEST).await
}

/// Returns the objects below `prefix` in ascending order of their keys, listed page by page.
pub fn listed<'a>(
    storage: &'a Storage,
    prefix: &'a Prefix,
) -> impl Stream<Item = StoreResult<Listed>> + Send + 'a {
    pages(storage, List::new(prefix))
}

/// Returns the objects below `prefix` as [`listed`] does, for a caller that will replace or delete them: a link to a
/// directory is an error, because what is behind it may belong to somebody else.
pub fn listed_without_links<'a>(
    storage: &'a Storage,
    prefix: &'a Prefix,
) -> impl Stream<Item = StoreResult<Listed>> + Send + 'a {
    pages(storage, List::new(prefix).refusing_links())
}

fn pages<'a>(storage: &'a Storage, list: List<'a>) -> impl Stream<Item = StoreResult<Listed>> + Send + 'a {
    let page = move |after: Option<Option<Key>>| async move {
        let Some(after) = after else { return StoreResult::Ok(None) };
        let page = storage.call(Op::List(list.after(after.as_ref()))).await?.into_page()?;
        let last = page.entries.last().map(|listed| listed.key.clone());
        let next = last.filter(|_| page.more).map(Some);
        Ok(Some((stream::iter(page.entries.into_iter().map(Ok)), next)))
    };
    stream::try_unfold(Some(None), page).try_flatten()
}

impl TransferError {
    /// Returns the error of the storage, if it is one.
    pub fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::From(e) | Self::To(e) => Some(e),
            Self::Differs(_) => None,
        }
    }
}
