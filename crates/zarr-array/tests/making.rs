//! New arrays: from values, like another array, and with the data type of their elements.

use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::{Extension, sharding::Sharding};
use zarr_array::{
    ArrayErrorKind, ArrayMeta, CreateOptions, DataType, NdVec, Storage, WriteElement, codecs, data_type_of,
    data_types, standard,
};
use zarr_store::MemoryStore;

use crate::common::{chains, meta, refused};

#[test]
fn elements_have_their_usual_data_type() {
    fn name<T: WriteElement>() -> String {
        data_type_of::<T>().map_or_else(|_| "none".to_owned(), |data_type| data_type.to_string())
    }
    let names = [
        (name::<bool>(), "bool"),
        (name::<i8>(), "int8"),
        (name::<u16>(), "uint16"),
        (name::<i64>(), "int64"),
        (name::<f32>(), "float32"),
        (name::<f64>(), "float64"),
        (name::<String>(), "string"),
        (name::<&str>(), "string"),
        (name::<Vec<u8>>(), "bytes"),
        (name::<[u8; 3]>(), "r24"),
        (name::<zarr_array::SmallFloat>(), "none"),
        #[cfg(feature = "half")]
        (name::<half::bf16>(), "bfloat16"),
        #[cfg(feature = "num-complex")]
        (name::<num_complex::Complex<f32>>(), "complex64"),
        #[cfg(feature = "chrono")]
        (name::<Option<chrono::NaiveDateTime>>(), "numpy.datetime64"),
        #[cfg(feature = "jiff")]
        (name::<jiff::SignedDuration>(), "numpy.timedelta64"),
        #[cfg(feature = "jiff")]
        (name::<jiff::Span>(), "none"),
    ];
    for (found, expected) in names {
        assert!(found.starts_with(expected), "{found}, not {expected}");
    }
}

#[test]
fn arrays_are_made_from_values_of_any_type_and_layout() {
    let storage = Storage::from(MemoryStore::new());
    let words = NdVec::new([2, 2], ["a", "b", "", "d"].map(String::from).to_vec()).unwrap();
    let array = Array::create_from(storage.clone(), "/words", &words, &standard()).unwrap();
    assert_eq!(array.read::<String>(..).unwrap(), words);
    assert_eq!(array.metadata().document().codecs().last().unwrap().name(), "zstd");
    Array::create_from(storage.clone(), "/list", &[1_u8, 2, 3], &standard()).unwrap();
    let (_, message) = refused(Array::create_from(storage.clone(), "/list", &[1_u8], &standard()));
    assert!(message.contains("there is a node already"), "{message}");
    #[cfg(feature = "ndarray")]
    {
        let values =
            ndarray::Array2::from_shape_fn((3, 4), |(y, x)| f64::from(u32::try_from(10 * y + x).unwrap()));
        let array = Array::create_from(storage, "/columns", &values.t(), &standard()).unwrap();
        assert_eq!(array.read::<f64>(..).unwrap().into_ndarray(), values.t().into_dyn());
    }
}

#[test]
fn an_array_like_another_has_its_document() {
    let json = |text: &str| Value::parse(text).unwrap();
    let lists =
        Extension::new("rectilinear").with("kind", "inline").with("chunk_shapes", json("[[3, 5], 2]"));
    let mut start = Sharding::new([2, 2], vec![Extension::new("bytes").with("endian", "big")]);
    start.index_location = zarr_array::meta::v3::sharding::IndexLocation::Start;
    let build = |change: fn(zarr_array::meta::ArrayBuilder) -> zarr_array::meta::ArrayBuilder| {
        change(ArrayMeta::builder([8, 6], DataType::Float32).attributes(json(r#"{"a": [1.50]}"#)))
            .build()
            .unwrap()
    };
    let mut metas = vec![
        build(|b| b.chunks([3, 2]).fill(f32::NAN).dimension_names([Some("y"), None])),
        build(|b| b.chunks([2, 2]).shards([4, 6])),
        build(|b| b.chunks([2, 2]).codecs([codecs::transpose([1, 0]), codecs::gzip(1), codecs::crc32c()])),
        build(|b| b.chunk_key_encoding(Extension::new("v2").with("separator", "."))),
        ArrayMeta::builder([8, 6], DataType::Float32).chunk_grid(lists).build().unwrap(),
        ArrayMeta::builder([8, 6], DataType::Float32)
            .chunks([4, 6])
            .codecs([start.to_extension()])
            .build()
            .unwrap(),
    ];
    metas.extend(chains().iter().map(|chain| meta(&[8, 6], &[4, 3], chain)));
    for meta in metas {
        let array = Array::create(MemoryStore::new(), "/", meta.clone(), &standard()).unwrap();
        let like = array.builder().build().unwrap();
        assert_eq!(like.to_text(), meta.to_text());
    }
    let sharded = build(|b| b.chunks([2, 2]).shards([4, 6]));
    let changed = sharded.to_builder(DataType::Float32).shape([80, 60]).chunks([4, 3]).build().unwrap();
    assert_eq!((changed.shape(), sharded.shape()), (&[80, 60][..], &[8, 6][..]));
    let inner = Sharding::parse(&changed.document().codecs()[0]).unwrap().unwrap();
    assert_eq!(inner.chunk_shape, [4, 3]);
}

#[test]
fn an_array_like_one_of_format_2_is_one_of_format_3() {
    let old = ArrayMeta::builder_v2([8, 6], "float32").chunks([4, 3]).fill("NaN");
    let old = old.dimension_names(["y", "x"]).build();
    let array = Array::create(MemoryStore::new(), "/", old.unwrap(), &standard()).unwrap();
    let new = array.builder().build().unwrap();
    assert_eq!(new.format(), zarr_array::Format::V3);
    let array = Array::create(MemoryStore::new(), "/", new, &standard()).unwrap();
    assert_eq!((array.chunk_counts(), array.chunk_key(&[1, 1]).unwrap().as_str()), (vec![2, 2], "c/1/1"));
    assert!(array.read::<f32>(0).unwrap().into_iter().all(f32::is_nan));
}

#[test]
fn extension_types_are_named_by_functions() {
    let station = data_types::structure([
        ("name", data_types::fixed_length_utf32(8).unwrap()),
        ("since", data_types::datetime64("15m").unwrap()),
        ("place", data_types::structure([("lat", DataType::Float32), ("lon", DataType::Float32)]).unwrap()),
    ])
    .unwrap();
    assert_eq!(station.size(), Some(32 + 8 + 8));
    let meta = ArrayMeta::builder([100], station).build().unwrap();
    let array = Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap();
    let mut rows = array.rows([1]).unwrap();
    rows.set("place.lon", &[10.7_f32]).unwrap();
    array.write_rows(5..6, rows).unwrap();
    assert_eq!(array.read_rows(4..6).unwrap().field::<f32>("place.lon").unwrap().as_slice(), [0.0, 10.7]);
    for refused in [
        data_types::datetime64("fortnight"),
        data_types::datetime64("99999999999999999999s"),
        data_types::timedelta64("0s"),
        data_types::fixed_length_utf32(0),
        data_types::structure([("", DataType::Int8)]),
        data_types::structure([("a", DataType::Int8), ("a", DataType::Int8)]),
        data_types::structure([("a", DataType::String)]),
    ] {
        assert!(refused.is_err(), "{refused:?}");
    }
}

#[test]
fn a_path_that_leads_outside_is_named() {
    let (storage, registry) = (Storage::from(MemoryStore::new()), standard());
    let meta = ArrayMeta::builder([4], DataType::UInt8).build().unwrap();
    let expected = "array \"../a\": a segment of the key is \".\" or \"..\"";
    let checked = Array::check_new(&storage, "../a", &meta, &registry, &CreateOptions::new());
    assert_eq!(checked.map_err(|e| format!("{e:#}")), Err(expected.to_owned()));
    for e in [
        Array::open(storage.clone(), "../a", &registry).unwrap_err(),
        Array::create(storage, "../a", meta, &registry).unwrap_err(),
    ] {
        assert_eq!((e.kind(), format!("{e:#}")), (ArrayErrorKind::InvalidArgument, expected.to_owned()));
        assert_eq!(e.array(), Some("../a"));
    }
}
