//! The bit shuffle: the first bits of all elements, then the second bits, and so on, eight elements to a byte.
//!
//! Blocks whose number of elements is no multiple of eight are copied. Bytes after the last whole element keep their place.

use std::array;

use wide::{u8x16, u64x2};

use crate::header::MAX_TYPESIZE;
use crate::lanes::{LANE, Lanes, load};
use crate::shuffle::{shuffle, unshuffle};

/// The elements of a tile: each of their bytes fills eight lanes, and each of their bits one.
const TILE: usize = 8 * LANE;
/// The tiles that are shuffled together. They fill a cache line of each row; the rows of a large block are so far apart
/// that a cache keeps few of them.
const GROUP: usize = 4;

/// Writes `src`, elements of `typesize` bytes, bit-shuffled into `dst`, which has the same length.
pub(crate) fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let elements = src.len() / typesize;
    if !elements.is_multiple_of(8) || elements == 0 {
        return dst.copy_from_slice(src);
    }
    let (src, rest) = src.split_at(elements * typesize);
    let (dst, end) = dst.split_at_mut(src.len());
    end.copy_from_slice(rest);
    match typesize {
        1 => by_lanes::<1>(src, dst),
        2 => by_lanes::<2>(src, dst),
        4 => by_lanes::<4>(src, dst),
        8 => by_lanes::<8>(src, dst),
        16 => by_lanes::<16>(src, dst),
        _ => by_bytes(typesize, src, dst),
    }
    let done = elements / TILE * TILE;
    for byte in 0..typesize {
        for group in done / 8..elements / 8 {
            let eight = array::from_fn(|i| src[(group * 8 + i) * typesize + byte]);
            let rows = transpose_word(u64::from_le_bytes(eight)).to_le_bytes();
            rows.iter()
                .enumerate()
                .for_each(|(bit, row)| dst[(byte * 8 + bit) * (elements / 8) + group] = *row);
        }
    }
}

/// Writes the elements whose shuffled bits are `src` into `dst`, which has the same length.
pub(crate) fn unbitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let elements = dst.len() / typesize;
    if !elements.is_multiple_of(8) || elements == 0 {
        return dst.copy_from_slice(src);
    }
    let (dst, end) = dst.split_at_mut(elements * typesize);
    let (src, rest) = src.split_at(dst.len());
    end.copy_from_slice(rest);
    match typesize {
        1 => from_lanes::<1>(src, dst),
        2 => from_lanes::<2>(src, dst),
        4 => from_lanes::<4>(src, dst),
        8 => from_lanes::<8>(src, dst),
        16 => from_lanes::<16>(src, dst),
        _ => from_bytes(typesize, src, dst),
    }
    let done = elements / TILE * TILE;
    for byte in 0..typesize {
        for group in done / 8..elements / 8 {
            let rows = array::from_fn(|bit| src[(byte * 8 + bit) * (elements / 8) + group]);
            let eight = transpose_word(u64::from_le_bytes(rows)).to_le_bytes();
            eight.iter().enumerate().for_each(|(i, value)| dst[(group * 8 + i) * typesize + byte] = *value);
        }
    }
}

/// Shuffles whole tiles: their bytes first, then the bits of each stream of bytes.
fn by_lanes<const T: usize>(src: &[u8], dst: &mut [u8])
where
    [u8x16; T]: Lanes,
{
    let row = src.len() / T / 8;
    let tiles = src.as_chunks::<LANE>().0.as_chunks::<T>().0.as_chunks::<8>().0;
    let mut streams = [[[u8x16::ZERO; 8]; GROUP]; T];
    for (group, tiles) in tiles.chunks(GROUP).enumerate() {
        for (i, tile) in tiles.iter().enumerate() {
            for (n, lanes) in tile.iter().enumerate() {
                let lanes = lanes.each_ref().map(load).riffled(LANE.ilog2());
                streams.iter_mut().zip(lanes).for_each(|(stream, lane)| stream[i][n] = lane);
            }
        }
        for (stream, rows) in streams.iter().zip(dst.chunks_exact_mut(8 * row)) {
            for (i, lanes) in stream.iter().enumerate().take(tiles.len()) {
                put_rows(*lanes, rows, group * GROUP + i);
            }
        }
    }
}

/// The inverse of [`by_lanes`].
fn from_lanes<const T: usize>(src: &[u8], dst: &mut [u8])
where
    [u8x16; T]: Lanes,
{
    let row = dst.len() / T / 8;
    let tiles = dst.as_chunks_mut::<LANE>().0.as_chunks_mut::<T>().0.as_chunks_mut::<8>().0;
    let mut streams = [[[u8x16::ZERO; 8]; GROUP]; T];
    for (group, tiles) in tiles.chunks_mut(GROUP).enumerate() {
        for (stream, bits) in streams.iter_mut().zip(src.chunks_exact(8 * row)) {
            for (i, lanes) in stream.iter_mut().enumerate().take(tiles.len()) {
                *lanes = rows(bits, group * GROUP + i);
            }
        }
        for (i, tile) in tiles.iter_mut().enumerate() {
            for (n, to) in tile.iter_mut().enumerate() {
                let lanes = streams.each_ref().map(|stream| stream[i][n]).riffled(T.ilog2());
                to.iter_mut().zip(lanes).for_each(|(to, lane)| *to = *lane.as_array());
            }
        }
    }
}

/// Shuffles whole tiles of elements of any size.
fn by_bytes(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let row = src.len() / typesize / 8;
    let mut memory = [0; MAX_TYPESIZE * TILE];
    let streams = &mut memory[..typesize * TILE];
    for (i, tile) in src.chunks_exact(TILE * typesize).enumerate() {
        shuffle(typesize, tile, streams);
        let streams = streams.as_chunks::<LANE>().0.as_chunks::<8>().0;
        for (stream, rows) in streams.iter().zip(dst.chunks_exact_mut(8 * row)) {
            put_rows(stream.each_ref().map(load), rows, i);
        }
    }
}

/// The inverse of [`by_bytes`].
fn from_bytes(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let row = dst.len() / typesize / 8;
    let mut memory = [0; MAX_TYPESIZE * TILE];
    let streams = &mut memory[..typesize * TILE];
    for (i, tile) in dst.chunks_exact_mut(TILE * typesize).enumerate() {
        let bytes = streams.as_chunks_mut::<LANE>().0.as_chunks_mut::<8>().0;
        for (stream, bits) in bytes.iter_mut().zip(src.chunks_exact(8 * row)) {
            *stream = rows(bits, i).map(u8x16::to_array);
        }
        unshuffle(typesize, streams, tile);
    }
}

/// Writes the bits of a stream of [`TILE`] bytes into lane `i` of each of the eight rows of `dst`.
#[inline(always)]
fn put_rows(stream: [u8x16; 8], dst: &mut [u8], i: usize) {
    let row = dst.len() / 8;
    // Each byte has the place (group, bit); the rows need (bit, group).
    let rows = stream.map(transpose).riffled(LANE.ilog2());
    for (to, lane) in dst.chunks_exact_mut(row).zip(rows) {
        to[i * LANE..][..LANE].copy_from_slice(lane.as_array());
    }
}

/// Returns the stream of [`TILE`] bytes whose bits are in lane `i` of each of the eight rows of `src`.
#[inline(always)]
fn rows(src: &[u8], i: usize) -> [u8x16; 8] {
    let row = src.len() / 8;
    let rows: [u8x16; 8] = array::from_fn(|bit| load(&src[bit * row..][..row].as_chunks::<LANE>().0[i]));
    rows.riffled(8_u32.ilog2()).map(transpose)
}

/// Swaps bit `i` of byte `k` with bit `k` of byte `i`, in both halves of a lane.
#[inline(always)]
fn transpose(lane: u8x16) -> u8x16 {
    let words: [u64; 2] = bytemuck::cast(lane);
    let mut x = u64x2::new(words.map(u64::to_le));
    for (distance, mask) in STEPS {
        let swapped = (x ^ (x >> distance)) & u64x2::splat(mask);
        x = x ^ swapped ^ (swapped << distance);
    }
    bytemuck::cast(x.to_array().map(u64::to_le))
}

/// As [`transpose`], for one half.
fn transpose_word(mut x: u64) -> u64 {
    for (distance, mask) in STEPS {
        let swapped = (x ^ (x >> distance)) & mask;
        x ^= swapped ^ (swapped << distance);
    }
    x
}

/// Squares of 1, 2 and 4 bits that change places: the distance in bits, and the bits of one of the two.
const STEPS: [(u32, u64); 3] =
    [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_go_to_the_row_of_their_place() {
        for typesize in (1..=17).chain([255]) {
            for elements in [0, 7, 8, 120, 128, 136, 400, 1024] {
                for len in [elements * typesize, elements * typesize + typesize / 2] {
                    let src: Vec<u8> = (0..len).map(|i: usize| (i * 37 + i / 11).to_le_bytes()[0]).collect();
                    let mut expected = src.clone();
                    if elements % 8 == 0 {
                        expected[..elements * typesize].fill(0);
                        for (bit, i) in (0..8 * typesize).flat_map(|bit| (0..elements).map(move |i| (bit, i)))
                        {
                            let value = src[i * typesize + bit / 8] >> (bit % 8) & 1;
                            expected[bit * (elements / 8) + i / 8] |= value << (i % 8);
                        }
                    }
                    let (mut shuffled, mut back) = (vec![0; len], vec![0; len]);
                    bitshuffle(typesize, &src, &mut shuffled);
                    assert_eq!(shuffled, expected, "{len} bytes of {typesize}");
                    unbitshuffle(typesize, &shuffled, &mut back);
                    assert_eq!(back, src, "{len} bytes of {typesize}");
                }
            }
        }
    }
}
