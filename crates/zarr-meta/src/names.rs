//! What registered codec names stand for, as of the registry of extensions of July 2026 (checklist EXT).
//!
//! Reading never looks here: there the registry of the caller decides. The builder does, to complete a list, and what
//! describes shards without a registry.

use crate::v3::sharding::Sharding;

/// Which end of a chain a codec stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    ArrayArray,
    ArrayBytes,
    BytesBytes,
}

/// The role of a codec, when its name is known.
pub(crate) fn role(name: &str) -> Option<Role> {
    Some(match name {
        "transpose"
        | "reshape"
        | "squeeze"
        | "bitround"
        | "scale_offset"
        | "cast_value"
        | "numcodecs.astype"
        | "numcodecs.bitround"
        | "numcodecs.delta"
        | "numcodecs.fixedscaleoffset"
        | "numcodecs.packbits"
        | "numcodecs.quantize" => Role::ArrayArray,
        "bytes"
        | Sharding::NAME
        | "vlen-utf8"
        | "vlen-bytes"
        | "packbits"
        | "optional"
        | "n5_default"
        | "zfp"
        | "pcodec"
        | "numcodecs.pcodec"
        | "numcodecs.zfpy" => Role::ArrayBytes,
        "gzip"
        | "blosc"
        | "conditional"
        | "zstd"
        | "crc32c"
        | "adler32"
        | "fletcher32"
        | "numcodecs.adler32"
        | "numcodecs.blosc"
        | "numcodecs.bz2"
        | "numcodecs.crc32"
        | "numcodecs.crc32c"
        | "numcodecs.fletcher32"
        | "numcodecs.gzip"
        | "numcodecs.jenkins_lookup3"
        | "numcodecs.lz4"
        | "numcodecs.lzma"
        | "numcodecs.shuffle"
        | "numcodecs.zlib"
        | "numcodecs.zstd" => Role::BytesBytes,
        _ => return None,
    })
}

/// Whether elements of another type may leave the codec than reach it.
pub(crate) fn changes_type(name: &str) -> bool {
    matches!(
        name,
        "cast_value"
            | "numcodecs.astype"
            | "numcodecs.delta"
            | "numcodecs.fixedscaleoffset"
            | "numcodecs.quantize"
    )
}
