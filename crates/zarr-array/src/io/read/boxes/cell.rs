//! The elements of boxes in one chunk, divided into groups that are decoded once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use zarr_traits::{Dims, Key, Region};

use super::ReadMany;
use crate::io::fetch::ChunkPart;

/// The selected elements of one chunk, or some groups of them.
#[derive(Clone)]
pub(crate) struct ManyCell {
    pub(super) chunk: Dims,
    pub(super) shape: Dims,
    pub(super) groups: Arc<Vec<Group>>,
    pub(super) range: Range<usize>,
}

/// A part of a chunk that is decoded once: that of one inner chunk, or of a chunk without inner chunks.
pub(super) struct Group {
    /// The indexes of the chunk and of the inner chunk.
    pub(super) key: Dims,
    /// The box that is decoded, relative to the chunk: around the selected elements, or with a cache all of it.
    pub(super) part: Region,
    /// The elements of each box.
    pub(super) members: Vec<Member>,
}

/// The elements of one box in one group.
pub(super) struct Member {
    /// The number of the box and of the leaf of its result.
    pub(super) number: usize,
    pub(super) leaf: u64,
    /// The box around the elements, relative to the chunk.
    pub(super) part: Region,
    pub(super) steps: Dims,
}

impl ManyCell {
    pub(super) fn groups(&self) -> &[Group] {
        self.groups.get(self.range.clone()).unwrap_or_default()
    }

    /// Returns the box around all groups.
    pub(super) fn around(&self) -> Region {
        around(self.groups().iter().map(|group| &group.part))
    }

    pub(super) fn of<'a>(&'a self, key: &'a Key, part: &'a Region, steps: &'a [u64]) -> ChunkPart<'a> {
        ChunkPart { index: &self.chunk, shape: &self.shape, part, steps, key, opened: None }
    }
}

/// Returns the box around boxes.
pub(super) fn around<'a>(boxes: impl IntoIterator<Item = &'a Region>) -> Region {
    let ends =
        |region: &Region| region.start().iter().zip(region.shape()).map(|(at, n)| at + n).collect::<Dims>();
    let mut all: Option<(Dims, Dims)> = None;
    for region in boxes {
        let (start, end) = (Dims::from(region.start()), ends(region));
        match &mut all {
            None => all = Some((start, end)),
            Some((low, high)) => {
                low.iter_mut().zip(&start).for_each(|(low, at)| *low = (*low).min(*at));
                high.iter_mut().zip(&end).for_each(|(high, at)| *high = (*high).max(*at));
            }
        }
    }
    let (low, high) = all.unwrap_or_default();
    let shape: Dims = low.iter().zip(&high).map(|(low, high)| high - low).collect();
    Region::new(low, shape).unwrap_or_default()
}

impl ReadMany {
    /// Returns the elements of a box in one chunk, leaf by leaf.
    pub(super) fn members(&self, number: usize, cell: u64) -> Vec<Member> {
        let Some((plan, _)) = self.boxes.get(number) else { return Vec::new() };
        let cell = plan.cell(cell);
        let members = plan.leaves_of(&cell).map(|leaf| {
            let (at, count) = plan.leaf_part(&cell, leaf);
            let start =
                (0..at.len()).map(|dim| cell.part.start()[dim] + (at[dim] - cell.at[dim]) * cell.steps[dim]);
            let extent =
                count.iter().zip(&cell.steps).map(|(count, step)| count.saturating_sub(1) * step + 1);
            let part = Region::new(start.collect::<Dims>(), extent.collect::<Dims>()).unwrap_or_default();
            Member { number, leaf, part, steps: cell.steps.clone() }
        });
        members.collect()
    }

    /// Divides elements of a chunk into groups: by inner chunks, all of a compressed chunk, each box of an uncompressed
    /// one.
    pub(super) fn groups(&self, chunk: &[u64], shape: &[u64], members: Vec<Member>) -> Vec<Group> {
        let inner = self.core.chain.inner_shape(self.core.shape.len());
        let plain = self.core.chain.is_plain();
        let mut groups = BTreeMap::<Dims, Vec<Member>>::new();
        for (number, member) in (0_u64..).zip(members) {
            let key = match &inner {
                Some(inner) => member.part.start().iter().zip(inner).map(|(at, n)| at / n).collect(),
                None if plain => [number].into(),
                None => Dims::new(),
            };
            groups.entry(key).or_default().push(member);
        }
        let group = |(inside, members): (Dims, Vec<Member>)| {
            let part = match (&self.cache, &inner) {
                (None, _) => around(members.iter().map(|member| &member.part)),
                (Some(_), None) => Region::new(Dims::filled(0, shape.len()), shape).unwrap_or_default(),
                (Some(_), Some(inner)) => {
                    let start: Dims = inside.iter().zip(inner).map(|(n, length)| n * length).collect();
                    Region::new(start, inner.clone()).unwrap_or_default()
                }
            };
            Group { key: chunk.iter().chain(&inside).copied().collect(), part, members }
        };
        groups.into_iter().map(group).collect()
    }
}
