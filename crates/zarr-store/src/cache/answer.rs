//! What a store has answered, and where in the object the parts of it lie.

use std::ops::Range;
use std::time::Instant;

use zarr_traits::{ByteRange, Bytes, Version, store::ReadVersion};

use super::shelf::{Is, News};

/// What a store has answered.
pub(super) struct Answered<'a> {
    pub(super) ranges: &'a [ByteRange],
    pub(super) parts: Vec<&'a [u8]>,
    pub(super) version: Option<&'a Version>,
    pub(super) size: Option<u64>,
    pub(super) wanted: ReadVersion<'a>,
}

impl Answered<'_> {
    /// What is to be held of it, in parts of at most `largest` bytes. `None`: it is not what was asked for, where it lies
    /// is not known, or the version is so young that the next one may look the same.
    pub(super) fn news(&self, largest: u64, until: Option<Instant>) -> Option<News> {
        let version = match self.version {
            Some(version) => Some(version.unpinned()?),
            None => None,
        };
        let size = match (self.ranges, &self.parts[..]) {
            ([ByteRange::All], [whole]) => Some(whole.len() as u64),
            _ => self.size,
        };
        let parts = self.starts(size)?.into_iter().zip(&self.parts);
        let parts = parts.filter(|(_, part)| !part.is_empty() && part.len() as u64 <= largest);
        Some(News {
            is: Is::Present { version, size },
            // Memory of its own: what the store gave may be part of something larger.
            parts: parts.map(|(start, part)| (start, Bytes::copy_from_slice(part))).collect(),
            current: !matches!(self.wanted, ReadVersion::Pinned(_)),
            until,
        })
    }

    /// Where the parts begin.
    fn starts(&self, size: Option<u64>) -> Option<Vec<u64>> {
        let start = |(range, part): (&ByteRange, &&[u8])| {
            let place = place(*range, size)?;
            (place.end - place.start == part.len() as u64).then_some(place.start)
        };
        if self.ranges.len() != self.parts.len() {
            return None;
        }
        self.ranges.iter().zip(&self.parts).map(start).collect()
    }
}

/// Where a range lies in an object of this size, if that can be said.
pub(super) fn place(range: ByteRange, size: Option<u64>) -> Option<Range<u64>> {
    match (range, size) {
        (range, Some(size)) => range.resolve(size).ok(),
        (ByteRange::Span { offset, len }, None) => Some(offset..offset.checked_add(len)?),
        _ => None,
    }
}
