//! What was read of an object.

use zarr_traits::{Buffer, Bytes, Scratch, Span};

use crate::error::ArrayResult;
use crate::fetch::{in_memory, outside};

/// The bytes of an object.
pub(crate) enum Loaded {
    /// In scratch memory.
    Scratch(Buffer),
    /// As the store holds them.
    Bytes(Vec<Bytes>),
}

/// Ranges of an object.
pub(crate) struct Fetched {
    loaded: Loaded,
    /// In ascending order.
    ranges: Vec<Range>,
}

/// A range of an object, one of several that were loaded one behind the other.
struct Range {
    span: Span,
    /// Where it begins in what was loaded.
    at: usize,
}

impl Loaded {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Scratch(buffer) => buffer.len(),
            Self::Bytes(parts) => parts.iter().map(Bytes::len).sum(),
        }
    }

    /// The bytes, of an object that was asked for in one range.
    pub(crate) fn whole(&self) -> &[u8] {
        match self {
            Self::Scratch(buffer) => buffer,
            Self::Bytes(parts) => parts.first().map_or(&[], |b| b),
        }
    }

    /// As [`whole`](Self::whole), to be shared, and the scratch memory that the bytes lie in, if they do.
    pub(crate) fn into_bytes(self) -> (Bytes, Option<Bytes>) {
        match self {
            Self::Scratch(buffer) => {
                let (bytes, memory) = buffer.into_bytes();
                (bytes, Some(memory))
            }
            Self::Bytes(parts) => (parts.into_iter().next().unwrap_or_default(), None),
        }
    }

    pub(crate) fn give_to(self, scratch: &mut Scratch) {
        if let Self::Scratch(buffer) = self {
            scratch.give(buffer);
        }
    }
}

impl Fetched {
    pub(crate) fn new(loaded: Loaded, spans: impl IntoIterator<Item = Span>) -> Self {
        let mut at = 0;
        let range = |span: Span| {
            let range = Range { span, at };
            at += in_memory(span.len);
            range
        };
        Self { loaded, ranges: spans.into_iter().map(range).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.loaded.len()
    }

    /// The bytes of a piece.
    pub(crate) fn bytes(&self, span: Span) -> ArrayResult<&[u8]> {
        if span.len == 0 {
            return Ok(&[]);
        }
        self.find(span).ok_or_else(|| outside(span))
    }

    fn find(&self, span: Span) -> Option<&[u8]> {
        let number = self.ranges.partition_point(|range| range.span.offset <= span.offset).checked_sub(1)?;
        let range = &self.ranges[number];
        let bytes = match &self.loaded {
            Loaded::Bytes(parts) => &parts.get(number)?[..],
            Loaded::Scratch(buffer) => buffer.get(range.at..)?,
        };
        let within = usize::try_from(span.offset - range.span.offset).ok()?;
        bytes.get(within..within.checked_add(usize::try_from(span.len).ok()?)?)
    }

    pub(crate) fn give_to(self, scratch: &mut Scratch) {
        self.loaded.give_to(scratch);
    }
}
