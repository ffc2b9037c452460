//! The byte shuffle: the first bytes of all elements, then the second bytes, and so on.
//!
//! Bytes after the last whole element keep their place.

use std::array;

use wide::u8x16;

use crate::lanes::{LANE, Lanes, load};

/// The elements that are moved at once if their size is not a power of two; they stay in the nearest cache.
const TILE: usize = 512;

/// Writes `src`, elements of `typesize` bytes, shuffled into `dst`, which has the same length.
pub(crate) fn shuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let elements = src.len() / typesize;
    let (src, rest) = src.split_at(elements * typesize);
    let (dst, end) = dst.split_at_mut(src.len());
    end.copy_from_slice(rest);
    match typesize {
        1 => dst.copy_from_slice(src),
        2 => by_lanes::<2>(src, dst),
        4 => by_lanes::<4>(src, dst),
        8 => by_lanes::<8>(src, dst),
        16 => by_lanes::<16>(src, dst),
        3 => by_elements::<3>(src, dst),
        6 => by_elements::<6>(src, dst),
        _ if typesize.is_multiple_of(WORD) => by_words(typesize, src, dst),
        _ => by_bytes(typesize, src, dst),
    }
}

/// Writes the elements whose shuffled bytes are `src` into `dst`, which has the same length.
pub(crate) fn unshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let elements = dst.len() / typesize;
    let (dst, end) = dst.split_at_mut(elements * typesize);
    let (src, rest) = src.split_at(dst.len());
    end.copy_from_slice(rest);
    match typesize {
        1 => dst.copy_from_slice(src),
        2 => from_lanes::<2>(src, dst),
        4 => from_lanes::<4>(src, dst),
        8 => from_lanes::<8>(src, dst),
        16 => from_lanes::<16>(src, dst),
        3 => from_elements::<3>(src, dst),
        6 => from_elements::<6>(src, dst),
        _ if typesize.is_multiple_of(WORD) => from_words(typesize, src, dst),
        _ => from_bytes(typesize, src, dst),
    }
}

/// The bytes of a word, which is moved as one if the size of an element is a multiple of it.
const WORD: usize = 4;

/// Cuts shuffled bytes into the streams of `T` bytes of an element.
fn streams<const T: usize>(bytes: &[u8]) -> [&[u8]; T] {
    let elements = bytes.len() / T;
    array::from_fn(|byte| &bytes[byte * elements..][..elements])
}

/// As [`streams`], for writing.
fn streams_mut<const T: usize>(bytes: &mut [u8]) -> [&mut [u8]; T] {
    let elements = bytes.len() / T;
    let mut rest = bytes;
    array::from_fn(|_| rest.split_off_mut(..elements).unwrap_or_default())
}

/// Shuffles 16 elements at a time: their places in binary are rotated by the 4 bits of an element number.
fn by_lanes<const T: usize>(src: &[u8], dst: &mut [u8])
where
    [u8x16; T]: Lanes,
{
    let tiles = src.as_chunks::<LANE>().0.as_chunks::<T>().0;
    let mut streams = streams_mut::<T>(dst);
    // All have as many lanes as there are tiles; the compiler sees it here.
    let outputs = streams.each_mut().map(|stream| &mut stream.as_chunks_mut::<LANE>().0[..tiles.len()]);
    for (i, tile) in tiles.iter().enumerate() {
        let lanes = tile.each_ref().map(load).riffled(LANE.ilog2());
        for byte in 0..T {
            outputs[byte][i] = *lanes[byte].as_array();
        }
    }
    let rest_start = tiles.len() * LANE;
    for (i, element) in src.as_chunks::<T>().0.iter().enumerate().skip(rest_start) {
        streams.iter_mut().zip(element).for_each(|(stream, byte)| stream[i] = *byte);
    }
}

/// The inverse of [`by_lanes`]: places are rotated by the bits of a byte number.
fn from_lanes<const T: usize>(src: &[u8], dst: &mut [u8])
where
    [u8x16; T]: Lanes,
{
    let streams = streams::<T>(src);
    let (tiles, ends) = dst.as_chunks_mut::<T>().0.as_chunks_mut::<LANE>();
    // All have as many lanes as there are tiles; the compiler sees it here.
    let lanes = streams.map(|stream| &stream.as_chunks::<LANE>().0[..tiles.len()]);
    let done = tiles.len() * LANE;
    for (i, tile) in tiles.iter_mut().enumerate() {
        let bytes = lanes.map(|lanes| load(&lanes[i])).riffled(T.ilog2());
        for (to, lane) in tile.as_flattened_mut().as_chunks_mut::<LANE>().0.iter_mut().zip(bytes) {
            *to = *lane.as_array();
        }
    }
    for (i, element) in ends.iter_mut().enumerate() {
        element.iter_mut().zip(streams).for_each(|(byte, stream)| *byte = stream[done + i]);
    }
}

/// Shuffles elements of whole words: the words of 16 elements side by side, then the bytes of these words.
fn by_words(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let elements = src.len() / typesize;
    let (tiles, rest) = src.split_at(elements / LANE * LANE * typesize);
    for (i, tile) in tiles.chunks_exact(LANE * typesize).enumerate() {
        for word in 0..typesize / WORD {
            let mut lanes = [[0; LANE]; WORD];
            let words = tile.as_chunks::<WORD>().0[word..].iter().step_by(typesize / WORD);
            lanes
                .as_flattened_mut()
                .as_chunks_mut::<WORD>()
                .0
                .iter_mut()
                .zip(words)
                .for_each(|(to, from)| *to = *from);
            let lanes = lanes.each_ref().map(load).riffled(LANE.ilog2());
            let streams = dst[word * WORD * elements..].chunks_exact_mut(elements);
            for (stream, lane) in streams.zip(lanes) {
                stream[i * LANE..][..LANE].copy_from_slice(lane.as_array());
            }
        }
    }
    for (i, element) in rest.chunks_exact(typesize).enumerate() {
        let i = elements / LANE * LANE + i;
        dst.chunks_exact_mut(elements).zip(element).for_each(|(stream, byte)| stream[i] = *byte);
    }
}

/// The inverse of [`by_words`].
fn from_words(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let elements = dst.len() / typesize;
    let (tiles, rest) = dst.split_at_mut(elements / LANE * LANE * typesize);
    for (i, tile) in tiles.chunks_exact_mut(LANE * typesize).enumerate() {
        for word in 0..typesize / WORD {
            let streams = &src[word * WORD * elements..][..WORD * elements];
            let lanes: [u8x16; WORD] =
                array::from_fn(|n| load(&streams[n * elements..][..elements].as_chunks::<LANE>().0[i]));
            let lanes = lanes.riffled(WORD.ilog2()).map(u8x16::to_array);
            let words = tile.as_chunks_mut::<WORD>().0[word..].iter_mut().step_by(typesize / WORD);
            words.zip(lanes.as_flattened().as_chunks::<WORD>().0).for_each(|(to, from)| *to = *from);
        }
    }
    for (i, element) in rest.chunks_exact_mut(typesize).enumerate() {
        let i = elements / LANE * LANE + i;
        element.iter_mut().zip(src.chunks_exact(elements)).for_each(|(byte, stream)| *byte = stream[i]);
    }
}

/// Shuffles elements whose size is known to the compiler.
fn by_elements<const T: usize>(src: &[u8], dst: &mut [u8]) {
    let mut streams = streams_mut::<T>(dst);
    for (tile, elements) in src.as_chunks::<T>().0.chunks(TILE).enumerate() {
        for (byte, stream) in streams.iter_mut().enumerate() {
            let to = &mut stream[tile * TILE..][..elements.len()];
            to.iter_mut().zip(elements).for_each(|(to, element)| *to = element[byte]);
        }
    }
}

/// The inverse of [`by_elements`].
fn from_elements<const T: usize>(src: &[u8], dst: &mut [u8]) {
    let streams = streams::<T>(src);
    for (tile, elements) in dst.as_chunks_mut::<T>().0.chunks_mut(TILE).enumerate() {
        let tiles = streams.map(|stream| &stream[tile * TILE..][..elements.len()]);
        for (i, element) in elements.iter_mut().enumerate() {
            element.iter_mut().zip(tiles).for_each(|(byte, tile)| *byte = tile[i]);
        }
    }
}

/// Shuffles elements of any size.
fn by_bytes(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let elements = src.len() / typesize;
    for (tile, part) in src.chunks(TILE * typesize).enumerate() {
        for byte in 0..typesize {
            let to = dst[byte * elements + tile * TILE..].iter_mut();
            to.zip(part[byte..].iter().step_by(typesize)).for_each(|(to, from)| *to = *from);
        }
    }
}

/// The inverse of [`by_bytes`].
fn from_bytes(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let elements = dst.len() / typesize;
    for (tile, part) in dst.chunks_mut(TILE * typesize).enumerate() {
        for byte in 0..typesize {
            let from = src[byte * elements + tile * TILE..].iter();
            part[byte..].iter_mut().step_by(typesize).zip(from).for_each(|(to, from)| *to = *from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_to_the_stream_of_their_place() {
        for typesize in (1..=34).chain([255]) {
            for len in [0, 1, typesize, 15 * typesize, 16 * typesize, 33 * typesize + 1, 1200 * typesize] {
                let src: Vec<u8> = (0..len).map(|i: usize| (i * 7 + i / 251).to_le_bytes()[0]).collect();
                let elements = len / typesize;
                let expected: Vec<u8> = (0..typesize)
                    .flat_map(|byte| (0..elements).map(move |i| i * typesize + byte))
                    .chain(elements * typesize..len)
                    .map(|at| src[at])
                    .collect();
                let (mut shuffled, mut back) = (vec![0; len], vec![0; len]);
                shuffle(typesize, &src, &mut shuffled);
                assert_eq!(shuffled, expected, "{len} bytes of {typesize}");
                unshuffle(typesize, &shuffled, &mut back);
                assert_eq!(back, src, "{len} bytes of {typesize}");
            }
        }
    }
}
