//! Reading: the whole object of a chunk, or the ranges that its codecs want, decoded into its cell of the result.

use std::sync::Arc;

use zarr_strided::{Destination, Output, Source, Swap};
use zarr_traits::chain::byte_len;
use zarr_traits::{
    ByteRange, ChunkRead, CodecError, Dims, Hints, If, Key, Piece, Scratch, Span, StoreErrorKind, Version,
    block_on,
};

use crate::core::{Core, Loaded, Missing, wrong_size};
use crate::element::Element;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::{Stored, Task, caught, run};
use crate::plan::{Cell, Plan};
use crate::select::Selection;
use crate::values::{NdVec, check_element, fresh};

/// Bytes that one range of a partial read should not exceed.
const SPAN: u64 = 1 << 20;

/// Bytes of a result below which other threads are not worth waking.
const SMALL: u64 = 256 << 10;

/// How often the reading of one object begins again because it was changed meanwhile.
const RESTARTS: usize = 3;

struct Read {
    core: Arc<Core>,
    plan: Plan,
    output: Output,
    bytes: u64,
    /// Bytes of a chunk, about, as the store holds it.
    chunk_bytes: u64,
    /// Whether the result is known to be zero where nothing is written.
    zeroed: bool,
}

pub(crate) struct Found {
    cell: Cell,
    data: Data,
}

enum Data {
    Absent,
    Whole(Loaded),
    Pieces(Vec<Piece>, Loaded),
}

/// A selection resolved against an array: the shape of all its dimensions, and of those it keeps.
pub(crate) struct Target {
    pub(crate) plan: Plan,
    pub(crate) full: Dims,
    pub(crate) kept: Vec<u64>,
}

impl Target {
    pub(crate) fn new(core: &Core, selection: &Selection) -> ArrayResult<Self> {
        let picked = selection.resolve(&core.shape).map_err(|e| e.in_array(&core.path))?;
        let full: Dims = picked.iter().map(|p| p.count).collect();
        let fits = byte_len(&full, core.size).map_err(ArrayError::from);
        let plan = fits.and_then(|_| Plan::new(&picked, &core.shape, &*core.grid));
        let plan = plan.map_err(|e| e.in_array(&core.path))?;
        let kept = full.iter().zip(plan.keep()).filter(|(_, keep)| **keep).map(|(n, _)| *n).collect();
        Ok(Self { plan, full, kept })
    }
}

/// Reads into new memory.
pub(crate) async fn read<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    may_block: bool,
) -> ArrayResult<NdVec<T>> {
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let Target { plan, full, kept } = Target::new(core, &selection)?;
    let memory = fresh::<T::Memory>(&full, core.limits.result_bytes).map_err(|e| e.in_array(&core.path))?;
    let cuts = plan.cuts(&full);
    let output = Output::new(memory, &full, cuts)?;
    let memory = fill(core, plan, output, true, may_block).await?;
    Ok(NdVec::assume(kept, T::from_memory(memory)))
}

/// Reads the bytes of elements of any data type, in the byte order of this machine, into new memory.
pub(crate) async fn read_bytes(
    core: &Arc<Core>,
    selection: Selection,
    may_block: bool,
) -> ArrayResult<(Vec<u64>, Vec<u8>)> {
    let Target { plan, mut full, kept } = Target::new(core, &selection)?;
    let rank = full.len();
    full.push(core.size as u64);
    let memory = fresh::<u8>(&full, core.limits.result_bytes).map_err(|e| e.in_array(&core.path))?;
    let full = &full[..rank];
    let output = Output::sized(memory, core.size, full, plan.cuts(full))?;
    Ok((kept, fill(core, plan, output, true, may_block).await?))
}

/// Reads into memory that the caller gives away and gets back.
pub(crate) async fn read_into<T: Element>(
    core: &Arc<Core>,
    selection: Selection,
    values: NdVec<T>,
    may_block: bool,
) -> ArrayResult<NdVec<T>> {
    let Target { plan, full, kept } = Target::new(core, &selection)?;
    if values.shape() != kept {
        return Err(wrong_shape(&kept, values.shape()).in_array(&core.path));
    }
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let (kept, mut values) = values.into_parts();
    if T::as_memory_mut(&mut values).is_none() {
        return read(core, selection, may_block).await;
    }
    let memory = T::into_memory(values);
    let output = Output::new(memory, &full, plan.cuts(&full))?;
    Ok(NdVec::assume(kept, T::from_memory(fill(core, plan, output, false, may_block).await?)))
}

/// Reads into borrowed memory: only a blocking caller may lend it.
pub(crate) fn read_into_slice<T: Element>(
    core: &Arc<Core>,
    selection: &Selection,
    values: &mut [T],
) -> ArrayResult<()> {
    check_element::<T>(&core.data_type).map_err(|e| e.in_array(&core.path))?;
    let Target { plan, full, .. } = Target::new(core, selection)?;
    if full.product() != Some(values.len() as u64) {
        return Err(wrong_shape(&full, &[values.len() as u64]).in_array(&core.path));
    }
    let Some(memory) = T::as_memory_mut(values) else {
        let read = block_on(read::<T>(core, selection.clone(), true))?;
        values.copy_from_slice(read.as_slice());
        return Ok(());
    };
    let cuts = plan.cuts(&full);
    Output::lend(memory, &full, cuts, |output| {
        let task = task(core, plan, output, false);
        block_on(run(&task, &core.place(true))).map_err(|e| e.in_array(&core.path))
    })?
}

fn wrong_shape(expected: &[u64], got: &[u64]) -> ArrayError {
    ArrayError::invalid(format!("the selection has shape {expected:?}, the memory has {got:?}"))
}

fn task(core: &Arc<Core>, plan: Plan, output: Output, zeroed: bool) -> Arc<Read> {
    let elements = Dims::from(output.shape()).product().unwrap_or(u64::MAX);
    let bytes = elements.saturating_mul(core.size as u64);
    let chunk_bytes =
        if core.chain.is_plain() { bytes / plan.cells().max(1) } else { core.chunk_bytes(&plan) };
    Arc::new(Read { core: core.clone(), plan, output, bytes, chunk_bytes, zeroed })
}

/// Runs the read, and takes the memory back out of it.
async fn fill<M: zarr_strided::Plain>(
    core: &Arc<Core>,
    plan: Plan,
    output: Output,
    zeroed: bool,
    may_block: bool,
) -> ArrayResult<Vec<M>> {
    let task = task(core, plan, output, zeroed);
    run(&task, &core.place(may_block)).await.map_err(|e| e.in_array(&core.path))?;
    let output = Arc::into_inner(task).map(|task| task.output);
    match output.map(Output::into_vec) {
        Some(Ok(memory)) => Ok(memory),
        _ => unreachable!("a task that has run is held by nobody else"),
    }
}

impl Task for Read {
    const STORES: bool = false;

    type Found = Found;
    type Made = ();
    type Held = ();

    fn cells(&self) -> u64 {
        self.plan.cells()
    }

    fn is_small(&self) -> bool {
        self.bytes < SMALL || (self.cells() <= 2 && self.core.chain.is_plain())
    }

    fn expected_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    fn locate(&self, cell: u64, error: ArrayError) -> ArrayError {
        self.core.locate(&self.plan, cell, error)
    }

    async fn hold(&self, _: u64) -> ArrayResult<()> {
        Ok(())
    }

    async fn fetch(&self, number: u64, (): &mut (), scratch: Option<&mut Scratch>) -> ArrayResult<Found> {
        let cell = self.plan.cell(number);
        let key = self.core.key(&cell.chunk)?;
        let data = self.find(&cell, &key, scratch).await?;
        Ok(Found { cell, data })
    }

    fn bytes(found: &Found) -> u64 {
        match &found.data {
            Data::Absent => 0,
            Data::Whole(loaded) | Data::Pieces(_, loaded) => loaded.len() as u64,
        }
    }

    fn work(&self, number: u64, found: Found, scratch: &mut Scratch) -> ArrayResult<()> {
        self.decode(number, &found.cell, found.data, scratch)
    }

    async fn store(&self, _: u64, (): (), _: Option<&mut Scratch>) -> ArrayResult<Stored> {
        Ok(Stored::Done)
    }
}

impl Read {
    async fn find(&self, cell: &Cell, key: &Key, mut scratch: Option<&mut Scratch>) -> ArrayResult<Data> {
        if cell.part.is_whole(&cell.shape) {
            return self.find_whole(cell, key, scratch).await;
        }
        if !cell.is_dense() {
            // the box around what is wanted is held in memory, however little of it is wanted
            self.core.check_chunk(cell.part.shape())?;
        }
        let hints = Hints { gap: self.core.storage.capabilities().drive.merge_gap(), span: SPAN };
        for _ in 0..RESTARTS {
            let Some(read) = caught(|| Ok(self.core.chain.partial(&cell.shape, &cell.part, hints)))? else {
                return self.find_whole(cell, key, scratch).await;
            };
            match self.find_pieces(key, read, scratch.as_deref_mut()).await {
                Err(FetchError::Changed) => {}
                Err(FetchError::Other(e)) => return Err(e),
                Ok(data) => return Ok(data),
            }
        }
        Err(ArrayError::new(
            ArrayErrorKind::Conflict,
            "the object was changed while it was read, several times",
        ))
    }

    async fn find_whole(&self, cell: &Cell, key: &Key, scratch: Option<&mut Scratch>) -> ArrayResult<Data> {
        let loaded = self.core.load(key, &cell.shape, If::Any, scratch).await?;
        Ok(loaded.map_or(Data::Absent, |(loaded, _)| Data::Whole(loaded)))
    }

    /// The ranges that the codecs want: first what tells them which, then the pieces, all of one version of the object.
    async fn find_pieces(
        &self,
        key: &Key,
        mut read: Box<dyn ChunkRead>,
        scratch: Option<&mut Scratch>,
    ) -> Result<Data, FetchError> {
        let reader = self.core.storage.reader();
        let (mut version, mut size): (Option<Version>, Option<u64>) = (None, None);
        let mut looked = false;
        while !read.wants().is_empty() {
            let wants = if self.core.storage.capabilities().suffix {
                read.wants().to_vec()
            } else {
                // Without suffix ranges the size must be known first, of the version that is then read.
                if size.is_none() {
                    let Some(stat) = reader.size(key).await? else { return Ok(Data::Absent) };
                    (version, size, looked) = (stat.version, Some(stat.size), true);
                }
                read.wants().iter().map(|want| from_start(*want, size)).collect()
            };
            let condition = version.as_ref().map_or(If::Versioned, If::Pinned);
            let Some(reply) = reader.get_ranges(key, &wants, condition).await? else {
                return if looked { Err(FetchError::Changed) } else { Ok(Data::Absent) };
            };
            looked = true;
            (version, size) = (version.or(reply.version), size.or(reply.size));
            caught(|| Ok(read.feed(&reply.bytes, size)?))?;
        }
        let pieces = caught(|| {
            let mut pieces = Vec::new();
            read.pieces(&mut pieces)?;
            Ok(pieces)
        })?;
        let len = self.span_bytes(&pieces, size)?;
        let spans = pieces.iter().map(|piece| piece.span).filter(|span| span.len > 0);
        let ranges: Vec<ByteRange> = spans.map(ByteRange::from).collect();
        if ranges.is_empty() && looked {
            return Ok(Data::Pieces(pieces, Loaded::Bytes(Vec::new())));
        }
        let condition = version.as_ref().map_or(If::Any, If::Pinned);
        let (loaded, size) = match scratch {
            Some(scratch) => {
                let mut buffer = scratch.take(len)?;
                match reader.read_into(key, &ranges, condition, &mut buffer).await? {
                    Some(filled) => (Some(Loaded::Scratch(buffer)), filled.size),
                    None => (None, None),
                }
            }
            None => match reader.get_ranges(key, &ranges, condition).await? {
                Some(reply) => (Some(Loaded::Bytes(reply.bytes)), reply.size),
                None => (None, None),
            },
        };
        match (loaded, looked, size.zip(read.object_size())) {
            (None, true, _) => Err(FetchError::Changed),
            (None, false, _) => Ok(Data::Absent),
            (_, _, Some((size, expected))) if size != expected => {
                Err(FetchError::Other(wrong_size(size, expected)))
            }
            (Some(loaded), _, _) => Ok(Data::Pieces(pieces, loaded)),
        }
    }

    /// The bytes of all pieces together, which must lie inside the object and within what a chunk may have.
    fn span_bytes(&self, pieces: &[Piece], size: Option<u64>) -> ArrayResult<usize> {
        let mut sum = 0_u64;
        for Span { offset, len } in pieces.iter().map(|piece| piece.span) {
            let end = offset.checked_add(len).filter(|end| size.is_none_or(|size| *end <= size));
            if end.is_none() {
                let message = format!("{len} bytes at offset {offset} are not inside the object");
                return Err(CodecError::corrupt(message).into());
            }
            sum = sum.saturating_add(len);
        }
        if sum > self.core.limits.encoded_bytes {
            let message =
                format!("pieces of {sum} bytes exceed the limit of {}", self.core.limits.encoded_bytes);
            return Err(ArrayError::new(ArrayErrorKind::LimitExceeded, message));
        }
        Ok(usize::try_from(sum).unwrap_or(usize::MAX))
    }

    fn decode(&self, number: u64, cell: &Cell, data: Data, scratch: &mut Scratch) -> ArrayResult<()> {
        let Some(mut dst) = self.output.take(number) else {
            return Err(ArrayError::new(ArrayErrorKind::Panic, "a cell of the result was asked for twice"));
        };
        if let Data::Absent = data {
            if self.core.missing == Missing::Error {
                return Err(ArrayError::new(ArrayErrorKind::NotFound, "the chunk is missing"));
            }
            if !(self.zeroed && self.core.fill.is_zero()) {
                dst.fill(self.core.fill.bytes())?;
            }
            return Ok(());
        }
        if cell.is_dense() {
            return self.decode_part(cell, data, dst, scratch);
        }
        // Steps: the box around what is wanted, then every so manyth element of it.
        let size = self.core.size;
        let mut around = scratch.take(byte_len(cell.part.shape(), size)?)?;
        let all = Destination::dense(&mut around, cell.part.shape(), size)?;
        self.decode_part(cell, data, all, scratch)?;
        dst.put(Source::dense(&around, cell.part.shape(), size)?.step(&cell.steps)?, Swap::NONE)?;
        scratch.give(around);
        Ok(())
    }

    fn decode_part(
        &self,
        cell: &Cell,
        data: Data,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        match data {
            Data::Absent => {}
            Data::Whole(loaded) => {
                self.core.chain.decode_into(loaded.whole(), &cell.shape, &cell.part, dst, scratch)?;
                loaded.give_to(scratch);
            }
            Data::Pieces(pieces, loaded) => {
                let mut view = self.core.chain.encoded_view(dst)?;
                let (mut at, mut next) = (0_usize, 0);
                for piece in &pieces {
                    let len = usize::try_from(piece.span.len).unwrap_or(usize::MAX);
                    let src = match &loaded {
                        Loaded::Scratch(buffer) => buffer.get(at..at.saturating_add(len)),
                        Loaded::Bytes(_) if len == 0 => Some(&[][..]),
                        Loaded::Bytes(parts) => {
                            next += 1;
                            parts.get(next - 1).map(|b| &b[..])
                        }
                    };
                    let src = src.ok_or_else(|| wrong_size(loaded.len() as u64, (at + len) as u64))?;
                    piece.run(src, view.reborrow().sub(&piece.at, &piece.shape)?, scratch)?;
                    at += len;
                }
                loaded.give_to(scratch);
            }
        }
        Ok(())
    }
}

/// A suffix of an object of known size, as a span.
fn from_start(range: ByteRange, size: Option<u64>) -> ByteRange {
    match (range, size) {
        (ByteRange::Suffix(n), Some(size)) => {
            let len = n.min(size);
            ByteRange::Span { offset: size - len, len }
        }
        (range, _) => range,
    }
}

/// Why the pieces of a chunk could not be fetched.
enum FetchError {
    /// The object is another one by now: begin again.
    Changed,
    Other(ArrayError),
}

impl From<zarr_traits::StoreError> for FetchError {
    fn from(e: zarr_traits::StoreError) -> Self {
        if e.kind() == StoreErrorKind::Changed { Self::Changed } else { Self::Other(e.into()) }
    }
}

impl From<CodecError> for FetchError {
    fn from(e: CodecError) -> Self {
        Self::Other(e.into())
    }
}

impl From<ArrayError> for FetchError {
    fn from(e: ArrayError) -> Self {
        Self::Other(e)
    }
}
