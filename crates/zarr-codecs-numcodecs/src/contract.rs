//! Every codec keeps the contract.

use zarr_conformance::codec::{Subject, check, untried};
use zarr_traits::json::{Value, json};
use zarr_traits::{DataType, Registry};

use crate::testing::{four, hex, objects, refused, to_hex};
use crate::{CODECS, pickle};

fn keep(subjects: Vec<Subject>) {
    check(&Registry::core().with(CODECS).unwrap(), subjects).unwrap();
}

#[test]
fn compressors_keep_the_contract() {
    keep(compressors());
}

#[cfg(feature = "pure")]
#[test]
fn compressors_without_c_code_keep_the_contract() {
    let registry = Registry::core().with(CODECS).unwrap().overriding(crate::pure::CODECS);
    let subjects = compressors();
    assert_eq!(untried(crate::pure::CODECS, &subjects), [""; 0]);
    check(&registry, subjects).unwrap();
}

#[test]
fn checksums_and_orders_of_bytes_keep_the_contract() {
    keep(checksums_and_orders_of_bytes());
}

#[test]
fn configurations_of_checksums_are_checked() {
    for name in ["adler32", "crc32", "crc32c"] {
        refused(&format!("numcodecs.{name}"), &json!({"location": "middle"}));
    }
    for bad in [json!({"initval": -1}), json!({"prefix": "abc"}), json!({"prefix": [256]})] {
        refused("numcodecs.jenkins_lookup3", &bad);
    }
}

#[test]
fn filters_keep_the_contract() {
    keep(filters());
}

#[test]
fn filters_of_bytes_keep_the_contract() {
    keep(filters_of_bytes());
}

#[test]
fn codecs_of_objects_keep_the_contract() {
    keep(codecs_of_objects());
}

#[test]
fn every_codec_is_tried() {
    let all =
        [compressors(), checksums_and_orders_of_bytes(), filters(), filters_of_bytes(), codecs_of_objects()];
    // It always refuses to be built.
    let refused = pickle::ENTRY;
    assert_eq!(untried(CODECS, &all.concat()), [refused.names().next().unwrap()]);
}

fn compressors() -> Vec<Subject> {
    let arm = json!([{"id": 7}, {"id": 33, "preset": 0}]);
    let delta = json!([{"id": 3, "dist": 8}, {"id": 33, "preset": 0}]);
    vec![
        Subject::new("numcodecs.blosc", json!({"cname": "zstd"})),
        Subject::new("numcodecs.bz2", json!({})).checksum(),
        Subject::new("numcodecs.gzip", json!({})).checksum(),
        Subject::new("numcodecs.lz4", json!({})),
        Subject::new("numcodecs.lzma", json!({"preset": 0})).checksum(),
        Subject::new("numcodecs.lzma", json!({"format": 2, "preset": 0})),
        Subject::new("numcodecs.lzma", json!({"format": 3, "filters": delta})),
        Subject::new("numcodecs.lzma", json!({"format": 3, "filters": arm})),
        Subject::new("numcodecs.zlib", json!({})).checksum(),
        Subject::new("numcodecs.zlib", json!({"level": 0})).checksum(),
        Subject::new("numcodecs.zstd", json!({"checksum": true})).checksum(),
    ]
}

/// Returns the subject of a checksum, with data and its encoded form as numcodecs writes it.
fn sum(name: &str, configuration: Value, encoded: &[(&[u8], &str)]) -> Subject {
    let subject = Subject::new(&format!("numcodecs.{name}"), configuration).checksum();
    encoded.iter().fold(subject, |subject, (data, encoded)| {
        subject.encodes(DataType::UInt8, &[data.len() as u64], data, &hex(encoded))
    })
}

fn checksums_and_orders_of_bytes() -> Vec<Subject> {
    let eight = [DataType::Int64, DataType::Float64, DataType::Complex128];
    let upto = |n: u8| (0..n).collect::<Vec<_>>();
    let four = &four()[..];
    // sums are folded before they overflow
    let long: Vec<u8> = (0..5001_u32).map(|i| (i * 7 + 3).to_le_bytes()[0]).collect();
    let of_long = |sum: &str| to_hex(&long) + sum;
    // rule H7
    vec![
        sum("adler32", json!({}), &[(four, "0b00600001000000020000000300000004000000"), (&[], "01000000")]),
        sum("adler32", json!({"location": "end"}), &[(four, "010000000200000003000000040000000b006000")]),
        Subject::new("numcodecs.base64", json!({})),
        sum("crc32", json!({}), &[(four, "efd405af01000000020000000300000004000000")]),
        sum("crc32", json!({"location": "start"}), &[(&[], "00000000")]),
        sum("crc32", json!({"location": "end"}), &[(four, "01000000020000000300000004000000efd405af")]),
        sum("crc32c", json!({}), &[(four, "01000000020000000300000004000000ee89f972")]),
        sum("crc32c", json!({"location": "start"}), &[(four, "ee89f97201000000020000000300000004000000")]),
        sum(
            "fletcher32",
            json!({}),
            &[
                (four, "01000000020000000300000004000000000a0028"),
                (&upto(8)[1..], "010203040506070c10201e"),
                (&[255; 11], "ffffffffffffffffffffff00ff00ff"),
                (&[], "00000000"),
                (&long, &of_long("a1f6c122")),
            ],
        ),
        sum(
            "jenkins_lookup3",
            json!({}),
            &[
                (four, "0100000002000000030000000400000046124966"),
                (&[], "efbeadde"),
                (&long, &of_long("406d69fe")),
            ],
        ),
        sum(
            "jenkins_lookup3",
            json!({"initval": 7, "prefix": null}),
            &[(&upto(13), "000102030405060708090a0b0cf2a34362")],
        ),
        sum(
            "jenkins_lookup3",
            json!({"initval": 1, "prefix": [97, 98, 99]}),
            &[(&upto(12), "000102030405060708090a0b082b3a7b")],
        ),
        // numcodecs refuses chunks that are not whole elements
        Subject::new("numcodecs.shuffle", json!({"elementsize": 8})).types(eight),
    ]
}

fn filters() -> Vec<Subject> {
    // sums of floats round, and sums of booleans are those of numpy: both do not round-trip
    let integers = DataType::CORE.into_iter().skip(1).take(8);
    let numbers = DataType::CORE.into_iter().skip(1).take(11);
    #[cfg(feature = "zfpy")]
    let four = [DataType::Int32, DataType::Int64, DataType::Float32, DataType::Float64];
    vec![
        Subject::new("numcodecs.astype", json!({"encode_dtype": "<f8"})).lossy(),
        Subject::new("numcodecs.bitround", json!({"keepbits": 3})).lossy(),
        Subject::new("numcodecs.delta", json!({})).types(integers).refuses([DataType::String]),
        Subject::new("numcodecs.fixedscaleoffset", json!({"offset": 3, "scale": 2, "astype": "<i8"})).lossy(),
        Subject::new("numcodecs.packbits", json!({})).refuses([DataType::UInt8]),
        Subject::new("numcodecs.pcodec", json!({}))
            .types(numbers)
            .refuses([DataType::Bool, DataType::String]),
        Subject::new("numcodecs.quantize", json!({"digits": 2})).lossy(),
        #[cfg(feature = "zfpy")]
        Subject::new("numcodecs.zfpy", json!({"mode": 5})).types(four).refuses([DataType::Int8]),
    ]
}

/// Returns a string of one character as numpy stores it.
fn utf32(character: char) -> [u8; 4] {
    u32::from(character).to_le_bytes()
}

fn filters_of_bytes() -> Vec<Subject> {
    let of = |name: &str, configuration, data_type| Subject::new(name, configuration).types([data_type]);
    let float = DataType::Float32;
    vec![
        of("numcodecs:astype", json!({"decode_dtype": ">i4", "encode_dtype": "<f8"}), DataType::Int32),
        of("numcodecs:bitround", json!({"keepbits": 23, "dtype": "<f4"}), float.clone()),
        of("numcodecs:delta", json!({"dtype": "|i1"}), float.clone()),
        of("numcodecs:delta", json!({"dtype": "<u2"}), float.clone()),
        of("numcodecs:delta", json!({"dtype": ">i4", "astype": "<u4"}), float),
        of("numcodecs:delta", json!({"dtype": "<u8"}), DataType::Complex64),
        of(
            "numcodecs:fixedscaleoffset",
            json!({"offset": 3, "scale": 1, "dtype": "<i4", "astype": ">i4"}),
            DataType::Int32,
        ),
        of("numcodecs:packbits", json!({}), DataType::Bool),
        of("numcodecs:quantize", json!({"digits": 2, "dtype": "<f8"}), DataType::Float64).lossy(),
        of("numcodecs:categorize_fixed", json!({"labels": ["a", "é"], "dtype": "<U1"}), DataType::Raw(4))
            .elements(|n| {
                ["a", "é", "\0"][usize::try_from(n % 3).unwrap()].chars().flat_map(utf32).collect()
            }),
    ]
}

fn codecs_of_objects() -> Vec<Subject> {
    let of = |name: &str, configuration| Subject::new(name, configuration).types([objects().data_type]);
    let values = |n: u64| json!([n % 7, {"a": n.to_string()}, null]).to_string().into_bytes();
    let lists = |n: u64| format!("[{},2]", n % 100).into_bytes();
    vec![
        of("numcodecs:json", json!({})).elements(values),
        of("numcodecs:json2", json!({})).elements(values),
        of("numcodecs:msgpack", json!({})).elements(values),
        of("numcodecs:msgpack2", json!({})).elements(values),
        of("numcodecs:vlen-array", json!({"dtype": "<i4"})).elements(lists),
        Subject::new("numcodecs:categorize", json!({"labels": ["a", "b"], "dtype": "|O", "astype": "|u1"}))
            .types([DataType::String])
            .elements(|n| ["a", "b", ""][usize::try_from(n % 3).unwrap()].into()),
    ]
}
