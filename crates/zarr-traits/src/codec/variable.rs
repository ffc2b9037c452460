//! Elements of variable length of a chunk, between its encoded form and its slots.

use std::ops::Range;

use bytes::Bytes;
use zarr_strided::{Destination, Source, Swap, byte_len};

use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::heap::Slot;
use crate::region::Region;
use crate::scratch::Scratch;

/// Writes the elements of a chunk of `shape` that lie in `part` to `dst`. `elements` are their ranges in `block`, in C
/// order. The heap keeps only the contents of this part.
///
/// # Errors
/// [`CodecErrorKind::Corrupt`] if the number of elements is not that of the chunk; errors of
/// [`Heap::add`](crate::heap::Heap::add).
pub fn decode_elements(
    block: &[u8],
    elements: &[Range<usize>],
    shape: &[u64],
    part: &Region,
    mut dst: Destination<'_>,
    scratch: &mut Scratch,
) -> CodecResult<()> {
    let count = byte_len(shape, Slot::SIZE)? / Slot::SIZE;
    if elements.len() != count {
        return Err(CodecError::corrupt(format!(
            "the chunk has {} elements, expected {count}",
            elements.len()
        )));
    }
    let mut slots = scratch.take_vec();
    let bytes = byte_len(part.shape(), Slot::SIZE)?;
    slots.try_reserve(bytes).map_err(|_| CodecError::no_memory(bytes))?;
    let slot = |slot: Slot| slots.extend_from_slice(&slot.to_bytes());
    if part.is_whole(shape) {
        scratch.heap()?.add(Bytes::copy_from_slice(block), elements.iter().cloned(), slot)?;
    } else {
        let wanted: Vec<_> = positions(shape, part).filter_map(|at| elements.get(at).cloned()).collect();
        let outside =
            || CodecError::new(CodecErrorKind::InvalidArgument, "an element is not inside its block");
        let mut kept = Vec::new();
        for range in &wanted {
            kept.extend_from_slice(block.get(range.clone()).ok_or_else(outside)?);
        }
        let mut end = 0;
        let moved = wanted.iter().map(|range| {
            let start = end;
            end += range.len();
            start..end
        });
        scratch.heap()?.add(kept, moved, slot)?;
    }
    dst.put(Source::dense(&slots, part.shape(), Slot::SIZE)?, Swap::NONE)?;
    scratch.give_vec(slots);
    Ok(())
}

/// Returns the positions of the elements of `part` in a chunk of `shape`, both in C order.
fn positions(shape: &[u64], part: &Region) -> impl Iterator<Item = usize> {
    let count = part.len().unwrap_or(0);
    (0..count).map(move |mut number| {
        let (mut at, mut stride) = (0_u64, 1_u64);
        for ((len, start), extent) in shape.iter().zip(part.start()).zip(part.shape()).rev() {
            at += (start + number % extent) * stride;
            (number, stride) = (number / extent, stride * len);
        }
        usize::try_from(at).unwrap_or(usize::MAX)
    })
}

/// Calls `visit` with the content of each element of a chunk, in C order.
///
/// # Errors
/// Errors of `visit`.
pub fn each_element(
    src: Source<'_>,
    scratch: &mut Scratch,
    mut visit: impl FnMut(&[u8]) -> CodecResult<()>,
) -> CodecResult<()> {
    let mut slots = scratch.take_vec();
    src.append_to(&mut slots, Swap::NONE)?;
    let visited = scratch.heap()?.with(|blocks| {
        let (slots, _) = slots.as_chunks::<{ Slot::SIZE }>();
        slots.iter().try_for_each(|slot| visit(Slot::from_bytes(*slot).of(blocks)?))
    });
    scratch.give_vec(slots);
    visited
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::fill::FillValue;
    use crate::heap::Heap;

    #[test]
    fn a_part_of_a_chunk_is_decoded_to_slots_of_its_elements() {
        fn run(scratch: &mut Scratch, memory: &mut [u8], elements: &[Range<usize>]) -> CodecResult<()> {
            let part = Region::new([0, 1], [2, 1]).unwrap();
            let dst = Destination::dense(memory, &[2, 1], Slot::SIZE).unwrap();
            decode_elements(b"abcde", elements, &[2, 2], &part, dst, scratch)
        }
        let fill = FillValue::from_bytes(*b"b");
        let mut scratch = Scratch::new();
        let mut memory = [0; 2 * Slot::SIZE];
        let elements = [0..1, 1..2, 2..2, 2..5];
        let kind = |result: CodecResult<()>| result.unwrap_err().kind();
        assert!(run(&mut scratch, &mut memory, &elements).is_err(), "without a heap");
        scratch.set_heap(Some(Arc::new(Heap::new(fill.clone(), 5))));
        assert_eq!(kind(run(&mut scratch, &mut memory, &elements[1..])), CodecErrorKind::Corrupt);
        run(&mut scratch, &mut memory, &elements).unwrap(); // keeps 4 bytes of 5
        let slot = Slot::fill(&fill).to_bytes();
        assert_eq!(memory[..Slot::SIZE], slot, "an element equal to the fill value has its slot");
        let mut found = Vec::new();
        let src = Source::dense(&memory, &[2, 1], Slot::SIZE).unwrap();
        each_element(src, &mut scratch, |content| {
            found.push(content.to_vec());
            Ok(())
        })
        .unwrap();
        assert_eq!(found, [b"b".to_vec(), b"cde".to_vec()]);
        assert_eq!(kind(run(&mut scratch, &mut memory, &elements)), CodecErrorKind::LimitExceeded);
    }
}
