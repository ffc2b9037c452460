//! Codecs as they are written to a document.

use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::Extension;
use zarr_array::meta::v3::sharding::Sharding;
use zarr_array::traits::Layout;
use zarr_array::{DataType, Registry};

/// Codecs as they are written (checklist A52, A54): objects under their registered names, with the members that some reader
/// insists on, spelled as specified. `rank` is that of the chunks.
///
/// A codec that is not known is kept as it is, or left out where reading leaves it out.
pub(crate) fn written(
    codecs: &[Extension],
    data_type: &DataType,
    rank: usize,
    registry: &Registry,
) -> Vec<Extension> {
    codecs.iter().filter_map(|codec| one(codec, data_type, rank, registry)).collect()
}

/// `None` for what a document does better without.
fn one(codec: &Extension, data_type: &DataType, rank: usize, registry: &Registry) -> Option<Extension> {
    let entry = registry.codec(codec.name());
    if entry.is_err() && !codec.must_understand() {
        return None;
    }
    let name = entry.map_or(codec.name(), |entry| entry.name);
    let given = codec.configuration();
    let plain = Extension::new(name);
    let (size, ordered) = match data_type.layout() {
        Layout::Fixed { size, unit } => (size, unit > 1),
        Layout::Packed { size } => (size, true),
        _ => (1, false),
    };
    Some(match name {
        // Order means nothing to single bytes.
        "bytes" if !ordered => plain,
        // Little-endian, where the user leaves it open.
        "bytes" if !given.contains("endian") => plain.with("endian", "little"),
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
        Sharding::NAME => sharding(codec, data_type, rank, registry),
        // zarr-python wants a configuration of these, also where there is nothing in it.
        _ if given.is_empty() && !name.starts_with("numcodecs.") => plain,
        _ => plain.with_configuration(&given),
    })
}

/// With the codecs inside in the same form. What is wrong is said when the document is resolved.
fn sharding(codec: &Extension, data_type: &DataType, rank: usize, registry: &Registry) -> Extension {
    let Ok(Some(mut sharding)) = Sharding::parse(codec) else { return codec.clone() };
    sharding.codecs = written(&sharding.codecs, data_type, rank, registry);
    sharding.index_codecs = written(&sharding.index_codecs, &DataType::UInt64, rank + 1, registry);
    sharding.to_extension()
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
    use super::super::codecs::Codecs;
    use super::*;

    #[test]
    fn documents_get_the_full_form() {
        let full = |json: &str, data_type: DataType| {
            let Ok(Codecs::List(codecs)) = format!("[{json}]").parse() else { panic!("{json}") };
            let registry = crate::target::registry();
            written(&codecs, &data_type, 2, &registry)
                .iter()
                .map(|c| c.to_value().to_compact())
                .collect::<String>()
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
            (r#""bytes""#, r#"{"name":"bytes","configuration":{"endian":"little"}}"#),
            (r#"{"name":"foo","must_understand":false}"#, ""),
            (
                r#"{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1],"codecs":["bytes","zstd"],"index_codecs":[{"name":"endian","configuration":{"endian":"big"}}]}}"#,
                r#"{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1],"codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"zstd","configuration":{"level":0,"checksum":false}}],"index_codecs":[{"name":"bytes","configuration":{"endian":"big"}}],"index_location":"end"}}"#,
            ),
            (r#"{"name":"foo","configuration":{"a":1}}"#, r#"{"name":"foo","configuration":{"a":1}}"#),
        ] {
            assert_eq!(full(json, float.clone()), codec, "{json}");
        }
        let null = r#"{"name":"bytes","configuration":{"endian":null}}"#;
        assert_eq!(full(null, DataType::UInt8), r#"{"name":"bytes"}"#);
    }
}
