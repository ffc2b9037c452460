//! New metadata: the form in which it is written, and early errors.

use std::sync::Arc;

use crate::common::{self, base, parse};
use proptest::prelude::*;
use zarr_meta::json::{Object, Value, json};
use zarr_meta::v3::{Extension, GroupDocument};
use zarr_meta::{
    ArrayBuilder, ArrayMeta, Code, DataType, Diagnostic, FillValue, Limits, MetaErrorKind, Strict,
};
use zarr_traits::extension::{Context, DataTypeEntry, Entry, Spec};
use zarr_traits::{CodecResult, ExtensionType, Layout, Registry};

fn builder() -> ArrayBuilder {
    ArrayMeta::builder([1000, 1000], DataType::Float32).chunks([100, 100])
}

fn zstd() -> Extension {
    Extension::new("zstd").with("level", 3)
}

/// Builds metadata and asserts that a strict reader accepts and resolves it, without advice except about the data type.
fn built(builder: ArrayBuilder) -> ArrayMeta {
    let meta = builder.build().unwrap();
    let read = ArrayMeta::parse(meta.to_text().as_bytes(), &Limits::default(), &mut Strict).unwrap();
    assert_eq!(read.to_text(), meta.to_text());
    meta.resolve(&common::registry(), &Limits::default(), &mut Strict).unwrap();
    let mut advice: Vec<Diagnostic> = Vec::new();
    meta.document().lint(&mut advice).unwrap();
    advice.retain(|note| note.code != Code::RareDataType);
    assert_eq!(advice, []);
    meta
}

#[test]
fn equal_extensions_have_the_same_members_in_any_order() {
    let blosc = || Extension::new("blosc");
    assert_eq!(
        blosc().with("clevel", 5).with("cname", "lz4"),
        blosc().with("cname", "lz4").with("clevel", 5)
    );
    assert_ne!(blosc().with("clevel", 5), blosc().with("clevel", 6));
}

#[test]
fn all_members_are_written_in_the_recommended_form() {
    let meta = built(
        builder()
            .shards([500, 500])
            .fill(f32::NAN)
            .codecs([zstd()])
            .dimension_names(["y", "x"])
            .attributes(json!({"units": "K"})),
    );
    let text = r#"{
  "zarr_format": 3,
  "node_type": "array",
  "shape": [
    1000,
    1000
  ],
  "data_type": "float32",
  "chunk_grid": {
    "name": "regular",
    "configuration": {
      "chunk_shape": [
        500,
        500
      ]
    }
  },
  "chunk_key_encoding": {
    "name": "default",
    "configuration": {
      "separator": "/"
    }
  },
  "fill_value": "NaN",
  "codecs": [
    {
      "name": "sharding_indexed",
      "configuration": {
        "chunk_shape": [
          100,
          100
        ],
        "codecs": [
          {
            "name": "bytes",
            "configuration": {
              "endian": "little"
            }
          },
          {
            "name": "zstd",
            "configuration": {
              "level": 3,
              "checksum": false
            }
          }
        ],
        "index_codecs": [
          {
            "name": "bytes",
            "configuration": {
              "endian": "little"
            }
          },
          {
            "name": "crc32c"
          }
        ],
        "index_location": "end"
      }
    }
  ],
  "attributes": {
    "units": "K"
  },
  "dimension_names": [
    "y",
    "x"
  ]
}"#;
    assert_eq!(meta.to_text(), text); // rules A50, A51, A52, A54, L36 and L40
}

#[test]
fn defaults_are_written_into_the_document() {
    let meta = built(ArrayMeta::builder([], DataType::UInt8));
    let compact = meta.document().to_value().to_compact();
    assert_eq!(
        compact,
        r#"{"zarr_format":3,"node_type":"array","shape":[],"data_type":"uint8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[]}},"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"fill_value":0,"codecs":[{"name":"bytes"},{"name":"zstd","configuration":{"level":3,"checksum":false}}],"attributes":{}}"#
    );
    for (data_type, fill) in [
        (DataType::Bool, "false"),
        (DataType::Int64, "0"),
        (DataType::Float16, "0.0"),
        (DataType::Complex128, "[0.0,0.0]"),
    ] {
        let meta = built(ArrayMeta::builder([4], data_type).chunks([2]));
        assert_eq!(meta.document().fill_value().to_compact(), fill, "rule B7");
    }
    let codecs = |builder: ArrayBuilder| {
        let meta = built(builder);
        let names = meta.document().codecs().iter().map(|codec| codec.name().to_owned());
        (names.collect::<Vec<_>>().join(" "), meta.document().chunk_grid().to_value().to_compact())
    };
    for (builder, expected, shape) in [
        (ArrayMeta::builder([4], DataType::Int16).codecs([]), "bytes", "[4]"),
        (ArrayMeta::builder([4], DataType::String), "vlen-utf8 zstd", "[4]"),
        (ArrayMeta::builder([4000, 4000], DataType::Int16), "sharding_indexed", "[4000,2000]"),
        (ArrayMeta::builder([4000, 4000], DataType::Int16).chunks([500, 500]), "bytes zstd", "[500,500]"),
        (
            ArrayMeta::builder([4000, 4000], DataType::Int16).shards([100, 4000]),
            "sharding_indexed",
            "[100,4000]",
        ),
    ] {
        let (names, grid) = codecs(builder);
        assert_eq!((names.as_str(), grid.contains(shape)), (expected, true), "{grid}");
    }
    // Without names there is no member, and an empty name is a name (rule A51).
    let names = |names: [Option<&str>; 2]| {
        built(builder().dimension_names(names)).dimension_names().map(<[_]>::to_vec)
    };
    assert_eq!(names([None, None]), None);
    assert_eq!(names([Some(""), None]), Some(vec![Some(String::new()), None]));
}

#[test]
fn codecs_are_completed_only_when_all_are_known() {
    let names = |codecs: Vec<Extension>| {
        let meta = builder().codecs(codecs).build().unwrap();
        meta.document().codecs().iter().map(|c| c.name().to_owned()).collect::<Vec<_>>()
    };
    let transpose = || Extension::new("transpose").with("order", vec![1, 0]);
    assert_eq!(names(vec![]), ["bytes"]);
    assert_eq!(names(vec![zstd()]), ["bytes", "zstd"]);
    assert_eq!(names(vec![transpose(), zstd(), "crc32c".into()]), ["transpose", "bytes", "zstd", "crc32c"]);
    assert_eq!(names(vec![transpose()]), ["transpose", "bytes"]);
    assert_eq!(names(vec![Extension::new("bytes").with("endian", "big"), zstd()]), ["bytes", "zstd"]);
    assert_eq!(names(vec!["mine.own".into()]), ["mine.own"]);
    // The output of this codec may need a byte order, even if its input does not.
    let cast = Extension::new("cast_value").with("data_type", "int16");
    let meta = ArrayMeta::builder([4], DataType::UInt8).chunks([2]).codecs([cast]).build().unwrap();
    assert!(meta.document().codecs()[1].configuration().contains("endian"));
    // rules L42 and L38
    let meta = built(
        ArrayMeta::builder([], DataType::Int16)
            .codecs([Extension::new("transpose").with("order", Vec::<u64>::new())]),
    );
    assert_eq!(meta.document().codecs().len(), 1);
    let blosc = Extension::new("blosc").with("cname", "lz4").with("clevel", 5).with("shuffle", "noshuffle");
    let meta = builder().codecs([blosc]).build().unwrap();
    let configuration = meta.document().codecs()[1].configuration();
    assert_eq!(configuration.get("typesize").unwrap().as_raw(), "4");
}

#[test]
fn fill_values_are_exact() {
    let fill = |data_type: DataType, fill: zarr_meta::Fill| {
        let meta = ArrayMeta::builder([4], data_type).chunks([2]).fill(fill).build()?;
        let resolved = meta.resolve(&common::registry(), &Limits::default(), &mut Strict)?;
        Ok::<_, zarr_meta::MetaError>((meta.document().fill_value().to_compact(), resolved.fill))
    };
    let payload = f32::from_bits(0x7FC0_0001);
    assert_eq!(
        fill(DataType::Float32, payload.into()).unwrap(),
        ("\"0x7fc00001\"".to_owned(), FillValue::of(payload))
    );
    assert_eq!(fill(DataType::Float64, f64::NEG_INFINITY.into()).unwrap().0, "\"-Infinity\"");
    assert_eq!(fill(DataType::Float64, 0.1f32.into()).unwrap(), ("0.1".to_owned(), FillValue::of(0.1f64)));
    assert_eq!(fill(DataType::Float32, 1.into()).unwrap().0, "1.0");
    assert_eq!(fill(DataType::UInt64, u64::MAX.into()).unwrap().1, FillValue::of(u64::MAX));
    assert_eq!(fill(DataType::Bool, true.into()).unwrap().0, "true");
    assert_eq!(fill(DataType::Int16, FillValue::of(-5i16).into()).unwrap().0, "-5");
    assert_eq!(fill(DataType::Complex64, json!([1, "NaN"]).into()).unwrap().0, "[1.0,\"NaN\"]");
    for (data_type, value) in [
        (DataType::UInt8, 300.into()),
        (DataType::Int32, 1.5.into()),
        (DataType::Float32, payload.to_bits().to_string().as_str().into()),
        (DataType::Float64, payload.into()),
        (DataType::Int16, FillValue::of(1i32).into()),
    ] {
        let e = fill(data_type, value).unwrap_err();
        assert_eq!(e.pointer(), "/fill_value", "{e:#}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused_early() {
    let cases: Vec<(ArrayBuilder, &str)> = vec![
        (
            ArrayMeta::builder([4], DataType::Int8).chunks([2, 2]),
            "the array has 1 dimensions, the chunk shape 2",
        ),
        (
            ArrayMeta::builder([4], DataType::Int8).chunks([0]),
            "the chunk shape cannot be used: chunk_shape[0] is 0",
        ),
        (
            builder().shards([250, 500]),
            "in dimension 0 the shard length 250 is not a multiple of the chunk length 100",
        ),
        (builder().shards([500]), "the array has 2 dimensions, the shard shape 1"),
        (builder().dimension_names(["x"]), "expected one name for each of 2 dimensions, found 1"),
        (builder().dimension_names([1, 2]), "expected a string or null, found 1"),
        (builder().dimension_names(["x", "y\0"]), "member \"/dimension_names/1\": the name contains U+0000"),
        (builder().attributes(json!({"a": {"\0": 1}})), "the name contains U+0000"), // rule L51
        (builder().attributes(json!([])), "member \"/attributes\": expected an object, found []"),
        (builder().fill(json!({})), "member \"/fill_value\": expected a number"),
        (builder().shards([500, 500]).chunk_grid(Extension::new("x")), "either a chunk grid or shards"),
        (
            ArrayMeta::builder([4], DataType::Int8).codecs([Extension::new("sharding_indexed")]),
            "the shape of the chunks is missing",
        ),
        (
            builder().codecs([Extension::new("sharding_indexed"), "crc32c".into()]),
            "codec \"crc32c\" after a shard",
        ), // rule L39
        (ArrayMeta::builder([4], DataType::Raw(0)).chunks([2]), "unknown"), // rule B.t46
    ];
    for (builder, words) in cases {
        match builder.build() {
            Err(e) => assert!(format!("{e:#}").contains(words), "{e:#}"),
            // Only the registry can judge the name of the type.
            Ok(meta) => {
                let e = meta.resolve(&common::registry(), &Limits::default(), &mut Strict).unwrap_err();
                assert!(format!("{e:#}").contains(words), "{e:#}");
            }
        }
    }
    let forced = builder().codecs([Extension::new("sharding_indexed"), "crc32c".into()]).unusual();
    assert!(forced.build().is_ok(), "rule L39");
    // A document that could not be read again is not written.
    let nested = |n: usize| Value::parse(&format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n))).unwrap();
    assert!(builder().attributes(nested(126)).build().is_ok());
    assert_eq!(builder().attributes(nested(127)).build().unwrap_err().kind(), MetaErrorKind::LimitExceeded);
    // Deviations tolerated in a stored document are not written into a new one (rules L86 and L51).
    for text in [r#"{"a":NaN}"#, r#"{"a":"\ud800"}"#] {
        let read = parse(&base(&[("attributes", text)])).unwrap().attributes();
        let e = builder().attributes(&read).build().unwrap_err();
        assert!(matches!(e.kind(), MetaErrorKind::Deviation(_)) && e.pointer() == "/attributes/a", "{e:#}");
    }
}

#[test]
fn groups_are_built() {
    let group = GroupDocument::new().with_attributes(json!({"a": [1]})).unwrap();
    assert_eq!(
        group.to_text(),
        "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n  \"attributes\": {\n    \"a\": [\n      1\n    ]\n  }\n}"
    );
    assert!(GroupDocument::parse(group.to_text().as_bytes(), &Limits::default(), &mut Strict).is_ok());
    assert!(GroupDocument::new().with_attributes(json!(1)).is_err());
    assert_eq!(GroupDocument::default().attributes().len(), 0);
}

proptest! {
    #[test]
    fn built_metadata_is_read_back(
        shape in prop::collection::vec(0..5000u64, 0..5),
        chunk in 1..40u64,
        pack in prop::option::of(1..5u64),
        data_type in prop::sample::select(DataType::CORE.to_vec()),
        compressed in any::<bool>(),
        text in "\\PC*",
    ) {
        let chunks = vec![chunk; shape.len()];
        let mut builder = ArrayMeta::builder(shape.clone(), data_type.clone()).chunks(chunks).attributes(json!({ "text": text }));
        if let Some(pack) = pack {
            builder = builder.shards(vec![chunk * pack; shape.len()]);
        }
        if compressed {
            builder = builder.codecs([zstd()]);
        }
        let meta = builder.build().unwrap();
        let read = ArrayMeta::parse(meta.to_text().as_bytes(), &Limits::default(), &mut Strict).unwrap();
        prop_assert_eq!(read.shape(), &shape[..]);
        prop_assert_eq!(read.document().to_value(), meta.document().to_value());
        prop_assert_eq!(read.document().codecs(), meta.document().codecs());
        let resolved = read.resolve(&common::registry(), &Limits::default(), &mut Strict).unwrap();
        prop_assert_eq!(resolved.data_type, data_type);
        prop_assert!(resolved.fill.is_zero());
    }
}

#[test]
fn fill_values_of_one_byte_floats_are_written_as_bits() {
    let limits = Limits::default();
    let registry = common::registry();
    let context = Context::new(&registry, &limits);
    for (name, given, written) in [
        ("float8_e5m2", json!("NaN"), r#""0x7e""#),
        ("float4_e2m1fn", json!(-6), r#""0x0f""#),
        ("complex_float8_e3m4", json!([1, 0]), r#"["0x30","0x00"]"#),
        ("bfloat16", json!(1.5), "1.5"),
    ] {
        let (data_type, _) = context.registry.data_type(&Spec::named(name), &context).unwrap();
        let meta = built(ArrayMeta::builder([4], data_type).chunks([2]).fill(given));
        assert_eq!(meta.document().fill_value().to_compact(), written, "{name}");
    }
}

#[test]
fn chunks_of_different_lengths_are_written_in_the_shortest_form() {
    let grid =
        |lists: Value| Extension::new("rectilinear").with("kind", "inline").with("chunk_shapes", lists);
    let build = |lists| ArrayMeta::builder([6, 8], DataType::UInt8).chunk_grid(grid(lists)).build();
    for (lists, written) in [
        (json!([[1, 2, 3], [4, 4]]), grid(json!([[1, 2, 3], 4]))),
        (json!([[[1, 3], [3, 1]], [4, 4, 4]]), grid(json!([[1, 1, 1, 3], 4]))),
        (json!([[1, 1, 1, 1, 2], 3]), grid(json!([[[1, 4], 2], 3]))),
        (json!([[3, 3], [[4, 2]]]), Extension::new("regular").with("chunk_shape", json!([3, 4]))),
        (json!([6, 8]), Extension::new("regular").with("chunk_shape", json!([6, 8]))),
    ] {
        let meta = build(lists).unwrap();
        assert_eq!(meta.document().chunk_grid(), &written);
        meta.resolve(&common::registry(), &Limits::default(), &mut Strict).unwrap();
    }
    for (lists, pointer) in [
        (json!([[1, 2], 8]), "/chunk_grid/configuration/chunk_shapes/0"),
        (json!([[1, 5]]), "/chunk_grid/configuration/chunk_shapes"),
        (json!([[1.0, 5], 8]), "/chunk_grid/configuration/chunk_shapes"),
    ] {
        let e = build(lists).unwrap_err();
        assert_eq!((e.kind(), e.pointer()), (MetaErrorKind::InvalidArgument, pointer), "{e:#}");
    }
    // With a chunk shape it is a grid of shards.
    let shards =
        |lists| ArrayMeta::builder([6, 8], DataType::UInt8).chunk_grid(grid(lists)).chunks([2, 2]).build();
    let meta = shards(json!([[2, 4], 4])).unwrap();
    assert_eq!(meta.document().chunk_grid(), &grid(json!([[2, 4], 4])));
    let inner = meta.document().codecs()[0].configuration().get("chunk_shape").unwrap();
    assert_eq!(inner.to_compact(), "[2,2]");
    let e = shards(json!([[2, 4, 3], 4])).unwrap_err();
    assert_eq!(format!("{e:#}"), "in dimension 0 the shard length 3 is not a multiple of the chunk length 2"); // rule C19
    // Unknown grids are not changed.
    let other = Extension::new("hexagonal");
    let meta = ArrayMeta::builder([6], DataType::UInt8).chunk_grid(other.clone()).build().unwrap();
    assert_eq!(meta.document().chunk_grid(), &other);
}

#[test]
fn new_arrays_have_the_chunk_keys_of_format_3_by_default() {
    let keys = |builder: ArrayBuilder| builder.build().unwrap().document().chunk_key_encoding().clone();
    assert_eq!(keys(builder()), Extension::new("default").with("separator", "/"));
    let v2 = Extension::new("v2").with("separator", ".");
    assert_eq!(keys(builder().chunk_key_encoding(v2.clone())), v2);
}

#[test]
fn storage_transformers_are_written_in_their_order() {
    let [outer, inner] = ["same", "x.other"].map(Extension::new);
    let meta = builder().storage_transformers([outer.clone(), inner.clone()]).build().unwrap();
    assert_eq!(meta.document().storage_transformers(), [outer, inner]);
    assert!(!builder().build().unwrap().to_text().contains("storage_transformers"));
}

/// A data type whose elements have this layout.
#[derive(Debug)]
struct Shaped(Layout);

impl ExtensionType for Shaped {
    fn name(&self) -> &str {
        "acme.uint24"
    }
    fn configuration(&self) -> Object {
        Object::new()
    }
    fn layout(&self) -> Layout {
        self.0
    }
    fn fill_from_json(&self, _: &Value) -> CodecResult<FillValue> {
        Ok(FillValue::from_bytes(vec![0; 6]))
    }
    fn fill_to_json(&self, _: &FillValue) -> CodecResult<Value> {
        Ok(json!(0))
    }
}

#[test]
fn units_without_a_byte_order_are_refused_when_metadata_is_built() {
    let build = |size, unit| {
        let data_type = DataType::Extension(Arc::new(Shaped(Layout::Fixed { size, unit })));
        ArrayMeta::builder([4], data_type).fill(FillValue::from_bytes(vec![0; size])).build()
    };
    for (size, unit) in [(3, 1), (2, 2), (8, 4), (8, 8), (32, 16), (6, 2)] {
        build(size, unit).unwrap_or_else(|e| panic!("{size}, {unit}: {e}"));
    }
    for (size, unit) in [(3, 3), (6, 4), (3, 0), (12, 6), (32, 32)] {
        let e = build(size, unit).unwrap_err();
        assert_eq!((e.kind(), e.pointer()), (MetaErrorKind::InvalidArgument, "/data_type"), "{size}, {unit}");
        assert!(
            e.to_string()
                .contains(&format!("{size} bytes in units of {unit}, expected units of 1, 2, 4, 8 or 16")),
            "{e}"
        );
    }
}

#[test]
fn a_fill_value_of_another_size_than_the_elements_is_refused() {
    let layout = Layout::Fixed { size: 3, unit: 1 };
    let entry =
        DataTypeEntry::new("acme.uint24", |_, _| Ok(Arc::new(Shaped(Layout::Fixed { size: 3, unit: 1 }))));
    let registry = Registry::core().with(&[Entry::DataType(entry)]).unwrap();
    let meta = ArrayMeta::builder([4], DataType::Extension(Arc::new(Shaped(layout)))).build().unwrap();
    let e = meta.resolve(&registry, &Limits::default(), &mut Strict).unwrap_err();
    assert_eq!((e.kind(), e.pointer()), (MetaErrorKind::Invalid, "/fill_value"));
    assert!(
        format!("{e:#}").ends_with("the fill value has 6 bytes, an element of acme.uint24 has 3"),
        "{e:#}"
    );
}
