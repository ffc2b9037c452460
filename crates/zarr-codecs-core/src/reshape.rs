//! `reshape`: gives the elements another shape and keeps their order.
//!
//! Spec: [reshape codec](https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape).
//! Rules: [reshape](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md#d.9e).
//!
//! | member | value |
//! |---|---|
//! | `shape` | for each dimension of the encoded chunk: its length, a list of chunk dimensions whose product it is, or (once) `-1` for the rest |
//!
//! The lengths depend on the chunk. Opening an array checks that they fit all chunks of its grid.
//!
//! If the elements of a chunk are contiguous, they are not moved ([`Effect::Reshape`]). A part of a
//! chunk is decoded separately if it is also a box of the encoded chunk; otherwise the whole chunk is decoded.

use std::ops::Range;
use std::sync::Arc;

use zarr_traits::codec::{ArrayArrayCodec, Codec, CodecKind, Effect, Repr};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::Value;
use zarr_traits::strided::{Destination, Dims, Source, Swap};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Region, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("reshape", CodecKind::ArrayArray, build));

/// The length of a dimension of the encoded chunk.
#[derive(Debug)]
enum Length {
    /// A fixed length.
    Fixed(u64),
    /// The product of these chunk dimensions, in ascending order.
    Product(Vec<usize>),
    /// The number of elements divided by the other lengths.
    Rest,
}

#[derive(Debug)]
struct Reshape {
    lengths: Vec<Length>,
    repr: Repr,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, context: &Context<'_>) -> CodecResult<Codec> {
    let Some(items) = configuration.get("shape").and_then(|shape| shape.elements()) else {
        return Err(wrong("shape must be a list".to_owned()));
    };
    let rank = items.clone().count();
    if rank > context.limits.rank {
        let message = format!("shape has {rank} dimensions, the limit is {}", context.limits.rank);
        return Err(CodecError::new(CodecErrorKind::LimitExceeded, message).at(PLACE));
    }
    let lengths: Vec<Length> = items.map(|item| length(configuration, &item)).collect::<CodecResult<_>>()?;
    if lengths.iter().filter(|length| matches!(length, Length::Rest)).count() > 1 {
        return Err(wrong("shape contains -1 more than once".to_owned()));
    }
    let named = lengths.iter().flat_map(|length| match length {
        Length::Product(dims) => &dims[..],
        _ => &[],
    });
    if !named.clone().zip(named.clone().skip(1)).all(|(dim, next)| dim < next) {
        return Err(wrong("the dimensions in shape must be in ascending order".to_owned()));
    }
    if let Some(dim) = named.clone().find(|dim| **dim >= repr.rank) {
        return Err(wrong(format!(
            "shape contains dimension {dim}, but the chunk has {} dimensions",
            repr.rank
        )));
    }
    Ok(Codec::ArrayArray(Arc::new(Reshape { lengths, repr: repr.clone() })))
}

const PLACE: &str = "/configuration/shape";

fn wrong(message: String) -> CodecError {
    CodecError::configuration(message).at(PLACE)
}

fn length(configuration: &mut Configuration<'_>, item: &Value) -> CodecResult<Length> {
    if let Some(dims) = item.elements() {
        let dims = dims.map(|dim| {
            let dim = configuration.whole("shape", &dim)?;
            usize::try_from(dim).map_err(|_| wrong(format!("shape contains dimension {dim}")))
        });
        return Ok(Length::Product(dims.collect::<CodecResult<_>>()?));
    }
    match configuration.whole("shape", item)? {
        -1 => Ok(Length::Rest),
        length => match u64::try_from(length) {
            Ok(length) if length > 0 => Ok(Length::Fixed(length)),
            _ => Err(wrong(format!("a length in shape is {length}, it must be -1 or above 0"))),
        },
    }
}

/// Returns the product (1 without lengths), or `None` if it is too large for a chunk.
fn product(lengths: &[u64]) -> Option<u64> {
    Dims::from(lengths).product()
}

impl Reshape {
    /// Returns the encoded shape of a chunk of `shape`, or the reason why there is none.
    fn fit(&self, shape: &[u64]) -> Result<Dims, String> {
        let too_large = || "it has too many elements".to_owned();
        if shape.len() != self.repr.rank {
            return Err(format!("expected {} dimensions", self.repr.rank));
        }
        let all = product(shape).ok_or_else(too_large)?;
        let given = self.lengths.iter().map(|length| match length {
            Length::Fixed(length) => Some(*length),
            Length::Product(dims) => dims.iter().map(|dim| shape[*dim]).collect::<Dims>().product(),
            Length::Rest => Some(1),
        });
        let mut encoded: Dims = given.collect::<Option<_>>().ok_or_else(too_large)?;
        if let Some(rest) = self.lengths.iter().position(|length| matches!(length, Length::Rest)) {
            let others = product(&encoded).ok_or_else(too_large)?;
            if others == 0 || !all.is_multiple_of(others) {
                return Err(format!("its {all} elements are not a multiple of {others}"));
            }
            encoded[rest] = all / others;
        }
        if product(&encoded) != Some(all) {
            return Err(format!("{all} elements do not fit shape {encoded:?}"));
        }
        for (i, length) in self.lengths.iter().enumerate() {
            let Length::Product(dims) = length else { continue };
            let (Some(first), Some(last)) = (dims.first(), dims.last()) else { continue };
            let before = product(&encoded[..i]) == product(&shape[..*first]);
            let after = product(&encoded[i + 1..]) == product(&shape[last + 1..]);
            if !before || !after {
                return Err(format!("dimensions {dims:?} do not become dimension {i} of shape {encoded:?}"));
            }
        }
        Ok(encoded)
    }
}

/// Groups the dimensions of two shapes that have the same number of elements, above zero. The groups are as small as
/// possible, and have the same number of elements on both sides.
fn groups(one: &[u64], other: &[u64]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let mut groups = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < one.len() || j < other.len() {
        let from = (i, j);
        let (mut a, mut b) = (1_u64, 1_u64);
        let take = |at: &mut usize, of: &[u64], all: &mut u64| {
            *all = all.checked_mul(*of.get(*at)?)?;
            *at += 1;
            Some(())
        };
        let _ = take(&mut i, one, &mut a);
        let _ = take(&mut j, other, &mut b);
        while a != b {
            if a < b { take(&mut i, one, &mut a)? } else { take(&mut j, other, &mut b)? }
        }
        groups.push((from.0..i, from.1..j));
    }
    Some(groups)
}

/// Returns the first position and the number of elements of a box without zero lengths, if its elements are contiguous
/// in C order.
fn run(shape: &[u64], start: &[u64], len: &[u64]) -> Option<(u64, u64)> {
    let (mut first, mut count, mut stride, mut full) = (0_u64, 1_u64, 1_u64, true);
    for ((size, start), len) in shape.iter().zip(start).zip(len).rev() {
        if !full && *len != 1 {
            return None;
        }
        first = first.checked_add(start.checked_mul(stride)?)?;
        count = count.checked_mul(*len)?;
        stride = stride.checked_mul(*size)?;
        full &= len == size;
    }
    Some((first, count))
}

/// Returns the box of `count` elements from position `first` in C order, if they form a box.
fn unrun(shape: &[u64], mut first: u64, mut count: u64) -> Option<(Dims, Dims)> {
    let mut start = Dims::filled(0, shape.len());
    let mut len = Dims::filled(1, shape.len());
    for (dim, size) in shape.iter().enumerate().rev() {
        if count.is_multiple_of(*size) && first.is_multiple_of(*size) {
            len[dim] = *size;
            count /= size;
        } else {
            start[dim] = first % size;
            len[dim] = count;
            if start[dim].checked_add(count)? > *size {
                return None;
            }
            count = 1;
        }
        first /= size;
    }
    (first == 0 && count == 1).then_some((start, len))
}

impl ArrayArrayCodec for Reshape {
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(Repr::new(self.repr.data_type.clone(), self.repr.fill.clone(), self.lengths.len()))
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        self.fit(shape).map_err(|why| {
            CodecError::configuration(format!("shape does not fit a chunk of shape {shape:?}: {why}"))
        })
    }

    fn effect(&self) -> Effect<'_> {
        Effect::Reshape
    }

    fn map_part(&self, shape: &[u64], part: &Region) -> Option<Region> {
        if part.is_empty() || !part.is_inside(shape) {
            return None;
        }
        let encoded = self.fit(shape).ok()?;
        let (mut start, mut len) = (Dims::new(), Dims::new());
        for (from, to) in groups(shape, &encoded)? {
            let (first, count) = run(&shape[from.clone()], &part.start()[from.clone()], &part.shape()[from])?;
            let (at, of) = unrun(&encoded[to], first, count)?;
            at.iter().for_each(|n| start.push(*n));
            of.iter().for_each(|n| len.push(*n));
        }
        Region::new(start, len)
    }

    fn decode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        copy(src, dst, scratch)
    }

    fn encode(&self, src: Source<'_>, dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
        copy(src, dst, scratch)
    }
}

/// Copies elements in C order between any two shapes.
fn copy(src: Source<'_>, mut dst: Destination<'_>, scratch: &mut Scratch) -> CodecResult<()> {
    let size = dst.size();
    if let Some(memory) = src.as_dense() {
        let src = Source::dense(memory, dst.shape(), size)?;
        return Ok(dst.put(src, Swap::NONE)?);
    }
    if let Some(memory) = dst.as_dense_mut() {
        return Ok(src.write_to(memory, Swap::NONE)?);
    }
    let mut memory = scratch.take_vec();
    src.append_to(&mut memory, Swap::NONE)?;
    let src = Source::dense(&memory, dst.shape(), size)?;
    dst.put(src, Swap::NONE)?;
    scratch.give_vec(memory);
    Ok(())
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::json;

    use super::*;
    use crate::testing::{chain, golden, noted, open, refused};

    fn codecs(shape: &Value) -> Value {
        json!([{"name": "reshape", "configuration": {"shape": shape}}, "bytes"])
    }

    fn codec(lengths: Vec<Length>, rank: usize) -> Reshape {
        let repr = Repr::new(zarr_traits::DataType::UInt8, zarr_traits::FillValue::of(0_u8), rank);
        Reshape { lengths, repr }
    }

    #[test]
    fn elements_keep_their_order() {
        // rule D.9e
        let elements: Vec<u8> = (0..24).collect();
        let encoded = "000102030405060708090a0b0c0d0e0f1011121314151617";
        for shape in [json!([[0, 1], [2]]), json!([-1]), json!([6, 2, 2]), json!([[0], 12]), json!([[], -1])]
        {
            golden(&codecs(&shape), "uint8", &[2, 3, 4], &elements, encoded);
        }
        golden(&codecs(&json!([])), "uint8", &[1, 1], &[7], "07"); // no dimensions
        golden(&codecs(&json!([1, 1])), "uint8", &[], &[7], "07");
        // a later transpose gets the new shape: 2 x 3 x 4 as 6 x 4, then 4 x 6
        let then = json!([
            {"name": "reshape", "configuration": {"shape": [[0, 1], [2]]}},
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            "bytes"
        ]);
        let columns: String =
            (0..4).flat_map(|c| (0..6).map(move |r| format!("{:02x}", 4 * r + c))).collect();
        golden(&then, "uint8", &[2, 3, 4], &elements, &columns);
        // an earlier transpose changes the shape to be reshaped
        let before = json!([
            {"name": "transpose", "configuration": {"order": [2, 0, 1]}},
            {"name": "reshape", "configuration": {"shape": [[0], [1, 2]]}},
            "bytes"
        ]);
        golden(&before, "uint8", &[2, 3, 4], &elements, &columns);
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused_when_the_array_is_opened() {
        // rule D.9e
        let fits = |shape: Value, chunk: &[u64]| {
            let chain = chain(&codecs(&shape), "uint8", chunk.len());
            chain.check_shape(chunk).map_err(|e| e.to_string())
        };
        // the example of the specification
        assert_eq!(fits(json!([[0, 1], [2], 3]), &[100, 50, 64, 3]), Ok(()));
        assert_eq!(fits(json!([[0, 1], 10, [3]]), &[2, 3, 10, 4]), Ok(()));
        assert_eq!(fits(json!([[0], [1]]), &[0, 4]), Ok(()), "chunks without elements");
        assert_eq!(
            fits(json!([7]), &[2, 4]).unwrap_err(),
            "codec \"reshape\" failed to open: shape does not fit a chunk of shape [2, 4]: 8 elements do not fit \
             shape [7]"
        );
        for (shape, chunk) in [
            (json!([-1, 3]), &[2, 4][..]),
            (json!([-1, [0]]), &[0, 4]), // any number fits
            (json!([]), &[2]),
            (json!([[0, 2], -1]), &[2, 3, 4]), // dimension 1 is between them
            (json!([2, [0]]), &[4, 2]),        // length 2 precedes dimension 0
            (json!([[1], 4]), &[4, 1]),
            (json!([1_u64 << 62, 4]), &[2, 4]),
            (json!([[0, 1], [2]]), &[u64::MAX, 2, 0]),
        ] {
            assert!(fits(shape.clone(), chunk).is_err(), "{shape} {chunk:?}");
        }
        let two = chain(&codecs(&json!([-1])), "uint8", 2);
        assert!(two.check_shape(&[4]).is_err(), "another number of dimensions");
    }

    #[test]
    fn invalid_configurations_are_refused() {
        // rule D.9e
        for shape in [
            json!([-1, -1]),
            json!([0]),
            json!([-2]),
            json!([1.5]),
            json!(["1"]),
            json!([null]),
            json!([[1], [0]]),
            json!([[1, 0]]),
            json!([[0, 0]]),
            json!([[0], 1, [0]]),
            json!([[2]]),
            json!([[-1]]),
            json!([[[0]]]),
            json!(4),
            json!(null),
        ] {
            assert_eq!(refused(&codecs(&shape), "uint8", 2).pointer(), "/0/configuration/shape", "{shape}");
        }
        assert_eq!(refused(&json!(["reshape", "bytes"]), "uint8", 1).pointer(), "/0/configuration/shape");
        assert_eq!(noted(&codecs(&json!([-1.0])), "uint8", 2), ["/0/configuration/shape"]); // rule D.09
        let many = open(&codecs(&json!(vec![1; 1000])), zarr_traits::DataType::UInt8, 1).unwrap_err();
        assert_eq!(many.kind(), CodecErrorKind::LimitExceeded); // rule L95
    }

    #[test]
    fn a_part_that_stays_a_box_is_decoded_separately() {
        // rule D.04
        let part = |start: &[u64], len: &[u64]| Region::new(start, len).unwrap();
        let map = |to: &[u64], chunk: &[u64], start: &[u64], len: &[u64]| {
            let lengths = to.iter().map(|n| Length::Fixed(*n)).collect();
            codec(lengths, chunk.len()).map_part(chunk, &part(start, len))
        };
        assert_eq!(map(&[6, 4], &[2, 3, 4], &[1, 0, 1], &[1, 3, 2]), Some(part(&[3, 1], &[3, 2])));
        assert_eq!(map(&[6, 4], &[2, 3, 4], &[1, 1, 1], &[1, 2, 2]), Some(part(&[4, 1], &[2, 2])));
        assert_eq!(map(&[6, 4], &[2, 3, 4], &[0, 1, 0], &[2, 2, 4]), None, "rows 1, 2, 4 and 5");
        assert_eq!(map(&[2, 3, 4], &[24], &[12], &[4]), Some(part(&[1, 0, 0], &[1, 1, 4])));
        assert_eq!(map(&[2, 3, 4], &[24], &[5], &[2]), Some(part(&[0, 1, 1], &[1, 1, 2])));
        assert_eq!(map(&[2, 3, 4], &[24], &[4], &[8]), Some(part(&[0, 1, 0], &[1, 2, 4])));
        assert_eq!(map(&[2, 3, 4], &[24], &[2], &[4]), None, "over the end of a row");
        assert_eq!(map(&[2, 3, 4], &[24], &[8], &[8]), None, "over the end of a plane");
        assert_eq!(map(&[4, 3], &[2, 6], &[0, 3], &[2, 3]), None, "every second row");
        assert_eq!(map(&[4, 3], &[2, 6], &[1, 3], &[1, 3]), Some(part(&[3, 0], &[1, 3])));
        // dimensions of length 1 appear and disappear
        assert_eq!(
            map(&[1, 5, 1, 4, 1], &[5, 4], &[2, 1], &[2, 3]),
            Some(part(&[0, 2, 0, 1, 0], &[1, 2, 1, 3, 1]))
        );
        assert_eq!(
            map(&[5, 4], &[1, 5, 1, 4, 1], &[0, 2, 0, 1, 0], &[1, 2, 1, 3, 1]),
            Some(part(&[2, 1], &[2, 3]))
        );
        assert_eq!(map(&[], &[1], &[0], &[1]), Some(part(&[], &[])));
        assert_eq!(map(&[6], &[2, 3], &[0, 0], &[0, 3]), None);
        assert_eq!(map(&[0], &[0], &[0], &[1]), None);
    }

    #[test]
    fn strided_memory_is_copied_in_order() {
        let codec = codec(vec![Length::Rest], 2);
        let elements: Vec<u8> = (0..6).collect();
        let transposed = Source::of(&elements, &[2, 3]).unwrap().permute(&[1, 0]).unwrap();
        let mut dst = [0_u8; 12];
        // every second byte of twelve
        let target = Destination::strided(&mut dst, 0, &[6], &[2], 1).unwrap();
        codec.encode(transposed, target, &mut Scratch::new()).unwrap();
        assert_eq!(dst, [0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0]);
    }
}
