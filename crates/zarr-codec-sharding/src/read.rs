//! Reading part of a shard: first the index, then only the inner chunks that the part touches.

use std::sync::Arc;

use zarr_traits::{
    ByteRange, Bytes, ChunkRead, CodecError, CodecErrorKind, CodecResult, Job, Piece, Region, Scratch, Span,
};

use crate::NAME;
use crate::codec::Shard;
use crate::index::Layout;
use crate::inner::{Overlap, Touched};

#[derive(Debug)]
pub(crate) struct ShardRead {
    shard: Arc<Shard>,
    layout: Layout,
    part: Region,
    touched: Touched,
    /// The index, until it was fed.
    wants: Vec<ByteRange>,
    /// The entries of the inner chunks touched.
    entries: Vec<u64>,
    /// The size of the object, where the store tells it; else it is the store that refuses what lies outside.
    size: Option<u64>,
}

impl ShardRead {
    pub(crate) fn new(shard: Arc<Shard>, layout: Layout, part: Region) -> Self {
        let index = if shard.at_start {
            ByteRange::Span { offset: 0, len: layout.index_len }
        } else {
            ByteRange::Suffix(layout.index_len)
        };
        let wants = if part.is_empty() { Vec::new() } else { vec![index] };
        let touched = Touched::by(&part, &shard.chunk);
        Self { shard, layout, part, touched, wants, entries: Vec::new(), size: None }
    }
}

impl ChunkRead for ShardRead {
    fn wants(&self) -> &[ByteRange] {
        &self.wants
    }

    fn feed(&mut self, bytes: &[Bytes], size: Option<u64>) -> CodecResult<()> {
        let ([index], false) = (bytes, self.wants.is_empty()) else {
            return Err(misused());
        };
        // a suffix of a shorter object is all of it
        if index.len() as u64 != self.layout.index_len {
            return Err(self.shard.too_short(index.len(), &self.layout).in_codec(NAME, "decode"));
        }
        let entries = self.shard.entries(index, &self.layout, &self.touched, &mut Scratch::new());
        self.entries = entries.map_err(|e| e.in_codec(NAME, "decode"))?;
        self.wants.clear();
        self.size = size;
        Ok(())
    }

    fn pieces(&self, out: &mut Vec<Piece>) -> CodecResult<()> {
        if !self.wants.is_empty() {
            return Err(misused());
        }
        let mut pieces = Vec::new();
        let room = self.shard.room(&self.layout, self.size);
        for (position, entry) in self.touched.positions().zip(self.entries.chunks_exact(2)) {
            let number = self.touched.chunk(&position);
            let overlap = Overlap::of(&self.part, &number, &self.shard.chunk).ok_or_else(misused)?;
            let span = room.span(&number, [entry[0], entry[1]]).map_err(|e| e.in_codec(NAME, "decode"))?;
            let shape = overlap.within.shape().into();
            let job = match span {
                None => Job::Fill(self.shard.fill.clone()),
                Some(_) => Job::Chain {
                    chain: self.shard.inner.clone(),
                    chunk: self.shard.chunk.clone(),
                    part: overlap.within,
                },
            };
            let span = span.unwrap_or(Span { offset: 0, len: 0 });
            pieces.push(Piece { span, at: overlap.at, shape, job });
        }
        pieces.sort_by_key(|piece| piece.span.offset);
        out.append(&mut pieces);
        Ok(())
    }
}

fn misused() -> CodecError {
    CodecError::new(
        CodecErrorKind::InvalidArgument,
        "a shard is fed its index once, and then asked for pieces",
    )
    .in_codec(NAME, "decode")
}
