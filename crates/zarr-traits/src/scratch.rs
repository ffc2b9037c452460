//! Memory that a worker uses again and again, so that nothing the size of a chunk is allocated per chunk.

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bytes::Bytes;
use zarr_strided::zeroed;

use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::heap::Heap;

/// The scratch memory of one worker: buffers and whatever codecs keep (contexts of compressors). Passed down by `&mut`.
#[derive(Default)]
pub struct Scratch {
    buffers: Vec<Vec<u8>>,
    vectors: Vec<Vec<u8>>,
    slots: Vec<Box<dyn Any + Send>>,
    heap: Option<Arc<Heap>>,
}

/// Buffers that one worker keeps.
const KEPT: usize = 8;

impl Scratch {
    /// Empty scratch.
    pub fn new() -> Self {
        Self::default()
    }

    /// A buffer of exactly `len` bytes; what they hold is unspecified. Give it back with [`give`](Self::give).
    ///
    /// # Errors
    /// [`CodecErrorKind::LimitExceeded`] when there is no memory.
    pub fn take(&mut self, len: usize) -> CodecResult<Buffer> {
        let best = (0..self.buffers.len())
            .filter(|i| self.buffers[*i].len() >= len)
            .min_by_key(|i| self.buffers[*i].len());
        let memory = match best {
            Some(i) => self.buffers.swap_remove(i),
            None => {
                // the smallest makes room for a new one, so that sizes settle instead of piling up
                if self.buffers.len() >= KEPT
                    && let Some(smallest) = (0..KEPT).min_by_key(|i| self.buffers[*i].len())
                {
                    self.buffers.swap_remove(smallest);
                }
                zeroed::<u8>(len).map_err(|_| CodecError::no_memory(len))?
            }
        };
        Ok(Buffer { memory, len })
    }

    /// The largest memory that is kept, for a read whose size is not known; empty when none is kept.
    pub fn take_memory(&mut self) -> Vec<u8> {
        let largest = (0..self.buffers.len()).max_by_key(|i| self.buffers[*i].len());
        largest.map(|i| self.buffers.swap_remove(i)).unwrap_or_default()
    }

    /// Keeps the memory of a buffer for the next one.
    pub fn give(&mut self, buffer: Buffer) {
        if self.buffers.len() < KEPT {
            self.buffers.push(buffer.memory);
        }
    }

    /// An empty vector to append to, with whatever capacity it had before. Give it back with
    /// [`give_vec`](Self::give_vec).
    pub fn take_vec(&mut self) -> Vec<u8> {
        self.vectors.pop().unwrap_or_default()
    }

    /// Keeps the memory of a vector for the next one.
    pub fn give_vec(&mut self, mut vector: Vec<u8>) {
        if self.vectors.len() < KEPT {
            vector.clear();
            self.vectors.push(vector);
        }
    }

    /// Gives the worker the heap of the read or write that it takes part in; none where elements have one size.
    pub fn set_heap(&mut self, heap: Option<Arc<Heap>>) {
        self.heap = heap;
    }

    /// The heap that elements of variable length lie in.
    ///
    /// # Errors
    /// [`CodecErrorKind::InvalidArgument`] when the engine gave none.
    pub fn heap(&self) -> CodecResult<&Heap> {
        self.heap.as_deref().ok_or_else(|| {
            CodecError::new(
                CodecErrorKind::InvalidArgument,
                "there is no heap for elements of variable length",
            )
        })
    }

    /// The `T` of this worker, made when it is first asked for: where a codec keeps its context.
    pub fn slot<T: Any + Send + Default>(&mut self) -> &mut T {
        let at = self.slots.iter().position(|slot| slot.is::<T>()).unwrap_or_else(|| {
            self.slots.push(Box::<T>::default());
            self.slots.len() - 1
        });
        match self.slots[at].downcast_mut() {
            Some(slot) => slot,
            None => unreachable!("the slot was found by its type"),
        }
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: usize = self.buffers.iter().chain(&self.vectors).map(Vec::capacity).sum();
        write!(f, "Scratch({bytes} bytes, {} slots)", self.slots.len())
    }
}

/// A piece of scratch memory of a fixed length.
pub struct Buffer {
    /// As long as it ever was: shortening it would mean to zero it again when it grows.
    memory: Vec<u8>,
    len: usize,
}

impl Buffer {
    /// Shortens it to `len` bytes, for a decoder that wrote less than there was room for.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The first `len` bytes of initialised memory.
    pub fn of(memory: Vec<u8>, len: usize) -> Self {
        Self { len: len.min(memory.len()), memory }
    }

    /// The memory of the buffer, all of it.
    pub fn into_memory(self) -> Vec<u8> {
        self.memory
    }

    /// The same bytes, to be shared, and all the memory that they lie in: once nothing else refers to it, it can be
    /// [given](Scratch::give) back.
    pub fn into_bytes(self) -> (Bytes, Bytes) {
        let memory = Bytes::from(self.memory);
        (memory.slice(..self.len), memory)
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(memory: Vec<u8>) -> Self {
        let len = memory.len();
        Self { memory, len }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[..self.len]
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} of {} bytes)", self.len, self.memory.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again() {
        let mut s = Scratch::new();
        let buffer = s.take(100).unwrap();
        let address = buffer.as_ptr();
        s.give(buffer);
        let buffer = s.take(60).unwrap();
        assert_eq!((buffer.as_ptr(), buffer.len()), (address, 60));
        s.give(buffer);
        assert_eq!(s.take(100).unwrap().as_ptr(), address, "a shorter use does not lose the rest");
        assert!(s.take(usize::MAX / 2).is_err());
        *s.slot::<u32>() += 1;
        *s.slot::<u32>() += 1;
        assert_eq!(*s.slot::<u32>(), 2);
    }
}
