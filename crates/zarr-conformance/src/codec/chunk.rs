//! A chunk: its elements, their memory, and encoding and decoding by a chain.

use std::fmt;
use std::sync::Arc;

use zarr_engine::Chain;
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{
    CodecErrorKind, CodecResult, DataType, FillValue, Layout, Region, Scratch,
    codec::Repr,
    heap::{Heap, Slot},
};

use crate::report::Fault;

/// The contents of the elements of a chunk, in C order.
pub(super) type Elements = Vec<Vec<u8>>;

/// A pattern of the elements of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Elements that change slowly.
    Waves,
    /// Elements that cannot be compressed.
    Noise,
    /// Every second element is the fill value.
    Fill,
}

impl Pattern {
    pub(super) const ALL: [Self; 3] = [Self::Waves, Self::Noise, Self::Fill];

    /// Returns element `number`. The subject may have a function that makes elements.
    pub(super) fn element(
        self,
        data_type: &DataType,
        make: Option<fn(u64) -> Vec<u8>>,
        number: u64,
    ) -> Vec<u8> {
        let seed = if self == Self::Waves { number / 5 } else { Noise(number + 1).next() };
        match (make, data_type, data_type.layout()) {
            (Some(make), ..) => make(seed),
            (None, DataType::Bool, _) => vec![u8::from(seed.is_multiple_of(3))],
            (None, DataType::String, _) => {
                ["", "a", "é", "déjà vu", "\0", "二〇二六"][usize::try_from(seed % 6).unwrap_or(0)].into()
            }
            (None, _, Layout::Fixed { size, .. } | Layout::Packed { size }) => bytes(seed, size),
            _ => bytes(seed, usize::try_from(seed % 5).unwrap_or(0)),
        }
    }
}

/// Returns `size` bytes that depend on `seed`.
fn bytes(seed: u64, size: usize) -> Vec<u8> {
    let more = (1..).map(|i| seed.wrapping_mul(i).to_ne_bytes());
    more.flatten().take(size).collect()
}

/// The elements of one chunk.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    pub(super) repr: Repr,
    pub(super) shape: Vec<u64>,
    pub(super) elements: Elements,
}

impl Chunk {
    pub(super) fn new(repr: Repr, shape: &[u64], pattern: Pattern, make: Option<fn(u64) -> Vec<u8>>) -> Self {
        let element = |number: u64| match pattern {
            Pattern::Fill if number.is_multiple_of(2) => repr.fill.bytes().to_vec(),
            _ => pattern.element(&repr.data_type, make, number),
        };
        let elements = (0..shape.iter().product()).map(element).collect();
        Self { shape: shape.to_vec(), elements, repr }
    }

    /// The size of an element in memory, in bytes.
    pub(super) fn size(&self) -> usize {
        self.repr.data_type.memory_size()
    }

    /// Returns memory for a part of the chunk.
    pub(super) fn room(&self, part: &Region) -> Vec<u8> {
        let len = part.len().and_then(|len| usize::try_from(len).ok());
        vec![0xa5; len.unwrap_or(0) * self.size()]
    }

    /// Returns the elements of a part of the chunk.
    pub(super) fn part(&self, part: &Region) -> Elements {
        let mut at: Vec<u64> = part.start().to_vec();
        let mut elements = Vec::new();
        for _ in 0..part.len().unwrap_or(0) {
            let place = at.iter().zip(&self.shape).fold(0, |place, (i, n)| place * n + i);
            elements.extend(usize::try_from(place).ok().and_then(|place| self.elements.get(place).cloned()));
            for dim in (0..at.len()).rev() {
                at[dim] += 1;
                if at[dim] < part.start()[dim] + part.shape()[dim] {
                    break;
                }
                at[dim] = part.start()[dim];
            }
        }
        elements
    }
}

/// Writes the chunk as in "a chunk of int16 [3, 5]".
impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a chunk of {} {:?}", self.repr.data_type, self.shape)
    }
}

/// The state for encoding and decoding: scratch, and the heap of elements of variable length.
pub(super) struct Worker {
    pub(super) scratch: Scratch,
    heap: Arc<Heap>,
    variable: bool,
}

impl Worker {
    pub(super) fn new() -> Self {
        let heap = Arc::new(Heap::new(FillValue::from_bytes([]), 0));
        Self { scratch: Scratch::new(), heap, variable: false }
    }

    /// Prepares the worker for another chunk.
    pub(super) fn at(&mut self, chunk: &Chunk) -> &mut Self {
        self.variable = chunk.repr.data_type.layout() == Layout::Variable;
        self.heap = Arc::new(Heap::new(chunk.repr.fill.clone(), 64 << 20));
        self.scratch.set_heap(Some(self.heap.clone()));
        self
    }

    /// Returns elements as they lie in memory.
    pub(super) fn memory(&self, elements: &Elements) -> Result<Vec<u8>, Fault> {
        if !self.variable {
            return Ok(elements.concat());
        }
        let mut end = 0;
        let ranges = elements.iter().map(|element| {
            let start = end;
            end += element.len();
            start..end
        });
        let (ranges, mut memory) = (ranges.collect::<Vec<_>>(), Vec::new());
        let slot = |slot: Slot| memory.extend_from_slice(&slot.to_bytes());
        self.heap.add(elements.concat(), ranges.into_iter(), slot).map_err(|e| Fault(format!("{e:#}")))?;
        Ok(memory)
    }

    /// Returns the contents of the elements in `memory`, where each has `size` bytes.
    pub(super) fn elements(&self, memory: &[u8], size: usize) -> CodecResult<Elements> {
        if !self.variable {
            return Ok(memory.chunks_exact(size.max(1)).map(<[u8]>::to_vec).collect());
        }
        let slots = memory.as_chunks::<{ Slot::SIZE }>().0.iter();
        self.heap.with(|blocks| slots.map(|slot| Ok(Slot::from_bytes(*slot).of(blocks)?.to_vec())).collect())
    }
}

/// A chunk and the chains that encode it. In the first chain the codec is alone, as far as possible.
pub(super) struct Case {
    pub(super) chunk: Chunk,
    pub(super) chains: Vec<Chain>,
}

impl Case {
    /// Encodes the chunk with a chain.
    pub(super) fn encode(&self, chain: &Chain, worker: &mut Worker) -> Result<Vec<u8>, Fault> {
        self.encode_elements(chain, &self.chunk.elements, worker)
    }

    /// Encodes other elements.
    pub(super) fn encode_elements(
        &self,
        chain: &Chain,
        elements: &Elements,
        worker: &mut Worker,
    ) -> Result<Vec<u8>, Fault> {
        let memory = worker.memory(elements)?;
        let mut out = Vec::new();
        let source = Source::dense(&memory, &self.chunk.shape, self.chunk.size());
        let done = source.map_err(Into::into).and_then(|s| chain.encode(s, &mut out, &mut worker.scratch));
        done.map(|()| out).map_err(|e| {
            let hint = match e.kind() {
                CodecErrorKind::Value => " (use Subject::elements to make valid elements)",
                _ => "",
            };
            Fault(format!("{} cannot be encoded: {e:#}{hint}", self.chunk))
        })
    }

    /// Decodes a part of the chunk with a chain.
    pub(super) fn decode(
        &self,
        chain: &Chain,
        part: &Region,
        encoded: &[u8],
        worker: &mut Worker,
    ) -> CodecResult<Elements> {
        let size = self.chunk.size();
        let mut memory = self.chunk.room(part);
        let target = Destination::dense(&mut memory, part.shape(), size)?;
        chain.decode_into(encoded, &self.chunk.shape, part, target, &mut worker.scratch)?;
        worker.elements(&memory, size)
    }

    /// Decodes all elements of the chunk.
    pub(super) fn decode_whole(
        &self,
        chain: &Chain,
        encoded: &[u8],
        worker: &mut Worker,
    ) -> CodecResult<Elements> {
        self.decode(chain, &Region::whole(&self.chunk.shape), encoded, worker)
    }
}

/// Pseudo-random numbers that are the same in every run (xorshift64*).
#[derive(Debug, Clone)]
pub(super) struct Noise(pub(super) u64);

impl Noise {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `n`, which must not be 0.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }

    /// Like [`below`](Self::below), for an index.
    pub(super) fn place(&mut self, n: usize) -> usize {
        usize::try_from(self.below(n as u64)).unwrap_or(0)
    }
}
