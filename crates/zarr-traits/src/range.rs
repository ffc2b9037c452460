//! Byte ranges of one object.

use std::ops::Range;

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
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX); // fits: it is inside a value in memory
        Ok(value.slice(place(range.start)..place(range.end)))
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
        for (offset, len) in [(4, 2), (6, 0), (u64::MAX, 2)] {
            let e = ByteRange::Span { offset, len }.resolve(5).unwrap_err();
            assert_eq!(e.kind(), StoreErrorKind::RangeNotSatisfiable { size: 5 });
        }
    }
}
