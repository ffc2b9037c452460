//! Writes of a shard or a part of it: written inner chunks are encoded, all others keep their bytes.

use std::sync::Arc;
use zarr_traits::strided::to_usize;

use zarr_traits::strided::{Cut, Destination, Dims, Source, Swap, byte_len, zeroed};
use zarr_traits::update::{ChunkUpdate, EncodedInner, InnerChunks, JoinedObject, NewInner, SelectedPart};
use zarr_traits::{Bytes, CodecError, CodecErrorKind, CodecResult, Region, Scratch, Span};

use crate::NAME;
use crate::index::{Entries, Layout, MISSING};
use crate::inner::Touched;
use crate::shard::{Shard, outside, slice};

#[derive(Debug)]
pub(crate) struct ShardUpdate {
    shard: Arc<Shard>,
    layout: Layout,
    how: InnerChunks,
    picks: SelectedPart,
    /// The written elements of each dimension, cut at the borders of inner chunks.
    written: Vec<Cut>,
    count: usize,
    old: Option<Old>,
}

/// The shard before the update.
#[derive(Debug)]
struct Old {
    object: Bytes,
    entries: Entries,
}

/// The written elements of one inner chunk.
struct Written {
    number: Dims,
    /// The position of its first element among the written elements.
    at: Dims,
    /// The number of elements in each dimension.
    count: Dims,
    /// The elements within the inner chunk.
    picks: SelectedPart,
}

/// The source of bytes of the new object: a buffer, or the old object.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Origin {
    Buffer(usize),
    Old,
}

impl ShardUpdate {
    pub(crate) fn new(
        shard: Arc<Shard>,
        layout: Layout,
        picks: &SelectedPart,
        how: InnerChunks,
    ) -> Option<Self> {
        let counts = picks.counts();
        let cut =
            |dim| Cut::even(picks.part.start()[dim], picks.steps[dim], counts[dim], shard.chunk[dim]).ok();
        let written = (0..counts.len()).map(cut).collect::<Option<Vec<_>>>()?;
        let count = written.iter().map(Cut::len).collect::<Dims>().product().map(to_usize)?;
        Some(Self { shard, layout, how, picks: picks.clone(), written, count, old: None })
    }

    /// Returns written inner chunk `number`, counted in C order.
    fn written(&self, number: usize) -> CodecResult<Written> {
        let rank = self.written.len();
        let [mut chunk, mut at, mut count, mut start, mut extent] =
            std::array::from_fn(|_| Dims::filled(0, rank));
        let mut rest = number as u64;
        for (dim, cut) in self.written.iter().enumerate().rev() {
            let piece = cut.piece(rest % cut.len().max(1)).ok_or_else(outside)?;
            rest /= cut.len();
            let step = self.picks.steps[dim];
            (chunk[dim], at[dim]) = (piece.interval, piece.elements.start);
            count[dim] = piece.elements.end - piece.elements.start;
            start[dim] = self.picks.part.start()[dim] + at[dim] * step - piece.start;
            extent[dim] = (count[dim] - 1) * step + 1;
        }
        let part = Region::new(start, extent).ok_or_else(outside)?;
        Ok(Written { number: chunk, at, count, picks: SelectedPart::new(part, self.picks.steps.clone()) })
    }

    /// Returns the position of an inner chunk among the written ones, or `None` if it is not written.
    fn place(&self, number: &[u64]) -> Option<usize> {
        let place = self
            .written
            .iter()
            .zip(number)
            .try_fold(0, |place, (cut, number)| Some(place * cut.len() + cut.find_interval(*number)?));
        place.map(to_usize)
    }

    /// Returns the bytes of an inner chunk in the old object, or `None` if it was missing.
    fn old_span(&self, number: &[u64]) -> CodecResult<Option<(&Old, Span)>> {
        let Some(old) = &self.old else { return Ok(None) };
        let room = self.shard.room(&self.layout, Some(old.object.len() as u64));
        Ok(room.span(number, old.entries.of(number))?.map(|span| (old, span)))
    }

    fn encode_inner(
        &self,
        written: &Written,
        src: &Source<'_>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> CodecResult<bool> {
        let shard = &*self.shard;
        let covered = written.count == shard.chunk;
        let old = if covered { None } else { self.old_span(&written.number)? };
        let old = old.map(|(old, span)| old.object.slice_ref(slice(&old.object, span).unwrap_or_default()));
        if let Some(mut inner) = shard.inner.update(&shard.chunk, &written.picks, self.how) {
            if let Some(old) = old {
                inner.feed(old)?;
            }
            return append(&*inner, self.how.store_fill, src, out, scratch);
        }
        if covered {
            return self.encode_whole(src.clone(), out, scratch);
        }
        let mut buffer = scratch.take(byte_len(&shard.chunk, src.size())?)?;
        let mut chunk = Destination::dense(&mut buffer, &shard.chunk, src.size())?;
        match old {
            Some(old) => {
                let all = Region::whole(&shard.chunk);
                shard.inner.decode_into(&old, &shard.chunk, &all, chunk.reborrow(), scratch)?;
            }
            None => chunk.fill(shard.fill.bytes())?,
        }
        let part = &written.picks.part;
        chunk.sub(part.start(), part.shape())?.step(&self.picks.steps)?.put(src.clone(), Swap::NONE)?;
        let stored = self.encode_whole(Source::dense(&buffer, &shard.chunk, src.size())?, out, scratch);
        scratch.give(buffer);
        stored
    }

    fn encode_whole(&self, chunk: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<bool> {
        if !self.how.store_fill && chunk.is_filled_with(self.shard.fill.bytes()) {
            return Ok(false);
        }
        self.shard.inner.encode(chunk, out, scratch)?;
        Ok(true)
    }

    fn join_all(
        &self,
        buffers: &[Bytes],
        inner: &[NewInner],
        scratch: &mut Scratch,
    ) -> CodecResult<JoinedObject> {
        let shard = &*self.shard;
        let mut entries = zeroed::<u64>(self.layout.index.product().map(to_usize).ok_or_else(outside)?)?;
        entries.fill(MISSING);
        let all = Touched::all(&self.layout.chunks);
        let mut runs: Vec<(Origin, u64, u64)> = Vec::new();
        let mut end = if shard.at_start { self.layout.index_len } else { 0 };
        for number in all.positions(self.how.order) {
            let becomes = match self.place(&number) {
                Some(place) => *inner.get(place).ok_or_else(outside)?,
                None => NewInner::Kept,
            };
            let (origin, start, len) = match becomes {
                NewInner::Encoded(e) => (Origin::Buffer(e.buffer), e.start as u64, e.len as u64),
                NewInner::Fill => continue,
                _ => match self.old_span(&number)? {
                    Some((_, span)) => (Origin::Old, span.offset, span.len),
                    None => continue,
                },
            };
            let place = 2 * all.place(&number).ok_or_else(outside)?;
            entries[place..place + 2].copy_from_slice(&[end, len]);
            end = end.checked_add(len).filter(|end| *end <= shard.object_limit).ok_or_else(|| {
                let message = format!("the shard would exceed the limit of {} bytes", shard.object_limit);
                CodecError::new(CodecErrorKind::LimitExceeded, message)
            })?;
            match runs.last_mut() {
                Some(run) if run.0 == origin && run.1 + run.2 == start => run.2 += len,
                _ => runs.push((origin, start, len)),
            }
        }
        let index = shard.encode_index(&entries, &self.layout, scratch)?;
        let is_empty = runs.is_empty();
        let mut parts = Vec::with_capacity(runs.len() + 1);
        for (origin, start, len) in runs {
            let bytes = match origin {
                Origin::Buffer(buffer) => buffers.get(buffer),
                Origin::Old => self.old.as_ref().map(|old| &old.object),
            };
            let bytes = bytes.ok_or_else(outside)?;
            parts.push(bytes.slice_ref(slice(bytes, Span { offset: start, len }).ok_or_else(outside)?));
        }
        parts.insert(if shard.at_start { 0 } else { parts.len() }, index.into());
        Ok(JoinedObject::new(parts, is_empty))
    }
}

/// Performs a complete update on this thread: appends the new object to `out`, or returns `false` if nothing is stored.
pub(crate) fn append(
    update: &dyn ChunkUpdate,
    store_fill: bool,
    src: &Source<'_>,
    out: &mut Vec<u8>,
    scratch: &mut Scratch,
) -> CodecResult<bool> {
    let mut buffer = scratch.take_vec();
    let mut inner = Vec::with_capacity(update.count());
    for number in 0..update.count() {
        let (start, elements) = (buffer.len(), update.elements(number)?);
        let src = src.sub(elements.start(), elements.shape())?;
        inner.push(match update.encode(number, &src, &mut buffer, scratch)? {
            true => NewInner::Encoded(EncodedInner::new(0, start, buffer.len() - start)),
            false => NewInner::Fill,
        });
    }
    let buffer = Bytes::from(buffer);
    let JoinedObject { parts, is_empty, .. } = update.join(std::slice::from_ref(&buffer), &inner, scratch)?;
    let stored = store_fill || !is_empty;
    if stored {
        parts.iter().for_each(|part| out.extend_from_slice(part));
    }
    drop(parts);
    buffer.try_into_mut().into_iter().for_each(|memory| scratch.give_vec(memory.into()));
    Ok(stored)
}

impl ChunkUpdate for ShardUpdate {
    fn feed(&mut self, object: Bytes) -> CodecResult<()> {
        let all = Touched::all(&self.layout.chunks);
        let entries = self
            .shard
            .index_of(&object, &self.layout)
            .and_then(|index| self.shard.entries(index, &self.layout, all, &mut Scratch::new()))
            .map_err(|e| e.in_codec(NAME, "decode"))?;
        self.old = Some(Old { object, entries });
        Ok(())
    }

    fn count(&self) -> usize {
        self.count
    }

    fn elements(&self, number: usize) -> CodecResult<Region> {
        let Written { at, count, .. } = self.written(number)?;
        Region::new(at, count).ok_or_else(outside)
    }

    fn encode(
        &self,
        number: usize,
        src: &Source<'_>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> CodecResult<bool> {
        let written = self.written(number)?;
        let stored = self.encode_inner(&written, src, out, scratch);
        stored.map_err(|e| e.in_inner_chunk(&written.number).in_codec(NAME, "encode"))
    }

    fn join(
        &self,
        buffers: &[Bytes],
        inner: &[NewInner],
        scratch: &mut Scratch,
    ) -> CodecResult<JoinedObject> {
        self.join_all(buffers, inner, scratch).map_err(|e| e.in_codec(NAME, "encode"))
    }
}
