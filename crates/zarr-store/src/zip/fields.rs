//! Numbers of the records of an archive.

/// A reader of little-endian numbers. Returns `None` past the end.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn at(bytes: &'a [u8], at: usize) -> Self {
        Self(bytes.get(at..).unwrap_or_default())
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    /// Reads a length of 16 bits.
    pub(super) fn len(&mut self) -> Option<usize> {
        self.u16().map(usize::from)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}
