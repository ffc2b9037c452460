//! Zstandard frames.

#[cfg(feature = "zstd-c")]
pub(crate) mod c {
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

#[cfg(feature = "zstd-decode")]
pub(crate) mod rust {
    //! `zrip`, whose levels end with 4.

    use std::fmt;

    #[cfg(feature = "zstd")]
    use zrip::CompressContext;
    use zrip::DecompressContext;

    /// The highest level.
    #[cfg(feature = "zstd")]
    const LAST: i32 = 4;

    /// A decoder and an encoder.
    #[derive(Default)]
    pub(crate) struct Zstd {
        decoder: DecompressContext,
        #[cfg(feature = "zstd")]
        encoder: Option<CompressContext>,
    }

    impl fmt::Debug for Zstd {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Zstd").finish_non_exhaustive()
        }
    }

    impl Zstd {
        pub(crate) fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> Option<usize> {
            let made = self.decoder.decompress_with_limit(src, dst.len()).ok()?;
            dst.get_mut(..made.len())?.copy_from_slice(&made);
            Some(made.len())
        }

        #[cfg(feature = "zstd")]
        pub(crate) fn encode(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
            // The levels of C-Blosc, as far as there are such levels.
            let level = (i32::from(level) * 2 - 1).min(LAST);
            let encoder = match &mut self.encoder {
                Some(encoder) => encoder,
                none => none.insert(CompressContext::new(level).ok()?),
            };
            encoder.set_level(level).ok()?;
            encoder.set_content_checksum(false);
            encoder.compress_into(src, dst).ok()
        }
    }
}
