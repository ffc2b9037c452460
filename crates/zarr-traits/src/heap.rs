//! Elements of variable length. The memory of a chunk holds a [`Slot`] for each element; their contents are in a
//! [`Heap`]. **For codec and engine authors.**
//!
//! Code that moves elements (planning, reordering, sharding, steps) moves slots of one size and does not look at the
//! contents. Only an array → bytes codec uses the heap, which the engine puts into the [`Scratch`](crate::Scratch) of the
//! calling worker. Such a codec needs only [`decode_elements`](crate::codec::decode_elements) and
//! [`each_element`](crate::codec::each_element).
//!
//! An element that equals the fill value always has the slot of the fill value. So a chunk contains only fill values
//! exactly if all its slots are equal to that one.

use std::ops::Range;
use std::sync::RwLock;

use bytes::Bytes;

use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::fill::FillValue;
use crate::lock::unpoisoned;

/// The place of an element in a [`Heap`]: a block and a range of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    block: u32,
    len: u32,
    start: u64,
}

impl Slot {
    /// The number of bytes that a slot takes in the memory of a chunk.
    pub const SIZE: usize = 16;

    /// The slot of the fill value: block 0 of every heap.
    pub fn fill(fill: &FillValue) -> Self {
        Self { block: 0, len: u32::try_from(fill.bytes().len()).unwrap_or(u32::MAX), start: 0 }
    }

    /// Returns the bytes of the slot in the memory of a chunk.
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&self.block.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.len.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.start.to_ne_bytes());
        bytes
    }

    /// Builds a slot from its bytes in the memory of a chunk.
    pub fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let [b0, b1, b2, b3, l0, l1, l2, l3, start @ ..] = bytes;
        Self {
            block: u32::from_ne_bytes([b0, b1, b2, b3]),
            len: u32::from_ne_bytes([l0, l1, l2, l3]),
            start: u64::from_ne_bytes(start),
        }
    }

    /// Returns the slot as an element, to fill memory with it.
    pub fn to_element(self) -> FillValue {
        FillValue::from_bytes(self.to_bytes())
    }

    /// Returns the content of the slot in the `blocks` of its heap.
    ///
    /// # Errors
    /// [`CodecErrorKind::InvalidArgument`] if the slot points outside `blocks`, because it belongs to another heap.
    pub fn of(self, blocks: &[Bytes]) -> CodecResult<&[u8]> {
        let start = usize::try_from(self.start).ok();
        let end = start.and_then(|start| start.checked_add(self.len as usize));
        let range = start.zip(end).map(|(start, end)| start..end);
        let block = blocks.get(self.block as usize);
        block.zip(range).and_then(|(block, range)| block.get(range)).ok_or_else(|| {
            CodecError::new(
                CodecErrorKind::InvalidArgument,
                "a string or byte string points outside the memory of these elements: a codec mixed up two chunks",
            )
        })
    }
}

/// The contents of the elements of one read or write, shared by all its workers.
#[derive(Debug)]
pub struct Heap {
    fill: FillValue,
    limit: u64,
    inner: RwLock<Inner>,
}

#[derive(Debug)]
struct Inner {
    blocks: Vec<Bytes>,
    bytes: u64,
}

impl Heap {
    /// Returns a heap that contains only the fill value. It can hold `limit` more bytes.
    pub fn new(fill: FillValue, limit: u64) -> Self {
        let blocks = vec![Bytes::copy_from_slice(fill.bytes())];
        Self { fill, limit, inner: RwLock::new(Inner { blocks, bytes: 0 }) }
    }

    /// Adds a block, and calls `slot` with the slot of each of its `elements`, in order.
    ///
    /// # Errors
    /// [`CodecErrorKind::LimitExceeded`] if the heap becomes too large; [`CodecErrorKind::InvalidArgument`] if a range
    /// is not inside the block.
    pub fn add(
        &self,
        block: impl Into<Bytes>,
        elements: impl Iterator<Item = Range<usize>>,
        mut slot: impl FnMut(Slot),
    ) -> CodecResult<()> {
        let block: Bytes = block.into();
        let number = {
            let mut inner = unpoisoned(self.inner.write());
            inner.bytes = inner.bytes.saturating_add(block.len() as u64);
            if inner.bytes > self.limit {
                let message =
                    format!("the elements of variable length exceed the limit of {} bytes", self.limit);
                return Err(CodecError::new(CodecErrorKind::LimitExceeded, message));
            }
            inner.blocks.push(block.clone());
            u32::try_from(inner.blocks.len() - 1)
        };
        let outside =
            || CodecError::new(CodecErrorKind::InvalidArgument, "an element is not inside its block");
        let number = number.map_err(|_| outside())?;
        let fill = (Slot::fill(&self.fill), self.fill.bytes());
        for range in elements {
            let content = block.get(range.clone()).ok_or_else(outside)?;
            slot(if content == fill.1 {
                fill.0
            } else {
                let len = u32::try_from(content.len()).map_err(|_| outside())?;
                Slot { block: number, len, start: range.start as u64 }
            });
        }
        Ok(())
    }

    /// Runs `look` with all blocks, for [`Slot::of`]. `look` must not add blocks.
    pub fn with<R>(&self, look: impl FnOnce(&[Bytes]) -> R) -> R {
        look(&unpoisoned(self.inner.read()).blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_of_another_heap_is_an_error() {
        let heap = Heap::new(FillValue::from_bytes(*b"fill"), 8);
        let stray = Slot { block: 3, len: 1, start: 0 };
        assert!(heap.with(|blocks| stray.of(blocks).is_err()));
        let long = Slot { block: 0, len: 5, start: 0 };
        assert!(heap.with(|blocks| long.of(blocks).is_err()));
        let huge = Slot { block: 0, len: 1, start: u64::MAX };
        assert!(heap.with(|blocks| huge.of(blocks).is_err()));
        assert_eq!(Slot::from_bytes(long.to_bytes()), long);
    }
}
