//! DEFLATE streams that are in memory as a whole, by libdeflate. It is faster than a decoder that can stop at any byte, but
//! does not tell where a stream ends, so other files than those of one member are left to the other decoder, and so are all
//! errors.

use libdeflater::{CompressionLvl, Compressor, Decompressor};
use zarr_traits::Scratch;

use super::{TRAILER, after_header, check};

/// The decoder of a worker.
#[derive(Default)]
struct Decoder(Option<Decompressor>);

/// The encoders of a worker, one per level.
#[derive(Default)]
struct Encoders([Option<Compressor>; 10]);

/// Decodes a single member that fills `dst`. Returns false for anything else; `dst` is then unspecified.
pub(super) fn decode_into(src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> bool {
    let Ok(rest) = after_header(src) else { return false };
    let Some((stream, trailer)) = rest.split_last_chunk::<TRAILER>() else { return false };
    let state = scratch.slot::<Decoder>().0.get_or_insert_with(Decompressor::new);
    let is_full = state.deflate_decompress(stream, dst).is_ok_and(|made| made == dst.len());
    // A second member, or padding, has another trailer at the end of the file.
    is_full && check(dst, trailer).is_ok()
}

/// Appends a DEFLATE stream of at most `most` bytes. Returns false if it does not fit, so that storing is not larger.
pub(super) fn deflate(level: u8, src: &[u8], out: &mut Vec<u8>, most: usize, scratch: &mut Scratch) -> bool {
    let Ok(at) = CompressionLvl::new(level.into()) else { return false };
    let Some(kept) = scratch.slot::<Encoders>().0.get_mut(usize::from(level)) else { return false };
    let start = out.len();
    out.resize(start + most, 0);
    let made = kept.get_or_insert_with(|| Compressor::new(at)).deflate_compress(src, &mut out[start..]);
    out.truncate(start + made.as_ref().unwrap_or(&0));
    made.is_ok()
}
