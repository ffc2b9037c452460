#![doc = include_str!("../README.md")]

use zarr_traits::Entry;

#[cfg(feature = "adler32")]
pub mod adler32;
#[cfg(feature = "base64")]
pub mod base64;
#[cfg(any(feature = "base64", feature = "msgpack"))]
mod base64_text;
#[cfg(feature = "blosc")]
pub mod blosc;
#[cfg(feature = "bz2")]
pub mod bz2;
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
#[cfg(feature = "fletcher32")]
pub mod fletcher32;
#[cfg(feature = "gzip")]
pub mod gzip;
#[cfg(feature = "jenkins_lookup3")]
pub mod jenkins_lookup3;
#[cfg(feature = "lz4")]
pub mod lz4;
#[cfg(feature = "lzma")]
pub mod lzma;
#[cfg(any(feature = "blosc", feature = "gzip", feature = "zstd"))]
mod reuse;
#[cfg(feature = "shuffle")]
pub mod shuffle;
#[cfg(any(
    feature = "adler32",
    feature = "base64",
    feature = "bz2",
    feature = "crc32",
    feature = "crc32c",
    feature = "fletcher32",
    feature = "jenkins_lookup3",
    feature = "lz4",
    feature = "lzma",
    feature = "shuffle",
    feature = "zlib"
))]
mod stream;
#[cfg(feature = "zlib")]
pub mod zlib;
#[cfg(feature = "zstd")]
pub mod zstd;

#[cfg(test)]
mod testing;

/// Every codec whose feature is on.
///
/// ```
/// let registry = zarr_traits::Registry::core().with(zarr_codecs_numcodecs::CODECS)?;
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
pub const CODECS: &[Entry] = &[
    #[cfg(feature = "adler32")]
    adler32::ENTRY,
    #[cfg(feature = "base64")]
    base64::ENTRY,
    #[cfg(feature = "blosc")]
    blosc::ENTRY,
    #[cfg(feature = "bz2")]
    bz2::ENTRY,
    #[cfg(feature = "crc32")]
    crc32::ENTRY,
    #[cfg(feature = "crc32c")]
    crc32c::ENTRY,
    #[cfg(feature = "fletcher32")]
    fletcher32::ENTRY,
    #[cfg(feature = "gzip")]
    gzip::ENTRY,
    #[cfg(feature = "jenkins_lookup3")]
    jenkins_lookup3::ENTRY,
    #[cfg(feature = "lz4")]
    lz4::ENTRY,
    #[cfg(feature = "lzma")]
    lzma::ENTRY,
    #[cfg(feature = "shuffle")]
    shuffle::ENTRY,
    #[cfg(feature = "zlib")]
    zlib::ENTRY,
    #[cfg(feature = "zstd")]
    zstd::ENTRY,
];
