//! Replaces codecs that some readers lack by equivalent codecs that every reader has.

use super::{inside, names};
use crate::v2::complete::{blosc_of_numcodecs, gzip_of_numcodecs, integer, zstd_of_numcodecs};
use crate::v3::Extension;
use crate::v3::sharding::Sharding;

/// The codecs that every implementation of format 3 has.
const COMMON: [&str; 9] =
    ["blosc", "bytes", "crc32c", "gzip", Sharding::NAME, "transpose", "vlen-bytes", "vlen-utf8", "zstd"];

/// Returns `codecs` with each codec of numcodecs replaced by an equivalent that every reader has, if there is one, also
/// inside of shards: for example `numcodecs.zlib` becomes `gzip` of the same level. Encoded chunks then have other
/// bytes, but the same elements.
///
/// ```
/// use zarr_meta::{codecs::{portable, rare}, v3::Extension};
///
/// let codecs = [Extension::new("numcodecs.zlib").with("level", 7), Extension::new("numcodecs.lz4")];
/// let codecs = portable(&codecs);
/// assert_eq!(codecs[0], Extension::new("gzip").with("level", 7));
/// assert_eq!(rare(&codecs), ["numcodecs.lz4"]);
/// ```
pub fn portable(codecs: &[Extension]) -> Vec<Extension> {
    codecs.iter().map(counterpart).collect()
}

fn counterpart(codec: &Extension) -> Extension {
    if let Some(mut shards) = inside(codec) {
        shards.codecs = portable(&shards.codecs);
        shards.index_codecs = portable(&shards.index_codecs);
        return shards.to_extension();
    }
    let given = codec.configuration();
    let level = |default: i32| integer(&given, "level").unwrap_or_else(|| default.into());
    match codec.name() {
        "numcodecs.zlib" | "numcodecs.gzip" => gzip_of_numcodecs(level(1)),
        "numcodecs.zstd" => zstd_of_numcodecs(&given, level(0)),
        "numcodecs.blosc" => blosc_of_numcodecs(&given, given.get("shuffle").unwrap_or_else(|| 1.into())),
        "numcodecs.crc32c" => Extension::new("crc32c"),
        _ => codec.clone(),
    }
}

/// Returns the names of the codecs that some readers lack, including those inside of shards, without repetition.
pub fn rare(codecs: &[Extension]) -> Vec<String> {
    names(codecs, |codec| !COMMON.contains(&codec.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Ignore;
    use crate::json::Value;

    #[test]
    fn codecs_of_numcodecs_become_those_that_every_reader_has() {
        for (given, expected) in [
            (r#"{"name":"numcodecs.zlib"}"#, r#"{"name":"gzip","configuration":{"level":1}}"#),
            (
                r#"{"name":"numcodecs.zlib","configuration":{"level":-1}}"#,
                r#"{"name":"gzip","configuration":{"level":6}}"#,
            ),
            (
                r#"{"name":"numcodecs.gzip","configuration":{"level":9.0}}"#,
                r#"{"name":"gzip","configuration":{"level":9}}"#,
            ),
            (
                r#"{"name":"numcodecs.zstd","configuration":{"level":100,"checksum":true}}"#,
                r#"{"name":"zstd","configuration":{"level":22,"checksum":true}}"#,
            ),
            (
                r#"{"name":"numcodecs.blosc","configuration":{"clevel":3,"typesize":null}}"#,
                r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":3,"shuffle":1}}"#,
            ),
            (r#"{"name":"numcodecs.crc32c","configuration":{"location":"start"}}"#, r#"{"name":"crc32c"}"#),
            (r#"{"name":"numcodecs.lzma"}"#, r#"{"name":"numcodecs.lzma"}"#),
            (r#""gzip""#, r#""gzip""#),
        ] {
            let codec = Extension::parse(&Value::parse(given).unwrap(), &mut Ignore).unwrap();
            assert_eq!(counterpart(&codec).to_value().to_compact(), expected, "{given}");
            let shards = Sharding::new([2], vec![codec.clone()]).to_extension();
            let [found] = &portable(&[shards])[..] else { panic!("{given}") };
            assert_eq!(inside(found).unwrap().codecs[0].to_value().to_compact(), expected, "{given}");
        }
    }

    #[test]
    fn rare_codecs_are_named_once() {
        let [lzma, bytes, zfp] = ["numcodecs.lzma", "bytes", "zfp"].map(Extension::new);
        let shards = Sharding::new([2], vec![zfp, lzma.clone()]).to_extension();
        assert_eq!(rare(&[lzma, bytes, shards]), ["numcodecs.lzma", "zfp"]);
    }
}
