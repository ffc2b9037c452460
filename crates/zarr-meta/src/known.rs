//! Known names of extensions: which are registered, and which crate implements them.
//!
//! Reading does not use this module: there the registry of the caller decides. It serves hints in errors about unknown
//! names, and advice about names that are not registered.
//!
//! The rules are in [extensions](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/extensions.md).

use std::fmt;

use zarr_traits::DataType;
use zarr_traits::extension::{ExtensionPoint, is_private, url_names};

use crate::types::DATA_TYPES;

/// The date of the registry zarr-extensions that [`is_registered`] knows, its commit 4da7b37.
pub const REGISTERED_ON: &str = "2026-07-14";

/// Codecs in zarr-extensions.
#[rustfmt::skip]
const REGISTERED_CODECS: &[&str] = &[
    "bitround", "blosc", "bytes", "cast_value", "conditional", "crc32c", "gzip", "n5_default", "packbits", "reshape",
    "scale_offset", "sharding_indexed", "transpose", "vlen-bytes", "vlen-utf8", "zfp", "zstd",
];

/// Data types in zarr-extensions, except `r<N>`.
#[rustfmt::skip]
const REGISTERED_TYPES: &[&str] = &[
    "bfloat16", "bool", "bytes", "complex128", "complex64", "complex_bfloat16", "complex_float16", "complex_float32",
    "complex_float4_e2m1fn", "complex_float64", "complex_float6_e2m3fn", "complex_float6_e3m2fn", "complex_float8_e3m4",
    "complex_float8_e4m3", "complex_float8_e4m3b11fnuz", "complex_float8_e4m3fnuz", "complex_float8_e5m2",
    "complex_float8_e5m2fnuz", "complex_float8_e8m0fnu", "fixed_length_utf32", "float16", "float32", "float4_e2m1fn",
    "float64", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "int16", "int2", "int32", "int4", "int64", "int8",
    "numpy.datetime64", "numpy.timedelta64", "string", "struct", "structured", "uint16", "uint2", "uint32", "uint4",
    "uint64", "uint8",
];

/// Whether zarr-python (3.4.2) reads this data type, which is in zarr-extensions and not in the core.
pub(crate) fn in_zarr_python(name: &str) -> bool {
    matches!(name, "fixed_length_utf32" | "numpy.datetime64" | "numpy.timedelta64" | "struct" | "structured")
}

/// Whether zarr-extensions had this name on [`REGISTERED_ON`].
///
/// ```
/// use zarr_meta::known::is_registered;
/// use zarr_traits::extension::ExtensionPoint;
///
/// assert!(is_registered(ExtensionPoint::Codec, "gzip"));
/// assert!(!is_registered(ExtensionPoint::Codec, "numcodecs.zlib")); // in use nevertheless
/// ```
pub fn is_registered(point: ExtensionPoint, name: &str) -> bool {
    let list = match point {
        ExtensionPoint::Codec => REGISTERED_CODECS,
        ExtensionPoint::DataType if matches!(DataType::core(name), Some(DataType::Raw(_))) => return true,
        ExtensionPoint::DataType => REGISTERED_TYPES,
        ExtensionPoint::ChunkGrid => &["rectilinear", "regular"],
        ExtensionPoint::KeyEncoding => &["default", "v2"],
        _ => &[],
    };
    list.contains(&name)
}

/// The crate of this project that implements an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Home {
    /// The name of the crate.
    pub package: &'static str,
    /// The feature to enable; `None` if the crate always has the extension.
    pub feature: Option<&'static str>,
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the crate {} has it", self.package)?;
        self.feature.map_or(Ok(()), |feature| write!(f, " (feature {feature:?})"))
    }
}

const CORE: &str = "zarr-codecs-core";
const SHARDING: &str = "zarr-codec-sharding";
const ZFP: &str = "zarr-codec-zfp";
const NUMCODECS: &str = "zarr-codecs-numcodecs";

/// The codecs of this project: crate, feature, names.
const CODECS: &[(&str, Option<&str>, &[&str])] = &[
    (CORE, Some("bitround"), &["bitround"]),
    (CORE, Some("blosc"), &["blosc"]),
    (CORE, Some("bytes"), &["bytes", "endian", "bytes:fields"]),
    (CORE, Some("cast_value"), &["cast_value"]),
    (CORE, Some("conditional"), &["conditional"]),
    (CORE, Some("crc32c"), &["crc32c"]),
    (CORE, Some("gzip"), &["gzip"]),
    (CORE, Some("n5_default"), &["n5_default"]),
    (CORE, Some("packbits"), &["packbits"]),
    (CORE, Some("reshape"), &["reshape"]),
    (CORE, Some("scale_offset"), &["scale_offset"]),
    (CORE, Some("transpose"), &["transpose"]),
    (CORE, Some("vlen-bytes"), &["vlen-bytes"]),
    (CORE, Some("vlen-utf8"), &["vlen-utf8"]),
    (CORE, Some("zstd"), &["zstd"]),
    (SHARDING, None, &["sharding_indexed"]),
    (ZFP, None, &["zfp", "zarrs.zfp"]),
    (
        NUMCODECS,
        None,
        &[
            "numcodecs.astype",
            "numcodecs:astype",
            "numcodecs.base64",
            "numcodecs.bitround",
            "numcodecs:bitround",
            "numcodecs:categorize",
            "numcodecs:categorize_fixed",
            "numcodecs.delta",
            "numcodecs:delta",
            "numcodecs.fixedscaleoffset",
            "numcodecs:fixedscaleoffset",
            "numcodecs.fletcher32",
            "numcodecs.jenkins_lookup3",
            "numcodecs:json",
            "numcodecs:json2",
            "numcodecs.packbits",
            "numcodecs:packbits",
            "numcodecs.quantize",
            "numcodecs:quantize",
            "numcodecs.shuffle",
            "numcodecs:vlen-array",
            "numcodecs:pickle",
        ],
    ),
    (
        NUMCODECS,
        Some("standard"),
        &["numcodecs.blosc", "numcodecs.gzip", "numcodecs.zlib", "zlib", "numcodecs.zstd"],
    ),
    (NUMCODECS, Some("checksums"), &["numcodecs.adler32", "numcodecs.crc32", "numcodecs.crc32c"]),
    (NUMCODECS, Some("bz2"), &["numcodecs.bz2"]),
    (NUMCODECS, Some("lz4"), &["numcodecs.lz4", "lz4"]),
    (NUMCODECS, Some("lzma"), &["numcodecs.lzma"]),
    (NUMCODECS, Some("msgpack"), &["numcodecs:msgpack", "numcodecs:msgpack2"]),
    (NUMCODECS, Some("pcodec"), &["numcodecs.pcodec"]),
    (NUMCODECS, Some("zfpy"), &["numcodecs.zfpy"]),
];

/// Iterates over the names of all codecs, data types and chunk grids outside the core, with the crate that has each.
pub fn homes() -> impl Iterator<Item = (ExtensionPoint, &'static str, Home)> {
    let codecs = CODECS.iter().flat_map(|(package, feature, names)| {
        let home = Home { package, feature: *feature };
        names.iter().map(move |name| (ExtensionPoint::Codec, *name, home))
    });
    let here = Home { package: env!("CARGO_PKG_NAME"), feature: None };
    let types =
        DATA_TYPES.iter().flat_map(move |entry| entry.names().map(move |name| (entry.point(), name, here)));
    let objects = Home { package: NUMCODECS, feature: None };
    let grids = Home { package: "zarr-meta", feature: None };
    codecs.chain(types).chain([
        (ExtensionPoint::DataType, "numcodecs:object", objects),
        (ExtensionPoint::ChunkGrid, "rectilinear", grids),
    ])
}

/// Returns the crate of this project that has the extension `name`.
pub fn home(point: ExtensionPoint, name: &str) -> Option<Home> {
    homes().find(|(at, known, _)| *at == point && *known == name).map(|(_, _, home)| home)
}

/// Names that no crate of this project implements, with the reason. A `*` stands for any characters.
const NOWHERE: &[(ExtensionPoint, &str, &str)] = &[
    (ExtensionPoint::DataType, "variable_length_utf8", "no implementation reads it; use \"string\""),
    (ExtensionPoint::ChunkGrid, "rectangular", "zarrs wrote it before there was \"rectilinear\""),
    (ExtensionPoint::Codec, "jpeg", IMAGE),
    (ExtensionPoint::Codec, "webp", IMAGE),
    (ExtensionPoint::Codec, "imagecodecs_*", IMAGE),
];

const IMAGE: &str = "no crate of this project decodes images, but you can register a codec that does";

/// Returns a hint about a name that a registry lacks.
pub(crate) fn hint(point: ExtensionPoint, name: &str) -> Option<String> {
    let url = url_names(name).filter(|_| point == ExtensionPoint::Codec);
    let names = url.map_or_else(|| vec![name.to_owned()], Vec::from);
    if let Some(home) = names.iter().find_map(|name| home(point, name)) {
        let older = if is_private(name) { "for data of older formats " } else { "" };
        return Some(format!("{older}{home}"));
    }
    if name.starts_with("zarrs.") || name.starts_with("https://codec.zarrs.dev/") {
        return Some("it is an experiment of zarrs, which nothing else reads".to_owned());
    }
    let numcodecs = format!("numcodecs.{name}");
    if home(point, &numcodecs).is_some() {
        return Some(format!("it is not registered; zarr-python writes {numcodecs:?}"));
    }
    let known =
        |known: &str| known == name || known.strip_suffix('*').is_some_and(|head| name.starts_with(head));
    let nowhere = NOWHERE.iter().find(|(at, name, _)| *at == point && known(name));
    nowhere.map(|(_, _, why)| (*why).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_gets_a_hint() {
        use ExtensionPoint::{ChunkGrid, Codec, DataType, KeyEncoding, Transformer};
        let experiment = "it is an experiment of zarrs, which nothing else reads";
        for (point, name, expected) in [
            (Codec, "numcodecs.zlib", "the crate zarr-codecs-numcodecs has it (feature \"standard\")"), // rule D10.1
            (Codec, "zlib", "the crate zarr-codecs-numcodecs has it (feature \"standard\")"), // rule D10.4
            (Codec, "numcodecs:json2", "for data of older formats the crate zarr-codecs-numcodecs has it"),
            (Codec, "sharding_indexed", "the crate zarr-codec-sharding has it"),
            (DataType, "struct", "the crate zarr-meta has it"),
            (
                Codec,
                "https://codec.zarrs.dev/bytes_to_bytes/bz2", // rule D10.2
                "the crate zarr-codecs-numcodecs has it (feature \"bz2\")",
            ),
            (
                Codec,
                "https://codec.zarrs.dev/array_to_bytes/vlen_utf8",
                "the crate zarr-codecs-core has it (feature \"vlen-utf8\")",
            ),
            (
                Codec,
                "https://numcodecs.dev/gzip",
                "the crate zarr-codecs-numcodecs has it (feature \"standard\")",
            ),
            (Codec, "https://codec.zarrs.dev/bytes_to_bytes/gdeflate", experiment),
            (Codec, "zarrs.gdeflate", experiment), // rule D10.3
            (Codec, "zarrs.squeeze", experiment),
            (Codec, "zarrs.vlen_v2", experiment), // rule D8.3
            (Codec, "zarrs.optional", experiment),
            (DataType, "zarrs.optional", experiment), // rule B44
            (ChunkGrid, "zarrs.regular_bounded", experiment),
            (KeyEncoding, "zarrs.default_suffix", experiment),
            (DataType, "variable_length_utf8", "no implementation reads it; use \"string\""), // rule B45
            (Codec, "shuffle", "it is not registered; zarr-python writes \"numcodecs.shuffle\""), // rule D10.7
            (Codec, "imagecodecs_jpegxl", IMAGE),
            (Codec, "zfp", "the crate zarr-codec-zfp has it"),
            (ChunkGrid, "rectilinear", "the crate zarr-meta has it"),
            (ChunkGrid, "rectangular", "zarrs wrote it before there was \"rectilinear\""), // rule C20
            (Codec, "foo", ""),
            (DataType, "https://example.org/int", ""), // rule B46
            (DataType, "numcodecs.zlib", ""),
            (Transformer, "gzip", ""),
        ] {
            assert_eq!(hint(point, name).unwrap_or_default(), expected, "{point} {name}");
        }
    }
}
