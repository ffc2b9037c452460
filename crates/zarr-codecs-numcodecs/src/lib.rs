#![doc = include_str!("../README.md")]
//!
//! Rules: [codecs of numcodecs](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/format-2.md#h.7).
#![cfg_attr(docsrs, feature(doc_cfg))]

use zarr_traits::extension::{Configuration, Entry};
use zarr_traits::json::Value;

#[cfg(feature = "checksums")]
pub mod adler32;
pub mod astype;
pub mod base64;
mod base64_text;
pub mod bitround;
#[cfg(any(feature = "standard", feature = "pure-decode"))]
pub mod blosc;
#[cfg(feature = "bz2")]
pub mod bz2;
pub mod categorize;
mod checksum;
#[cfg(feature = "checksums")]
pub mod crc32;
#[cfg(feature = "checksums")]
pub mod crc32c;
pub mod delta;
mod elements;
pub mod fixedscaleoffset;
pub mod fletcher32;
#[cfg(any(feature = "standard", feature = "pure-decode"))]
pub mod gzip;
pub mod jenkins_lookup3;
pub mod json;
mod json_number;
mod json_text;
#[cfg(feature = "lz4")]
pub mod lz4;
#[cfg(feature = "lzma")]
pub mod lzma;
#[cfg(feature = "msgpack")]
pub mod msgpack;
mod nested;
mod number;
pub mod object;
pub mod packbits;
#[cfg(feature = "pcodec")]
pub mod pcodec;
pub mod pickle;
pub mod quantize;
#[cfg(any(feature = "standard", feature = "pure-decode"))]
mod reuse;
pub mod shuffle;
#[allow(dead_code, reason = "each codec of streams uses some of it")]
mod stream;
mod typed;
pub mod vlen_array;
#[cfg(feature = "zfpy")]
pub mod zfpy;
#[cfg(any(feature = "standard", feature = "pure-decode"))]
pub mod zlib;
#[cfg(any(feature = "standard", feature = "pure-decode"))]
pub mod zstd;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

/// Returns a member, treating `null` as absent.
fn non_null(configuration: &mut Configuration<'_>, name: &'static str) -> Option<Value> {
    configuration.get(name).filter(|value| !value.is_null())
}

/// All codecs whose features are on, and the data type of objects. `blosc`, `gzip`, `zlib` and `zstd` use the C libraries that any
/// crate of the program enables. To use no C code, override them by `pure::CODECS`.
///
/// ```
/// let registry = zarr_traits::Registry::core().with(zarr_codecs_numcodecs::CODECS)?;
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
pub const CODECS: &[Entry] = &[
    #[cfg(feature = "checksums")]
    adler32::ENTRY,
    astype::ENTRY,
    astype::BYTES_ENTRY,
    base64::ENTRY,
    bitround::ENTRY,
    bitround::BYTES_ENTRY,
    #[cfg(any(feature = "standard", feature = "pure-decode"))]
    blosc::ENTRY,
    #[cfg(feature = "bz2")]
    bz2::ENTRY,
    categorize::ENTRY,
    categorize::BYTES_ENTRY,
    #[cfg(feature = "checksums")]
    crc32::ENTRY,
    #[cfg(feature = "checksums")]
    crc32c::ENTRY,
    delta::ENTRY,
    delta::BYTES_ENTRY,
    fixedscaleoffset::ENTRY,
    fixedscaleoffset::BYTES_ENTRY,
    fletcher32::ENTRY,
    #[cfg(any(feature = "standard", feature = "pure-decode"))]
    gzip::ENTRY,
    jenkins_lookup3::ENTRY,
    json::ENTRY,
    json::OLD_ENTRY,
    #[cfg(feature = "lz4")]
    lz4::ENTRY,
    #[cfg(feature = "lzma")]
    lzma::ENTRY,
    #[cfg(feature = "msgpack")]
    msgpack::ENTRY,
    #[cfg(feature = "msgpack")]
    msgpack::OLD_ENTRY,
    object::ENTRY,
    packbits::ENTRY,
    packbits::BYTES_ENTRY,
    pickle::ENTRY,
    #[cfg(feature = "pcodec")]
    pcodec::ENTRY,
    quantize::ENTRY,
    quantize::BYTES_ENTRY,
    shuffle::ENTRY,
    vlen_array::ENTRY,
    #[cfg(feature = "zfpy")]
    zfpy::ENTRY,
    #[cfg(any(feature = "standard", feature = "pure-decode"))]
    zlib::ENTRY,
    #[cfg(any(feature = "standard", feature = "pure-decode"))]
    zstd::ENTRY,
];

/// The codecs of `standard` without C code.
#[cfg(feature = "pure-decode")]
pub mod pure {
    use super::Entry;

    /// `blosc`, `gzip`, `zlib` and `zstd` without C code, whatever other crates of the program enable.
    pub const CODECS: &[Entry] = &[
        crate::blosc::ENTRY_IN_RUST,
        crate::gzip::ENTRY_IN_RUST,
        crate::zlib::ENTRY_IN_RUST,
        crate::zstd::ENTRY_IN_RUST,
    ];
}
