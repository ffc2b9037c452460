//! The roles of codecs, by the names in the registry of extensions as of July 2026.
//!
//! Reading does not use this module: there the registry of the caller decides. It serves the builder, which completes
//! lists of codecs, and descriptions of shards without a registry.

/// The name of the codec of shards.
pub(crate) const SHARDING: &str = "sharding_indexed";

/// The position of a codec in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    ArrayArray,
    ArrayBytes,
    BytesBytes,
}

/// Returns the role of a codec, if its name is known.
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
        "bytes" | SHARDING | "vlen-utf8" | "vlen-bytes" | "packbits" | "optional" | "n5_default" | "zfp"
        | "pcodec" | "numcodecs.pcodec" | "numcodecs.zfpy" => Role::ArrayBytes,
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

/// Whether the codec may change the type of elements.
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
