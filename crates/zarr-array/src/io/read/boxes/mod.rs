//! Reads several boxes at once: every chunk, and every inner chunk, is fetched and decoded once for all of them. Reads
//! with a cache of decoded chunks are reads of one box.

mod cell;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use zarr_strided::{Destination, Output, Source, Swap};
use zarr_traits::{BoxFuture, Dims, Scratch, Version, byte_len, heap::Heap, partial::Piece};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::chunk_cache::Decoded;
use crate::io::core::{Core, with_heap};
use crate::io::fetch::opened::Opened;
use crate::io::fetch::{ChunkPart, Parts, Tally, strange};
use crate::io::loaded::Fetched;
use crate::plan::Plan;
use crate::run::{PART, SMALL, Stored, Task, run};
use crate::settings::MissingChunks;
pub(crate) use cell::ManyCell;
use cell::{Group, Member, around};

/// The largest number of chunks that all boxes together may touch, each chunk counted once for each box.
const MOST_CELLS: u64 = 1 << 20;

/// The memory of several results, and the heap of its contents.
type Filled = (Vec<Output>, Option<Arc<Heap>>);

/// Reads boxes into their memory. Returns it, and the heap of its contents. A wall (decision 0026).
pub(crate) fn fill_boxes(core: &Arc<Core>, boxes: Vec<(Plan, Output)>) -> BoxFuture<'_, ArrayResult<Filled>> {
    Box::pin(async move {
        let task = Arc::new(ReadMany::new(core, boxes)?);
        run(&task, &core.place()).await?;
        let done = Arc::into_inner(task).ok_or_else(|| strange("a finished task has several owners"))?;
        Ok((done.boxes.into_iter().map(|(_, output)| output).collect(), done.heap))
    })
}

impl Core {
    /// Whether a read of these elements uses the cache of decoded chunks.
    pub(crate) fn caches(&self, plan: &Plan) -> bool {
        let is_useful = self.data_type.size().is_some() && !self.chain.is_plain();
        self.decoded.is_some() && is_useful && plan.cells() <= MOST_CELLS
    }
}

/// A read of several boxes.
struct ReadMany {
    core: Arc<Core>,
    /// The boxes and their results.
    boxes: Vec<(Plan, Output)>,
    /// The touched chunks, in C order, each with the boxes that touch it and the numbers of their cells.
    chunks: Vec<(Dims, Vec<(usize, u64)>)>,
    /// The largest number of groups that are read together.
    together: usize,
    /// The decoded size of a group in bytes.
    group_bytes: u64,
    cache: Option<Decoded>,
    heap: Option<Arc<Heap>>,
}

pub(crate) struct Found {
    /// The elements of each group, if they are cached.
    cached: Vec<Option<Arc<Vec<u8>>>>,
    /// The numbers of the other groups, their fetched data and the version of the object.
    missing: Vec<usize>,
    parts: Parts,
    version: Option<Version>,
    /// Missing groups that threads can decode in parallel.
    shares: Vec<Range<usize>>,
}

impl ReadMany {
    fn new(core: &Arc<Core>, boxes: Vec<(Plan, Output)>) -> ArrayResult<Self> {
        let plans = || boxes.iter().map(|(plan, _)| plan);
        let cells = plans().map(Plan::cells).fold(0, u64::saturating_add);
        if cells > MOST_CELLS {
            let message = format!("the boxes touch {cells} chunks, read at most {MOST_CELLS} at once");
            return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
        }
        let mut chunks = BTreeMap::<Dims, Vec<(usize, u64)>>::new();
        for (number, plan) in plans().enumerate() {
            (0..plan.cells()).for_each(|cell| {
                chunks.entry(plan.cell(cell).chunk).or_default().push((number, cell));
            });
        }
        let cache = core.decoded.clone().filter(|_| plans().all(|plan| core.caches(plan)));
        let inner = core.inner();
        let largest = plans().map(|plan| core.chunk_bytes(plan)).max().unwrap_or(0);
        let (together, group_bytes) =
            inner.map_or((u64::MAX, largest), |inner| (inner.together.max(1), core.bytes_of(&inner.shape)));
        Ok(Self {
            core: core.clone(),
            boxes,
            chunks: chunks.into_iter().collect(),
            together: usize::try_from(together).unwrap_or(usize::MAX),
            group_bytes,
            cache,
            heap: core.heap(core.limits.result_bytes),
        })
    }

    /// The number of leaves of all boxes.
    fn leaves(&self) -> u64 {
        self.boxes.iter().map(|(plan, _)| plan.leaves()).fold(0, u64::saturating_add)
    }

    fn take(&self, member: &Member) -> ArrayResult<Destination<'_>> {
        let taken = self.boxes.get(member.number).and_then(|(_, output)| output.take(member.leaf));
        taken.ok_or_else(|| strange("a part of a result was decoded twice"))
    }

    fn fill(&self, group: &Group) -> ArrayResult<()> {
        if self.core.missing == MissingChunks::Error {
            return Err(ArrayError::new(ArrayErrorKind::NotFound, "the chunk is missing"));
        }
        let fill = &self.core.fill_element;
        group.members.iter().try_for_each(|member| Ok(self.take(member)?.fill(fill.bytes())?))
    }

    /// Decodes a group with `decode`, and copies its elements to all members.
    fn share(
        &self,
        group: &Group,
        version: Option<&Version>,
        scratch: &mut Scratch,
        decode: impl FnOnce(Destination<'_>, &mut Scratch) -> ArrayResult<()>,
    ) -> ArrayResult<()> {
        let (shape, size) = (group.part.shape(), self.core.size);
        if let Some(cache) = &self.cache {
            self.core.check_chunk(shape)?;
            let mut memory = zarr_strided::zeroed(byte_len(shape, size)?)?;
            decode(Destination::dense(&mut memory, shape, size)?, scratch)?;
            self.copy(group, &memory)?;
            cache.keep(&group.key, Arc::new(memory), version);
            return Ok(());
        }
        if let [only] = &group.members[..]
            && only.part == group.part
            && only.steps.iter().all(|step| *step == 1)
        {
            return decode(self.take(only)?, scratch);
        }
        let mut memory = scratch.take(byte_len(shape, size)?)?;
        decode(Destination::dense(&mut memory, shape, size)?, scratch)?;
        self.copy(group, &memory)?;
        scratch.give(memory);
        Ok(())
    }

    /// Copies the elements of a decoded group to all members.
    fn copy(&self, group: &Group, memory: &[u8]) -> ArrayResult<()> {
        let whole = Source::dense(memory, group.part.shape(), self.core.size)?;
        group.members.iter().try_for_each(|member| {
            let starts = member.part.start().iter().zip(group.part.start());
            let at: Dims = starts.map(|(at, start)| at - start).collect();
            let elements = whole.sub(&at, member.part.shape())?.step(&member.steps)?;
            Ok(self.take(member)?.put(elements, Swap::NONE)?)
        })
    }

    fn pieces(
        &self,
        group: &Group,
        pieces: &[Piece],
        fetched: &Fetched,
        version: Option<&Version>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        self.share(group, version, scratch, |mut dst, scratch| {
            pieces.iter().try_for_each(|piece| {
                let dst = dst.reborrow().sub(&piece.at, &piece.shape)?;
                Ok(zarr_engine::run_piece(piece, fetched.bytes(piece.span)?, dst, scratch)?)
            })
        })
    }
}

impl Task for ReadMany {
    const STORES: bool = false;

    type Cell = ManyCell;
    type Found = Found;
    type Made = ();
    type Held = ();
    type Opened = Opened;

    fn cells(&self) -> u64 {
        self.chunks.len() as u64
    }

    fn cell(&self, number: u64) -> ManyCell {
        let chunk = usize::try_from(number).ok().and_then(|number| self.chunks.get(number));
        let (chunk, cells) = chunk.cloned().unwrap_or_default();
        let members = cells.iter().flat_map(|(number, cell)| self.members(*number, *cell)).collect();
        let length = |dim| self.core.grid.span(dim, chunk[dim]).map_or(0, |span| span.end - span.start);
        let shape: Dims = (0..chunk.len()).map(length).collect();
        let groups = Arc::new(self.groups(&chunk, &shape, members));
        ManyCell { chunk, shape, range: 0..groups.len(), groups }
    }

    fn bytes_of(&self, cell: Option<&ManyCell>) -> u64 {
        let leaf = |member: &Member| {
            let count = |(n, step): (&u64, &u64)| n.div_ceil(*step);
            member.part.shape().iter().zip(&member.steps).map(count).collect::<Dims>()
        };
        match cell {
            Some(cell) => {
                let members = cell.groups().iter().flat_map(|group| &group.members);
                members.map(|member| self.core.bytes_of(&leaf(member))).fold(0, u64::saturating_add)
            }
            None => {
                let boxes = self.boxes.iter().map(|(_, output)| self.core.bytes_of(output.shape()));
                boxes.fold(0, u64::saturating_add)
            }
        }
    }

    fn is_small(&self) -> bool {
        self.chunks.len() <= 1 && !self.shares() || self.leaves().saturating_mul(self.group_bytes) < SMALL
    }

    fn shares(&self) -> bool {
        self.core.has_inner()
    }

    fn expected_bytes(&self) -> u64 {
        let groups = self.leaves().div_ceil(self.cells().max(1)).min(self.together as u64);
        self.group_bytes.saturating_add(Piece::BYTES).saturating_mul(groups.max(1))
    }

    fn made_bytes((): &()) -> u64 {
        0
    }

    fn locate(&self, cell: &ManyCell, error: ArrayError) -> ArrayError {
        self.core.locate(&cell.chunk, error)
    }

    async fn hold(&self, _: &ManyCell) -> ArrayResult<()> {
        Ok(())
    }

    fn blocks(&self, cell: &ManyCell) -> u64 {
        cell.groups.len().div_ceil(self.together).max(1) as u64
    }

    fn block(&self, cell: &ManyCell, number: u64) -> ManyCell {
        let start = usize::try_from(number).unwrap_or(usize::MAX).saturating_mul(self.together);
        let end = start.saturating_add(self.together).min(cell.groups.len());
        ManyCell { range: start..end, ..cell.clone() }
    }

    async fn open(&self, cell: &ManyCell) -> ArrayResult<Opened> {
        let (key, around) = (self.core.key(&cell.chunk)?, cell.around());
        let steps = Dims::filled(1, around.rank());
        self.core.open(cell.of(&key, &around, &steps), true, &mut Tally::default()).await
    }

    async fn fetch(
        &self,
        cell: &ManyCell,
        (): &(),
        opened: Option<&Opened>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Found> {
        let (key, groups) = (self.core.key(&cell.chunk)?, cell.groups());
        let cached = match &self.cache {
            Some(cache) => {
                cache.find(&self.core.storage, &key, groups.iter().map(|group| &group.key)).await?
            }
            None => vec![None; groups.len()],
        };
        let missing: Vec<usize> = (0..groups.len()).filter(|number| cached[*number].is_none()).collect();
        let wanted: Vec<_> = missing.iter().map(|number| &groups[*number].part).collect();
        let around = around(wanted.iter().copied());
        let steps = Dims::filled(1, around.rank());
        let chunk = ChunkPart { opened, ..cell.of(&key, &around, &steps) };
        let (parts, version) = self.core.fetch_parts(chunk, &wanted, scratch).await?;
        let at_once = usize::try_from((PART / self.group_bytes.max(1)).max(1)).unwrap_or(1);
        let shares = match &parts {
            Parts::Pieces(..) if self.shares() => {
                let all = missing.len();
                (0..all).step_by(at_once).map(|first| first..all.min(first + at_once)).collect()
            }
            _ => Vec::new(),
        };
        Ok(Found { cached, missing, parts, version, shares })
    }

    fn bytes(found: &Found) -> u64 {
        found.parts.fetched_bytes()
    }

    fn parts(found: &Found) -> u64 {
        found.shares.len() as u64
    }

    fn part(&self, cell: &ManyCell, found: &Found, part: u64, scratch: &mut Scratch) -> ArrayResult<()> {
        let share = usize::try_from(part).ok().and_then(|part| found.shares.get(part));
        let (Parts::Pieces(pieces, fetched), Some(share)) = (&found.parts, share) else { return Ok(()) };
        let version = found.version.as_ref();
        with_heap(self.heap.as_ref(), scratch, |scratch| {
            let mut groups = found.missing.iter().zip(pieces).skip(share.start).take(share.len());
            groups.try_for_each(|(number, pieces)| {
                self.pieces(&cell.groups()[*number], pieces, fetched, version, scratch)
            })
        })
    }

    fn work(&self, cell: &ManyCell, found: Found, scratch: &mut Scratch) -> ArrayResult<()> {
        let Found { cached, missing, parts, version, shares } = found;
        let (groups, version) = (cell.groups(), version.as_ref());
        let mut known =
            groups.iter().zip(&cached).filter_map(|(group, memory)| Some((group, memory.as_ref()?)));
        known.try_for_each(|(group, memory)| self.copy(group, memory))?;
        let mut missing = missing.iter().map(|number| &groups[*number]);
        with_heap(self.heap.as_ref(), scratch, |scratch| match parts {
            Parts::Absent => missing.try_for_each(|group| self.fill(group)),
            Parts::Whole(loaded) => {
                let (chain, object) = (&self.core.chain, loaded.whole());
                missing.try_for_each(|group| {
                    self.share(group, version, scratch, |dst, scratch| {
                        Ok(chain.decode_into(object, &cell.shape, &group.part, dst, scratch)?)
                    })
                })?;
                loaded.give_to(scratch);
                Ok(())
            }
            Parts::Pieces(pieces, fetched) => {
                if shares.is_empty() {
                    missing.zip(&pieces).try_for_each(|(group, pieces)| {
                        self.pieces(group, pieces, &fetched, version, scratch)
                    })?;
                }
                fetched.give_to(scratch);
                Ok(())
            }
        })
    }

    async fn store(&self, _: &ManyCell, (): (), _: Option<&mut Scratch>) -> ArrayResult<Stored> {
        Ok(Stored::Done)
    }
}
