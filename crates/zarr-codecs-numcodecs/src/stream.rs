//! Helpers for codecs of compressed streams.

use zarr_traits::strided::to_usize;
use zarr_traits::{CodecError, CodecErrorKind, CodecResult};

/// Reserves memory for `n` more bytes. Returns an error if there is not enough memory, where `Vec` would abort.
pub(crate) fn reserve(out: &mut Vec<u8>, n: usize) -> CodecResult<()> {
    out.try_reserve(n)
        .map_err(|_| CodecError::new(CodecErrorKind::LimitExceeded, format!("no memory for {n} bytes")))
}

/// The largest number of empty streams in a chunk. Each takes some bytes, but as much time as a large one begins with.
const MOST_EMPTY: usize = 1000;

/// Decodes consecutive streams, as Python does, and returns the number of decoded bytes.
///
/// `one` decodes one stream to the start of a destination, and returns how many bytes it read and how many it wrote.
/// Zeros after a stream are padding. Any other bytes there must be a stream.
pub(crate) fn decode_all(
    src: &[u8],
    dst: &mut [u8],
    mut one: impl FnMut(&[u8], &mut [u8]) -> CodecResult<(usize, usize)>,
) -> CodecResult<usize> {
    let (mut rest, mut made, mut empty) = (src, 0, 0);
    loop {
        let (used, len) = one(rest, &mut dst[made..])?;
        made += len;
        empty += usize::from(len == 0);
        if empty > MOST_EMPTY {
            return Err(CodecError::corrupt(format!("more than {MOST_EMPTY} streams are empty")));
        }
        let behind = rest[used..].iter().position(|byte| *byte != 0);
        match behind {
            Some(at) => rest = &rest[used + at..],
            None => return Ok(made),
        }
    }
}

/// Returns the next piece for a compressor, and whether it is the last. Some compressors count in 32 bits.
pub(crate) fn piece(rest: &[u8]) -> (&[u8], bool) {
    const PIECE: usize = 1 << 30;
    (&rest[..rest.len().min(PIECE)], rest.len() <= PIECE)
}

/// Returns a bound on the compressed size. A compressor gets no more room than this.
pub(crate) fn bound(decoded: u64) -> u64 {
    decoded.saturating_add(decoded / 8).saturating_add(1 << 10)
}

/// Appends the output of `compress`, which gets the room for the encoded form of `len` bytes and returns whether it was
/// enough.
pub(crate) fn encode_within(
    len: usize,
    out: &mut Vec<u8>,
    compress: impl FnOnce(&mut Vec<u8>) -> CodecResult<bool>,
) -> CodecResult<()> {
    reserve(out, to_usize(bound(len as u64)))?;
    if compress(out)? {
        return Ok(());
    }
    Err(CodecError::new(CodecErrorKind::LimitExceeded, "the compressed bytes exceed their bound"))
}
