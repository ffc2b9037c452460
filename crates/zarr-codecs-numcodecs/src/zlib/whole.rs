//! Streams that are in memory as a whole, by libdeflate. It is faster than a decoder that can stop at any byte, but does not
//! tell where a stream ends, so several streams in a row are left to the other decoder, and so are all errors.

use libdeflater::{CompressionLvl, Compressor, Decompressor, adler32};
use zarr_traits::Scratch;

use crate::stream::{bound, count};

/// The decoder of a worker.
#[derive(Default)]
struct Decoder(Option<Decompressor>);

/// The encoders of a worker, one per level.
#[derive(Default)]
struct Encoders([Option<Compressor>; 10]);

/// Decodes a single stream that fills `dst`. Returns false for anything else; `dst` is then unspecified.
pub(super) fn decode_into(src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> bool {
    let Some((_, trailer)) = src.split_last_chunk() else { return false };
    let state = scratch.slot::<Decoder>().0.get_or_insert_with(Decompressor::new);
    let is_full = state.zlib_decompress(src, dst).is_ok_and(|made| made == dst.len());
    // A second stream, or padding, has another checksum at the end.
    is_full && u32::from_be_bytes(*trailer) == adler32(dst)
}

/// Appends one stream. Returns `None` if there is no such level.
pub(super) fn encode(level: u32, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> Option<bool> {
    let at = CompressionLvl::new(i32::try_from(level).ok()?).ok()?;
    let kept = scratch.slot::<Encoders>().0.get_mut(usize::try_from(level).ok()?)?;
    let start = out.len();
    out.resize(start.saturating_add(count(bound(src.len() as u64))), 0);
    let made = kept.get_or_insert_with(|| Compressor::new(at)).zlib_compress(src, &mut out[start..]);
    out.truncate(start + made.as_ref().unwrap_or(&0));
    Some(made.is_ok())
}
