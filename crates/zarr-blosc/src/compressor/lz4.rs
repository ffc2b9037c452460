//! LZ4, blocks without a header.

#[cfg(feature = "lz4-c")]
pub(crate) mod c {
    //! The C library.

    use lz4::block::{CompressionMode, compress_to_buffer, decompress_to_buffer};

    /// The encoder has no state.
    #[derive(Debug, Default)]
    pub(crate) struct Lz4;

    impl Lz4 {
        pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
            // As C-Blosc: a lower level skips more.
            compress_to_buffer(src, Some(CompressionMode::FAST(10 - i32::from(level))), false, dst).ok()
        }

        pub(crate) fn encode_slowly(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
            compress_to_buffer(src, Some(CompressionMode::HIGHCOMPRESSION(level.into())), false, dst).ok()
        }
    }

    pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Option<usize> {
        decompress_to_buffer(src, Some(i32::try_from(dst.len()).ok()?), dst).ok()
    }
}

#[cfg(feature = "lz4")]
pub(crate) mod rust {
    //! `lz4_flex`, which has one level.

    use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

    /// A stream that may be larger than its content.
    #[derive(Debug, Default)]
    pub(crate) struct Lz4(Vec<u8>);

    impl Lz4 {
        pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
            let most = get_maximum_output_size(src.len());
            if self.0.len() < most {
                self.0.resize(most, 0);
            }
            let made = compress_into(src, &mut self.0).ok()?;
            dst.get_mut(..made)?.copy_from_slice(&self.0[..made]);
            Some(made)
        }
    }

    pub(crate) fn decode(src: &[u8], dst: &mut [u8]) -> Option<usize> {
        decompress_into(src, dst).ok()
    }
}
