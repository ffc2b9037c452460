#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "default"),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "the README links to the module of each codec, also of those left out"
    )
)]

use zarr_traits::extension::Entry;

#[cfg(feature = "bitround")]
pub mod bitround;
#[cfg(any(feature = "blosc", feature = "pure-decode"))]
pub mod blosc;
#[cfg(feature = "bytes")]
pub mod bytes;
#[cfg(feature = "cast_value")]
pub mod cast_value;
#[cfg(feature = "conditional")]
pub mod conditional;
#[cfg(feature = "crc32c")]
pub mod crc32c;
#[cfg(feature = "gzip")]
pub mod gzip;
#[cfg(feature = "libdeflate")]
pub mod libdeflate;
#[cfg(feature = "n5_default")]
pub mod n5_default;
#[cfg(feature = "packbits")]
pub mod packbits;
#[cfg(feature = "reshape")]
pub mod reshape;
#[cfg(any(feature = "cast_value", feature = "scale_offset"))]
mod scalar;
#[cfg(feature = "scale_offset")]
pub mod scale_offset;
#[cfg(feature = "transpose")]
pub mod transpose;
#[cfg(any(feature = "vlen-bytes", feature = "vlen-utf8"))]
mod vlen;
#[cfg(feature = "vlen-bytes")]
pub mod vlen_bytes;
#[cfg(feature = "vlen-utf8")]
pub mod vlen_utf8;
#[cfg(any(feature = "pure-decode", feature = "zstd"))]
pub mod zstd;

#[cfg(test)]
#[cfg(feature = "bytes")]
extern crate self as zarr_codecs_core;
#[cfg(test)]
#[cfg(feature = "bytes")]
mod testing;

/// All codecs whose feature is enabled. `blosc`, `gzip` and `zstd` use the C libraries that any crate of the program enables.
/// To use no C code, override them by `pure::CODECS` (feature `pure-decode`).
///
/// ```
/// let registry = zarr_traits::Registry::core().with(zarr_codecs_core::CODECS)?;
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
pub const CODECS: &[Entry] = &[
    #[cfg(feature = "bitround")]
    bitround::ENTRY,
    #[cfg(any(feature = "blosc", feature = "pure-decode"))]
    blosc::ENTRY,
    #[cfg(feature = "bytes")]
    bytes::ENTRY,
    #[cfg(feature = "bytes")]
    bytes::FIELDS,
    #[cfg(feature = "cast_value")]
    cast_value::ENTRY,
    #[cfg(feature = "conditional")]
    conditional::ENTRY,
    #[cfg(feature = "crc32c")]
    crc32c::ENTRY,
    #[cfg(feature = "gzip")]
    gzip::ENTRY,
    #[cfg(feature = "n5_default")]
    n5_default::ENTRY,
    #[cfg(feature = "packbits")]
    packbits::ENTRY,
    #[cfg(feature = "reshape")]
    reshape::ENTRY,
    #[cfg(feature = "scale_offset")]
    scale_offset::ENTRY,
    #[cfg(feature = "transpose")]
    transpose::ENTRY,
    #[cfg(feature = "vlen-bytes")]
    vlen_bytes::ENTRY,
    #[cfg(feature = "vlen-utf8")]
    vlen_utf8::ENTRY,
    #[cfg(any(feature = "pure-decode", feature = "zstd"))]
    zstd::ENTRY,
];

/// The codecs that have C code, without it.
#[cfg(feature = "pure-decode")]
pub mod pure {
    use super::Entry;

    /// `blosc`, `zstd`, and with its feature `gzip`, without C code, whatever other crates of the program enable.
    ///
    /// ```
    /// # use zarr_traits::Registry;
    /// let registry =
    ///     Registry::core().with(zarr_codecs_core::CODECS)?.overriding(zarr_codecs_core::pure::CODECS);
    /// # Ok::<(), zarr_traits::CodecError>(())
    /// ```
    pub const CODECS: &[Entry] = &[
        crate::blosc::ENTRY_IN_RUST,
        #[cfg(feature = "gzip")]
        crate::gzip::ENTRY_IN_RUST,
        crate::zstd::ENTRY_IN_RUST,
    ];
}

/// Reserves room for `n` more bytes; fails instead of aborting.
#[cfg(any(
    feature = "conditional",
    feature = "crc32c",
    feature = "gzip",
    feature = "n5_default",
    feature = "packbits",
    feature = "pure-decode",
    feature = "vlen-bytes",
    feature = "vlen-utf8",
    feature = "zstd"
))]
fn reserve(out: &mut Vec<u8>, n: usize) -> zarr_traits::CodecResult<()> {
    use zarr_traits::{CodecError, CodecErrorKind};
    out.try_reserve(n)
        .map_err(|_| CodecError::new(CodecErrorKind::LimitExceeded, format!("no memory for {n} bytes")))
}
