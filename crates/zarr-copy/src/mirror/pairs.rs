//! The objects of two places side by side.

use std::cmp::Ordering;
use std::pin::Pin;

use futures_util::stream::{self, Peekable};
use futures_util::{Stream, StreamExt};
use zarr_array::Storage;
use zarr_array::traits::store::Listed;
use zarr_array::traits::{Key, Prefix, StoreResult};
use zarr_hierarchy::objects::{listed, listed_without_links};

use crate::error::{CopyError, CopyResult};

/// The objects with one key below the places.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    /// The key below both places.
    pub(super) below: String,
    /// The object of the source.
    pub(super) source: Option<Listed>,
    /// The object of the destination.
    pub(super) there: Option<Listed>,
}

/// A place in a storage.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) storage: Storage,
    pub(super) root: Prefix,
}

impl Place {
    /// Returns the key of an object below the place.
    pub(super) fn key(&self, below: &str) -> StoreResult<Key> {
        self.root.key(below)
    }

    /// Returns the objects by their keys below the place.
    fn objects<'a>(
        &'a self,
        listed: impl Stream<Item = StoreResult<Listed>> + Send + 'a,
    ) -> impl Stream<Item = StoreResult<(String, Listed)>> + Send + 'a {
        listed.filter_map(move |object| async move {
            match object {
                Ok(object) => {
                    self.root.strip(&object.key).map(|below| Ok((below.to_owned(), object.clone())))
                }
                Err(e) => Some(Err(e)),
            }
        })
    }
}

type Objects<'a> = Peekable<Pin<Box<dyn Stream<Item = StoreResult<(String, Listed)>> + Send + 'a>>>;

/// Returns all objects of both places in ascending order of their keys, from one listing of each. A link to a directory in
/// the destination is an error.
pub(super) fn pairs<'a>(
    source: &'a Place,
    there: &'a Place,
) -> impl Stream<Item = CopyResult<Pair>> + Send + 'a {
    let one: Pin<Box<dyn Stream<Item = _> + Send + 'a>> =
        Box::pin(source.objects(listed(&source.storage, &source.root)));
    let other: Pin<Box<dyn Stream<Item = _> + Send + 'a>> =
        Box::pin(there.objects(listed_without_links(&there.storage, &there.root)));
    let (one, other): (Objects<'a>, Objects<'a>) = (one.peekable(), other.peekable());
    stream::try_unfold((one, other), |(mut one, mut other)| async move {
        let order = match (Pin::new(&mut one).peek().await, Pin::new(&mut other).peek().await) {
            (None, None) => return Ok(None),
            (Some(_), None) | (Some(Err(_)), _) => Ordering::Less,
            (None, Some(_)) | (_, Some(Err(_))) => Ordering::Greater,
            (Some(Ok((one, _))), Some(Ok((other, _)))) => one.cmp(other),
        };
        let failed = |e| CopyError::from(e);
        let source = match order {
            Ordering::Greater => None,
            _ => one.next().await.transpose().map_err(|e| failed(e).of_source())?,
        };
        let there = match order {
            Ordering::Less => None,
            _ => other.next().await.transpose().map_err(failed)?,
        };
        let below = source.as_ref().or(there.as_ref()).map(|(below, _)| below.clone()).unwrap_or_default();
        let pair = Pair { below, source: source.map(|found| found.1), there: there.map(|found| found.1) };
        Ok(Some((pair, (one, other))))
    })
}
