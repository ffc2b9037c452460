//! The bytes that were read from an object.

use zarr_strided::to_usize;
use zarr_traits::{Buffer, Bytes, CodecError, Scratch, Span};

use crate::error::{ArrayError, ArrayResult};

/// The bytes of an object.
pub(crate) enum Loaded {
    /// Bytes in scratch memory, one range after the other.
    Scratch(Buffer),
    /// Bytes shared by the store, one value per range; and the scratch memory that was not used.
    Bytes(Vec<Bytes>, Buffer),
}

/// Ranges of an object.
pub(crate) struct Fetched {
    loaded: Loaded,
    /// The ranges, disjoint, in ascending order, loaded one after the other.
    ranges: Vec<Span>,
    /// The start of each range in scratch memory; empty if there is only one range.
    starts: Vec<usize>,
}

impl Loaded {
    pub(crate) fn empty() -> Self {
        Self::Bytes(Vec::new(), Buffer::of(Vec::new(), 0))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Scratch(buffer) => buffer.len(),
            Self::Bytes(parts, _) => parts.iter().map(Bytes::len).sum(),
        }
    }

    /// Returns the bytes of an object that was read as one range.
    pub(crate) fn whole(&self) -> &[u8] {
        match self {
            Self::Scratch(buffer) => buffer,
            Self::Bytes(parts, _) => parts.first().map_or(&[], |b| b),
        }
    }

    /// Returns the bytes of [`whole`](Self::whole) as a shared value, and the scratch memory, which may hold them.
    pub(crate) fn into_bytes(self) -> (Bytes, Bytes) {
        match self {
            Self::Scratch(buffer) => buffer.into_bytes(),
            Self::Bytes(parts, unused) => {
                (parts.into_iter().next().unwrap_or_default(), unused.into_bytes().1)
            }
        }
    }

    pub(crate) fn give_to(self, scratch: &mut Scratch) {
        match self {
            Self::Scratch(buffer) | Self::Bytes(_, buffer) => scratch.give(buffer),
        }
    }
}

impl Fetched {
    pub(crate) fn new(loaded: Loaded, ranges: Vec<Span>) -> Self {
        let mut next = 0;
        let start = |range: &Span| {
            let start = next;
            next += to_usize(range.len);
            start
        };
        let starts = match &loaded {
            Loaded::Scratch(_) if ranges.len() > 1 => ranges.iter().map(start).collect(),
            _ => Vec::new(),
        };
        Self { loaded, ranges, starts }
    }

    pub(crate) fn len(&self) -> usize {
        self.loaded.len()
    }

    /// Returns the bytes of a span, or of `count` spans that follow each other in memory and have its length.
    pub(crate) fn bytes(&self, span: Span, count: usize) -> ArrayResult<&[u8]> {
        if span.len == 0 {
            return Ok(&[]);
        }
        self.find(span, count).ok_or_else(|| outside(span))
    }

    fn find(&self, span: Span, count: usize) -> Option<&[u8]> {
        let (number, within) = zarr_engine::within(span, &self.ranges)?;
        let bytes = match &self.loaded {
            Loaded::Bytes(parts, _) => &parts.get(number)?[..],
            Loaded::Scratch(buffer) => buffer.get(self.starts.get(number).copied().unwrap_or(0)..)?,
        };
        bytes.get(within.start..within.start + within.len().checked_mul(count)?)
    }

    /// Returns how many of these spans, at least the first one, follow each other in memory and have one length.
    pub(crate) fn run(&self, spans: impl IntoIterator<Item = Span>) -> usize {
        let mut spans = spans.into_iter();
        let Some(first) = spans.next() else { return 0 };
        let number = self.ranges.partition_point(|range| range.offset < first.offset);
        match self.ranges.get(number..) {
            Some([range, ranges @ ..]) if *range == first && !self.starts.is_empty() => {
                let follow = ranges.iter().zip(spans);
                1 + follow.take_while(|(range, span)| *range == span && span.len == first.len).count()
            }
            _ => 1,
        }
    }

    pub(crate) fn give_to(self, scratch: &mut Scratch) {
        self.loaded.give_to(scratch);
    }
}

pub(crate) fn outside(Span { offset, len }: Span) -> ArrayError {
    CodecError::corrupt(format!("{len} bytes at offset {offset} lie outside the object")).into()
}
