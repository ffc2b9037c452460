//! The shapes of chunks and shards of a new array for which none are given.

use zarr_traits::DataType;
use zarr_traits::strided::Dims;

/// Arrays of up to this many bytes are one chunk.
const ONE_CHUNK: u64 = 1 << 20;
/// The largest size of a chunk in bytes. Halving one that is larger leaves more than half of it.
const CHUNK: u64 = 512 << 10;
/// The largest size of a shard in bytes.
const SHARD: u64 = 16 << 20;
/// The assumed size of an element of variable length, in bytes.
const VARIABLE: u64 = 32;
/// The assumed length of a dimension without elements, which will grow.
const EMPTY: u64 = 1024;

/// The shapes of chunks and shards, in elements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shapes {
    pub(crate) chunks: Vec<u64>,
    pub(crate) shards: Option<Vec<u64>>,
}

impl Shapes {
    /// Returns the shapes for an array: one chunk up to 1 MiB, otherwise chunks of up to 512 KiB in shards of up to 16
    /// MiB. The longest dimension is halved until a chunk fits; then the shortest dimension is doubled as long as a shard
    /// fits.
    pub(crate) fn of(shape: &[u64], data_type: &DataType) -> Self {
        let element = element(data_type);
        let lengths = lengths(shape);
        if bytes(&lengths, element) <= ONE_CHUNK {
            return Self { chunks: lengths, shards: None };
        }
        let chunks = cut(lengths.clone(), element, |n| n.div_ceil(2));
        let mut shards = chunks.clone();
        loop {
            let shorter = (0..shape.len()).filter(|dim| shards[*dim] < lengths[*dim]);
            let Some(dim) = shorter.min_by_key(|dim| shards[*dim]) else { break };
            let mut longer = shards.clone();
            longer[dim] = (2 * shards[dim]).min(lengths[dim].next_multiple_of(chunks[dim]));
            if bytes(&longer, element) > SHARD {
                break;
            }
            shards = longer;
        }
        Self { chunks, shards: Some(shards) }
    }

    /// Returns the shape of chunks for an array without shards: one chunk up to 1 MiB, otherwise chunks of up to 512 KiB.
    /// Elements have `element` bytes; 0 if they differ in length.
    pub(crate) fn without_shards(shape: &[u64], element: u64) -> Vec<u64> {
        let element = if element == 0 { VARIABLE } else { element };
        let lengths = lengths(shape);
        match bytes(&lengths, element) <= ONE_CHUNK {
            true => lengths,
            false => cut(lengths, element, |n| n.div_ceil(2)),
        }
    }

    /// Returns the shape of chunks for shards of this shape: up to 512 KiB, if the lengths can be divided so.
    pub(crate) fn inside(shards: &[u64], data_type: &DataType) -> Vec<u64> {
        cut(shards.to_vec(), element(data_type), |n| n / smallest_factor(n))
    }
}

/// Shortens the longest dimension until the box fits into a chunk. `shorter` shortens a length above 1.
fn cut(mut lengths: Vec<u64>, element: u64, shorter: impl Fn(u64) -> u64) -> Vec<u64> {
    while bytes(&lengths, element) > CHUNK
        && let Some(longest) = lengths.iter_mut().max().filter(|n| **n > 1)
    {
        *longest = shorter(*longest);
    }
    lengths
}

/// Returns the lengths to cut, where a dimension without elements counts as one that has grown.
fn lengths(shape: &[u64]) -> Vec<u64> {
    shape.iter().map(|n| if *n == 0 { EMPTY } else { *n }).collect()
}

fn element(data_type: &DataType) -> u64 {
    data_type.size().map_or(VARIABLE, |size| size as u64)
}

/// Returns the size of a box in bytes.
fn bytes(shape: &[u64], element: u64) -> u64 {
    Dims::from(shape).product().unwrap_or(u64::MAX).saturating_mul(element)
}

/// Returns the smallest factor above 1 of `n`, which is above 1. Only small factors are looked for.
fn smallest_factor(n: u64) -> u64 {
    (2..=1 << 16).find(|factor| n.is_multiple_of(*factor)).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A shape, a data type, and the chosen chunks and shards.
    type Case<'a> = (&'a [u64], DataType, &'a [u64], Option<&'a [u64]>);

    #[test]
    fn shapes_are_chosen_by_the_size_of_the_array() {
        let cases: [Case<'_>; 8] = [
            (&[], DataType::Float64, &[], None),
            (&[100, 100], DataType::Float64, &[100, 100], None),
            (&[1024, 1024], DataType::UInt8, &[1024, 1024], None),
            (&[1024, 1025], DataType::UInt8, &[512, 513], Some(&[1024, 1026])),
            (&[8760, 721, 1440], DataType::Float32, &[35, 46, 45], Some(&[140, 92, 180])),
            (&[0, 180, 360], DataType::Float32, &[64, 45, 45], Some(&[128, 180, 180])),
            (&[1 << 40], DataType::Int16, &[1 << 18], Some(&[1 << 23])),
            (&[1_000_000], DataType::String, &[15_625], Some(&[500_000])),
        ];
        for (shape, data_type, chunks, shards) in cases {
            let expected = Shapes { chunks: chunks.to_vec(), shards: shards.map(<[u64]>::to_vec) };
            assert_eq!(Shapes::of(shape, &data_type), expected, "{shape:?}");
            let element = data_type.size().unwrap_or(0) as u64;
            assert_eq!(Shapes::without_shards(shape, element), chunks, "{shape:?}");
        }
    }

    #[test]
    fn chunks_divide_given_shards() {
        for (shards, chunks) in [
            (&[1024, 1024, 16][..], &[128, 64, 16][..]),
            (&[81, 81, 81], &[81, 27, 27]),
            (&[1_000_003], &[1]),
            (&[10, 10], &[10, 10]),
        ] {
            assert_eq!(Shapes::inside(shards, &DataType::Float32), chunks);
        }
    }

    proptest! {
        /// Chunks have 64 KiB to 1 MiB, shards 1 to 16 MiB, unless the array is smaller.
        #[test]
        fn sizes_are_within_bounds(shape in prop::collection::vec(1_u64..5000, 1..5), size in 1_u32..3000) {
            let data_type = DataType::Raw(size);
            let whole = bytes(&shape, size.into());
            let Shapes { chunks, shards } = Shapes::of(&shape, &data_type);
            let chunk = bytes(&chunks, size.into());
            prop_assert!(chunk <= 1 << 20 && chunk >= whole.min(64 << 10), "chunks {:?} of {:?}", chunks, shape);
            prop_assert_eq!(shards.is_none(), whole <= 1 << 20);
            let Some(shards) = shards else { return Ok(()) };
            let shard = bytes(&shards, size.into());
            prop_assert!((1 << 20..=16 << 20).contains(&shard), "shards {:?} of {:?}", shards, shape);
            prop_assert!(shards.iter().zip(&chunks).all(|(shard, chunk)| shard.is_multiple_of(*chunk)));
        }
    }
}
