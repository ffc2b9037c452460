//! Copies the stored chunks of an array without decoding them. The copy has the same chunks under its own keys.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Mutex;

use futures_util::future::Either;
use futures_util::{Stream, StreamExt, TryStreamExt, future, stream};
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::Listed;
use zarr_array::traits::strided::Dims;
use zarr_array::traits::{Key, Prefix, StoreError, StoreErrorKind, StoreResult};
use zarr_array::{Array, node};
use zarr_hierarchy::objects::{Moved, Transfer, TransferError, listed};

use crate::elements;
use crate::indices::indices;
use crate::memory::Room;
use crate::pause::pause;
use crate::size::Size;
use crate::told::{Action, Told};

/// The largest number of objects at once, which is enough for any storage.
const AT_ONCE: usize = 16;

/// The work on each object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Copy,
    Mend,
    Compare,
}

impl From<Action> for Task {
    fn from(action: Action) -> Self {
        match action {
            Action::Copy => Self::Copy,
            Action::Compare => Self::Compare,
        }
    }
}

/// An object of the source, with its key in the copy.
pub(crate) type Pair = (Listed, Key);

/// Copies all chunks, or compares them byte for byte. Calls `done` with the bytes of elements in each.
pub(crate) async fn all(
    action: Action,
    source: &Array,
    copy: &Array,
    room: &Room,
    done: Told<'_>,
) -> Result<Moved, TransferError> {
    let prefix = prefix(source)?;
    let pairs = pairs(source, &prefix, copy);
    each(action.into(), pairs, source, copy, room, &|key| done(elements(copy, key))).await
}

/// Copies chunks that are missing or differ in the copy, and deletes chunks that the source does not store.
pub(crate) async fn mend(
    source: &Array,
    copy: &Array,
    room: &Room,
    done: Told<'_>,
) -> Result<Moved, TransferError> {
    let kept = Mutex::new(HashSet::new());
    let keep = |key: &Key| {
        unpoisoned(kept.lock()).insert(key.clone());
        done(elements(copy, key));
    };
    let moved = each(Task::Mend, pairs(source, &prefix(source)?, copy), source, copy, room, &keep).await?;
    let kept = unpoisoned(kept.into_inner());
    delete_others(copy, &kept).await.map_err(TransferError::To)?;
    Ok(moved)
}

/// Copies these chunks, or compares them byte for byte.
pub(crate) async fn some(
    action: Action,
    pairs: &[Pair],
    source: &Array,
    copy: &Array,
    room: &Room,
    done: Told<'_>,
) -> Result<Moved, TransferError> {
    let pairs = stream::iter(pairs.iter().cloned().map(Ok));
    each(action.into(), pairs, source, copy, room, &|key| done(elements(copy, key))).await
}

/// Takes memory for each object before the object is read.
async fn each(
    task: Task,
    pairs: impl Stream<Item = StoreResult<Pair>> + Send,
    source: &Array,
    copy: &Array,
    room: &Room,
    done: &(dyn Fn(&Key) + Sync),
) -> Result<Moved, TransferError> {
    let (from, to) = (source.storage(), copy.storage());
    let transfer = &Transfer::new(from.clone(), to.clone()).at_once(1);
    let at_once = node::at_once(from).max(node::at_once(to)).min(AT_ONCE);
    let by_service = task == Task::Copy && from.capabilities().copy && to.capabilities().copy;
    let one = |pair: StoreResult<Pair>| async move {
        let (listed, key) = pair.map_err(TransferError::From)?;
        let size = listed.meta.size.unwrap_or_else(|| chunk_bytes(source));
        let needed = if task == Task::Copy { size } else { size.saturating_mul(2) };
        if !room.fits(needed) && !by_service {
            let message =
                format!("the object needs {} of memory; allow more with `max_memory`", Size(needed.into()));
            let e = StoreError::new(StoreErrorKind::LimitExceeded, message).with_key(listed.key.as_str());
            return Err(TransferError::From(e));
        }
        let _taken = room.take(needed).await;
        let pairs = stream::once(future::ready(Ok((listed, key.clone()))));
        let moved = match task {
            Task::Copy => transfer.copy(pairs, |_| {}).await,
            Task::Mend => transfer.mend(pairs, |_| {}).await,
            Task::Compare => transfer.compare(pairs, |_| {}).await,
        };
        Ok((key, moved?))
    };
    let mut sum = Moved::default();
    let mut all = pin!(pairs.map(one).buffer_unordered(at_once));
    while let Some((key, moved)) = all.try_next().await? {
        done(&key);
        sum += moved;
        pause().await;
    }
    Ok(sum)
}

/// Returns the place of an array in its storage.
fn prefix(source: &Array) -> Result<Prefix, TransferError> {
    Prefix::of_node(source.path()).map_err(TransferError::From)
}

/// Returns the stored chunks of the source with their keys in the copy; all chunks if the source cannot list. What is no
/// chunk and cannot be read is an error.
pub(crate) fn pairs<'a>(
    source: &'a Array,
    prefix: &'a Prefix,
    copy: &'a Array,
) -> impl Stream<Item = StoreResult<Pair>> + Send + 'a {
    if source.storage().capabilities().list {
        let pair = move |object: Listed| async move {
            match chunk_at(source, &object.key) {
                Some(index) => Ok(Some((object, copy.chunk_key(&index)?))),
                None => node::check_stray(source.storage(), &object).await.map(|()| None),
            }
        };
        return Either::Left(listed(source.storage(), prefix).try_filter_map(pair));
    }
    let pair = move |index: Vec<u64>| Ok((Listed::new(source.chunk_key(&index)?), copy.chunk_key(&index)?));
    Either::Right(stream::iter(indices(&source.chunk_counts()).map(pair)))
}

/// Returns the index of the chunk of `array` at `key`, or `None` if `key` is not the key of a chunk.
pub(crate) fn chunk_at(array: &Array, key: &Key) -> Option<Dims> {
    let counts = array.chunk_counts();
    let prefix = Prefix::of_node(array.path()).ok()?;
    let index = array.key_encoding().decode(prefix.strip(key)?, counts.len())?;
    index.iter().zip(&counts).all(|(i, count)| i < count).then_some(index)
}

/// Deletes the chunks of the copy whose keys are not in `kept`.
async fn delete_others(copy: &Array, kept: &HashSet<Key>) -> StoreResult<()> {
    let root = Prefix::root();
    let mut objects = pin!(listed(copy.storage(), &root));
    while let Some(Listed { key, .. }) = objects.try_next().await? {
        if !kept.contains(&key) && chunk_at(copy, &key).is_some() {
            copy.storage().delete(&key).await?;
        }
    }
    Ok(())
}

/// Returns the size of the largest decoded chunk in bytes.
pub(crate) fn chunk_bytes(array: &Array) -> u64 {
    let grid = array.chunk_grid();
    let longest = |dim| grid.lengths(dim).into_iter().max().unwrap_or(1);
    (0..grid.rank()).map(longest).fold(elements::size(array.data_type()), u64::saturating_mul)
}

/// Returns the bytes of elements in the chunk at a key, without the part outside of the array.
pub(crate) fn elements(array: &Array, key: &Key) -> u64 {
    let size = array.data_type().memory_size() as u64;
    let Some(index) = chunk_at(array, key) else { return 0 };
    let lengths = index.iter().zip(array.shape()).enumerate().map(|(dim, (i, length))| {
        let span = array.chunk_grid().span(dim, *i).unwrap_or(0..0);
        span.end.min(*length).saturating_sub(span.start)
    });
    lengths.fold(size, u64::saturating_mul)
}
