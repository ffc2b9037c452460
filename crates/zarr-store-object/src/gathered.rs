//! Collects the bytes of an answer, within a limit.

use bytes::Bytes;
use zarr_traits::strided::to_usize;

/// The largest reservation for a declared length. More memory is taken only when the bytes have arrived.
const RESERVED: usize = 64 << 20;

/// The number of bytes of an object that the caller accepts. It travels with a request to the client.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "client"), expect(dead_code, reason = "clients of others do not read it"))]
pub(crate) struct AtMost(pub(crate) u64);

/// The received parts of a body.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// The largest number of bytes to hold.
    most: usize,
    /// The first part, as long as it is the only one: it is returned without a copy.
    first: Bytes,
    /// All parts, if there are several.
    all: Vec<u8>,
    reserved: usize,
}

/// The reason why a part was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The limit would be exceeded.
    TooMuch,
    /// There is not enough memory.
    NoMemory,
}

impl Gathered {
    /// Accepts up to `most` bytes. `declared` is the length in the head of the answer.
    pub(crate) fn new(most: u64, declared: Option<u64>) -> Self {
        let most = to_usize(most.min(declared.unwrap_or(u64::MAX)));
        let reserved = declared.map_or(0, |_| most.min(RESERVED));
        Self { most, first: Bytes::new(), all: Vec::new(), reserved }
    }

    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.all.len()
    }

    /// Returns how many more bytes fit.
    pub(crate) fn room(&self) -> usize {
        self.most - self.len()
    }

    /// Adds a part.
    pub(crate) fn push(&mut self, part: Bytes) -> Result<(), Refused> {
        if part.len() > self.room() {
            return Err(Refused::TooMuch);
        }
        if self.len() == 0 {
            self.first = part;
            return Ok(());
        }
        if self.all.is_empty() {
            let first = std::mem::take(&mut self.first);
            self.append(&first)?;
        }
        self.append(&part)
    }

    /// Appends a part. The capacity doubles, but never exceeds the limit.
    fn append(&mut self, part: &[u8]) -> Result<(), Refused> {
        let needed = self.all.len() + part.len();
        if needed > self.all.capacity() {
            let twice = self.all.capacity().saturating_mul(2);
            let capacity = needed.max(twice.max(self.reserved).min(self.most));
            self.all.try_reserve_exact(capacity - self.all.len()).map_err(|_| Refused::NoMemory)?;
        }
        self.all.extend_from_slice(part);
        Ok(())
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_up_to_the_limit() {
        // the limit, the declared length, lengths of parts, the number of accepted parts
        for (most, declared, parts, taken) in [
            (10, None, vec![], 0),
            (10, None, vec![10], 1),
            (10, None, vec![11], 0),
            (10, Some(5), vec![6], 0),
            (10, Some(20), vec![11], 0),
            (0, None, vec![0, 1], 1),
            (1000, None, vec![1; 1001], 1000),
            (1000, Some(999), vec![1; 1001], 999),
            (1000, None, vec![400, 400, 400, 200, 1], 2),
            (u64::MAX, None, vec![3, 4, 5], 3),
        ] {
            let mut gathered = Gathered::new(most, declared);
            let mut expected = Vec::new();
            for (number, len) in parts.iter().enumerate() {
                let part = vec![u8::try_from(number % 256).unwrap(); *len];
                let pushed = gathered.push(part.clone().into());
                assert_eq!(pushed.is_ok(), number < taken, "{most}, {declared:?}, {parts:?}: {number}");
                if pushed.is_err() {
                    break;
                }
                expected.extend(part);
                assert!(gathered.all.capacity() as u64 <= most, "{most}, {declared:?}, {parts:?}");
            }
            assert_eq!(gathered.into_bytes(), expected, "{most}, {declared:?}, {parts:?}");
        }
    }

    #[test]
    fn a_declared_length_is_not_reserved_in_advance() {
        let mut gathered = Gathered::new(1 << 40, Some(1 << 40));
        for _ in 0..3 {
            gathered.push(Bytes::from_static(b"part")).unwrap();
        }
        assert!(gathered.all.capacity() <= RESERVED);
    }
}
