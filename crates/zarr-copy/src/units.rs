//! The copy of an array for several workers: passes one after another, each cut into units that one worker copies.
//!
//! The name of a unit is a digest of its content. Workers cut a pass into other units if the source has changed meanwhile
//! or if they have other memory. These units have other names, so no worker takes them for finished: each element is
//! copied, some of them twice.

use std::collections::HashSet;

use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};
use zarr_array::Array;
use zarr_array::traits::{Key, Prefix, StoreError};
use zarr_hierarchy::objects::{TransferError, listed};

use crate::blocks::Blocks;
use crate::digest::hex;
use crate::error::{CopyError, CopyResult};
use crate::memory::Room;
use crate::objects::{self, Pair};
use crate::told::{Action, Done, Told};
use crate::work::{self, Work};

/// The largest number of objects or blocks in a unit.
const MOST: usize = 256;

/// A pass over the elements of an array.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    work: &'a Work,
    from: Array,
    to: Array,
    name: String,
    how: How<'a>,
}

#[derive(Debug)]
enum How<'a> {
    /// Objects are copied as they are stored.
    Objects(Prefix),
    /// Elements are encoded again.
    Blocks(&'a Blocks),
}

/// A part of a pass that one worker copies.
#[derive(Debug)]
pub(crate) struct Unit {
    /// A digest of what the unit holds.
    pub(crate) name: String,
    /// Bytes of elements.
    pub(crate) bytes: u64,
    items: Items,
}

#[derive(Debug)]
enum Items {
    Objects(Vec<Pair>),
    Blocks(Vec<Vec<u64>>),
}

impl Work {
    /// Returns the passes of the copy, in order, for workers that share it.
    pub(crate) fn passes(&self, source: &Array, copy: &Array) -> CopyResult<Vec<Pass<'_>>> {
        Ok(match &self.how {
            work::How::Objects => vec![Pass::objects(self, source, copy)?],
            work::How::Blocks(blocks) => vec![Pass::blocks(self, blocks, source.clone(), copy.clone())],
            work::How::Twice(twice) => {
                let passes = twice.passes(source, copy)?.into_iter();
                let name = twice.name();
                passes.map(|(blocks, from, to)| Pass::blocks(self, blocks, from, to).named(&name)).collect()
            }
        })
    }
}

impl<'a> Pass<'a> {
    pub(crate) fn objects(work: &'a Work, source: &Array, copy: &Array) -> CopyResult<Self> {
        let how = How::Objects(Prefix::of_node(source.path())?);
        Ok(Self { work, from: source.clone(), to: copy.clone(), name: String::new(), how })
    }

    pub(crate) fn blocks(work: &'a Work, blocks: &'a Blocks, from: Array, to: Array) -> Self {
        Self { work, from, to, name: String::new(), how: How::Blocks(blocks) }
    }

    /// Names the pass by its intermediate array.
    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Returns a name that differs if the pass has another intermediate array.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the bytes of elements to copy, as far as known.
    pub(crate) fn bytes(&self) -> u64 {
        match self.how {
            How::Objects(_) => self.work.bytes,
            How::Blocks(blocks) => blocks.bytes,
        }
    }

    /// Cuts the pass into units of about `size` bytes of elements.
    pub(crate) fn units(&self, size: u64) -> impl Stream<Item = CopyResult<Unit>> + Send + '_ {
        match &self.how {
            How::Objects(prefix) => {
                let failed = |e: StoreError| self.work.failed(TransferError::From(e));
                let pairs = objects::pairs(&self.from, prefix, &self.to).map_err(failed);
                let sized = pairs.map_ok(|pair| {
                    let bytes = objects::elements(&self.to, &pair.1);
                    (pair, bytes)
                });
                groups(sized, size).map_ok(Unit::of_objects).left_stream()
            }
            How::Blocks(blocks) => {
                let sized = blocks.all().map(|index| {
                    let bytes = blocks.length(&index);
                    Ok((index, bytes))
                });
                let unit = |(indices, bytes)| Unit::of_blocks(blocks, indices, bytes);
                groups(stream::iter(sized), size).map_ok(unit).right_stream()
            }
        }
    }

    /// Returns the keys that the objects of a unit have in the copy. Chunks may not be stored, see [`stores_all`](Self::stores_all).
    pub(crate) fn keys(&self, unit: &Unit) -> CopyResult<Vec<Key>> {
        match (&self.how, &unit.items) {
            (How::Blocks(blocks), Items::Blocks(indices)) => {
                let chunks = indices.iter().flat_map(|index| blocks.chunk_indices(index));
                Ok(chunks.map(|chunk| self.to.chunk_key(&chunk)).collect::<Result<_, _>>()?)
            }
            (_, Items::Objects(pairs)) => Ok(pairs.iter().map(|pair| pair.1.clone()).collect()),
            _ => Err(CopyError::unsupported("the unit belongs to another pass")),
        }
    }

    /// Whether an object is stored at each key of a unit.
    pub(crate) fn stores_all(&self) -> bool {
        matches!(self.how, How::Objects(_))
    }

    /// Returns the keys of all objects of the array that the pass writes.
    pub(crate) async fn stored(&self) -> CopyResult<HashSet<Key>> {
        let place = Prefix::of_node(self.to.path())?;
        let keys = listed(self.to.storage(), &place).map_ok(|object| object.key);
        Ok(keys.try_collect().await?)
    }

    /// Copies a unit, or compares it.
    pub(crate) async fn run(
        &self,
        action: Action,
        unit: &Unit,
        room: &Room,
        done: Told<'_>,
    ) -> CopyResult<Done> {
        match (&self.how, &unit.items) {
            (How::Objects(_), Items::Objects(pairs)) => {
                let moved = objects::some(action, pairs, &self.from, &self.to, room, done).await;
                let moved = moved.map_err(|e| self.work.failed(e))?;
                Ok(match action {
                    Action::Copy => Done { moved, ..Done::default() },
                    Action::Compare => Done { objects: moved, ..Done::default() },
                })
            }
            (How::Blocks(blocks), Items::Blocks(indices)) => {
                blocks.some(action, indices, &self.from, &self.to, done).await?;
                Ok(match action {
                    Action::Copy => Done::default(),
                    Action::Compare => blocks.compared(unit.bytes),
                })
            }
            _ => Err(CopyError::unsupported("the unit belongs to another pass")),
        }
    }
}

impl Unit {
    fn of_objects((pairs, bytes): (Vec<Pair>, u64)) -> Self {
        let mut hash = Sha256::new();
        for (_, key) in &pairs {
            hash.update(key.as_str());
            hash.update([0]);
        }
        Self { name: name(hash), bytes, items: Items::Objects(pairs) }
    }

    fn of_blocks(blocks: &Blocks, indices: Vec<Vec<u64>>, bytes: u64) -> Self {
        let mut hash = Sha256::new();
        for span in indices.iter().flat_map(|index| blocks.spans(index)) {
            hash.update(span.start.to_le_bytes());
            hash.update(span.end.to_le_bytes());
        }
        Self { name: name(hash), bytes, items: Items::Blocks(indices) }
    }
}

fn name(hash: Sha256) -> String {
    hex(&hash.finalize()[..16])
}

/// Groups items with their bytes, until a group has about `size` bytes.
fn groups<T: Send>(
    items: impl Stream<Item = CopyResult<(T, u64)>> + Send,
    size: u64,
) -> impl Stream<Item = CopyResult<(Vec<T>, u64)>> + Send {
    stream::try_unfold(Box::pin(items), move |mut items| async move {
        let (mut group, mut bytes) = (Vec::new(), 0_u64);
        while group.len() < MOST && bytes < size {
            let Some((item, more)) = items.try_next().await? else { break };
            group.push(item);
            bytes = bytes.saturating_add(more);
        }
        Ok((!group.is_empty()).then_some(((group, bytes), items)))
    })
}
