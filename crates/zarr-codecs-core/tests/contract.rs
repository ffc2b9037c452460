//! Every codec keeps the contract.
#![cfg(all(
    feature = "bitround",
    any(feature = "blosc", feature = "pure"),
    feature = "bytes",
    feature = "cast_value",
    feature = "conditional",
    feature = "crc32c",
    feature = "gzip",
    feature = "n5_default",
    feature = "packbits",
    feature = "reshape",
    feature = "scale_offset",
    feature = "transpose",
    feature = "vlen-bytes",
    feature = "vlen-utf8",
    any(feature = "pure", feature = "zstd")
))]

use zarr_codecs_core::CODECS;
use zarr_conformance::codec::{Subject, check, untried};
use zarr_traits::json::{Value, json};
use zarr_traits::{DataType, Registry};

/// Returns integers, real floats and complex numbers, in this order.
fn numbers() -> impl Iterator<Item = DataType> {
    DataType::CORE.into_iter().skip(1).take(13)
}

fn variable() -> [DataType; 2] {
    [DataType::String, DataType::Bytes]
}

/// Array → bytes codecs.
fn array_bytes() -> Vec<Subject> {
    let n5 = |more: &[Value]| {
        let all = [json!({"name": "transpose", "configuration": {"order": [2, 1, 0]}})]
            .into_iter()
            .chain([json!({"name": "bytes", "configuration": {"endian": "big"}})])
            .chain(more.iter().cloned());
        Subject::new("n5_default", json!({"codecs": all.collect::<Vec<_>>()}))
            .types(numbers().filter(|t| !matches!(t, DataType::Float16)).take(10))
            .refuses([DataType::Bool, DataType::Float16, DataType::Complex64])
            .shapes(&[&[2, 0, 3], &[4, 3, 5], &[1, 1, 1]])
    };
    vec![
        Subject::new("bytes", json!({"endian": "little"})).refuses(variable()),
        Subject::new("bytes", json!({"endian": "big"})).refuses(variable()),
        Subject::new("bytes", json!({})).types([DataType::UInt8, DataType::Bool, DataType::Raw(3)]),
        // for structs, which are not core types; the suite has one
        Subject::new("bytes:fields", json!({"endian": ["little", "big"]})).refuses(DataType::CORE),
        Subject::new("vlen-utf8", json!({}))
            .types([DataType::String])
            .refuses(DataType::CORE.into_iter().take(14)),
        Subject::new("vlen-bytes", json!({}))
            .types([DataType::Bytes])
            .refuses(DataType::CORE.into_iter().take(14)),
        Subject::new("packbits", json!({})).refuses(variable()).refuses([DataType::Raw(3)]),
        Subject::new("packbits", json!({"padding_encoding": "last_byte"})).types([DataType::Bool]),
        Subject::new("packbits", json!({"first_bit": 1, "last_bit": 5, "padding_encoding": "first_byte"}))
            .types(numbers())
            .lossy(),
        Subject::new("packbits", json!({"last_bit": 4, "padding_encoding": "first_byte"}))
            .types([DataType::UInt8])
            .elements(|n| vec![n.to_le_bytes()[0] % 32]),
        n5(&[]),
        n5(&[json!({"name": "gzip", "configuration": {"level": 1}})]),
    ]
}

/// Array → array codecs.
fn array_array() -> Vec<Subject> {
    let integers = || numbers().take(8);
    let reals = || numbers().take(11);
    let others = || variable().into_iter().chain([DataType::Bool, DataType::Raw(3)]);
    let scalars =
        json!({"encode": [["NaN", 0], ["Infinity", 7], ["-Infinity", 7]], "decode": [[7, "Infinity"]]});
    vec![
        Subject::new("transpose", json!({"order": [2, 0, 1]})).shapes(&[&[2, 0, 3], &[4, 3, 5], &[1, 1, 1]]),
        Subject::new("reshape", json!({"shape": [-1]})),
        Subject::new("reshape", json!({"shape": [[0], 1, [1, 2]]})).shapes(&[&[2, 0, 3], &[4, 3, 5]]),
        Subject::new("bitround", json!({"keepbits": 3})).lossy().refuses(others()),
        Subject::new("cast_value", json!({"data_type": "float64"}))
            .types(integers().filter(|t| t.size() < Some(8))),
        Subject::new(
            "cast_value",
            json!({"data_type": "float32", "rounding": "towards-zero", "out_of_range": "clamp"}),
        )
        .types(reals())
        .refuses(others())
        .lossy(),
        Subject::new("cast_value", json!({"data_type": "int8", "out_of_range": "wrap"}))
            .types(integers())
            .lossy(),
        Subject::new(
            "cast_value",
            json!({"data_type": "int16", "out_of_range": "clamp", "scalar_map": scalars}),
        )
        .types([DataType::Float16, DataType::Float32, DataType::Float64])
        .lossy(),
        Subject::new("scale_offset", json!({"offset": 3, "scale": 2}))
            .types([DataType::Int32])
            .refuses(others())
            .elements(|n| i32::try_from(n % 1000).unwrap().to_ne_bytes().into()),
        Subject::new("scale_offset", json!({"offset": 3, "scale": 0.5}))
            .types([DataType::Float32])
            .elements(|n| (f32::from(u16::try_from(n % 1000).unwrap()) / 8.0).to_ne_bytes().into()),
    ]
}

/// Bytes → bytes codecs.
fn bytes_bytes() -> Vec<Subject> {
    let blosc = |cname: &str, shuffle: &str| {
        Subject::new(
            "blosc",
            json!({"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0}),
        )
    };
    let steps = json!([
        {"name": "zstd", "configuration": {"level": 1}}, {"name": "gzip", "configuration": {"level": 1}}
    ]);
    vec![
        Subject::new("crc32c", json!({})).checksum(),
        Subject::new("gzip", json!({"level": 0})).checksum(),
        Subject::new("gzip", json!({"level": 6})).checksum(),
        Subject::new("zstd", json!({"level": 1})),
        Subject::new("zstd", json!({"level": 9, "checksum": true})).checksum(),
        blosc("lz4", "shuffle"),
        blosc("blosclz", "bitshuffle"),
        blosc("zstd", "noshuffle"),
        blosc("snappy", "shuffle"),
        blosc("zlib", "shuffle"),
        Subject::new("conditional", json!({"codecs": steps, "header_bits": 16})),
    ]
}

#[test]
fn the_codecs_keep_the_contract() {
    let subjects = [array_array(), array_bytes(), bytes_bytes()].concat();
    assert_eq!(untried(CODECS, &subjects), [""; 0]);
    check(&Registry::core().with(CODECS).unwrap(), subjects).unwrap();
}

#[cfg(feature = "pure")]
#[test]
fn the_codecs_without_c_code_keep_the_contract() {
    use zarr_codecs_core::pure;

    let registry = Registry::core().with(CODECS).unwrap().overriding(pure::CODECS);
    assert_eq!(untried(pure::CODECS, &bytes_bytes()), [""; 0]);
    check(&registry, bytes_bytes()).unwrap();
}
