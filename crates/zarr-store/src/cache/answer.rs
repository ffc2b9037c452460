//! Answers of a store, and the places of their parts in the object.

use std::time::Instant;

use zarr_traits::{ByteRange, Bytes, Version, store::ReadVersion};

use super::shelf::{Is, News, place};

/// An answer of a store.
pub(super) struct Answered<'a> {
    pub(super) ranges: &'a [ByteRange],
    pub(super) parts: Vec<&'a [u8]>,
    pub(super) version: Option<&'a Version>,
    pub(super) size: Option<u64>,
    pub(super) wanted: ReadVersion<'a>,
}

impl Answered<'_> {
    /// Returns the news to keep, in parts of at most `largest` bytes. Returns `None` if the answer has the wrong
    /// length, the places of its parts are not known, or the version is young and may equal the next one.
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
            // A copy, because the bytes of the store may be part of a larger buffer.
            parts: parts.map(|(start, part)| (start, Bytes::copy_from_slice(part))).collect(),
            current: !matches!(self.wanted, ReadVersion::Pinned(_)),
            until,
        })
    }

    /// Returns the starts of the parts in the object.
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
