//! The memory that a read fills, and its limit.

use std::any::Any;
use std::fmt;

use bytes::Bytes;
use zarr_strided::{Plain, bytes_of, bytes_of_mut, zeroed};

use crate::error::{StoreError, StoreErrorKind, StoreResult};
use crate::range::ByteRange;

/// Receives the bytes of a [`Read`](super::Read), up to a limit.
///
/// A store either appends bytes to the buffer ([`grow`](Self::grow), [`append`](Self::append)) or passes on memory that
/// it already has, without a copy ([`share`](Self::share)). The buffer refuses bytes above its limit before it
/// allocates memory for them.
///
/// ```
/// # use zarr_traits::{StoreErrorKind, store::ReadBuffer};
/// let mut buffer = ReadBuffer::new(4);
/// buffer.append(b"abc")?;
/// assert_eq!(buffer.append(b"de").unwrap_err().kind(), StoreErrorKind::TooLarge { size: None });
/// assert_eq!(buffer.into_bytes(), "abc");
/// # Ok::<(), zarr_traits::StoreError>(())
/// ```
pub struct ReadBuffer {
    limit: u64,
    expected: u64,
    /// Initialised memory. Its first `len` bytes are the content.
    memory: Memory,
    len: usize,
    /// The first bytes of the memory that may have been overwritten.
    touched: usize,
    /// The ranges, if the store shares its memory. `len` is then 0.
    shared: Vec<Bytes>,
    /// The sum of their lengths.
    shared_len: usize,
}

/// Where the bytes go.
enum Memory {
    /// Memory that grows.
    Own(Vec<u8>),
    /// That of the result, which has its final size.
    Given(Box<dyn Values>),
}

/// Values that consist of their bytes.
trait Values: Any + Send + Sync {
    fn bytes(&self) -> &[u8];
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl<T: Plain> Values for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytes_of(self)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytes_of_mut(self)
    }
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Own(memory) => memory,
            Self::Given(values) => values.bytes(),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Own(memory) => memory,
            Self::Given(values) => values.bytes_mut(),
        }
    }

    /// Returns the memory with these first bytes, copied if it is that of other values.
    fn into_vec(self, len: usize) -> Vec<u8> {
        match self {
            Self::Own(memory) => memory,
            Self::Given(values) => values.bytes()[..len].to_vec(),
        }
    }
}

/// The content of a [`ReadBuffer`] after a read.
#[non_exhaustive]
pub enum Stored {
    /// The first `len` bytes of `memory`: all ranges, one after the other.
    Memory {
        /// Initialised memory; it may be longer than `len`.
        memory: Vec<u8>,
        /// The number of bytes read.
        len: usize,
    },
    /// Memory of the store.
    Shared {
        /// One value per range.
        parts: Vec<Bytes>,
        /// The unused memory of the buffer.
        memory: Vec<u8>,
    },
}

impl ReadBuffer {
    /// Returns an empty buffer for at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self::reusing(Vec::new(), limit)
    }

    /// Returns an empty buffer for at most `limit` bytes that reuses `memory` before it allocates more.
    pub fn reusing(memory: Vec<u8>, limit: u64) -> Self {
        Self::of(Memory::Own(memory), limit)
    }

    /// Returns an empty buffer over all bytes of `values`, for a read straight into its result. It takes no more bytes than
    /// they have. Memory that a store shares is copied into them.
    ///
    /// ```
    /// # use zarr_traits::store::ReadBuffer;
    /// let mut buffer = ReadBuffer::filling(vec![0_u16; 2]);
    /// buffer.append(&[1, 1, 2, 2])?;
    /// assert_eq!(buffer.into_filled::<u16>(), Some((vec![0x0101, 0x0202], 4)));
    /// # Ok::<(), zarr_traits::StoreError>(())
    /// ```
    pub fn filling<T: Plain>(values: Vec<T>) -> Self {
        let limit = size_of_val(&values[..]) as u64;
        Self::of(Memory::Given(Box::new(values)), limit)
    }

    fn of(memory: Memory, limit: u64) -> Self {
        Self { limit, expected: 0, memory, len: 0, touched: 0, shared: Vec::new(), shared_len: 0 }
    }

    /// Tells the store how many bytes the reader expects, so that it need not ask for the size. The limit does not
    /// change.
    #[must_use]
    pub fn expecting(mut self, bytes: u64) -> Self {
        self.expected = bytes.min(self.limit);
        self
    }

    /// The number of bytes that the buffer may hold.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of bytes that the reader expects; 0 if it does not know.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// The number of bytes in the buffer.
    pub fn len(&self) -> usize {
        self.len + self.shared_len
    }

    /// Whether the buffer holds no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends `bytes` bytes of unspecified content and returns them to be overwritten.
    ///
    /// # Errors
    /// [`StoreErrorKind::TooLarge`] above the limit; [`StoreErrorKind::LimitExceeded`] if there is not enough memory.
    pub fn grow(&mut self, bytes: u64) -> StoreResult<&mut [u8]> {
        let added = self.checked(bytes)?;
        let start = self.extend(added)?;
        Ok(&mut self.memory.bytes_mut()[start..self.len])
    }

    /// Appends a copy of `bytes`.
    ///
    /// # Errors
    /// As [`grow`](Self::grow).
    pub fn append(&mut self, bytes: &[u8]) -> StoreResult<()> {
        self.grow(bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    /// Adds a range that the store has in memory. A store shares either all ranges of a read or none.
    ///
    /// # Errors
    /// [`StoreErrorKind::TooLarge`] above the limit.
    pub fn share(&mut self, bytes: Bytes) -> StoreResult<()> {
        self.checked(bytes.len() as u64)?;
        if self.len > 0 || matches!(self.memory, Memory::Given(_)) {
            return self.append(&bytes);
        }
        self.shared_len += bytes.len();
        self.shared.push(bytes);
        Ok(())
    }

    /// Shortens the content to its first `to` bytes.
    pub fn truncate(&mut self, to: usize) {
        self.len = self.len.min(to);
        let mut left = to;
        for part in &mut self.shared {
            part.truncate(left);
            left -= part.len();
        }
        self.shared_len = self.shared_len.min(to);
    }

    /// Empties the buffer and keeps its memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.shared.clear();
        self.shared_len = 0;
    }

    /// Returns the content as the store left it.
    pub fn into_stored(self) -> Stored {
        let Self { memory, len, shared: parts, .. } = self;
        let memory = memory.into_vec(len);
        if parts.is_empty() { Stored::Memory { memory, len } } else { Stored::Shared { parts, memory } }
    }

    /// Returns the values of [`filling`](Self::filling), and how many of their first bytes the store may have written: more
    /// than [`len`](Self::len) if it began again. `None` if the buffer has other memory.
    pub fn into_filled<T: Plain>(self) -> Option<(Vec<T>, usize)> {
        let Memory::Given(values) = self.memory else { return None };
        let values: Box<dyn Any> = values;
        Some((*values.downcast::<Vec<T>>().ok()?, self.touched))
    }

    /// Returns all bytes, one range after the other. Several shared ranges are copied into one value.
    pub fn into_bytes(self) -> Bytes {
        match self.into_stored() {
            Stored::Memory { memory, len } => Bytes::from(memory).slice(..len),
            Stored::Shared { mut parts, .. } if parts.len() == 1 => parts.remove(0),
            Stored::Shared { parts, .. } => parts.concat().into(),
        }
    }

    /// Returns the bytes of each of `ranges`. `size` is the size of the object, if known. Returns `None` if the content
    /// does not have the lengths of the ranges: then the store breaks its contract.
    pub fn parts(&self, ranges: &[ByteRange], size: Option<u64>) -> Option<Vec<&[u8]>> {
        if !self.shared.is_empty() {
            return are_of(&self.shared, ranges, size).then(|| self.shared.iter().map(|p| &p[..]).collect());
        }
        let mut rest = &self.memory.bytes()[..self.len];
        let cut = |len| rest.split_off(..len);
        lengths(ranges, size, self.len)?.into_iter().map(cut).collect()
    }

    /// As [`parts`](Self::parts), without a copy.
    pub fn into_parts(self, ranges: &[ByteRange], size: Option<u64>) -> Option<Vec<Bytes>> {
        match self.into_stored() {
            Stored::Shared { parts, .. } => are_of(&parts, ranges, size).then_some(parts),
            Stored::Memory { memory, len } => {
                let mut rest = Bytes::from(memory).slice(..len);
                let cut = |len| (len <= rest.len()).then(|| rest.split_to(len));
                lengths(ranges, size, len)?.into_iter().map(cut).collect()
            }
        }
    }

    /// Returns `bytes` as `usize` if the content then stays within the limit.
    fn checked(&self, bytes: u64) -> StoreResult<usize> {
        let total = (self.len() as u64).saturating_add(bytes);
        if total > self.limit {
            return Err(self.too_large(None));
        }
        usize::try_from(bytes).map_err(|_| no_memory(bytes))
    }

    /// Returns the error of a store that sees in advance that an object of `size` bytes exceeds the limit.
    pub fn too_large(&self, size: Option<u64>) -> StoreError {
        let limit = self.limit;
        let message = match size {
            Some(size) => format!("the object has {size} bytes, at most {limit} are accepted"),
            None => format!("the store returns more than {limit} bytes, the limit of this read"),
        };
        StoreError::new(StoreErrorKind::TooLarge { size }, message)
    }

    /// Makes the content `added` bytes longer and returns the start of the added bytes.
    fn extend(&mut self, added: usize) -> StoreResult<usize> {
        if !self.shared.is_empty() {
            // A store that shares some ranges and appends others: rare, but correct.
            let memory = std::mem::take(&mut self.shared).concat();
            (self.len, self.shared_len, self.memory) = (memory.len(), 0, Memory::Own(memory));
        }
        let (start, end) = (self.len, self.len + added);
        // Memory that is given has room for all bytes within the limit.
        if let Memory::Own(memory) = &mut self.memory
            && memory.len() < end
        {
            let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
            // Double the size each time: many small pieces then cost one copy each on average.
            let to = memory.len().saturating_mul(2).min(limit).max(end);
            // Zeroed memory from the system is cheaper than zeroing.
            let mut larger = zeroed::<u8>(to).map_err(|_| no_memory(to as u64))?;
            larger[..start].copy_from_slice(&memory[..start]);
            *memory = larger;
        }
        self.len = end;
        self.touched = self.touched.max(end);
        Ok(start)
    }
}

/// Whether `parts` have the lengths of the ranges, if those are known.
fn are_of(parts: &[Bytes], ranges: &[ByteRange], size: Option<u64>) -> bool {
    let fits = |(part, range): (&Bytes, &ByteRange)| length(range, size).is_none_or(|len| len == part.len());
    parts.len() == ranges.len() && parts.iter().zip(ranges).all(fits)
}

/// Returns the length of each range, or `None` if their sum is not `total`.
fn lengths(ranges: &[ByteRange], size: Option<u64>, total: usize) -> Option<Vec<usize>> {
    let lengths: Vec<usize> = match ranges {
        [range] => vec![length(range, size).unwrap_or(total)],
        _ => ranges.iter().map(|range| length(range, size)).collect::<Option<_>>()?,
    };
    let sum = lengths.iter().fold(0_usize, |sum, len| sum.saturating_add(*len));
    (sum == total).then_some(lengths)
}

/// Returns the length of a range in an object of `size` bytes, if known.
fn length(range: &ByteRange, size: Option<u64>) -> Option<usize> {
    let len = match (range, size) {
        (ByteRange::Span { len, .. }, _) => *len,
        (range, size) => range.resolve(size?).map(|range| range.end - range.start).ok()?,
    };
    usize::try_from(len).ok()
}

fn no_memory(bytes: u64) -> StoreError {
    StoreError::new(StoreErrorKind::LimitExceeded, format!("no memory for {bytes} bytes"))
}

impl fmt::Debug for ReadBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadBuffer({} of at most {} bytes)", self.len(), self.limit)
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { len, .. } => write!(f, "Memory({len} bytes)"),
            Self::Shared { parts, .. } => write!(f, "Shared({} parts)", parts.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_above_the_limit_are_refused() {
        let mut buffer = ReadBuffer::new(10);
        assert!(buffer.grow(11).is_err() && buffer.grow(u64::MAX).is_err());
        buffer.grow(6).unwrap().fill(1);
        assert!(buffer.append(&[2; 5]).is_err());
        assert!(buffer.share(Bytes::from_static(&[3; 5])).is_err());
        buffer.append(&[2; 4]).unwrap();
        let Stored::Memory { memory, len } = buffer.into_stored() else { panic!("grown memory") };
        assert_eq!((&memory[..len], memory.len()), (&[1, 1, 1, 1, 1, 1, 2, 2, 2, 2][..], 10));
    }

    #[test]
    fn memory_is_reused_and_shared_parts_are_not_copied() {
        let memory = vec![9; 100];
        let address = memory.as_ptr();
        let mut buffer = ReadBuffer::reusing(memory, 1000);
        buffer.append(&[1; 60]).unwrap();
        buffer.clear();
        buffer.grow(100).unwrap();
        let Stored::Memory { memory, len } = buffer.into_stored() else { panic!("grown memory") };
        assert_eq!((memory.as_ptr(), len), (address, 100));

        let value = Bytes::from_static(b"0123456789");
        let mut buffer = ReadBuffer::new(10);
        buffer.share(value.slice(2..4)).unwrap();
        buffer.share(value.slice(0..1)).unwrap();
        let spans = [ByteRange::Span { offset: 2, len: 2 }, ByteRange::Span { offset: 0, len: 1 }];
        let parts = buffer.into_parts(&spans, None).unwrap();
        assert_eq!((parts[0].as_ptr(), &parts[1][..]), (value[2..].as_ptr(), &b"0"[..]));
    }

    #[test]
    fn values_are_filled_where_they_are() {
        let values = vec![7_u32; 2];
        let address = values.as_ptr();
        let mut buffer = ReadBuffer::filling(values);
        assert!(buffer.append(&[0; 9]).is_err(), "more than the values have");
        buffer.append(&[1; 6]).unwrap();
        buffer.clear();
        buffer.share(Bytes::from_static(&[2; 4])).unwrap();
        assert_eq!(buffer.parts(&[ByteRange::Span { offset: 0, len: 4 }], None).unwrap(), [[2; 4]]);
        assert_eq!(buffer.len(), 4);
        let (values, touched) = buffer.into_filled::<u32>().unwrap();
        assert_eq!((values.as_ptr(), values[0], touched), (address, 0x0202_0202, 6));

        let mut buffer = ReadBuffer::filling(vec![0_u16; 3]);
        buffer.append(&[1; 4]).unwrap();
        assert_eq!(buffer.into_bytes(), [1; 4][..]);
        assert!(ReadBuffer::filling(vec![0_u16; 3]).into_filled::<u32>().is_none(), "another type");
        assert!(ReadBuffer::new(9).into_filled::<u8>().is_none());
    }

    #[test]
    fn parts_are_cut_by_their_ranges() {
        let ranges = [ByteRange::Suffix(9), ByteRange::Span { offset: 1, len: 2 }, ByteRange::All];
        let filled = |text: &[u8]| {
            let mut buffer = ReadBuffer::new(100);
            buffer.append(text).unwrap();
            buffer
        };
        let parts = filled(b"abcdbcabcd").into_parts(&ranges, Some(4)).unwrap();
        assert_eq!(parts, ["abcd", "bc", "abcd"]);
        assert!(filled(b"abcd").into_parts(&ranges, Some(4)).is_none(), "too few bytes");
        assert!(filled(b"abcdbcabcd").into_parts(&ranges, None).is_none(), "unknown lengths");
        assert_eq!(filled(b"abc").into_parts(&[ByteRange::All], None).unwrap(), ["abc"]);
    }

    #[test]
    fn parts_of_other_lengths_than_their_ranges_are_refused() {
        let shared = |texts: &[&'static str]| {
            let mut buffer = ReadBuffer::new(100);
            texts.iter().for_each(|text| buffer.share((*text).into()).unwrap());
            buffer
        };
        let copied = |text: &str| {
            let mut buffer = ReadBuffer::new(100);
            buffer.append(text.as_bytes()).unwrap();
            buffer
        };
        let span = ByteRange::Span { offset: 1, len: 3 };
        for (made, ranges, size, accepted) in [
            (shared(&["bcd"]), &[span][..], None, true),
            (shared(&["bc"]), &[span], None, false),
            (copied("bcd"), &[span], None, true),
            (copied("bcde"), &[span], None, false),
            (shared(&["bcd", "bc"]), &[span, span], Some(9), false),
            (shared(&["ab"]), &[ByteRange::All], Some(3), false),
            (copied("ab"), &[ByteRange::All], Some(3), false),
            (copied("ab"), &[ByteRange::Suffix(5)], Some(2), true),
            (shared(&["ab"]), &[ByteRange::Suffix(5)], None, true),
        ] {
            let what = format!("{made:?} for {ranges:?} of {size:?}");
            assert_eq!(made.parts(ranges, size).is_some(), accepted, "{what}");
            assert_eq!(made.into_parts(ranges, size).is_some(), accepted, "{what}");
        }
    }
}
