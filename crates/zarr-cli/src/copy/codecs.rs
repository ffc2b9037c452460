//! Codecs as the user writes them, and codecs as they are written to a document.

use std::str::FromStr;

use zarr_array::meta::diagnostic::Ignore;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::Extension;
use zarr_array::{DataType, Registry, traits::Layout};

/// The argument of `--codecs`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Codecs(pub(crate) Vec<Extension>);

impl FromStr for Codecs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.as_bytes().first() {
            Some(b'[') => from_json(text).map(Self),
            Some(b'{') => Err("codecs of format 3 are a list, this is an object of format 2".to_owned()),
            None => Err("the list is empty; `none` stands for elements as they are".to_owned()),
            _ if text == "none" => Ok(Self(Vec::new())),
            _ => split(text)?.into_iter().map(short).collect::<Result<_, _>>().map(Self),
        }
    }
}

fn from_json(text: &str) -> Result<Vec<Extension>, String> {
    let value = Value::parse(text).map_err(|e| e.to_string())?;
    let elements = value.elements().into_iter().flatten().enumerate();
    let parse =
        |(i, value)| Extension::parse(&value, &mut Ignore).map_err(|e| e.at(&format!("/{i}")).to_string());
    elements.map(parse).collect()
}

/// At the commas that are not inside of parentheses.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' if !inside => inside = true,
            ')' if inside => inside = false,
            '(' | ')' => return Err(format!("the parentheses in {text:?} do not match")),
            ',' if !inside => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(format!("the parentheses in {text:?} do not match"));
    }
    parts.push(text[start..].trim());
    Ok(parts)
}

/// `name`, `name:argument:argument` or `name(argument,argument)`.
fn short(text: &str) -> Result<Extension, String> {
    let (name, arguments): (&str, Vec<&str>) = match text.split_once(['(', ':']) {
        None => (text, Vec::new()),
        Some((name, rest)) => match rest.strip_suffix(')').filter(|_| text[name.len()..].starts_with('(')) {
            Some(inner) => (name, inner.split(',').filter(|a| !a.trim().is_empty()).map(str::trim).collect()),
            None if text[name.len()..].starts_with('(') => {
                return Err(format!("{text:?} goes on behind its parentheses"));
            }
            None => (name, rest.split(':').map(str::trim).collect()),
        },
    };
    let name = name.trim();
    let number = |text: &str| {
        text.parse::<i64>().map(Value::from).map_err(|_| format!("{text:?} in {name:?} is no integer"))
    };
    let codec = Extension::new(name);
    let most = |n: usize| match arguments.get(n) {
        Some(extra) => Err(format!("{name:?} takes no argument {extra:?}")),
        None => Ok(()),
    };
    let argument = |n: usize, default| arguments.get(n).copied().filter(|a| !a.is_empty()).unwrap_or(default);
    match name {
        "bytes" => {
            most(1)?;
            match argument(0, "") {
                "" => Ok(codec),
                endian @ ("little" | "big") => Ok(codec.with("endian", endian)),
                other => Err(format!("{other:?} is no byte order, it must be little or big")),
            }
        }
        "transpose" => {
            let order: Vec<Value> = arguments.iter().map(|a| number(a)).collect::<Result<_, _>>()?;
            Ok(codec.with("order", order))
        }
        "gzip" => {
            most(1)?;
            Ok(codec.with("level", number(argument(0, "5"))?))
        }
        "zstd" => {
            most(2)?;
            let checksum = match argument(1, "false") {
                "checksum" | "true" => true,
                "false" => false,
                other => return Err(format!("{other:?} in \"zstd\" must be `checksum`")),
            };
            Ok(codec.with("level", number(argument(0, "3"))?).with("checksum", checksum))
        }
        "blosc" => {
            most(3)?;
            let codec = codec.with("cname", argument(0, "lz4")).with("clevel", number(argument(1, "5"))?);
            Ok(if arguments.len() > 2 { codec.with("shuffle", argument(2, "shuffle")) } else { codec })
        }
        "crc32c" => {
            most(0)?;
            Ok(codec)
        }
        "none" => Err("`none` stands alone".to_owned()),
        "" => Err("a codec has no name".to_owned()),
        other => Err(format!("{other:?} has no short form here; write the codecs as JSON")),
    }
}

/// The codec as it is written (checklist A52, A54): an object under its registered name, with the members that some reader
/// insists on, spelled as specified. `None` for what a document does better without.
///
/// A codec that is not known is kept as it is, or left out where reading leaves it out.
pub(crate) fn written(
    codec: &Extension,
    data_type: &DataType,
    rank: usize,
    registry: &Registry,
) -> Option<Extension> {
    let entry = registry.codec(codec.name());
    if entry.is_err() && !codec.must_understand() {
        return None;
    }
    let name = entry.map_or(codec.name(), |entry| entry.name);
    let given = codec.configuration();
    let plain = Extension::new(name);
    let (size, unit) = match data_type.layout() {
        Layout::Fixed { size, unit } => (size, unit),
        _ => (1, 1),
    };
    Some(match name {
        // Order means nothing to single bytes.
        "bytes" if unit <= 1 => plain,
        "bytes" => with(plain, &given, &["endian"]),
        "transpose" => {
            let order =
                match given.get("order").as_ref().and_then(|o| o.to_text().ok().map(|o| o.into_owned())) {
                    Some(order) if order == "F" => (0..rank).rev().collect::<Value>(),
                    Some(_) => (0..rank).collect(),
                    None => given
                        .get("order")
                        .map(|order| integers(&order))
                        .unwrap_or_else(|| Vec::<Value>::new().into()),
                };
            plain.with("order", order)
        }
        "gzip" => plain.with("level", integer(&given, "level").unwrap_or_else(|| 5.into())),
        "zstd" => {
            let level = integer(&given, "level").unwrap_or_else(|| 0.into());
            plain.with("level", level).with("checksum", given.get("checksum").unwrap_or_else(|| false.into()))
        }
        "blosc" => blosc(with(plain, &given, &["cname"]), &given, size),
        "crc32c" => plain,
        _ if given.is_empty() => plain,
        _ => plain.with_configuration(&given),
    })
}

/// Spec: [blosc codec](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/blosc/index.html); what is missing, as
/// zarr-codecs-core reads it (checklist D.4).
fn blosc(codec: Extension, given: &Object, size: usize) -> Extension {
    let automatic = if size == 1 { "bitshuffle" } else { "shuffle" };
    let shuffle = given.get("shuffle");
    let number = shuffle.as_ref().and_then(|s| s.as_number()?.to_integer());
    let shuffle: Value = match (number, shuffle) {
        (Some(0), _) => "noshuffle".into(),
        (Some(1), _) => "shuffle".into(),
        (Some(2), _) => "bitshuffle".into(),
        (None, Some(name)) => name,
        _ => automatic.into(),
    };
    let typesize = integer(given, "typesize").filter(|n| n.as_raw() != "0").unwrap_or_else(|| size.into());
    codec
        .with("clevel", integer(given, "clevel").unwrap_or_else(|| 5.into()))
        .with("shuffle", shuffle)
        .with("typesize", typesize)
        .with("blocksize", integer(given, "blocksize").unwrap_or_else(|| 0.into()))
}

/// With the members of `given` that have these names.
fn with(codec: Extension, given: &Object, names: &[&str]) -> Extension {
    let present = names.iter().filter_map(|name| given.get(name).map(|value| (name, value)));
    present.fold(codec, |codec, (name, value)| codec.with(name, value))
}

/// A member, spelled as an integer if it is one.
fn integer(given: &Object, name: &str) -> Option<Value> {
    given.get(name).map(|value| spelled(&value))
}

fn integers(list: &Value) -> Value {
    list.elements().map_or_else(|| list.clone(), |elements| elements.map(|e| spelled(&e)).collect())
}

fn spelled(value: &Value) -> Value {
    value.as_number().and_then(|n| n.to_integer()).map_or_else(|| value.clone(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match text.parse::<Codecs>() {
            Ok(Codecs(codecs)) => {
                codecs.iter().map(|c| c.to_value().to_compact()).collect::<Vec<_>>().join(" ")
            }
            Err(e) => format!("error: {e}"),
        }
    }

    #[test]
    fn short_forms() {
        for (text, codecs) in [
            ("none", ""),
            ("zstd", r#"{"name":"zstd","configuration":{"level":3,"checksum":false}}"#),
            ("zstd:-7:checksum", r#"{"name":"zstd","configuration":{"level":-7,"checksum":true}}"#),
            ("gzip:6, crc32c", r#"{"name":"gzip","configuration":{"level":6}} {"name":"crc32c"}"#),
            ("blosc", r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":5}}"#),
            (
                "blosc:zstd:3:bitshuffle",
                r#"{"name":"blosc","configuration":{"cname":"zstd","clevel":3,"shuffle":"bitshuffle"}}"#,
            ),
            (
                "transpose(2,0,1),bytes:big",
                r#"{"name":"transpose","configuration":{"order":[2,0,1]}} {"name":"bytes","configuration":{"endian":"big"}}"#,
            ),
            ("bytes", r#"{"name":"bytes"}"#),
            (r#"["bytes", {"name": "gzip"}]"#, r#""bytes" {"name":"gzip"}"#),
        ] {
            assert_eq!(parsed(text), codecs, "{text}");
        }
        for bad in [
            "",
            "zip",
            "gzip:a",
            "gzip:1:2",
            "crc32c:1",
            "bytes:middle",
            "zstd,",
            "transpose(1,0",
            "transpose(0)1",
            "none,gzip",
            "[",
            "[1]",
            r#"{"compressor":null}"#,
        ] {
            assert!(parsed(bad).starts_with("error: "), "{bad}: {}", parsed(bad));
        }
    }

    #[test]
    fn documents_get_the_full_form() {
        let full = |json: &str, data_type: DataType| {
            let Codecs(codecs) = format!("[{json}]").parse().unwrap();
            let registry = crate::target::registry();
            written(&codecs[0], &data_type, 2, &registry)
                .map(|c| c.to_value().to_compact())
                .unwrap_or_default()
        };
        let float = DataType::Float32;
        for (json, codec) in [
            (r#""crc32c""#, r#"{"name":"crc32c"}"#),
            (
                r#"{"name":"endian","configuration":{"endian":"big","x":1}}"#,
                r#"{"name":"bytes","configuration":{"endian":"big"}}"#,
            ),
            (
                r#"{"name":"gzip","configuration":{"level":5.0},"must_understand":true}"#,
                r#"{"name":"gzip","configuration":{"level":5}}"#,
            ),
            (r#""zstd""#, r#"{"name":"zstd","configuration":{"level":0,"checksum":false}}"#),
            (
                r#"{"name":"transpose","configuration":{"order":"F"}}"#,
                r#"{"name":"transpose","configuration":{"order":[1,0]}}"#,
            ),
            (
                r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":1}}"#,
                r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"shuffle","typesize":4,"blocksize":0}}"#,
            ),
            (
                r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"noshuffle","typesize":0,"blocksize":256}}"#,
                r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":1,"shuffle":"noshuffle","typesize":4,"blocksize":256}}"#,
            ),
            (r#"{"name":"foo","must_understand":false}"#, ""),
            (r#"{"name":"foo","configuration":{"a":1}}"#, r#"{"name":"foo","configuration":{"a":1}}"#),
        ] {
            assert_eq!(full(json, float.clone()), codec, "{json}");
        }
        let null = r#"{"name":"bytes","configuration":{"endian":null}}"#;
        assert_eq!(full(null, DataType::UInt8), r#"{"name":"bytes"}"#);
    }
}
