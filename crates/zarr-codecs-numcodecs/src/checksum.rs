//! The common part of the checksum codecs: four bytes, little endian, before or after the data.
//!
//! A mismatch is an error of kind [`CodecErrorKind::Checksum`]. A read of a part also verifies the whole chunk, since
//! all bytes are in memory.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, Scratch,
    codec::{BytesBytesCodec, Codec, EncodedSize, too_large},
};

use crate::stream::reserve;

/// The size of a checksum in bytes.
const SIZE: usize = 4;

/// A checksum algorithm.
pub(crate) trait Sum: Debug + Send + Sync + 'static {
    fn of(&self, data: &[u8]) -> u32;
}

impl Sum for fn(&[u8]) -> u32 {
    fn of(&self, data: &[u8]) -> u32 {
        self(data)
    }
}

/// A checksum algorithm, and the place of the checksum.
#[derive(Debug)]
struct Checksum<S> {
    sum: S,
    at_start: bool,
}

/// Returns the codec of a checksum.
pub(crate) fn codec(sum: impl Sum, at_start: bool) -> Codec {
    Codec::BytesBytes(Arc::new(Checksum { sum, at_start }))
}

impl<S: Sum> Checksum<S> {
    /// Returns the data without the checksum, if the checksum is right.
    fn verified<'a>(&self, src: &'a [u8]) -> CodecResult<&'a [u8]> {
        let split = match self.at_start {
            true => src.split_first_chunk::<SIZE>().map(|(stored, data)| (data, stored)),
            false => src.split_last_chunk::<SIZE>(),
        };
        let Some((data, stored)) = split else {
            let message = format!("{} bytes are too few for a checksum of {SIZE} bytes", src.len());
            return Err(CodecError::corrupt(message));
        };
        let (stored, computed) = (u32::from_le_bytes(*stored), self.sum.of(data));
        if stored == computed {
            return Ok(data);
        }
        let message = format!("the stored checksum is {stored:08x}, the data have {computed:08x}");
        Err(CodecError::new(CodecErrorKind::Checksum, message))
    }
}

/// Reads the member `location`. Returns whether the checksum is before the data.
///
/// # Errors
/// `Configuration` if it is neither `"start"` nor `"end"`.
#[cfg(feature = "checksums")]
pub(crate) fn at_start(
    configuration: &mut zarr_traits::extension::Configuration<'_>,
    default: bool,
) -> CodecResult<bool> {
    match configuration.optional_string("location")?.as_deref() {
        None => Ok(default),
        Some("start") => Ok(true),
        Some("end") => Ok(false),
        Some(other) => {
            let message = format!("location is {other:?}, expected \"start\" or \"end\"");
            Err(CodecError::configuration(message).at("/configuration/location"))
        }
    }
}

impl<S: Sum> BytesBytesCodec for Checksum<S> {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        let data = self.verified(src)?;
        dst.get_mut(..data.len()).ok_or_else(too_large)?.copy_from_slice(data);
        Ok(data.len())
    }

    fn decode_span(
        &self,
        src: &[u8],
        size: usize,
        span: Range<usize>,
        dst: &mut [u8],
        _: &mut Scratch,
    ) -> CodecResult<bool> {
        let data = self.verified(src)?;
        let (true, Some(wanted)) = (data.len() == size, data.get(span)) else {
            return Err(CodecError::corrupt(format!("decoded to {} bytes, expected {size}", data.len())));
        };
        dst.get_mut(..wanted.len()).ok_or_else(too_large)?.copy_from_slice(wanted);
        Ok(true)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        reserve(out, src.len().saturating_add(SIZE))?;
        let sum = self.sum.of(src).to_le_bytes();
        let (first, second) = if self.at_start { (&sum[..], src) } else { (src, &sum[..]) };
        out.extend_from_slice(first);
        out.extend_from_slice(second);
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::Exact(decoded.saturating_add(SIZE as u64))
    }
}
