//! What decoders of compressed streams have in common.

use zarr_traits::{CodecError, CodecErrorKind, CodecResult};

/// Room for `n` more bytes, or an error instead of an abort.
pub(crate) fn reserve(out: &mut Vec<u8>, n: usize) -> CodecResult<()> {
    out.try_reserve(n)
        .map_err(|_| CodecError::new(CodecErrorKind::LimitExceeded, format!("no memory for {n} bytes")))
}

/// Decodes streams that follow each other, as Python does, and returns how many bytes that made.
///
/// `one` decodes one stream to the start of a destination; it says how many bytes it used and how many it made. Zeros
/// after a stream are padding, anything else there that is no stream is an error.
#[cfg(any(feature = "bz2", feature = "lzma", feature = "zlib"))]
pub(crate) fn decode_all(
    src: &[u8],
    dst: &mut [u8],
    mut one: impl FnMut(&[u8], &mut [u8]) -> CodecResult<(usize, usize)>,
) -> CodecResult<usize> {
    let (mut rest, mut made) = (src, 0);
    loop {
        let (used, len) = one(rest, &mut dst[made..])?;
        made += len;
        let behind = rest[used..].iter().position(|byte| *byte != 0);
        match behind {
            Some(at) => rest = &rest[used + at..],
            None => return Ok(made),
        }
    }
}

/// What a compressor gets at once, since some count in 32 bits, and whether it is the last.
#[cfg(any(feature = "bz2", feature = "zlib"))]
pub(crate) fn piece(rest: &[u8]) -> (&[u8], bool) {
    const PIECE: usize = 1 << 30;
    (&rest[..rest.len().min(PIECE)], rest.len() <= PIECE)
}

/// A size that a compressor never exceeds: what it writes is given no more room.
#[cfg(any(feature = "bz2", feature = "lzma", feature = "zlib"))]
pub(crate) fn bound(decoded: u64) -> u64 {
    decoded.saturating_add(decoded / 8).saturating_add(1 << 10)
}

/// Appends what `compress` writes into the room that there is for the encoded form of `len` bytes; it says whether all
/// of it is there.
#[cfg(any(feature = "bz2", feature = "lzma", feature = "zlib"))]
pub(crate) fn encode_within(
    len: usize,
    out: &mut Vec<u8>,
    compress: impl FnOnce(&mut Vec<u8>) -> CodecResult<bool>,
) -> CodecResult<()> {
    reserve(out, usize::try_from(bound(len as u64)).unwrap_or(usize::MAX))?;
    if compress(out)? {
        return Ok(());
    }
    Err(CodecError::new(CodecErrorKind::LimitExceeded, "the compressed bytes exceed their room"))
}

/// A count of bytes of a slice.
#[cfg(any(feature = "bz2", feature = "lzma", feature = "zlib"))]
pub(crate) fn count(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
