//! Snappy, blocks without a frame.

use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};

/// An encoder, and a stream that may be larger than its content.
#[derive(Debug, Default)]
pub(crate) struct Snappy(Option<Encoder>, Vec<u8>);

impl Snappy {
    pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
        let Self(encoder, made) = self;
        let most = max_compress_len(src.len());
        if made.len() < most {
            made.resize(most, 0);
        }
        let len = encoder.get_or_insert_with(Encoder::new).compress(src, made).ok()?;
        dst.get_mut(..len)?.copy_from_slice(&made[..len]);
        Some(len)
    }
}

pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    if decompress_len(src).ok()? > dst.len() {
        return None;
    }
    Decoder::new().decompress(src, dst).ok()
}
