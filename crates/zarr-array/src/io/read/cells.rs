//! A read, as the scheduler runs it.

use std::sync::Arc;

use zarr_engine::run::{self, Attempt, Cells, Sizes};
use zarr_strided::Output;
use zarr_traits::{Scratch, heap::Heap};

use crate::error::{ArrayError, ArrayResult};
use crate::io::chunk_cache::Decoded;
use crate::io::core::Core;
use crate::io::fetch::opened::Opened;
use crate::io::read::reader::{Found, Reader, Share};
use crate::io::read::sink::Sink;
use crate::io::read::sizes::sizes;
use crate::plan::joint::Joint;
use crate::plan::one_or_many::OneOrMany;
use crate::plan::{Cell, Plan};

/// The read of one or several selections.
pub(super) struct Read {
    pub(super) core: Arc<Core>,
    pub(super) joint: Joint,
    /// The result of each plan.
    pub(super) outputs: OneOrMany<Output>,
    pub(super) sizes: Sizes,
    cache: Option<Decoded>,
    zeroed: bool,
    /// The contents of elements of variable length.
    pub(super) heap: Option<Arc<Heap>>,
}

/// A cell of a read, or a block of one.
pub(super) struct ReadCell {
    read: Arc<Read>,
    cell: Cell,
    /// The index of the object, for blocks.
    opened: Option<Arc<Opened>>,
    found: Option<Found>,
    /// Pieces that threads can decode in parallel.
    shares: Vec<Share>,
}

impl Read {
    /// Returns the read of a plan whose result has some bytes, all zero if `zeroed`.
    #[inline]
    pub(super) fn one(core: &Arc<Core>, plan: Plan, bytes: u64, zeroed: bool) -> Self {
        Self::of(core, Joint::one(plan, core.decoded().is_some()), bytes, zeroed)
    }

    /// Returns the read of plans whose results have some bytes together, all zero.
    pub(super) fn several(core: &Arc<Core>, plans: OneOrMany<Plan>, bytes: u64) -> ArrayResult<Self> {
        Ok(Self::of(core, Joint::new(plans, core.decoded().is_some())?, bytes, true))
    }

    #[inline]
    fn of(core: &Arc<Core>, joint: Joint, bytes: u64, zeroed: bool) -> Self {
        Self {
            sizes: sizes(core, &joint, bytes),
            joint,
            outputs: OneOrMany::Many(Vec::new()),
            cache: core.decoded().cloned(),
            zeroed,
            heap: core.heap(core.limits.result_bytes),
            core: core.clone(),
        }
    }

    /// Gives the read the memory of its results.
    pub(super) fn into(self, outputs: impl IntoIterator<Item = Output>) -> Self {
        Self { outputs: outputs.into_iter().collect(), ..self }
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        let Self { core, joint, cache, heap, zeroed, .. } = self;
        Reader { core, joint, cache: cache.as_ref(), heap: heap.as_ref(), zeroed: *zeroed }
    }
}

impl Cells for Read {
    type Error = ArrayError;
    type Cell = ReadCell;

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn cell(self: &Arc<Self>, number: u64) -> ReadCell {
        ReadCell {
            read: self.clone(),
            cell: self.joint.cell(number),
            opened: None,
            found: None,
            shares: Vec::new(),
        }
    }

    fn locate(&self, number: u64, error: ArrayError) -> ArrayError {
        self.core.locate(&self.joint.cell(number).chunk, error)
    }
}

impl ReadCell {
    fn sink(&self) -> Sink<'_> {
        Sink::Tiles(&self.read.outputs)
    }
}

impl run::Cell for ReadCell {
    type Error = ArrayError;

    fn bytes(&self) -> u64 {
        self.read.joint.elements(&self.cell).saturating_mul(self.read.core.size as u64)
    }

    fn blocks(&self) -> u64 {
        self.read.joint.blocks(&self.cell)
    }

    async fn open(&mut self) -> ArrayResult<()> {
        self.opened = Some(Arc::new(self.read.reader().open(&self.cell).await?));
        Ok(())
    }

    fn block(&self, number: u64) -> Self {
        let (read, opened) = (self.read.clone(), self.opened.clone());
        Self { cell: read.joint.block(&self.cell, number), read, opened, found: None, shares: Vec::new() }
    }

    async fn hold(&mut self) -> ArrayResult<()> {
        Ok(())
    }

    async fn fetch(&mut self, scratch: Option<&mut Scratch>) -> ArrayResult<u64> {
        let reader = self.read.reader();
        let found = reader.fetch(&self.cell, self.opened.as_deref(), scratch).await?;
        self.shares = reader.divide(&self.cell, &found);
        Ok(self.found.insert(found).fetched_bytes())
    }

    fn parts(&self) -> u64 {
        self.shares.len() as u64
    }

    fn part(&self, part: u64, scratch: &mut Scratch) -> ArrayResult<()> {
        let share = usize::try_from(part).ok().and_then(|part| self.shares.get(part));
        let (Some(share), Some(found)) = (share, &self.found) else { return Ok(()) };
        self.read.reader().decode_share(&self.cell, found, share, &mut self.sink(), scratch)
    }

    fn work(&mut self, scratch: &mut Scratch) -> ArrayResult<u64> {
        let Some(found) = self.found.take() else { return Ok(0) };
        let (reader, mut sink) = (self.read.reader(), self.sink());
        reader.copy_cached(&self.cell, &found, &mut sink)?;
        if self.shares.is_empty() {
            reader.decode(&self.cell, &found, &mut sink, scratch)?;
        }
        found.give_to(scratch);
        Ok(0)
    }

    async fn store(&mut self, _: Option<&mut Scratch>) -> ArrayResult<Attempt> {
        Ok(Attempt::Done)
    }
}
