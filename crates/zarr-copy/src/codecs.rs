//! Codecs as the user gives them.

use std::str::FromStr;

use zarr_array::meta::Members2;
use zarr_array::meta::diagnostic::Ignore;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;

/// The codecs of a copy.
///
/// As text: a list such as `zstd:5`, `blosc:lz4:5:shuffle` or `transpose(1,0),bytes:big,gzip:6,crc32c`; `none` for
/// uncompressed elements; the JSON of the member `codecs`; or, for format 2, `{"compressor": …, "filters": …}`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Codecs {
    /// A list of format 3.
    List(Vec<Extension>),
    /// The filters and the compressor of format 2.
    Old(Members2),
}

impl FromStr for Codecs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.as_bytes().first() {
            Some(b'[') => from_json(text).map(Self::List),
            Some(b'{') => old(text).map(Self::Old),
            None => Err("the list is empty; `none` stands for uncompressed elements".to_owned()),
            _ if text == "none" => Ok(Self::List(Vec::new())),
            _ => split(text)?.into_iter().map(short).collect::<Result<_, _>>().map(Self::List),
        }
    }
}

fn old(text: &str) -> Result<Members2, String> {
    let object = Value::parse(text).map_err(|e| format!("{e:#}"))?.as_object().unwrap_or_default();
    let unknown = object.members().find(|m| !matches!(&*m.name_lossy(), "compressor" | "filters"));
    if let Some(member) = unknown {
        let message = "expected {\"compressor\": …, \"filters\": …} for format 2, found the member";
        return Err(format!("{message} {:?}", member.name_lossy()));
    }
    let member = |name: &str| object.get(name).unwrap_or_else(|| None::<bool>.into());
    Ok(Members2::default().compressor(member("compressor")).filters(member("filters")))
}

fn from_json(text: &str) -> Result<Vec<Extension>, String> {
    let value = Value::parse(text).map_err(|e| format!("{e:#}"))?;
    let elements = value.elements().into_iter().flatten().enumerate();
    let parse =
        |(i, value)| Extension::parse(&value, &mut Ignore).map_err(|e| e.at(&format!("/{i}")).to_string());
    elements.map(parse).collect()
}

/// Splits at the commas outside of parentheses.
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

/// The codecs with a short form.
const SHORT: [&str; 6] = ["bytes", "transpose", "blosc", "gzip", "zstd", "crc32c"];

/// Parses `name`, `name:argument:argument` or `name(argument,argument)`.
fn short(text: &str) -> Result<Extension, String> {
    let (name, arguments): (&str, Vec<&str>) = match text.split_once(['(', ':']) {
        None => (text, Vec::new()),
        Some((name, rest)) => match rest.strip_suffix(')').filter(|_| text[name.len()..].starts_with('(')) {
            Some(inner) => (name, inner.split(',').filter(|a| !a.trim().is_empty()).map(str::trim).collect()),
            None if text[name.len()..].starts_with('(') => {
                return Err(format!("unexpected text after the parentheses in {text:?}"));
            }
            None => (name, rest.split(':').map(str::trim).collect()),
        },
    };
    let name = name.trim();
    let number = |text: &str| {
        text.parse::<i64>().map(Value::from).map_err(|_| format!("{text:?} in {name:?} is not an integer"))
    };
    let codec = Extension::new(name);
    let most = |n: usize| match arguments.get(n) {
        Some(extra) => Err(format!("{name:?} has too many arguments: {extra:?}")),
        None => Ok(()),
    };
    let argument = |n: usize, default| arguments.get(n).copied().filter(|a| !a.is_empty()).unwrap_or(default);
    match name {
        "bytes" => {
            most(1)?;
            match argument(0, "") {
                "" => Ok(codec),
                endian @ ("little" | "big") => Ok(codec.with("endian", endian)),
                other => Err(format!("{other:?} is not a byte order: expected little or big")),
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
                other => return Err(format!("expected `checksum` in \"zstd\", found {other:?}")),
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
        "none" => Err("`none` cannot be combined with codecs".to_owned()),
        "" => Err("a codec has no name".to_owned()),
        "lz4" | "lz4hc" | "blosclz" | "snappy" | "zlib" => Err(format!(
            "{name:?} alone has no short form: `blosc:{name}` compresses with it within blosc; give other codecs as JSON"
        )),
        other => {
            Err(format!("{other:?} has no short form; there are {}; give others as JSON", SHORT.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match text.parse::<Codecs>() {
            Ok(Codecs::List(codecs)) => {
                codecs.iter().map(|c| c.to_value().to_compact()).collect::<Vec<_>>().join(" ")
            }
            Ok(Codecs::Old(Members2 { compressor, filters, .. })) => {
                format!("{} {}", compressor.unwrap().to_compact(), filters.unwrap().to_compact())
            }
            Err(e) => format!("error: {e:#}"),
        }
    }

    #[test]
    fn short_forms_become_codecs() {
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
            (r#"{"compressor": {"id": "zlib"}}"#, r#"{"id":"zlib"} null"#),
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
            r#"{"compressor":null,"id":"zlib"}"#,
            r#"{"compressor":"#,
        ] {
            assert!(parsed(bad).starts_with("error: "), "{bad}: {}", parsed(bad));
        }
    }

    /// Completing a configuration does not change the encoded bytes.
    #[cfg(feature = "standard")]
    #[test]
    fn a_complete_configuration_encodes_as_a_partial_one() {
        use zarr_array::blocking::Array;
        use zarr_array::meta::{ArrayMeta, codecs::written};
        use zarr_array::traits::{Key, Prefix};
        use zarr_array::{DataType, Limits, OpenOptions, Storage, block_on};

        let registry = zarr_array::standard();
        let encoded = |codecs: &[Extension], data_type: &DataType| {
            let codecs: Vec<String> = codecs.iter().map(|codec| codec.to_value().to_compact()).collect();
            let document = format!(
                r#"{{"zarr_format":3,"node_type":"array","shape":[4000],"data_type":"{}","fill_value":0,
                    "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[4000]}}}},
                    "chunk_key_encoding":{{"name":"default"}},"codecs":[{}],"attributes":{{}}}}"#,
                data_type.name(),
                codecs.join(",")
            );
            let meta = ArrayMeta::parse(document.as_bytes(), &Limits::default(), &mut Vec::new()).unwrap();
            let storage = Storage::from(zarr_store::MemoryStore::new());
            let (place, options) = (Prefix::root(), OpenOptions::new());
            let array =
                Array::from_metadata(storage.clone(), place, meta, Vec::new(), &registry, &options).unwrap();
            let notes = array.diagnostics().len();
            let bytes = 4000 * data_type.size().unwrap();
            let elements = (0..bytes).map(|i| u8::try_from(i / 7 % 251).unwrap()).collect::<Vec<u8>>();
            array.write_bytes(.., elements).unwrap();
            let object = block_on(storage.get(&Key::new("c/0").unwrap(), 1 << 20)).unwrap().unwrap();
            (object, notes)
        };
        let list = |json: &str| match json.parse() {
            Ok(Codecs::List(codecs)) => codecs,
            other => panic!("{json}: {other:?}"),
        };
        for (codec, notes) in [
            (r#"{"name":"blosc","configuration":{"cname":"lz4","clevel":5}}"#, 3),
            (
                r#"{"name":"blosc","configuration":{"cname":"zstd","clevel":1,"shuffle":2,"blocksize":256}}"#,
                2,
            ),
            (r#"{"name":"blosc","configuration":{"cname":"zlib","clevel":9,"shuffle":-1,"typesize":2}}"#, 2),
            (r#"{"name":"zstd"}"#, 1),
            (r#"{"name":"zstd","configuration":{"level":5}}"#, 0),
        ] {
            for data_type in [DataType::UInt8, DataType::Int32] {
                let little = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
                let partial = list(&format!("[{little},{codec}]"));
                let full = written(&partial, &data_type, 1, &registry);
                let (object, found) = encoded(&partial, &data_type);
                assert_eq!(found, notes, "{codec}");
                assert!((object, 0) == encoded(&full, &data_type), "{codec} {data_type}: {full:?}");
            }
        }
    }
}
