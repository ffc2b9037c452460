//! Which codecs are lossy.

use super::names;
use crate::json::{Object, Value};
use crate::names::role;
use crate::v3::Extension;

/// Lossless codecs of older formats that have no place in a document of format 3.
const PRIVATE: [&str; 9] = [
    "bytes:fields",
    "numcodecs.base64",
    "numcodecs:json",
    "numcodecs:json2",
    "numcodecs:msgpack",
    "numcodecs:msgpack2",
    "numcodecs:packbits",
    "numcodecs:pickle",
    "numcodecs:vlen-array",
];

/// Returns the names of the codecs that may be lossy, including those inside of shards, without repetition: their
/// configuration permits loss, or they are unknown. Decoding and encoding again with such a codec may lose information
/// a second time.
///
/// ```
/// use zarr_meta::{codecs::lossy, v3::Extension};
///
/// let zfp = |mode| [Extension::new("zfp").with("mode", mode), Extension::new("zstd")];
/// assert_eq!(lossy(&zfp("fixed_precision")), ["zfp"]);
/// assert!(lossy(&zfp("reversible")).is_empty());
/// ```
pub fn lossy(codecs: &[Extension]) -> Vec<String> {
    names(codecs, |codec| !keeps(codec))
}

/// Whether a codec is lossless.
fn keeps(codec: &Extension) -> bool {
    let members = codec.configuration();
    match codec.name() {
        "zfp" | "zarrs.zfp" => is_text(&members, "mode", "reversible"),
        "numcodecs.zfpy" => zfpy_keeps(&members),
        "bitround" | "cast_value" | "scale_offset" => false,
        "numcodecs.astype" | "numcodecs.bitround" | "numcodecs.fixedscaleoffset" | "numcodecs.quantize" => {
            false
        }
        "numcodecs.delta" | "numcodecs:delta" => delta_keeps(&members),
        "packbits" => !["first_bit", "last_bit"].iter().any(|bit| is_given(&members, bit)),
        name => role(name).is_some() || PRIVATE.contains(&name) || name == "endian",
    }
}

/// Mode 5 is lossless. Another mode is lossless if its parameter is missing or negative.
fn zfpy_keeps(members: &Object) -> bool {
    let parameter = match members.get("mode").as_ref().map_or("4", Value::as_raw) {
        "2" => "rate",
        "3" => "precision",
        "4" => "tolerance",
        mode => return mode == "5",
    };
    members.get(parameter).is_none_or(|value| value.as_raw().starts_with('-'))
}

/// Differences of integers wrap around and are lossless, as long as they are stored in the same type.
fn delta_keeps(members: &Object) -> bool {
    let text =
        |name: &str| members.get(name).and_then(|value| value.to_text().ok().map(|text| text.into_owned()));
    let integers = |dtype: &str| dtype.trim_start_matches(['<', '>', '|']).starts_with(['i', 'u']);
    text("dtype").is_some_and(|dtype| integers(&dtype) && text("astype").is_none_or(|stored| stored == dtype))
}

fn is_text(members: &Object, name: &str, text: &str) -> bool {
    members.get(name).is_some_and(|value| value.to_text().is_ok_and(|value| value == text))
}

fn is_given(members: &Object, name: &str) -> bool {
    members.get(name).is_some_and(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Ignore;
    use crate::v3::sharding::Sharding;

    fn codec(json: &str) -> Extension {
        Extension::parse(&Value::parse(json).unwrap(), &mut Ignore).unwrap()
    }

    #[test]
    fn a_configuration_decides_what_is_lost() {
        for (json, loses) in [
            (r#"{"name":"zfp","configuration":{"mode":"reversible"}}"#, false),
            (r#"{"name":"zfp","configuration":{"mode":"fixed_precision","precision":8}}"#, true),
            (r#"{"name":"zfp"}"#, true),
            (r#"{"name":"numcodecs.zfpy","configuration":{"mode":4,"tolerance":0.1,"rate":-1}}"#, true),
            (r#"{"name":"numcodecs.zfpy","configuration":{"mode":4,"tolerance":-1,"rate":8}}"#, false),
            (r#"{"name":"numcodecs.zfpy","configuration":{"mode":3,"precision":8}}"#, true),
            (r#"{"name":"numcodecs.zfpy","configuration":{"mode":2,"rate":8}}"#, true),
            (r#"{"name":"numcodecs.zfpy","configuration":{"mode":5}}"#, false),
            (r#"{"name":"numcodecs.zfpy"}"#, false),
            (r#"{"name":"bitround","configuration":{"keepbits":3}}"#, true),
            (r#"{"name":"numcodecs.delta","configuration":{"dtype":"<i4"}}"#, false),
            (r#"{"name":"numcodecs.delta","configuration":{"dtype":"<i4","astype":"<i4"}}"#, false),
            (r#"{"name":"numcodecs.delta","configuration":{"dtype":"<i4","astype":"<i2"}}"#, true),
            (r#"{"name":"numcodecs.delta","configuration":{"dtype":"<f4"}}"#, true),
            (r#"{"name":"packbits"}"#, false),
            (r#"{"name":"packbits","configuration":{"first_bit":null}}"#, false),
            (r#"{"name":"packbits","configuration":{"last_bit":4}}"#, true),
            (r#"{"name":"numcodecs:categorize"}"#, true),
            (r#"{"name":"numcodecs:msgpack2"}"#, false),
            (r#"{"name":"of-next-year"}"#, true),
            (r#""zstd""#, false),
            (r#""bytes""#, false),
        ] {
            assert_eq!(!lossy(&[codec(json)]).is_empty(), loses, "{json}");
        }
        for name in
            ["cast_value", "scale_offset", "numcodecs.astype", "numcodecs.bitround", "numcodecs.quantize"]
        {
            assert_eq!(lossy(&[Extension::new(name)]), [name]);
        }
        let shards = Sharding::new([2], vec![Extension::new("bitround"), Extension::new("bytes")]);
        let codecs = [Extension::new("bitround"), shards.to_extension(), Extension::new("cast_value")];
        assert_eq!(lossy(&codecs), ["bitround", "cast_value"]);
    }
}
