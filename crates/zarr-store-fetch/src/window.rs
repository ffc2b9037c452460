//! The wanted part of a body that arrives in pieces.

use std::ops::Range;

use zarr_store::http::{HttpFailure, Why};

/// Which bytes of a body are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All bytes; more than this many are refused.
    AtMost(u64),
    /// The `len` bytes after the first `skip`.
    Part { skip: u64, len: u64 },
    /// The last bytes, at most this many.
    Last(u64),
}

/// Gathers the wanted bytes. It never holds more than twice their number.
#[derive(Debug)]
pub(crate) struct Window {
    keep: Keep,
    /// The number of bytes that have arrived.
    seen: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Returns an empty window. `expected` is the number of bytes that are likely to be kept.
    pub(crate) fn new(keep: Keep, expected: Option<u64>) -> Result<Self, HttpFailure> {
        let most = match keep {
            Keep::AtMost(most) | Keep::Part { len: most, .. } | Keep::Last(most) => most,
        };
        let mut window = Self { keep, seen: 0, bytes: Vec::new() };
        window.reserve(expected.unwrap_or(0).min(most))?;
        Ok(window)
    }

    /// Returns which part of the next piece, which has `len` bytes, is kept, and the memory to copy it to.
    pub(crate) fn room(&mut self, len: u64) -> Result<(Range<u64>, &mut [u8]), HttpFailure> {
        let start = self.seen;
        self.seen = self.seen.saturating_add(len);
        let part = match self.keep {
            Keep::AtMost(most) if self.seen > most => return Err(too_large(None, most)),
            Keep::AtMost(_) => 0..len,
            Keep::Part { skip, len: wanted } => {
                let end = skip.saturating_add(wanted).saturating_sub(start).min(len);
                skip.saturating_sub(start).min(end)..end
            }
            Keep::Last(most) => {
                let held = self.bytes.len() as u64;
                if held.saturating_add(len.min(most)) > most.saturating_mul(2) {
                    self.shorten(most);
                }
                len.saturating_sub(most)..len
            }
        };
        let added = self.reserve(part.end - part.start)?;
        let from = self.bytes.len();
        self.bytes.resize(from + added, 0);
        Ok((part, self.bytes.get_mut(from..).unwrap_or_default()))
    }

    /// Whether no further piece is needed.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.keep, Keep::Part { skip, len } if self.seen >= skip.saturating_add(len))
    }

    /// Returns the kept bytes, and the number of bytes that have arrived.
    pub(crate) fn finish(mut self) -> (Vec<u8>, u64) {
        if let Keep::Last(most) = self.keep {
            self.shorten(most);
        }
        (self.bytes, self.seen)
    }

    /// Keeps the last `most` bytes.
    fn shorten(&mut self, most: u64) {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let excess = self.bytes.len().saturating_sub(most);
        self.bytes.drain(..excess);
    }

    /// Makes room for `bytes` more bytes, and returns their number as `usize`.
    fn reserve(&mut self, bytes: u64) -> Result<usize, HttpFailure> {
        let no_memory = || HttpFailure::new(Why::NoMemory, format!("there is no memory for {bytes} bytes"));
        let added = usize::try_from(bytes).map_err(|_| no_memory())?;
        self.bytes.try_reserve(added).map_err(|_| no_memory())?;
        Ok(added)
    }
}

/// Returns the failure of an answer with more than `most` bytes.
pub(crate) fn too_large(size: Option<u64>, most: u64) -> HttpFailure {
    let text = match size {
        Some(size) => format!("the object has {size} bytes, at most {most} are accepted"),
        None => format!("the server sends more than {most} bytes, the limit of this read"),
    };
    HttpFailure::new(Why::TooLarge(size), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends `0..size` in pieces of `piece` bytes.
    fn kept(keep: Keep, size: u8, piece: usize) -> Result<(Vec<u8>, u64, usize), HttpFailure> {
        let mut window = Window::new(keep, None)?;
        let mut held = 0;
        for piece in (0..size).collect::<Vec<u8>>().chunks(piece) {
            let (part, room) = window.room(piece.len() as u64)?;
            let part = usize::try_from(part.start).unwrap()..usize::try_from(part.end).unwrap();
            room.copy_from_slice(&piece[part]);
            held = held.max(window.bytes.len());
            if window.is_full() {
                break;
            }
        }
        let (bytes, seen) = window.finish();
        Ok((bytes, seen, held))
    }

    #[test]
    fn the_wanted_part_of_a_body_is_kept_however_it_arrives() {
        for piece in [1, 2, 3, 7, 100] {
            for (keep, part) in [
                (Keep::AtMost(20), 0..20),
                (Keep::AtMost(30), 0..20),
                (Keep::Part { skip: 0, len: 4 }, 0..4),
                (Keep::Part { skip: 5, len: 9 }, 5..14),
                (Keep::Part { skip: 15, len: 9 }, 15..20),
                (Keep::Part { skip: 30, len: 9 }, 0..0),
                (Keep::Last(3), 17..20),
                (Keep::Last(0), 0..0),
                (Keep::Last(50), 0..20),
            ] {
                let (bytes, seen, _) = kept(keep, 20, piece).unwrap();
                assert_eq!(bytes, part.collect::<Vec<u8>>(), "{keep:?} by {piece}");
                assert!(seen == 20 || matches!(keep, Keep::Part { .. }));
            }
        }
    }

    #[test]
    fn memory_stays_within_the_limit() {
        let failure = kept(Keep::AtMost(19), 20, 7).unwrap_err();
        assert_eq!(failure.why, Why::TooLarge(None));
        assert!(kept(Keep::Last(3), 200, 5).unwrap().2 <= 6);
        assert_eq!(kept(Keep::Part { skip: 2, len: 2 }, 200, 5).unwrap(), (vec![2, 3], 5, 2));
        assert_eq!(Window::new(Keep::AtMost(u64::MAX), Some(u64::MAX)).unwrap_err().why, Why::NoMemory);
    }
}
