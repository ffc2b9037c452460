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
///
/// What is kept between uses is bounded: in number, in bytes, and by what was asked for lately.
#[derive(Default)]
pub struct Scratch {
    buffers: Kept,
    vectors: Kept,
    slots: Vec<Box<dyn Any + Send>>,
    heap: Option<Arc<Heap>>,
}

/// Memory that nobody uses at the moment.
#[derive(Default)]
struct Kept {
    memory: Vec<Vec<u8>>,
    /// The most bytes that were needed lately: it goes down by a part of itself with each use that needs less.
    lately: usize,
}

/// How many buffers one worker keeps, and as many vectors; and bytes of either.
const KEPT: usize = 8;
const KEPT_BYTES: usize = 128 << 20;

/// Memory is too large for a use that needs less than an eighth of it, unless it is small anyway.
const TOO_LARGE: usize = 8;
const SMALL: usize = 64 << 10;

/// The part of what was needed lately that each smaller use takes off: memory outlasts about a hundred of them.
const FORGOTTEN: usize = 64;

fn too_large(memory: &Vec<u8>, needed: usize) -> bool {
    memory.capacity() > SMALL && memory.capacity() / TOO_LARGE > needed
}

impl Kept {
    fn bytes(&self) -> usize {
        self.memory.iter().map(Vec::capacity).sum()
    }

    /// Takes the smallest that has room for `len` bytes, and is not too large for them.
    fn take_for(&mut self, len: usize) -> Option<Vec<u8>> {
        let fits = |memory: &Vec<u8>| memory.len() >= len && !too_large(memory, len);
        let best = (0..self.memory.len()).filter(|i| fits(&self.memory[*i]));
        best.min_by_key(|i| self.memory[*i].len()).map(|i| self.memory.swap_remove(i))
    }

    /// Takes the largest that is not too large for `len` bytes.
    fn take_largest(&mut self, len: usize) -> Option<Vec<u8>> {
        let best = (0..self.memory.len()).filter(|i| !too_large(&self.memory[*i], len));
        best.max_by_key(|i| self.memory[*i].len()).map(|i| self.memory.swap_remove(i))
    }

    /// Keeps memory of which `used` bytes were needed, and lets go of what is too large by now. Of too many the smallest
    /// goes, so that sizes settle instead of piling up.
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
    /// Empty scratch.
    pub fn new() -> Self {
        Self::default()
    }

    /// A buffer of exactly `len` bytes; what they hold is unspecified. Give it back with [`give`](Self::give).
    ///
    /// # Errors
    /// [`CodecErrorKind::LimitExceeded`] when there is no memory.
    pub fn take(&mut self, len: usize) -> CodecResult<Buffer> {
        self.buffers.lately = self.buffers.lately.max(len);
        let memory = match self.buffers.take_for(len) {
            Some(memory) => memory,
            None => zeroed::<u8>(len).map_err(|_| CodecError::no_memory(len))?,
        };
        Ok(Buffer { memory, len })
    }

    /// Memory for a read of at most `most` bytes, of which the number is not known before; empty when there is none that
    /// suits. What it holds is unspecified. Give it back as a [`Buffer`].
    pub fn take_memory(&mut self, most: u64) -> Vec<u8> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let memory = self.buffers.take_for(most).or_else(|| self.buffers.take_largest(most));
        memory.unwrap_or_default()
    }

    /// Keeps the memory of a buffer for the next one.
    pub fn give(&mut self, buffer: Buffer) {
        self.buffers.give(buffer.memory, buffer.len);
    }

    /// An empty vector to append to, with whatever capacity it had before. Give it back with
    /// [`give_vec`](Self::give_vec).
    pub fn take_vec(&mut self) -> Vec<u8> {
        self.vectors.memory.pop().unwrap_or_default()
    }

    /// Keeps the memory of a vector for the next one.
    pub fn give_vec(&mut self, mut vector: Vec<u8>) {
        let used = vector.len();
        vector.clear();
        self.vectors.give(vector, used);
    }

    /// Bytes of the memory that is kept.
    pub fn bytes(&self) -> usize {
        self.buffers.bytes() + self.vectors.bytes()
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
        write!(f, "Scratch({} bytes, {} slots)", self.bytes(), self.slots.len())
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

    #[test]
    fn a_small_request_takes_no_large_buffer() {
        let mut s = Scratch::new();
        let large = s.take(1 << 24).unwrap();
        s.give(large);
        let small = s.take(100).unwrap();
        assert!(small.into_bytes().1.len() < 1 << 20);
        assert!(s.bytes() >= 1 << 24, "the large one is kept for the next large request");
    }

    #[test]
    fn large_memory_goes_once_only_little_is_asked_for() {
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
    fn what_is_kept_is_bounded_in_bytes() {
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
