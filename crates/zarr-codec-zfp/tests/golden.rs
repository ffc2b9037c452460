//! Streams of libzfp, and configurations and elements that are refused.

use zarr_traits::json::{Value, json};
use zarr_traits::strided::bytes_of;
use zarr_traits::{CodecErrorKind, DataType};

use crate::common::{chain, decode, encode, golden, open};

const ZFP: &str = include_str!("../testdata/zfp.txt");
const ZFPY: &str = include_str!("../testdata/zfpy.txt");

#[test]
fn streams_of_libzfp_are_written_and_read() {
    // rule D.9h
    let (ours, of_zarrs) = ZFP.split_at(ZFP.find("# As zarrs").unwrap());
    let mut checked = 0;
    for golden in golden(ours) {
        let case = format!("{} {:?} {}", golden.data_type, golden.shape, golden.configuration);
        let chain = chain("zfp", &golden.configuration, golden.data_type, golden.shape.len());
        assert!(chain.check_shape(&golden.shape).is_ok());
        assert_eq!(encode(&chain, &golden.shape, &golden.elements).unwrap(), golden.encoded, "{case}");
        assert_eq!(decode(&chain, &golden.shape, &golden.encoded).unwrap(), golden.decoded, "{case}");
        checked += 1;
    }
    assert_eq!(checked, 54);
    // streams of zarrs are read correctly; written streams follow the specification
    for golden in golden(of_zarrs) {
        let case = format!("{} {:?}", golden.data_type, golden.shape);
        let chain = chain("zfp", &golden.configuration, golden.data_type, golden.shape.len());
        let decoded = decode(&chain, &golden.shape, &golden.encoded).map_err(|e| e.kind());
        let expected = if golden.shape.len() > 3 { Err(CodecErrorKind::Corrupt) } else { Ok(golden.decoded) };
        assert_eq!(&decoded, &expected, "{case}");
        let fits = chain.encoded_size(&golden.shape).bound().unwrap() >= golden.encoded.len() as u64;
        assert!(fits || expected.is_err(), "{case}");
        let same = encode(&chain, &golden.shape, &golden.elements).unwrap() == golden.encoded;
        assert_eq!(same, golden.shape.len() == 3, "{case}");
    }
}

#[test]
fn streams_of_numcodecs_are_written_and_read() {
    // rule D10.1
    let mut checked = 0;
    for golden in golden(ZFPY) {
        let case = format!("{} {:?} {}", golden.data_type, golden.shape, golden.configuration);
        let with = |configuration: &Value| {
            chain("numcodecs.zfpy", configuration, golden.data_type, golden.shape.len())
        };
        let chain = with(&golden.configuration);
        assert!(chain.check_shape(&golden.shape).is_ok());
        assert_eq!(encode(&chain, &golden.shape, &golden.elements).unwrap(), golden.encoded, "{case}");
        // the header states the parameters
        for configuration in [&golden.configuration, &json!({}), &json!({"mode": 2, "rate": 3})] {
            let decoded = decode(&with(configuration), &golden.shape, &golden.encoded).unwrap();
            assert_eq!(decoded, golden.decoded, "{case}");
        }
        let mut other = golden.shape.clone();
        other[0] += 1;
        let e = decode(&chain, &other, &golden.encoded).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{e:#}");
        checked += 1;
    }
    assert_eq!(checked, 9);
    let members = json!({
        "mode": 4, "tolerance": 0.1, "rate": -1, "precision": -1, "compression_kwargs": {"tolerance": 0.1}
    });
    chain("numcodecs.zfpy", &members, "float32", 1); // all members that zarr-python writes
    let chain = chain("numcodecs.zfpy", &members, "float32", 2);
    assert!(chain.check_shape(&[1 << 25, 2]).is_err(), "a length that does not fit in the header");
    for (members, pointer) in [
        (json!({"mode": 1}), "mode"),
        (json!({"mode": "rate"}), "mode"),
        (json!({"mode": 2, "rate": "8"}), "rate"),
        (json!({"mode": 2, "rate": 1e9}), "rate"),
        (json!({"mode": 3, "precision": 1.5}), "precision"),
    ] {
        let e = open("numcodecs.zfpy", &members, DataType::Float32, 1).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Configuration, "{e:#}");
        assert_eq!(e.pointer(), format!("/0/configuration/{pointer}"), "{e:#}");
    }
    let e = open("numcodecs.zfpy", &json!({}), DataType::UInt8, 1).unwrap_err();
    assert_eq!(e.kind(), CodecErrorKind::Unsupported);
}

#[test]
fn unsupported_arrays_are_refused_when_they_are_opened() {
    // rule D.02
    let reversible = json!({"mode": "reversible"});
    let e = |configuration: &Value, data_type, rank| open("zfp", configuration, data_type, rank).unwrap_err();
    for (data_type, rank) in [
        (DataType::Bool, 1),
        (DataType::Float16, 1),
        (DataType::Complex64, 1),
        (DataType::String, 1),
        (DataType::Float32, 5),
    ] {
        assert_eq!(e(&reversible, data_type, rank).kind(), CodecErrorKind::Unsupported);
    }
    let accuracy = json!({"mode": "fixed_accuracy", "tolerance": 1});
    assert_eq!(e(&accuracy, DataType::Int32, 1).kind(), CodecErrorKind::Unsupported);
    let header = json!({"mode": "reversible", "write_header": true});
    assert_eq!(e(&header, DataType::Int32, 1).pointer(), "/0/configuration/write_header");
    let expert = |least: i64, most: i64, precision: i64, exponent: i64| json!({"mode": "expert", "minbits": least, "maxbits": most, "maxprec": precision, "minexp": exponent});
    for (configuration, pointer) in [
        (json!({}), "mode"),
        (json!({"mode": 4}), "mode"),
        (json!({"mode": "Reversible"}), "mode"),
        (json!({"mode": "fixed_rate"}), "rate"),
        (json!({"mode": "fixed_rate", "rate": "8"}), "rate"),
        (json!({"mode": "fixed_rate", "rate": -1}), "rate"),
        (json!({"mode": "fixed_rate", "rate": 1e300}), "rate"),
        (json!({"mode": "fixed_accuracy"}), "tolerance"),
        (json!({"mode": "fixed_accuracy", "tolerance": -0.1}), "tolerance"),
        (json!({"mode": "fixed_precision"}), "precision"),
        (json!({"mode": "fixed_precision", "precision": -1}), "precision"),
        (json!({"mode": "fixed_precision", "precision": 1.5}), "precision"),
        (json!({"mode": "expert"}), "minbits"),
        (expert(9, 8, 64, 0), "maxbits"),
        (expert(-1, 8, 64, 0), "minbits"),
        (expert(1 << 20, 1 << 21, 64, 0), "minbits"),
        (expert(1, 8, 0, 0), "maxprec"),
        (expert(1, 8, 65, 0), "maxprec"),
        (expert(1, 8, 64, 1 << 40), "minexp"),
    ] {
        let e = e(&configuration, DataType::Float32, 2);
        assert_eq!(e.kind(), CodecErrorKind::Configuration, "{configuration}: {e:#}");
        assert_eq!(e.pointer(), format!("/0/configuration/{pointer}"), "{configuration}: {e:#}");
    }
    // rules D10.2 and D.08
    for name in ["zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"] {
        let (_, notes) = open(name, &reversible, DataType::Int32, 1).unwrap();
        assert_eq!(notes[0].pointer, "/0/name");
    }
    let (_, notes) = open("zfp", &json!({"mode": "reversible", "rate": 1}), DataType::Int32, 1).unwrap();
    assert_eq!(notes[0].pointer, "/0/configuration/rate");
}

#[test]
fn chunks_without_elements_have_no_stream() {
    let chain = chain("zfp", &json!({"mode": "reversible"}), "float32", 2);
    assert_eq!(encode(&chain, &[0, 4], &[]).unwrap(), [0; 0]);
    assert_eq!(decode(&chain, &[4, 0], &[]).unwrap(), [0; 0]);
    assert_eq!(decode(&chain, &[4, 0], &[0; 8]).unwrap_err().kind(), CodecErrorKind::Corrupt);
    assert_eq!(decode(&chain, &[1, 1], &[]).unwrap_err().kind(), CodecErrorKind::Corrupt); // rule D.07
    assert!(chain.check_shape(&[1 << 40, 1 << 40]).is_err());
}

#[test]
fn elements_that_zfp_cannot_keep_are_errors_when_they_are_written() {
    let reversible = json!({"mode": "reversible"});
    let precision = json!({"mode": "fixed_precision", "precision": 30});
    let e = |configuration: &Value, data_type: &str, elements: &[u8]| {
        let chain = chain("zfp", configuration, data_type, 1);
        let shape = [(elements.len() / chain.repr().data_type.size().unwrap()) as u64];
        let stored = encode(&chain, &shape, elements).map_err(|e| (e.kind(), format!("{e:#}")));
        stored.map(|stored| decode(&chain, &shape, &stored).unwrap() == elements)
    };
    let value = |i: u32, why: &str| {
        let said = format!("codec \"zfp\" failed to encode: element {i} in C order is {why}");
        Err((CodecErrorKind::Value, said))
    };
    let lossy = |text: &str| format!("{text}, which only lossless modes of zfp keep");
    for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let elements = [1.0, special, -0.0];
        assert_eq!(e(&reversible, "float32", bytes_of(&elements)), Ok(true), "{special}");
        assert_eq!(e(&precision, "float32", bytes_of(&elements)), value(1, &lossy(&format!("{special:?}"))));
    }
    let payload = [f64::from_bits(0x7ff4_0000_dead_beef), f64::MIN_POSITIVE / 8.0];
    assert_eq!(e(&reversible, "float64", bytes_of(&payload)), Ok(true));
    let large = [0, i32::MIN, i32::MAX];
    assert_eq!(e(&reversible, "int32", bytes_of(&large)), Ok(true));
    assert_eq!(e(&precision, "int32", bytes_of(&large)), value(1, &lossy("-2147483648")));
    let narrow = [i16::MIN, -1, 0, i16::MAX];
    assert_eq!(e(&reversible, "int16", bytes_of(&narrow)), Ok(true));
    assert_eq!(e(&precision, "int16", bytes_of(&narrow)), Ok(true));
    let unsigned = [1 << 31, (1_u32 << 31) - 1];
    let none = "2^31 or more, zfp has no such number";
    assert_eq!(e(&reversible, "uint32", bytes_of(&unsigned)), value(0, none));
    assert_eq!(e(&reversible, "uint32", bytes_of(&unsigned[1..])), Ok(true));
    assert_eq!(e(&reversible, "uint64", bytes_of(&[1_u64 << 63])), value(0, &none.replace("31", "63")));
}
