//! Copies the stored chunks of an array without decoding them. The copy has the same chunks under its own keys.

use std::cell::RefCell;
use std::collections::HashSet;
use std::pin::pin;

use futures_util::future::Either;
use futures_util::{Stream, TryStreamExt, future, stream};
use zarr_array::blocking::Array;
use zarr_array::traits::store::Listed;
use zarr_array::traits::{Key, Prefix, StoreResult};
use zarr_hierarchy::objects::{Moved, Transfer, TransferError, listed};

use super::indices::indices;
use crate::stored::chunk_at;

/// Copies all chunks. Calls `done` with the bytes of elements in each.
pub(super) async fn copy(source: &Array, copy: &Array, done: &dyn Fn(u64)) -> Result<Moved, TransferError> {
    let prefix = prefix(source)?;
    transfer(source, copy).copy(pairs(source, &prefix, copy), |key| done(elements(copy, key))).await
}

/// Copies chunks that are missing or differ in the copy, and deletes chunks that the source does not store.
pub(super) async fn mend(source: &Array, copy: &Array, done: &dyn Fn(u64)) -> Result<Moved, TransferError> {
    let prefix = prefix(source)?;
    let kept = RefCell::new(HashSet::new());
    let keep = |key: &Key| {
        kept.borrow_mut().insert(key.clone());
        done(elements(copy, key));
    };
    let moved = transfer(source, copy).mend(pairs(source, &prefix, copy), keep).await?;
    delete_others(copy, &kept.into_inner()).await.map_err(TransferError::To)?;
    Ok(moved)
}

/// Compares all chunks byte for byte.
pub(super) async fn compare(
    source: &Array,
    copy: &Array,
    done: &dyn Fn(u64),
) -> Result<Moved, TransferError> {
    let prefix = prefix(source)?;
    transfer(source, copy).compare(pairs(source, &prefix, copy), |key| done(elements(copy, key))).await
}

fn prefix(source: &Array) -> Result<Prefix, TransferError> {
    Prefix::of_node(source.path()).map_err(TransferError::From)
}

fn transfer(source: &Array, copy: &Array) -> Transfer {
    Transfer::new(source.storage().clone(), copy.storage().clone())
}

/// Returns the stored chunks of the source with their keys in the copy; all chunks if the source cannot list.
fn pairs<'a>(
    source: &'a Array,
    prefix: &'a Prefix,
    copy: &'a Array,
) -> impl Stream<Item = StoreResult<(Listed, Key)>> + 'a {
    if source.storage().capabilities().list {
        let pair = |object: Listed| {
            let index = chunk_at(source, &object.key);
            future::ready(index.map(|index| Ok((object, copy.chunk_key(&index)?))).transpose())
        };
        return Either::Left(listed(source.storage(), prefix).try_filter_map(pair));
    }
    let pair = |index: Vec<u64>| Ok((Listed::new(source.chunk_key(&index)?), copy.chunk_key(&index)?));
    Either::Right(stream::iter(indices(&source.chunk_counts()).map(pair)))
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

/// Returns the bytes of elements in the chunk at a key, without the part outside of the array.
fn elements(array: &Array, key: &Key) -> u64 {
    let size = array.data_type().memory_size() as u64;
    let Some(index) = chunk_at(array, key) else { return 0 };
    let lengths = index.iter().zip(array.shape()).enumerate().map(|(dim, (i, length))| {
        let span = array.chunk_grid().span(dim, *i).unwrap_or(0..0);
        span.end.min(*length).saturating_sub(span.start)
    });
    lengths.fold(size, u64::saturating_mul)
}
