//! Zstandard frames.

#[cfg(feature = "zstd-c")]
mod c {
    //! The C library.

    use std::fmt;

    use zstd::zstd_safe::{CCtx, CParameter, DCtx, max_c_level};

    /// A decoder and an encoder.
    #[derive(Default)]
    pub(crate) struct Zstd {
        decoder: Option<DCtx<'static>>,
        encoder: Option<CCtx<'static>>,
    }

    impl fmt::Debug for Zstd {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Zstd").finish_non_exhaustive()
        }
    }

    impl Zstd {
        pub(crate) fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
            if self.decoder.is_none() {
                self.decoder = DCtx::try_create();
            }
            self.decoder.as_mut()?.decompress(dst, src).ok()
        }

        pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
            if self.encoder.is_none() {
                self.encoder = CCtx::try_create();
            }
            let encoder = self.encoder.as_mut()?;
            // The levels of C-Blosc.
            let level = if level < 9 { i32::from(level) * 2 - 1 } else { max_c_level() };
            encoder.set_parameter(CParameter::CompressionLevel(level)).ok()?;
            encoder.compress2(dst, src).ok()
        }
    }
}

#[cfg(not(feature = "zstd-c"))]
mod rust {
    //! `ruzstd`, which has one level.

    use std::fmt;

    use ruzstd::decoding::FrameDecoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// The largest window that is accepted for any content. It bounds the memory of the decoder.
    const WINDOW: u64 = 8 << 20;

    /// A decoder.
    #[derive(Default)]
    pub(crate) struct Zstd(FrameDecoder);

    impl fmt::Debug for Zstd {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Zstd").finish_non_exhaustive()
        }
    }

    impl Zstd {
        pub(crate) fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
            self.0.set_max_window_size(WINDOW.max(2 * dst.len() as u64));
            self.0.decode_all(src, dst).ok()
        }

        pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], _level: u8) -> Option<usize> {
            let made = compress_to_vec(src, CompressionLevel::Fastest);
            dst.get_mut(..made.len())?.copy_from_slice(&made);
            Some(made.len())
        }
    }
}

#[cfg(feature = "zstd-c")]
pub(crate) use c::Zstd;
#[cfg(not(feature = "zstd-c"))]
pub(crate) use rust::Zstd;
