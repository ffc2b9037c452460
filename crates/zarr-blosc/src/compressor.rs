//! The compressors of streams. Each has a decoder and an encoder that are given slices of fixed lengths.

use crate::blosclz;

#[cfg(any(feature = "lz4", feature = "lz4-c"))]
mod lz4;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(any(feature = "zstd-c", feature = "zstd-decode"))]
mod zstd;

/// A compressor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressor {
    /// The own compressor of Blosc.
    BloscLz,
    /// LZ4, for speed.
    Lz4,
    /// LZ4 with a longer search, by the C library; otherwise the same as [`Lz4`](Self::Lz4).
    Lz4Hc,
    /// Snappy.
    Snappy,
    /// DEFLATE with the header and checksum of zlib.
    Zlib,
    /// Zstandard. Without the C library its levels end with 4.
    Zstd,
}

impl Compressor {
    /// All compressors, also those that this build does not contain.
    pub const ALL: [Self; 6] = [Self::BloscLz, Self::Lz4, Self::Lz4Hc, Self::Snappy, Self::Zlib, Self::Zstd];

    /// The name in C-Blosc, such as `"lz4hc"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::BloscLz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4Hc => "lz4hc",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// Returns the compressor with this [name](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|compressor| compressor.name() == name)
    }

    pub(crate) fn format(self) -> Format {
        match self {
            Self::BloscLz => Format::BloscLz,
            Self::Lz4 | Self::Lz4Hc => Format::Lz4,
            Self::Snappy => Format::Snappy,
            Self::Zlib => Format::Zlib,
            Self::Zstd => Format::Zstd,
        }
    }
}

/// The format of compressed streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

impl Format {
    const ALL: [Self; 5] = [Self::BloscLz, Self::Lz4, Self::Snappy, Self::Zlib, Self::Zstd];

    /// Returns the format with this number in a header.
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// Returns the compressor that this code stands for; the first one if several share the code.
    pub(crate) fn compressor(self) -> Compressor {
        match self {
            Self::BloscLz => Compressor::BloscLz,
            Self::Lz4 => Compressor::Lz4,
            Self::Snappy => Compressor::Snappy,
            Self::Zlib => Compressor::Zlib,
            Self::Zstd => Compressor::Zstd,
        }
    }
}

/// The contexts of all compressors; each is created when it is first used.
#[derive(Debug, Default)]
pub(crate) struct Compressors {
    /// Whether the C libraries are not used.
    #[cfg(any(feature = "lz4-c", feature = "zstd-c"))]
    in_rust: bool,
    blosclz: Option<blosclz::Table>,
    #[cfg(feature = "lz4-c")]
    lz4_c: lz4::c::Lz4,
    #[cfg(feature = "lz4")]
    lz4: lz4::rust::Lz4,
    #[cfg(feature = "snappy")]
    snappy: snappy::Snappy,
    #[cfg(feature = "zlib")]
    zlib: zlib::Zlib,
    #[cfg(feature = "zstd-c")]
    zstd_c: zstd::c::Zstd,
    #[cfg(feature = "zstd-decode")]
    zstd: zstd::rust::Zstd,
}

impl Compressors {
    /// Returns compressors that are all in Rust.
    pub(crate) fn in_rust() -> Self {
        Self {
            #[cfg(any(feature = "lz4-c", feature = "zstd-c"))]
            in_rust: true,
            ..Self::default()
        }
    }

    /// Whether a compressor encodes.
    pub(crate) fn encodes(&self, compressor: Compressor) -> bool {
        #[cfg(any(feature = "lz4-c", feature = "zstd-c"))]
        let has_c = !self.in_rust;
        #[cfg(not(any(feature = "lz4-c", feature = "zstd-c")))]
        let has_c = false;
        match compressor.format() {
            Format::BloscLz => true,
            Format::Lz4 => cfg!(feature = "lz4") || has_c && cfg!(feature = "lz4-c"),
            Format::Snappy => cfg!(feature = "snappy"),
            Format::Zlib => cfg!(feature = "zlib"),
            Format::Zstd => cfg!(feature = "zstd") || has_c && cfg!(feature = "zstd-c"),
        }
    }

    /// Decodes `src` into the start of `dst`. Returns the number of decoded bytes, or `Some(None)` if `src` is damaged
    /// or needs more room, or `None` if there is no such compressor.
    pub(crate) fn decode(&mut self, format: Format, src: &[u8], dst: &mut [u8]) -> Option<Option<usize>> {
        match format {
            Format::BloscLz => Some(blosclz::decode(src, dst)),
            #[cfg(feature = "lz4-c")]
            Format::Lz4 if !self.in_rust => Some(lz4::c::decode(src, dst)),
            #[cfg(feature = "lz4")]
            Format::Lz4 => Some(lz4::rust::decode(src, dst)),
            #[cfg(feature = "snappy")]
            Format::Snappy => Some(snappy::decode(src, dst)),
            #[cfg(feature = "zlib")]
            Format::Zlib => Some(self.zlib.decode(src, dst)),
            #[cfg(feature = "zstd-c")]
            Format::Zstd if !self.in_rust => Some(self.zstd_c.decode(src, dst)),
            #[cfg(feature = "zstd-decode")]
            Format::Zstd => Some(self.zstd.decode(src, dst)),
            #[allow(unreachable_patterns, reason = "without a feature")]
            _ => None,
        }
    }

    /// Encodes `src` into the start of `dst`. Returns the number of encoded bytes, or `None` if they do not fit.
    pub(crate) fn encode(
        &mut self,
        compressor: Compressor,
        src: &[u8],
        dst: &mut [u8],
        level: u8,
        split: bool,
    ) -> Option<usize> {
        match compressor {
            Compressor::BloscLz => {
                blosclz::encode(src, dst, level, split, self.blosclz.get_or_insert_default())
            }
            #[cfg(feature = "lz4-c")]
            Compressor::Lz4 if !self.in_rust => self.lz4_c.encode(src, dst, level),
            #[cfg(feature = "lz4-c")]
            Compressor::Lz4Hc if !self.in_rust => self.lz4_c.encode_slowly(src, dst, level),
            #[cfg(feature = "lz4")]
            Compressor::Lz4 | Compressor::Lz4Hc => self.lz4.encode(src, dst),
            #[cfg(feature = "snappy")]
            Compressor::Snappy => self.snappy.encode(src, dst),
            #[cfg(feature = "zlib")]
            Compressor::Zlib => self.zlib.encode(src, dst, level),
            #[cfg(feature = "zstd-c")]
            Compressor::Zstd if !self.in_rust => self.zstd_c.encode(src, dst, level),
            #[cfg(feature = "zstd")]
            Compressor::Zstd => self.zstd.encode(src, dst, level),
            #[allow(unreachable_patterns, reason = "without a feature")]
            _ => None,
        }
    }
}
