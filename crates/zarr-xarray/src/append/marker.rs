//! The marker of an append that stores new shapes: an object beside the arrays that names the old and the new length, until
//! all of them are stored.
//!
//! A process that dies between two puts leaves arrays of different lengths. All chunks are written before the marker, so
//! the append can be finished, or undone, by whoever finds it.

use zarr_array::traits::{Key, Storage};
use zarr_array::{Array, ConsolidatedPolicy, Limits, OpenOptions};
use zarr_hierarchy::Group;
use zarr_meta::json::{Object, Value};
use zarr_meta::{Ignore, parse_json};

use super::conflict;
use super::holders::Holders;
use crate::encode::Elements;
use crate::error::{XarrayError, XarrayResult};
use crate::part::Part;

/// The name of the object. It begins with a period, so listings of nodes ignore it.
const NAME: &str = ".zarr-append.json";

/// The largest marker, in bytes.
const LARGEST: u64 = 1 << 20;

/// An append to a dataset whose writer has died while it stored the new lengths of the arrays, after all chunks.
///
/// Such arrays may have different lengths, so the dataset may not open. [`find`](Self::find) it with the group before, and
/// [`finish`](Self::finish) or [`undo`](Self::undo) it. Another writer that still appends makes both fail, or fails itself.
///
/// ```
/// # use zarr_xarray::{Dataset, Group, InterruptedAppend, XarrayResult};
/// # async fn example(group: Group) -> XarrayResult<Dataset> {
/// if let Some(append) = InterruptedAppend::find(&group).await? {
///     append.finish().await?;
/// }
/// Dataset::open(group).await
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct InterruptedAppend {
    group: Group,
    dimension: String,
    /// The lengths before and after it.
    lengths: [u64; 2],
    /// The names of the arrays and the dimension that grows, in the order in which their shapes are stored.
    arrays: Vec<(String, usize)>,
}

impl InterruptedAppend {
    /// Returns the append that was interrupted in a group, if there is one. Costs one request.
    ///
    /// # Errors
    /// [`Invalid`](crate::XarrayErrorKind::Invalid) if its marker cannot be read; errors of the store.
    pub async fn find(group: &Group) -> XarrayResult<Option<Self>> {
        let key = key(group)?;
        let found = group.unconsolidated().get(&key, LARGEST).await.map_err(zarr_array::ArrayError::from)?;
        let Some(text) = found else { return Ok(None) };
        let read = || {
            let root = parse_json(&text, &Limits::default(), &mut Ignore).ok()?.root;
            let length = |name| root.get(name)?.as_u64();
            let array = |array: Value| Some((array.get("name")?.as_text()?, array.get("axis")?.as_u64()?));
            let array =
                |value: Value| array(value).map(|(name, axis)| (name, usize::try_from(axis).unwrap_or(0)));
            Some(Self {
                group: group.clone(),
                dimension: root.get("append_along")?.as_text()?,
                lengths: [length("from")?, length("to")?],
                arrays: root.get("arrays")?.elements()?.map(array).collect::<Option<_>>()?,
            })
        };
        let wrong =
            || XarrayError::invalid(format!("key {:?}: this is not the marker of an append", key.as_str()));
        read().map(Some).ok_or_else(wrong)
    }

    /// The dimension along which was appended.
    pub fn dimension(&self) -> &str {
        &self.dimension
    }

    /// The length of the dimension before the append.
    pub fn from(&self) -> u64 {
        self.lengths[0]
    }

    /// The length of the dimension after the append.
    pub fn to(&self) -> u64 {
        self.lengths[1]
    }

    /// The names of the arrays that have the dimension.
    pub fn arrays(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|(name, _)| name.as_str())
    }

    /// Stores the new length of all arrays, and in consolidated metadata. May be called again after an error.
    ///
    /// # Errors
    /// [`Access`](crate::XarrayErrorKind::Access) if an array has neither length, because another writer has changed it;
    /// errors of the store.
    pub async fn finish(self) -> XarrayResult<()> {
        let [from, to] = self.lengths;
        self.settle(from, to).await.map(|_| ())
    }

    /// Stores the old length of all arrays, and in consolidated metadata, and erases the chunks beyond it. May be called
    /// again after an error.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub async fn undo(self) -> XarrayResult<()> {
        let [from, to] = self.lengths;
        for part in self.settle(to, from).await? {
            // Chunks beyond the shape are not seen, so an error leaves nothing wrong.
            let _ = part.array.clone().resize(part.array.shape().to_vec()).await;
        }
        Ok(())
    }

    /// Gives all arrays of one length the other one. The leader comes last if they grow, and first if they shrink.
    async fn settle(&self, from: u64, to: u64) -> XarrayResult<Vec<Part>> {
        let mut parts = Vec::new();
        let mut arrays = self.arrays.clone();
        if to < from {
            arrays.reverse();
        }
        for (name, axis) in arrays {
            let part = self.part(&name, axis).await.map_err(|error| error.with_variable(&name))?;
            let length = part.array.shape().get(axis).copied();
            if length != Some(to) && length != Some(from) {
                let message =
                    format!("its length is {length:?}, expected {from} or {to} after an interrupted append");
                return Err(conflict(message).with_variable(&name));
            }
            parts.push(part);
        }
        for part in &mut parts {
            let mut longer = part.at(to)?;
            if part.shape(from) == part.array.shape() {
                let stored = longer.store_shape(&part.shape(from)).await;
                stored.map_err(|error| XarrayError::from(error).with_variable(&part.name))?;
            }
            part.array = longer;
        }
        let holders = Holders::above(&self.group)?;
        let all: Vec<&Part> = parts.iter().collect();
        holders.lengthen(&all, to).await.map_err(|stale| stale.error)?;
        remove(&self.group).await?;
        Ok(parts)
    }

    /// Opens an array as it is stored, without consolidated metadata.
    async fn part(&self, name: &str, axis: usize) -> XarrayResult<Part> {
        let path = format!("{}/{name}", self.group.path().trim_end_matches('/'));
        let (storage, options) =
            (self.group.unconsolidated().clone(), OpenOptions::new().format(Some(self.group.format())));
        let array = Array::open_with(storage, &path, self.group.registry(), &options).await?;
        let array = array.with_consolidated(ConsolidatedPolicy::Keep);
        Ok(Part { name: name.to_owned(), array, axis: Some(axis), elements: Elements::Bytes(Vec::new()) })
    }
}

fn key(group: &Group) -> XarrayResult<Key> {
    group.prefix().key(NAME).map_err(|error| XarrayError::invalid(format!("{error:#}")))
}

/// Fails if an append was interrupted in the group.
pub(super) async fn check_none(group: &Group) -> XarrayResult<()> {
    match InterruptedAppend::find(group).await? {
        None => Ok(()),
        Some(append) => {
            let InterruptedAppend { dimension, lengths: [from, to], .. } = append;
            Err(conflict(format!(
                "an earlier append along {dimension:?}, from {from} to {to}, was interrupted, or another writer appends: \
                 finish or undo it first"
            )))
        }
    }
}

/// Puts the marker of an append from one length to another one. It and the chunks are on the disk when this returns, so that no
/// power cut leaves shapes without them.
pub(super) async fn put(
    group: &Group,
    dimension: &str,
    lengths: [u64; 2],
    parts: &[&Part],
) -> XarrayResult<()> {
    let array = |part: &&Part| {
        let mut array = Object::new();
        array.set("name", part.name.as_str());
        array.set("axis", part.axis.unwrap_or(0) as u64);
        array.to_value()
    };
    let mut marker = Object::new();
    marker.set("append_along", dimension);
    marker.set("from", lengths[0]);
    marker.set("to", lengths[1]);
    marker.set("arrays", parts.iter().map(array).collect::<Value>());
    let text = marker.to_value().to_pretty();
    storage(group).put(&key(group)?, text.into_bytes()).await.map_err(zarr_array::ArrayError::from)?;
    storage(group).sync().await.map_err(zarr_array::ArrayError::from)?;
    Ok(())
}

/// Removes the marker.
pub(super) async fn remove(group: &Group) -> XarrayResult<()> {
    storage(group).delete(&key(group)?).await.map_err(zarr_array::ArrayError::from)?;
    Ok(())
}

fn storage(group: &Group) -> &Storage {
    group.unconsolidated()
}
