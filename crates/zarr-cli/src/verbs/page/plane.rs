//! A plane of an array as a picture.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_array::blocking::Array;
use zarr_array::meta::json::Object;
use zarr_array::meta::v3::sharding::inner_chunk_shapes;

use crate::exit::{Exit, Failure};
use crate::out::json;
use crate::out::picture::{self, Options, Scale, Stored};
use crate::out::table::bytes;
use crate::pick::Pick;

/// The largest number of pixels along a side. A longer side is shown in steps.
const SIDE: u64 = 512;

/// The largest size of the chunks that a plane may decode, in bytes. A larger plane is shown in part.
const DECODED: u128 = 256 << 20;

/// Which plane is wanted.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The dimensions from top to bottom and from left to right, in the order of the array. By default the last two.
    pub(crate) sides: Option<[usize; 2]>,
    /// The positions in all dimensions. Those of the sides are where the plane begins.
    pub(crate) at: Vec<u64>,
    pub(crate) options: Options,
}

/// Returns the picture of a plane with the part of the array that it shows.
pub(crate) fn plane(array: &Array, asked: &Asked) -> Result<Object, Failure> {
    let shape = array.shape();
    let unable = |message: String| Failure::new(Exit::Unsupported, message);
    let [rows, columns] = match (asked.sides, shape.len()) {
        (_, 0 | 1) => return Err(unable("a picture needs an array of two or more dimensions".to_owned())),
        (Some([rows, columns]), rank) if rows < columns && columns < rank => [rows, columns],
        (Some(_), _) => return Err(Failure::usage("the sides of a picture are two dimensions of the array")),
        (None, rank) => [rank - 2, rank - 1],
    };
    if shape.contains(&0) {
        return Err(unable("the array has no elements".to_owned()));
    }
    let at: Vec<u64> = shape
        .iter()
        .enumerate()
        .map(|(dim, len)| asked.at.get(dim).copied().unwrap_or(0).min(len - 1))
        .collect();
    let lengths = decoded_lengths(array);
    let size = array.data_type().memory_size() as u128;
    let chunk = lengths.iter().fold(size, |bytes, len| bytes.saturating_mul(u128::from(*len)));
    if chunk > DECODED {
        let (chunk, most) = (bytes(chunk), bytes(DECODED));
        return Err(Failure::new(
            Exit::LimitExceeded,
            format!("one chunk has {chunk}, and the page decodes {most}"),
        ));
    }
    let window =
        window([rows, columns].map(|dim| at[dim]..shape[dim]), [lengths[rows], lengths[columns]], chunk);
    let steps = [0, 1].map(|side| (window[side].end - window[side].start).div_ceil(SIDE).max(1));
    let picks: Vec<Pick> = (0..shape.len())
        .map(|dim| match [rows, columns].iter().position(|side| *side == dim) {
            Some(side) => {
                let (range, step) = (&window[side], steps[side]);
                Pick::steps(range.start, (range.end - range.start).div_ceil(step), step.into())
            }
            None => Pick::index(at[dim]),
        })
        .collect();
    let mut png = Vec::new();
    let Scale(min, max) = match picture::write(&asked.options, &Stored { array, picks: &picks }, &mut png) {
        Ok(scale) => scale,
        Err(picture::Error::Elements(e)) => return Err(e),
        Err(picture::Error::Picture(e)) => return Err(Failure::io(&e, "cannot make the picture")),
    };
    let legend = picture::legend(&asked.options).map_err(|e| Failure::io(&e, "cannot make the legend"))?;
    let data = |png: &[u8]| format!("data:image/png;base64,{}", STANDARD.encode(png));
    let side = |side: usize, dim: usize| {
        let Range { start, end } = window[side];
        json::object([
            ("dimension", (dim as u64).into()),
            ("start", start.into()),
            ("end", end.into()),
            ("step", steps[side].into()),
        ])
    };
    Ok(json::document([
        ("picture", data(&png).into()),
        ("legend", data(&legend).into()),
        ("min", json::float(min)),
        ("max", json::float(max)),
        ("at", at.into()),
        ("rows", side(0, rows).into()),
        ("columns", side(1, columns).into()),
    ]))
}

/// Returns the lengths of the parts that are decoded alone: inner chunks, or the longest chunks.
fn decoded_lengths(array: &Array) -> Vec<u64> {
    let inner = inner_chunk_shapes(array.metadata().document().codecs()).and_then(|mut shapes| shapes.pop());
    let longest = |dim: usize| array.chunk_grid().lengths(dim).into_iter().max().unwrap_or(1).max(1);
    inner.unwrap_or_else(|| (0..array.shape().len()).map(longest).collect())
}

/// Cuts a plane until its chunks, of these lengths and of `chunk` bytes each, can be decoded.
fn window(mut plane: [Range<u64>; 2], lengths: [u64; 2], chunk: u128) -> [Range<u64>; 2] {
    let chunks = |side: usize, range: &Range<u64>| {
        let (first, last) = (range.start / lengths[side], (range.end - 1) / lengths[side]);
        u128::from(last - first + 1)
    };
    loop {
        let counts = [chunks(0, &plane[0]), chunks(1, &plane[1])];
        if counts == [1, 1] || counts[0].saturating_mul(counts[1]).saturating_mul(chunk.max(1)) <= DECODED {
            return plane;
        }
        let longer = usize::from(counts[1] > counts[0]);
        // Half of the chunks, or as many as there is room for. The part ends at the end of a chunk.
        let fits = DECODED / chunk.max(1) / counts[1 - longer];
        let taken = u64::try_from((counts[longer] / 2).max(fits)).unwrap_or(u64::MAX);
        let first = plane[longer].start / lengths[longer];
        plane[longer].end =
            first.saturating_add(taken).saturating_mul(lengths[longer]).min(plane[longer].end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_is_cut_at_chunks_until_it_fits() {
        let mib = 1 << 20;
        for (plane, lengths, chunk, wanted) in [
            ([0..100, 0..100], [10, 10], mib, [0..100, 0..100]),
            ([0..1000, 0..1000], [10, 10], mib, [0..120, 0..210]),
            ([5..1000, 7..8], [1, 8], 100 * mib, [5..7, 7..8]),
            ([3..9, 3..9], [10, 10], 900 * mib, [3..9, 3..9]),
            ([0..u64::MAX, 0..1], [1, 1], 1, [0..256 << 20, 0..1]),
        ] {
            assert_eq!(window(plane, lengths, chunk), wanted);
        }
    }
}
