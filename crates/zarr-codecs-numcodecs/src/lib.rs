#![doc = include_str!("../README.md")]
//!
//! Rules: [codecs of numcodecs](https://github.com/zarr-rs/zarr/blob/main/docs/specification/format-2.md#h.7).
#![cfg_attr(docsrs, feature(doc_cfg))]

use zarr_traits::extension::Entry;

#[cfg(feature = "adler32")]
pub mod adler32;
#[cfg(feature = "astype")]
pub mod astype;
#[cfg(feature = "base64")]
pub mod base64;
#[cfg(any(feature = "base64", feature = "msgpack"))]
mod base64_text;
#[cfg(feature = "bitround")]
pub mod bitround;
#[cfg(any(feature = "blosc", feature = "pure-decode"))]
pub mod blosc;
#[cfg(feature = "bz2")]
pub mod bz2;
#[cfg(feature = "categorize")]
pub mod categorize;
#[cfg(any(
    feature = "adler32",
    feature = "crc32",
    feature = "crc32c",
    feature = "fletcher32",
    feature = "jenkins_lookup3"
))]
mod checksum;
#[cfg(feature = "crc32")]
pub mod crc32;
#[cfg(feature = "crc32c")]
pub mod crc32c;
#[cfg(feature = "delta")]
pub mod delta;
#[cfg(any(feature = "json", feature = "msgpack"))]
mod elements;
#[cfg(feature = "fixedscaleoffset")]
pub mod fixedscaleoffset;
#[cfg(feature = "fletcher32")]
pub mod fletcher32;
#[cfg(feature = "gzip")]
pub mod gzip;
#[cfg(feature = "jenkins_lookup3")]
pub mod jenkins_lookup3;
#[cfg(feature = "json")]
pub mod json;
#[cfg(any(feature = "json", feature = "msgpack", feature = "vlen-array"))]
mod json_number;
#[allow(dead_code, reason = "each codec uses some of it")]
mod json_text;
#[cfg(feature = "lz4")]
pub mod lz4;
#[cfg(feature = "lzma")]
pub mod lzma;
#[cfg(feature = "msgpack")]
pub mod msgpack;
#[cfg(any(feature = "json", feature = "msgpack"))]
mod nested;
#[cfg(any(
    feature = "astype",
    feature = "bitround",
    feature = "categorize",
    feature = "delta",
    feature = "fixedscaleoffset",
    feature = "json",
    feature = "msgpack",
    feature = "quantize",
    feature = "vlen-array"
))]
#[allow(dead_code, unused_imports, reason = "each codec uses some of it")]
mod number;
pub mod object;
#[cfg(feature = "packbits")]
pub mod packbits;
#[cfg(feature = "pcodec")]
pub mod pcodec;
pub mod pickle;
#[cfg(feature = "quantize")]
pub mod quantize;
#[cfg(any(feature = "blosc", feature = "gzip", feature = "pure-decode", feature = "zstd"))]
mod reuse;
#[cfg(feature = "shuffle")]
pub mod shuffle;
#[cfg(any(
    feature = "adler32",
    feature = "astype",
    feature = "base64",
    feature = "bitround",
    feature = "bz2",
    feature = "categorize",
    feature = "crc32",
    feature = "crc32c",
    feature = "delta",
    feature = "fixedscaleoffset",
    feature = "fletcher32",
    feature = "jenkins_lookup3",
    feature = "lz4",
    feature = "lzma",
    feature = "packbits",
    feature = "quantize",
    feature = "shuffle",
    feature = "zlib"
))]
mod stream;
#[cfg(any(
    feature = "astype",
    feature = "bitround",
    feature = "delta",
    feature = "fixedscaleoffset",
    feature = "quantize"
))]
mod typed;
#[cfg(feature = "vlen-array")]
pub mod vlen_array;
#[cfg(feature = "zfpy")]
pub mod zfpy;
#[cfg(feature = "zlib")]
pub mod zlib;
#[cfg(any(feature = "zstd", feature = "pure-decode"))]
pub mod zstd;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod testing;

/// All codecs whose features are on, and the data type of objects.
///
/// ```
/// let registry = zarr_traits::Registry::core().with(zarr_codecs_numcodecs::CODECS)?;
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
pub const CODECS: &[Entry] = &[
    #[cfg(feature = "adler32")]
    adler32::ENTRY,
    #[cfg(feature = "astype")]
    astype::ENTRY,
    #[cfg(feature = "astype")]
    astype::BYTES_ENTRY,
    #[cfg(feature = "base64")]
    base64::ENTRY,
    #[cfg(feature = "bitround")]
    bitround::ENTRY,
    #[cfg(feature = "bitround")]
    bitround::BYTES_ENTRY,
    #[cfg(any(feature = "blosc", feature = "pure-decode"))]
    blosc::ENTRY,
    #[cfg(feature = "bz2")]
    bz2::ENTRY,
    #[cfg(feature = "categorize")]
    categorize::ENTRY,
    #[cfg(feature = "categorize")]
    categorize::BYTES_ENTRY,
    #[cfg(feature = "crc32")]
    crc32::ENTRY,
    #[cfg(feature = "crc32c")]
    crc32c::ENTRY,
    #[cfg(feature = "delta")]
    delta::ENTRY,
    #[cfg(feature = "delta")]
    delta::BYTES_ENTRY,
    #[cfg(feature = "fixedscaleoffset")]
    fixedscaleoffset::ENTRY,
    #[cfg(feature = "fixedscaleoffset")]
    fixedscaleoffset::BYTES_ENTRY,
    #[cfg(feature = "fletcher32")]
    fletcher32::ENTRY,
    #[cfg(feature = "gzip")]
    gzip::ENTRY,
    #[cfg(feature = "jenkins_lookup3")]
    jenkins_lookup3::ENTRY,
    #[cfg(feature = "json")]
    json::ENTRY,
    #[cfg(feature = "json")]
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
    #[cfg(feature = "packbits")]
    packbits::ENTRY,
    #[cfg(feature = "packbits")]
    packbits::BYTES_ENTRY,
    pickle::ENTRY,
    #[cfg(feature = "pcodec")]
    pcodec::ENTRY,
    #[cfg(feature = "quantize")]
    quantize::ENTRY,
    #[cfg(feature = "quantize")]
    quantize::BYTES_ENTRY,
    #[cfg(feature = "shuffle")]
    shuffle::ENTRY,
    #[cfg(feature = "vlen-array")]
    vlen_array::ENTRY,
    #[cfg(feature = "zfpy")]
    zfpy::ENTRY,
    #[cfg(feature = "zlib")]
    zlib::ENTRY,
    #[cfg(any(feature = "zstd", feature = "pure-decode"))]
    zstd::ENTRY,
];
