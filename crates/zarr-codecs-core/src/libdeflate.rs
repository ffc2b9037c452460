//! DEFLATE in files that are in memory as a whole, by libdeflate: for `gzip`, and for `zlib` of numcodecs. It is faster than
//! a decoder that can stop at any byte, but does not tell where a stream ends. So files of several streams are left to the
//! other decoder, and so are all errors.

use libdeflater::{CompressionLvl, Compressor, Decompressor, adler32, crc32};
use zarr_traits::Scratch;

/// The decoder of a worker.
#[derive(Default)]
struct Decoder(Option<Decompressor>);

/// The encoders of a worker, one per level.
#[derive(Default)]
struct Encoders([Option<Compressor>; 10]);

/// Decodes a gzip file of one member that fills `dst`. Returns false for anything else; `dst` is then unspecified.
pub fn decode_gzip(src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> bool {
    let made = decoder(scratch).gzip_decompress(src, dst);
    // the length is stored modulo 2^32
    let length = (dst.len() as u64).to_le_bytes();
    made.is_ok_and(|made| made == dst.len())
        && src.ends_with(&length[..4])
        && ends_with_only(&src[..src.len() - 4], crc32(dst).to_le_bytes())
}

/// Decodes one zlib stream that fills `dst`. Returns false for anything else; `dst` is then unspecified.
pub fn decode_zlib(src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> bool {
    let made = decoder(scratch).zlib_decompress(src, dst);
    made.is_ok_and(|made| made == dst.len()) && ends_with_only(src, adler32(dst).to_be_bytes())
}

/// Appends a stream without header and checksum. Returns false if it exceeds `most` bytes or there is no such level.
pub fn deflate(level: u8, src: &[u8], out: &mut Vec<u8>, most: usize, scratch: &mut Scratch) -> bool {
    append(level, out, most, scratch, |encoder, room| encoder.deflate_compress(src, room).ok())
}

/// Appends a zlib stream. Returns false if it exceeds `most` bytes or there is no such level.
pub fn zlib(level: u8, src: &[u8], out: &mut Vec<u8>, most: usize, scratch: &mut Scratch) -> bool {
    append(level, out, most, scratch, |encoder, room| encoder.zlib_compress(src, room).ok())
}

fn decoder(scratch: &mut Scratch) -> &mut Decompressor {
    scratch.slot::<Decoder>().0.get_or_insert_with(Decompressor::new)
}

/// Whether the verified checksum of the first stream ends the file and is nowhere else: then no other stream, padding or
/// byte follows.
fn ends_with_only(bytes: &[u8], sum: [u8; 4]) -> bool {
    bytes.split_last().is_some_and(|(_, before)| bytes.ends_with(&sum) && !contains(before, sum))
}

/// Whether four bytes are anywhere in `bytes`.
fn contains(bytes: &[u8], four @ [a, b, c, d]: [u8; 4]) -> bool {
    const BLOCK: usize = 64;
    // All places of a block are compared without a branch, so that the compiler uses vectors.
    let is_in = |block: &[u8]| {
        let Ok(block) = <&[u8; BLOCK + 3]>::try_from(block) else { return false };
        let is_at =
            |at| (block[at] == a) & (block[at + 1] == b) & (block[at + 2] == c) & (block[at + 3] == d);
        (0..BLOCK).fold(0, |found, at| found | u8::from(is_at(at))) != 0
    };
    let rest = bytes.len().saturating_sub(3) / BLOCK * BLOCK;
    bytes.windows(BLOCK + 3).step_by(BLOCK).any(is_in)
        || bytes[rest..].windows(4).any(|window| window == four)
}

fn append(
    level: u8,
    out: &mut Vec<u8>,
    most: usize,
    scratch: &mut Scratch,
    compress: impl FnOnce(&mut Compressor, &mut [u8]) -> Option<usize>,
) -> bool {
    let Ok(at) = CompressionLvl::new(level.into()) else { return false };
    let Some(kept) = scratch.slot::<Encoders>().0.get_mut(usize::from(level)) else { return false };
    let start = out.len();
    out.resize(start + most, 0);
    let made = compress(kept.get_or_insert_with(|| Compressor::new(at)), &mut out[start..]);
    out.truncate(start + made.unwrap_or(0));
    made.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_found_at_every_place() {
        let sum = [1, 2, 3, 4];
        for len in 0..200 {
            let none = vec![1; len];
            assert!(!contains(&none, sum) && !ends_with_only(&none, sum), "{len}");
            for at in 0..(len + 1).saturating_sub(4) {
                let mut bytes = none.clone();
                bytes[at..at + 4].copy_from_slice(&sum);
                assert!(contains(&bytes, sum), "{len} {at}");
                assert_eq!(ends_with_only(&bytes, sum), at + 4 == len, "{len} {at}");
                bytes.extend(sum);
                assert!(!ends_with_only(&bytes, sum), "{len} {at}");
            }
        }
    }
}
