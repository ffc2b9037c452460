//! Memory that a worker reuses, so that no chunk-sized memory is allocated per chunk.

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use bytes::Bytes;
use zarr_strided::zeroed;

use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::heap::Heap;

/// The scratch memory of one worker: buffers, and values that codecs keep (contexts of compressors). It is passed by
/// `&mut`.
///
/// The kept memory is limited: in number, in bytes, and by the sizes requested recently.
#[derive(Default)]
pub struct Scratch {
    buffers: Kept,
    vectors: Kept,
    slots: Vec<Box<dyn Any + Send>>,
    heap: Option<Arc<Heap>>,
}

/// Memory that is not in use.
#[derive(Default)]
struct Kept {
    memory: Vec<Vec<u8>>,
    /// The most bytes needed recently. Each use that needs less reduces it by a fraction.
    lately: usize,
}

/// The most buffers that one worker keeps, and the most bytes in them. The same limits apply to vectors.
const KEPT: usize = 8;
const KEPT_BYTES: usize = 128 << 20;

/// Memory above `SMALL` bytes is too large for a use that needs less than an eighth of it.
const TOO_LARGE: usize = 8;
const SMALL: usize = 64 << 10;

/// The fraction by which a smaller use reduces `lately`. Unneeded memory outlasts about a hundred uses.
const FORGOTTEN: usize = 64;

fn too_large(memory: &Vec<u8>, needed: usize) -> bool {
    memory.capacity() > SMALL && memory.capacity() / TOO_LARGE > needed
}

impl Kept {
    fn bytes(&self) -> usize {
        self.memory.iter().map(Vec::capacity).sum()
    }

    /// Takes the smallest memory that has room for `len` bytes and is not too large for them.
    fn take_for(&mut self, len: usize) -> Option<Vec<u8>> {
        let fits = |memory: &Vec<u8>| memory.len() >= len && !too_large(memory, len);
        let best = (0..self.memory.len()).filter(|i| fits(&self.memory[*i]));
        best.min_by_key(|i| self.memory[*i].len()).map(|i| self.memory.swap_remove(i))
    }

    /// Takes the largest memory that is not too large for `len` bytes.
    fn take_largest(&mut self, len: usize) -> Option<Vec<u8>> {
        let best = (0..self.memory.len()).filter(|i| !too_large(&self.memory[*i], len));
        best.max_by_key(|i| self.memory[*i].len()).map(|i| self.memory.swap_remove(i))
    }

    /// Keeps memory after a use of `used` bytes, and drops memory that is now too large. Above the limits the smallest
    /// goes first, so that sizes converge.
    fn give(&mut self, memory: Vec<u8>, used: usize) {
        self.lately = used.max(self.lately - self.lately / FORGOTTEN);
        if memory.capacity() > KEPT_BYTES {
            return;
        }
        self.memory.push(memory);
        self.memory.retain(|memory| !too_large(memory, self.lately));
        while self.memory.len() > KEPT || self.bytes() > KEPT_BYTES {
            let Some(smallest) = (0..self.memory.len()).min_by_key(|i| self.memory[*i].capacity()) else {
                break;
            };
            self.memory.swap_remove(smallest);
        }
    }
}

impl Scratch {
    /// Returns empty scratch memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a buffer of exactly `len` bytes of unspecified content. Return it with [`give`](Self::give).
    ///
    /// # Errors
    /// [`CodecErrorKind::LimitExceeded`] if there is not enough memory.
    pub fn take(&mut self, len: usize) -> CodecResult<Buffer> {
        self.buffers.lately = self.buffers.lately.max(len);
        let memory = match self.buffers.take_for(len) {
            Some(memory) => memory,
            None => zeroed::<u8>(len).map_err(|_| CodecError::no_memory(len))?,
        };
        Ok(Buffer { memory, len })
    }

    /// Returns memory of unspecified content for a read of unknown size, at most `most` bytes. It is empty if no kept
    /// memory is suitable. Return it as a [`Buffer`].
    pub fn take_memory(&mut self, most: u64) -> Vec<u8> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let memory = self.buffers.take_for(most).or_else(|| self.buffers.take_largest(most));
        memory.unwrap_or_default()
    }

    /// Keeps the memory of a buffer for reuse.
    pub fn give(&mut self, buffer: Buffer) {
        self.buffers.give(buffer.memory, buffer.len);
    }

    /// Returns an empty vector; it may have capacity from an earlier use. Return it with [`give_vec`](Self::give_vec).
    pub fn take_vec(&mut self) -> Vec<u8> {
        self.vectors.memory.pop().unwrap_or_default()
    }

    /// Keeps the memory of a vector for reuse.
    pub fn give_vec(&mut self, mut vector: Vec<u8>) {
        let used = vector.len();
        vector.clear();
        self.vectors.give(vector, used);
    }

    /// The bytes of the kept memory.
    pub fn bytes(&self) -> usize {
        self.buffers.bytes() + self.vectors.bytes()
    }

    /// Sets the heap of the current read or write. It is `None` for elements of fixed size.
    pub fn set_heap(&mut self, heap: Option<Arc<Heap>>) {
        self.heap = heap;
    }

    /// Returns the heap with the contents of elements of variable length.
    ///
    /// # Errors
    /// [`CodecErrorKind::InvalidArgument`] if the engine did not set one.
    pub fn heap(&self) -> CodecResult<&Heap> {
        self.heap.as_deref().ok_or_else(|| {
            CodecError::new(CodecErrorKind::InvalidArgument, "no heap for elements of variable length is set")
        })
    }

    /// Returns the `T` of this worker; it is created at the first use. A codec keeps its context here.
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
        write!(f, "Scratch({} bytes, {} slots)", self.bytes(), self.slots.len())
    }
}

/// Scratch memory of a fixed length.
pub struct Buffer {
    /// Never shortened: to grow again it would have to be zeroed again.
    memory: Vec<u8>,
    len: usize,
}

impl Buffer {
    /// Shortens the buffer to `len` bytes, after a decoder that wrote less than expected.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Returns a buffer of the first `len` bytes of `memory`.
    pub fn of(memory: Vec<u8>, len: usize) -> Self {
        Self { len: len.min(memory.len()), memory }
    }

    /// Returns all the memory of the buffer.
    pub fn into_memory(self) -> Vec<u8> {
        self.memory
    }

    /// Returns the bytes of the buffer and all its memory, which they share. When nothing else refers to the memory, it
    /// can be [returned](Scratch::give).
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
    fn buffers_are_reused() {
        let mut s = Scratch::new();
        let buffer = s.take(100).unwrap();
        let address = buffer.as_ptr();
        s.give(buffer);
        let buffer = s.take(60).unwrap();
        assert_eq!((buffer.as_ptr(), buffer.len()), (address, 60));
        s.give(buffer);
        assert_eq!(s.take(100).unwrap().as_ptr(), address, "a shorter use keeps the length");
        assert!(s.take(usize::MAX / 2).is_err());
        *s.slot::<u32>() += 1;
        *s.slot::<u32>() += 1;
        assert_eq!(*s.slot::<u32>(), 2);
    }

    #[test]
    fn a_small_request_does_not_take_a_large_buffer() {
        let mut s = Scratch::new();
        let large = s.take(1 << 24).unwrap();
        s.give(large);
        let small = s.take(100).unwrap();
        assert!(small.into_bytes().1.len() < 1 << 20);
        assert!(s.bytes() >= 1 << 24, "the large one is kept for the next large request");
    }

    #[test]
    fn large_memory_is_dropped_after_many_small_uses() {
        let mut s = Scratch::new();
        let large = s.take(1 << 24).unwrap();
        s.give(large);
        s.give_vec(vec![1; 1 << 24]);
        for _ in 0..200 {
            let buffer = s.take(1 << 10).unwrap();
            s.give(buffer);
            let mut vector = s.take_vec();
            vector.push(1);
            s.give_vec(vector);
        }
        assert!(s.bytes() < 1 << 20, "{s:?}");
    }

    #[test]
    fn kept_memory_is_bounded_in_bytes() {
        let mut s = Scratch::new();
        let buffers: Vec<Buffer> = (0..6).map(|_| s.take(100 << 20).unwrap()).collect();
        buffers.into_iter().for_each(|buffer| s.give(buffer));
        let mut vectors = Vec::new();
        for _ in 0..6 {
            vectors.push(zeroed::<u8>(100 << 20).unwrap());
        }
        vectors.into_iter().for_each(|vector| s.give_vec(vector));
        assert!(s.bytes() <= 256 << 20, "{s:?}");
    }
}
