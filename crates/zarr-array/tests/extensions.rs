//! The extension framework, from the document in a store to the array: rules K.1 to K.3.

use std::collections::BTreeSet;
use std::sync::Arc;

use zarr_array::blocking::Array;
use zarr_array::meta::GRIDS;
use zarr_array::meta::{Code, DATA_TYPES, known};
use zarr_array::traits::codec::{ArrayArrayCodec, Codec, CodecKind, Effect, Repr};
use zarr_array::traits::extension::core::{REGULAR, V2};
use zarr_array::traits::extension::{
    ChunkGridEntry, CodecEntry, Context, DataTypeEntry, Entry, ExtensionPoint, KeyEncodingEntry, Spec,
    TransformerEntry,
};
use zarr_array::traits::json::{Object, Value, json};
use zarr_array::traits::{
    CodecError, CodecErrorKind, CodecResult, ExtensionType, Key, Layout, Prefix, Scratch, StorageTransformer,
};
use zarr_array::{
    ArrayError, ArrayErrorKind, ArrayMeta, DataType, Diagnostic, FillValue, Limits, NdVec, OpenOptions,
    Registry, Storage, block_on, standard,
};
use zarr_conformance::instruments::Counting;
use zarr_store::{MemoryStore, Prefixed};
use zarr_strided::{Destination, Dims, Source, Swap};

/// An extension of these tests for each extension point.
const OWN: &[Entry] = &[
    Entry::Codec(CodecEntry::aliased("test.same", &["test.older"], CodecKind::ArrayArray, same)),
    Entry::Codec(CodecEntry::new("test.typed", CodecKind::ArrayArray, typed)),
    Entry::DataType(DataTypeEntry::aliased("test.same", &["test.older"], |_, _| Ok(Arc::new(Word)))),
    Entry::ChunkGrid(ChunkGridEntry::new("test.same", |c, shape, context| REGULAR.build(c, shape, context))),
    Entry::KeyEncoding(KeyEncodingEntry::new("test.same", |c, context| V2.build(c, context))),
    Entry::Transformer(TransformerEntry::new("test.same", |_, _| Ok(Arc::new(Aside)))),
];

type Configuration<'a, 'b> = &'a mut zarr_array::traits::extension::Configuration<'b>;

fn same(_: Configuration<'_, '_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    Ok(Codec::ArrayArray(Arc::new(Same(repr.clone()))))
}

/// Builds a codec with a data type in its configuration, like `cast_value`.
fn typed(configuration: Configuration<'_, '_>, repr: &Repr, context: &Context<'_>) -> CodecResult<Codec> {
    let value = configuration.get("data_type").unwrap_or_default();
    let data_type = configuration.data_type(&value, "/data_type", context)?;
    if data_type != repr.data_type {
        return Err(CodecError::new(CodecErrorKind::Unsupported, "it cannot change the data type"));
    }
    same(configuration, repr, context)
}

/// A codec that changes nothing.
#[derive(Debug)]
struct Same(Repr);

impl ArrayArrayCodec for Same {
    fn effect(&self) -> Effect<'_> {
        Effect::Whole
    }
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(self.0.clone())
    }
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }
    fn decode(&self, src: Source<'_>, mut dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        Ok(dst.put(src, Swap::NONE)?)
    }
    fn encode(&self, src: Source<'_>, mut dst: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        Ok(dst.put(src, Swap::NONE)?)
    }
}

/// A data type of two bytes.
#[derive(Debug)]
struct Word;

impl ExtensionType for Word {
    fn name(&self) -> &str {
        "test.same"
    }
    fn configuration(&self) -> Object {
        Object::new()
    }
    fn layout(&self) -> Layout {
        Layout::Fixed { size: 2, unit: 2 }
    }
    fn fill_from_json(&self, value: &Value) -> CodecResult<FillValue> {
        let number = value.as_u64().and_then(|n| u16::try_from(n).ok());
        number.map(FillValue::of).ok_or_else(|| CodecError::new(CodecErrorKind::Value, "not a word"))
    }
    fn fill_to_json(&self, fill: &FillValue) -> CodecResult<Value> {
        Ok(json!(fill.bytes()))
    }
}

/// A transformer that puts chunks into their own folder.
#[derive(Debug)]
struct Aside;

impl StorageTransformer for Aside {
    fn wrap(&self, storage: &Storage, _: &Prefix) -> Storage {
        Prefixed::over(storage, Prefix::new("aside/").unwrap())
    }
}

/// Returns a store with the document of the rules, `BASE`, with changed members. The elements 0 and 1 are stored as 1
/// and 2.
fn store(edits: &[(&str, Value)]) -> Storage {
    let base = json!({
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 7, "codecs": [little()], "attributes": {},
    });
    let mut base = base.as_object().unwrap();
    for (name, value) in edits {
        base.set(name, value);
    }
    let storage = Storage::from(MemoryStore::new());
    put(&storage, "a/zarr.json", base.to_value().as_raw().as_bytes());
    put(&storage, "a/c/0", &[1, 0, 0, 0, 2, 0, 0, 0]);
    storage
}

fn put(storage: &Storage, key: &str, value: &[u8]) {
    block_on(storage.put(&Key::new(key).unwrap(), value.to_vec())).unwrap();
}

fn little() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

fn named(name: &str, configuration: Value, must_understand: Option<bool>) -> Value {
    match must_understand {
        Some(must) => json!({"name": name, "configuration": configuration, "must_understand": must}),
        None => json!({"name": name, "configuration": configuration}),
    }
}

fn sharded(inner: Value, index: Value) -> Value {
    let configuration = json!({"chunk_shape": [1], "codecs": inner, "index_codecs": index});
    json!([{"name": "sharding_indexed", "configuration": configuration}])
}

fn known_here() -> Registry {
    standard().with(OWN).unwrap()
}

fn open(edits: &[(&str, Value)]) -> Result<Array, ArrayError> {
    Array::open(store(edits), "/a", &known_here())
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<Code> {
    diagnostics.iter().map(|d| d.code).collect()
}

/// A cell of the table of section K.3.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cell {
    Use,
    /// Use the extension, with a diagnostic. An error in strict mode.
    UseWithDiagnostic(Code),
    Error,
    /// Rule K5: the codec is skipped, and nothing can be written.
    Skip,
    Ignore,
    /// The member is ignored, but kept unchanged when the document is written again.
    IgnoreAndPreserve,
}

#[test]
fn k3_must_understand_has_the_effects_of_the_table() {
    use Cell::{Error, Ignore, IgnoreAndPreserve, Skip, Use, UseWithDiagnostic};
    let waived = UseWithDiagnostic(Code::MeaninglessWaiver);
    let must = [None, Some(true), Some(false)];
    let mut rows: Vec<(&str, Value, Cell)> = Vec::new();

    // data_type, chunk_grid, chunk_key_encoding
    let separator = || json!({"separator": "/"});
    for (must, cell) in must.into_iter().zip([Use, Use, waived]) {
        rows.push(("data_type", named("int32", json!({}), must), cell));
        rows.push(("chunk_grid", named("regular", json!({"chunk_shape": [2]}), must), cell));
        rows.push(("chunk_key_encoding", named("default", separator(), must), cell));
        rows.push(("data_type", named("test.none", json!({}), must), Error));
        rows.push(("chunk_grid", named("test.none", json!({"chunk_shape": [2]}), must), Error));
        rows.push(("chunk_key_encoding", named("test.none", separator(), must), Error));
    }
    // codecs, storage transformers
    for (must, unknown) in must.into_iter().zip([Error, Error, Skip]) {
        let little = || named("bytes", json!({"endian": "little"}), must);
        rows.push(("codecs", json!([named("test.same", json!({}), must), little()]), Use));
        rows.push(("codecs", json!([named("test.none", json!({"x": 1}), must), little()]), unknown));
        rows.push(("codecs", json!([little(), named("test.none", json!({}), must)]), unknown));
    }
    for (must, unknown) in must.into_iter().zip([Error, Error, Ignore]) {
        rows.push(("storage_transformers", json!([named("test.same", json!({}), must)]), Use));
        rows.push(("storage_transformers", json!([named("test.none", json!({}), must)]), unknown));
    }
    // additional members
    rows.extend([
        ("new", json!({"must_understand": true}), Error),
        ("new", json!({"name": "test.same"}), Error),
        ("new", json!({"must_understand": false, "x": [1.50]}), IgnoreAndPreserve),
        ("new", json!(1), Error),
        ("new", json!("false"), Error),
        ("new", json!([{"must_understand": false}]), Error),
        ("new", json!(null), UseWithDiagnostic(Code::NullMember)),
    ]);
    // inside configurations
    for (must, unknown) in must.into_iter().zip([Error, Error, Skip]) {
        let inner = |name: &str| json!([named(name, json!({}), must), little()]);
        let deep = |name: &str| sharded(sharded(inner(name), json!([little()])), json!([little()]));
        rows.push(("codecs", sharded(inner("test.same"), json!([little()])), Use));
        rows.push(("codecs", sharded(inner("test.none"), json!([little()])), unknown));
        rows.push(("codecs", sharded(json!([little()]), inner("test.none")), unknown));
        rows.push(("codecs", deep("test.none"), unknown));
    }
    for (must, cell) in must.into_iter().zip([Use, Use, waived]) {
        let typed = |name: &str| {
            json!([named("test.typed", json!({"data_type": named(name, json!({}), must)}), None), little()])
        };
        let field = |name: &str| {
            let field = json!({"name": "x", "data_type": named(name, json!({}), must)});
            named("struct", json!({"fields": [field]}), None)
        };
        rows.push(("codecs", typed("int32"), cell));
        rows.push(("codecs", typed("test.none"), Error));
        rows.push(("data_type", field("int32"), cell));
        rows.push(("data_type", field("test.none"), Error));
    }
    // inside attributes
    rows.push(("attributes", json!({"must_understand": true, "x": {"must_understand": true}}), Use));

    for (member, value, cell) in rows {
        let mut edits = vec![(member, value.clone())];
        if value.get("name").is_some_and(|name| name == "struct") {
            edits.push(("fill_value", json!({"x": 7})));
        }
        let what = format!("rule K.3, {member}: {value} {cell:?}");
        let opened = open(&edits);
        let strict = OpenOptions::new().strict(true);
        let strict = Array::open_with(store(&edits), "/a", &known_here(), &strict);
        if cell == Error {
            let e = opened.unwrap_err();
            let named = format!("{e:#}").contains("test.none") || member == "new";
            assert!(e.kind() == ArrayErrorKind::UnknownExtension && named, "{what}: {e:#}");
            assert!(strict.is_err(), "{what}");
            continue;
        }
        let array = opened.unwrap_or_else(|e| panic!("{what}: {e:#}"));
        let (said, expected, deviates) = match cell {
            UseWithDiagnostic(code) => (codes(array.diagnostics()), vec![code], true),
            Skip => (codes(array.diagnostics()), vec![Code::SkippedCodec], false),
            Ignore => (codes(array.diagnostics()), vec![Code::SkippedTransformer], false),
            _ => (codes(array.diagnostics()), vec![], false),
        };
        assert_eq!(said, expected, "{what}");
        assert_eq!(strict.is_err(), deviates, "{what}");
        // rule K5
        assert_eq!(array.codecs().skipped().len(), usize::from(cell == Skip), "{what}");
        let written = array.write_bytes(.., vec![9; 16]);
        assert_eq!(written.is_err(), cell == Skip, "{what}: {written:?}");
        // rule A29
        let mut meta = array.metadata().clone();
        meta.edit_attributes(|attributes| attributes.set("k", 1)).unwrap();
        let text = meta.to_text();
        assert!(text.contains(&value.to_string()) || member == "attributes", "{what}: {text}");
    }
}

fn context(registry: &Registry) -> Context<'_> {
    static LIMITS: std::sync::LazyLock<Limits> = std::sync::LazyLock::new(Limits::default);
    Context::new(registry, &LIMITS)
}

#[test]
fn k1_each_extension_point_has_its_own_names_and_aliases_are_never_written() {
    let registry = known_here();
    let context = context(&registry);
    let spec = |configuration| Spec::new("test.same", configuration).unwrap();
    assert!(registry.codec("test.same").is_ok());
    assert!(registry.data_type(&spec(json!({})), &context).is_ok());
    assert!(registry.chunk_grid(&spec(json!({"chunk_shape": [2]})), &[4], &context).is_ok());
    assert!(registry.key_encoding(&spec(json!({})), &context).is_ok());
    assert!(registry.transformer(&spec(json!({})), &context).is_ok());
    assert!(registry.data_type(&Spec::new("gzip", json!({"level": 1})).unwrap(), &context).is_err());
    assert!(registry.codec("regular").is_err());

    let array =
        open(&[("data_type", json!("test.older")), ("codecs", json!([{"name": "test.older"}, little()]))])
            .unwrap();
    assert_eq!(codes(array.diagnostics()), [Code::AliasName, Code::AliasName]);
    let meta = ArrayMeta::builder([4], array.data_type().clone()).chunks([2]).fill(FillValue::of(0_u16));
    let text = meta.codecs([]).build().unwrap().to_text();
    assert!(text.contains("test.same") && !text.contains("test.older"), "{text}");
}

#[test]
fn k2_known_extensions_depend_only_on_the_registry_value() {
    let edits = [("codecs", json!([{"name": "test.same"}, little()]))];
    let (with, without) = (known_here(), standard());
    assert!(Array::open(store(&edits), "/a", &with).is_ok());
    let e = Array::open(store(&edits), "/a", &without).unwrap_err();
    assert_eq!(e.kind(), ArrayErrorKind::UnknownExtension);
    assert!(without.with(OWN).is_ok(), "`with` leaves the other registry unchanged");
}

#[test]
fn k3_an_error_of_a_factory_names_the_member_and_the_reason() {
    let gzip = |configuration| json!([little(), {"name": "gzip", "configuration": configuration}]);
    for (member, value, kind, words) in [
        (
            "codecs",
            gzip(json!({"level": 11})),
            ArrayErrorKind::Metadata,
            "member \"/codecs/1/configuration/level\": is not valid: codec \"gzip\" failed to open: level is 11",
        ),
        (
            "codecs",
            json!([{"name": "vlen-utf8"}]),
            ArrayErrorKind::Unsupported,
            "member \"/codecs/0\": cannot be used here: codec \"vlen-utf8\" failed to open",
        ),
        (
            "codecs",
            json!([little(), {"name": "foo"}]),
            ArrayErrorKind::UnknownExtension,
            "member \"/codecs/1\": cannot be understood: unknown codec \"foo\"",
        ),
    ] {
        let e = open(&[(member, value)]).unwrap_err();
        assert_eq!(e.kind(), kind, "{e:#}");
        assert!(format!("{e:#}").contains(words), "{e:#}");
    }
}

#[test]
fn k4_an_alias_may_have_another_configuration() {
    let registry = known_here().with(zarr_codecs_numcodecs::CODECS).unwrap();
    let read = |edits: &[(&str, Value)], object: &[u8]| {
        let storage = store(edits);
        put(&storage, "a/c/0", object);
        let array = Array::open(storage, "/a", &registry).unwrap();
        (array.read_bytes(0..2).unwrap().1, codes(array.diagnostics()))
    };
    let numbers = [1_i32.to_ne_bytes(), 2_i32.to_ne_bytes()].concat();
    let plain = [1, 0, 0, 0, 2, 0, 0, 0];
    let endian = json!([{"name": "endian", "configuration": {"endian": "little"}}]); // rules D1.3 and A39
    assert_eq!(read(&[("codecs", endian)], &plain), (numbers.clone(), vec![Code::AliasName]));
    let old = json!({"name": "structured", "configuration": {"fields": [["x", "int32"]]}}); // rule B36
    let edits = [("data_type", old), ("fill_value", json!("BwAAAA=="))];
    assert_eq!(read(&edits, &plain).0, numbers);
    // rules D10.2 and D10.4
    let zlib = [0x78, 0x01, 0x63, 0x64, 0x60, 0x60, 0x60, 0x02, 0x62, 0x00, 0x00, 0x18, 0x00, 0x04];
    let zlib = (&zlib[..], json!({"level": 1}));
    let mut lz4 = vec![8, 0, 0, 0, 0x80];
    lz4.extend(plain);
    let lz4 = (&lz4[..], json!({}));
    let fletcher = [&plain[..], &[0, 3, 0, 8]].concat();
    for (name, (object, configuration)) in [
        ("zlib", &zlib),
        ("https://codec.zarrs.dev/bytes_to_bytes/zlib", &zlib),
        ("https://numcodecs.dev/zlib", &zlib),
        ("lz4", &lz4),
        ("https://codec.zarrs.dev/bytes_to_bytes/fletcher32", &(&fletcher[..], json!({}))),
    ] {
        let codecs = json!([little(), {"name": name, "configuration": configuration}]);
        assert_eq!(read(&[("codecs", codecs)], object), (numbers.clone(), vec![Code::AliasName]), "{name}");
    }
    // rule D10.5: an offset, a scale and a cast
    let scaled = json!({"offset": 1, "scale": 10, "dtype": "<i4", "astype": "uint8"});
    let codecs = json!([{"name": "numcodecs.fixedscaleoffset", "configuration": scaled}, {"name": "bytes"}]);
    assert_eq!(read(&[("codecs", codecs)], &[0, 10]).0, numbers);
}

#[test]
fn k5_an_array_with_a_skipped_codec_can_be_read_and_not_written() {
    let skippable = named("test.none", json!({}), Some(false));
    for codecs in [
        json!([skippable, little()]),
        sharded(json!([skippable, little()]), json!([little()])),
        sharded(json!([little()]), json!([skippable, little()])),
    ] {
        let sharded = Spec::try_from(&codecs.element(0).unwrap()).unwrap().name == "sharding_indexed";
        let storage = store(&[("codecs", codecs.clone())]);
        if sharded {
            let index: Vec<u8> = [0, 4, 4, 4_u64].into_iter().flat_map(u64::to_le_bytes).collect();
            put(&storage, "a/c/0", &[&[1, 0, 0, 0, 2, 0, 0, 0], &index[..]].concat());
        }
        let (storage, counting) = Counting::over(&storage);
        let mut array = Array::open(storage, "/a", &known_here()).unwrap();
        assert_eq!(array.read::<i32>(..).unwrap().as_slice(), [1, 2, 7, 7], "{codecs}");
        let puts = counting.counts().puts;
        for (selection, values) in [(0..2, &[8, 9][..]), (2..4, &[7, 7]), (1..2, &[8])] {
            let e = array.write([selection], values).unwrap_err();
            assert_eq!(e.kind(), ArrayErrorKind::Unsupported, "{codecs}: {e:#}");
        }
        let e = array.append(0, NdVec::new([1], vec![9]).unwrap()).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::Unsupported, "{codecs}: {e:#}");
        assert_eq!(counting.counts().puts, puts, "nothing is put, not even another shape");
        assert_eq!(array.codecs().skipped(), ["test.none"], "rule L67");
    }
}

#[test]
fn k6_an_unknown_type_is_not_taken_for_another_one_of_its_size() {
    for data_type in [
        json!("uint128"),
        json!({"name": "test.none", "configuration": {"size": 4, "fallback": "int32"}}),
        json!(["test.none", "int32"]), // rule A40
        json!({"type": "test.none", "fallback": "r32"}),
    ] {
        let e = open(&[("data_type", data_type.clone())]).unwrap_err();
        assert!(matches!(e.kind(), ArrayErrorKind::UnknownExtension | ArrayErrorKind::Metadata), "{e:#}");
    }
    assert!(open(&[("data_type", json!("r32")), ("fill_value", json!([7, 0, 0, 0]))]).is_ok());
}

#[test]
fn k7_a_storage_transformer_stands_between_an_array_and_its_store() {
    let transformed = [("storage_transformers", json!([{"name": "test.same"}]))];
    let storage = store(&transformed);
    let array = Array::open(storage.clone(), "/a", &known_here()).unwrap();
    assert_eq!(
        array.read::<i32>(..).unwrap().as_slice(),
        [7; 4],
        "objects without the transformed key are not its chunks"
    );
    array.write(0..2, &[3, 4]).unwrap();
    let keys = block_on(storage.list_all(&Prefix::root())).unwrap();
    let keys: Vec<_> = keys.iter().map(|object| object.key.as_str()).collect();
    assert_eq!(keys, ["a/c/0", "a/zarr.json", "aside/a/c/0"]);
    let e = Array::open(store(&transformed), "/a", &standard()).unwrap_err();
    assert!(
        format!("{e:#}").contains("unknown storage transformer \"test.same\""),
        "the standard registry has no transformers: {e:#}"
    );
    // layers over a store do not appear in the metadata
    let (counted, _) = Counting::over(&storage);
    let meta = ArrayMeta::builder([4], DataType::Int32).chunks([2]).build().unwrap();
    let array = Array::create(counted, "/b", meta, &known_here()).unwrap();
    assert!(!array.metadata().to_text().contains("storage_transformers"));
}

#[test]
fn k8_only_overriding_replaces_a_registered_name() {
    let registry = known_here();
    for entry in OWN {
        let e = registry.with(std::slice::from_ref(entry)).unwrap_err();
        let words = format!("the {} \"test.same\" is already registered", entry.point());
        assert!(format!("{e:#}") == words || format!("{e:#}").contains("test.typed"), "{e:#}");
        let _ = registry.overriding(std::slice::from_ref(entry));
    }
    let gzip = [Entry::Codec(CodecEntry::new("gzip", CodecKind::ArrayArray, same))];
    assert!(registry.with(&gzip).is_err());
    assert_eq!(registry.overriding(&gzip).codec("gzip").unwrap().kind(), CodecKind::ArrayArray);
    for core in ["int32", "r8", "binary"] {
        let entry = DataTypeEntry::new(core, |_, _| Ok(Arc::new(Word)));
        assert!(registry.with(&[Entry::DataType(entry)]).is_err(), "{core} is a core type");
    }
}

#[test]
fn k9_an_unlisted_name_is_noted_when_it_is_written() {
    let extension = zarr_array::meta::v3::Extension::new;
    let codecs = [
        extension("test.same"),
        extension("bytes").with("endian", "little"),
        extension("zstd").with("level", 1),
    ];
    let meta = ArrayMeta::builder([4], DataType::Int32).chunks([2]).codecs(codecs).build().unwrap();
    let mut advice = Vec::new();
    meta.lint(&mut advice).unwrap();
    let said: Vec<_> = advice.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["ZM092 member \"/codecs/0\": the name \"test.same\" of a codec is not registered"]);
    let array = Array::create(MemoryStore::new(), "/", meta, &known_here()).unwrap();
    assert_eq!(array.diagnostics(), advice, "creating an array gives the same advice");
    assert!(Code::UnlistedName.explanation().contains(known::REGISTERED_ON), "the list has a date");
}

#[test]
fn an_error_about_an_unknown_name_says_where_it_is_and_what_to_do() {
    for (member, value, words) in [
        (
            "data_type",
            json!("test.none"),
            "member \"/data_type\": cannot be understood: unknown data type \"test.none\"",
        ),
        (
            "chunk_grid",
            json!({"name": "zarrs.regular_bounded"}),
            "member \"/chunk_grid\": cannot be understood: unknown chunk grid \"zarrs.regular_bounded\": it is an \
             experiment of zarrs, which nothing else reads",
        ),
        (
            "chunk_key_encoding",
            json!({"name": "zarrs.default_suffix"}),
            "unknown chunk key encoding \"zarrs.default_suffix\": it is an experiment of zarrs",
        ),
        (
            "codecs",
            json!([little(), {"name": "numcodecs.zlib", "configuration": {"level": 1}}]),
            "member \"/codecs/1\": cannot be understood: unknown codec \"numcodecs.zlib\": the crate \
             zarr-codecs-numcodecs has it (feature \"standard\")",
        ),
        (
            "codecs",
            sharded(json!([little(), {"name": "bz2"}]), json!([little()])),
            "member \"/codecs/0/configuration/codecs/1\": cannot be understood: codec \"sharding_indexed\" failed to \
             open: unknown codec \"bz2\": it is not registered; zarr-python writes \"numcodecs.bz2\"",
        ),
        (
            "storage_transformers",
            json!([{"name": "test.none"}]),
            "member \"/storage_transformers/0\": cannot be understood: unknown storage transformer \"test.none\"",
        ),
        ("data_type", json!("variable_length_utf8"), "no implementation reads it; use \"string\""), // rule B45
        ("data_type", json!({"name": "zarrs.optional"}), "it is an experiment of zarrs"), // rule B44
        ("data_type", json!("urn:x:int"), "unknown data type \"urn:x:int\""),             // rule B46
        (
            "codecs",
            json!([{"name": "https://codec.zarrs.dev/array_to_bytes/vlen"}]),
            "it is an experiment of zarrs",
        ),
    ] {
        let e = open(&[(member, value)]).unwrap_err();
        assert_eq!(e.kind(), ArrayErrorKind::UnknownExtension, "{e:#}");
        assert!(format!("{e:#}").starts_with("array \"/a\": "), "{e:#}");
        assert!(format!("{e:#}").contains(words), "{words}\n{e:#}");
    }
    // in format 2 the message does not name a member of format 3
    let v2 = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|O", "order": "C", "fill_value": null,
        "compressor": {"id": "zlib", "level": 1}, "filters": [{"id": "json2"}]}"#;
    let storage = Storage::from(MemoryStore::new());
    put(&storage, "old/.zarray", v2.as_bytes());
    let e = format!("{:#}", Array::open(storage, "/old", &standard()).unwrap_err());
    assert!(
        e.contains(
            "unknown data type \"numcodecs:object\": for data of older formats the crate zarr-codecs-num"
        ),
        "{e:#}"
    );
}

#[test]
fn the_table_of_known_names_matches_our_crates() {
    let folder = |package: &str| format!("{}/../{package}", env!("CARGO_MANIFEST_DIR"));
    let tables: [(&str, &[Entry]); 6] = [
        ("zarr-meta", GRIDS),
        ("zarr-meta", DATA_TYPES),
        ("zarr-codec-zfp", zarr_codec_zfp::CODECS),
        ("zarr-codecs-core", zarr_codecs_core::CODECS),
        ("zarr-codec-sharding", &[zarr_codec_sharding::ENTRY]),
        ("zarr-codecs-numcodecs", zarr_codecs_numcodecs::CODECS),
    ];
    let mut there = BTreeSet::new();
    for (package, table) in tables {
        let manifest = std::fs::read_to_string(folder(package) + "/Cargo.toml").unwrap();
        for entry in table {
            for name in entry.names() {
                let (point, home) = (entry.point(), known::home(entry.point(), name));
                let home =
                    home.unwrap_or_else(|| panic!("zarr_meta::known lacks the {point} {name} of {package}"));
                assert_eq!(home.package, package, "{name}");
                if let Some(feature) = home.feature {
                    assert!(
                        manifest.contains(&format!("\n{feature} = [")),
                        "{package} has no feature {feature}"
                    );
                }
                there.insert((point.to_string(), name));
            }
        }
    }
    for (point, name, home) in known::homes() {
        assert!(there.contains(&(point.to_string(), name)), "{} has no {point} {name}", home.package);
    }
    assert_eq!(ExtensionPoint::KeyEncoding.to_string(), "chunk key encoding");
}
