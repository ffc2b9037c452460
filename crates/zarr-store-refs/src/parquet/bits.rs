//! Integers of a few bits each.

use zarr_traits::Bytes;

use crate::parquet::problem::{Parsed, Problem};
use crate::parquet::thrift::varint;

/// Reads `width` bits from a position in bits, the lowest bit of a byte first.
pub(crate) fn bits(data: &[u8], position: usize, width: u32) -> Parsed<u64> {
    let (start, shift) = (position / 8, position % 8);
    let end = (position + width as usize).div_ceil(8);
    let bytes = data.get(start..end).ok_or_else(Problem::truncated)?;
    let mut word = [0; 16];
    word[..bytes.len()].copy_from_slice(bytes);
    let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
    // A value lies in nine bytes at most.
    let value = u128::from_le_bytes(word) >> shift;
    Ok(u64::try_from(value & u128::from(u64::MAX)).unwrap_or_default() & mask)
}

/// Runs of one value, and values in groups of eight with `width` bits each.
#[derive(Debug)]
pub(crate) struct Hybrid {
    data: Bytes,
    at: usize,
    width: u32,
    /// The values that are left of the run.
    left: u64,
    value: u32,
    /// The position in bits, if the values are in groups.
    packed: Option<usize>,
}

impl Hybrid {
    /// `width` is at most 32.
    pub(crate) fn new(data: Bytes, width: u32) -> Self {
        Self { data, at: 0, width, left: 0, value: 0, packed: None }
    }

    pub(crate) fn next(&mut self) -> Parsed<u32> {
        while self.left == 0 {
            self.run()?;
        }
        self.left -= 1;
        let Some(position) = &mut self.packed else { return Ok(self.value) };
        let value = bits(&self.data, *position, self.width)?;
        *position += self.width as usize;
        u32::try_from(value).map_err(|_| Problem::truncated())
    }

    /// Starts the next run.
    fn run(&mut self) -> Parsed<()> {
        let head = varint(&self.data, &mut self.at)?;
        let count = head >> 1;
        if head & 1 == 1 {
            self.left = count.saturating_mul(8);
            self.packed = Some(self.at * 8);
            let bytes = count.saturating_mul(u64::from(self.width));
            // Some writers leave out the end of the last group.
            self.at =
                self.data.len().min(self.at.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX)));
        } else {
            self.left = count;
            self.packed = None;
            let value = bits(&self.data, self.at * 8, self.width.next_multiple_of(8))?;
            self.value = u32::try_from(value).map_err(|_| Problem::truncated())?;
            self.at += self.width.div_ceil(8) as usize;
        }
        Ok(())
    }
}
