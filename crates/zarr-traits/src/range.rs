//! Byte ranges of one object, and how reads of them are combined.

use std::ops::Range;
use zarr_strided::to_usize;

use bytes::Bytes;

use crate::error::{StoreError, StoreErrorKind, StoreResult};

/// A range of bytes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteRange {
    /// The whole object.
    All,
    /// `len` bytes from `offset`. All of them must lie inside the object.
    Span {
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        len: u64,
    },
    /// The last bytes of the object, at most this many. A shorter object is returned whole.
    Suffix(u64),
}

impl ByteRange {
    /// Returns the bytes that the range means in an object of `size` bytes.
    ///
    /// # Errors
    /// [`StoreErrorKind::RangeNotSatisfiable`] if a span is not completely inside the object.
    pub fn resolve(self, size: u64) -> StoreResult<Range<u64>> {
        match self {
            Self::All => Ok(0..size),
            Self::Suffix(n) => Ok(size.saturating_sub(n)..size),
            Self::Span { offset, len } => match offset.checked_add(len) {
                Some(end) if end <= size => Ok(offset..end),
                _ => Err(StoreError::new(
                    StoreErrorKind::RangeNotSatisfiable { size },
                    format!("{len} bytes at offset {offset} are not inside an object of {size} bytes"),
                )),
            },
        }
    }

    /// Returns the range of `value`, without a copy.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn of(self, value: &Bytes) -> StoreResult<Bytes> {
        let range = self.resolve(value.len() as u64)?;
        Ok(value.slice(to_usize(range.start)..to_usize(range.end)))
    }
}

/// A span of bytes of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
}

impl Span {
    /// Returns the end of the span (exclusive), or `None` if it exceeds `u64`.
    pub fn end(self) -> Option<u64> {
        self.offset.checked_add(self.len)
    }
}

impl From<Span> for ByteRange {
    fn from(span: Span) -> Self {
        Self::Span { offset: span.offset, len: span.len }
    }
}

/// A span. A range that ends before its start is empty.
impl From<Range<u64>> for ByteRange {
    fn from(range: Range<u64>) -> Self {
        Self::Span { offset: range.start, len: range.end.saturating_sub(range.start) }
    }
}

/// How to combine reads of parts of objects. [`Drive::fetching`](crate::store::Drive::fetching) has the defaults per kind of
/// store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetching {
    /// The largest gap, in bytes, between two ranges of one object that are read as one. 4 KiB for a local store, else
    /// the store's own value.
    pub gap: u64,
    /// The largest range, in bytes, that results from closing gaps. 1 MiB for a local store, else 16 times the gap.
    /// Adjacent ranges are always merged.
    pub span: u64,
    /// An object of at most this many bytes is read whole instead of in two steps (a small shard). So is a larger
    /// object if most of it is needed. 16 KiB for a local store, else equal to the gap. 0 disables whole reads.
    pub whole: u64,
}

impl Fetching {
    /// Returns settings with this largest gap, largest range and size of objects that are read whole, in bytes.
    pub const fn new(gap: u64, span: u64, whole: u64) -> Self {
        Self { gap, span, whole }
    }

    /// Returns the settings with another size of objects that are read whole.
    #[must_use]
    pub const fn with_whole(self, whole: u64) -> Self {
        Self { whole, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_resolve_exactly_or_not_at_all() {
        assert_eq!(ByteRange::All.resolve(5).unwrap(), 0..5);
        assert_eq!(ByteRange::Suffix(9).resolve(5).unwrap(), 0..5);
        assert_eq!(ByteRange::Suffix(2).resolve(5).unwrap(), 3..5);
        assert_eq!(ByteRange::Span { offset: 5, len: 0 }.resolve(5).unwrap(), 5..5);
        assert_eq!(ByteRange::from(2..5).resolve(5).unwrap(), 2..5);
        for (offset, len) in [(4, 2), (6, 0), (u64::MAX, 2)] {
            let e = ByteRange::Span { offset, len }.resolve(5).unwrap_err();
            assert_eq!(e.kind(), StoreErrorKind::RangeNotSatisfiable { size: 5 });
        }
    }
}
