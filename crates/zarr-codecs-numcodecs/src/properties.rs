//! What holds for every codec and any input.

use proptest::prelude::*;
use zarr_traits::DataType;
use zarr_traits::serde_json::{Value, json};

use crate::testing::{Variable, bytes_codec, decode, encode, objects, repr};

/// Codecs that give back all that they get, a multiple of 8 bytes.
fn lossless() -> Vec<(&'static str, Value)> {
    vec![
        ("numcodecs.adler32", json!({})),
        ("numcodecs.base64", json!({})),
        ("numcodecs.blosc", json!({"cname": "zstd"})),
        ("numcodecs.bz2", json!({})),
        ("numcodecs.crc32", json!({"location": "end"})),
        ("numcodecs.crc32c", json!({"location": "start"})),
        ("numcodecs.fletcher32", json!({})),
        ("numcodecs.gzip", json!({})),
        ("numcodecs.jenkins_lookup3", json!({"prefix": [1, 2, 3]})),
        ("numcodecs.lz4", json!({})),
        ("numcodecs.lzma", json!({"preset": 0})),
        ("numcodecs.lzma", json!({"format": 2, "preset": 0})),
        ("numcodecs.lzma", json!({"format": 3, "filters": [{"id": 3, "dist": 8}, {"id": 33, "preset": 0}]})),
        ("numcodecs.lzma", json!({"format": 3, "filters": [{"id": 4}, {"id": 33, "preset": 0}]})),
        ("numcodecs.shuffle", json!({"elementsize": 8})),
        ("numcodecs.zlib", json!({})),
        ("numcodecs.zlib", json!({"level": 0})),
        ("numcodecs.zstd", json!({"checksum": true})),
        ("numcodecs:astype", json!({"decode_dtype": ">i4", "encode_dtype": "<f8"})),
        ("numcodecs:bitround", json!({"keepbits": 23, "dtype": "<f4"})),
        ("numcodecs:delta", json!({"dtype": "|i1"})),
        ("numcodecs:delta", json!({"dtype": "<u2"})),
        ("numcodecs:delta", json!({"dtype": ">i4", "astype": "<u4"})),
        ("numcodecs:delta", json!({"dtype": "<u8"})),
        ("numcodecs:fixedscaleoffset", json!({"offset": 3, "scale": 1, "dtype": "<i4", "astype": ">i4"})),
    ]
}

/// Runs of equal bytes, so that compressors have something to find.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let runs = proptest::collection::vec((any::<[u8; 8]>(), 1_usize..40), 0..20);
    runs.prop_map(|runs| runs.into_iter().flat_map(|(word, times)| word.repeat(times)).collect())
}

/// Any JSON value.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no other", |x| x.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        let members = proptest::collection::vec((any::<String>(), inner.clone()), 0..4);
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(Value::from),
            members.prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(data in words()) {
        for (name, configuration) in lossless() {
            let codec = bytes_codec(name, &configuration);
            let encoded = encode(&*codec, &data);
            prop_assert_eq!(&decode(&*codec, &encoded, data.len()).unwrap(), &data, "{}", name);
        }
    }

    #[test]
    fn noise_is_an_error_or_fits(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        for (name, configuration) in lossless() {
            let codec = bytes_codec(name, &configuration);
            if let Ok(decoded) = decode(&*codec, &noise, 64) {
                prop_assert!(decoded.len() <= 64);
            }
        }
        for name in ["numcodecs:json2", "numcodecs:msgpack2", "numcodecs:json", "numcodecs:msgpack"] {
            let _ = Variable::new(name, &json!({}), &objects()).decode(&noise, &[2, 1]);
        }
        let _ = Variable::new("numcodecs:vlen-array", &json!({"dtype": "<f4"}), &objects()).decode(&noise, &[2]);
    }

    #[test]
    fn objects_are_written_and_read(values in proptest::collection::vec(values(), 6)) {
        let texts: Vec<String> = values.iter().map(Value::to_string).collect();
        let elements: Vec<&str> = texts.iter().map(String::as_str).collect();
        for name in ["numcodecs:json2", "numcodecs:msgpack2", "numcodecs:json", "numcodecs:msgpack"] {
            for shape in [&[6][..], &[2, 3], &[3, 1, 2]] {
                let mut codec = Variable::new(name, &json!({}), &objects());
                let encoded = codec.encode(&elements, shape).unwrap();
                prop_assert_eq!(&codec.decode(&encoded, shape).unwrap(), &elements, "{}", name);
            }
        }
    }

    #[test]
    fn lists_and_labels_are_written_and_read(lists in proptest::collection::vec(proptest::collection::vec(any::<f64>(), 0..5), 4)) {
        let text = |x: &f64| match x {
            x if x.is_nan() => json!("NaN"),
            x if x.is_infinite() => json!(if *x > 0.0 { "Infinity" } else { "-Infinity" }),
            x => json!(x),
        };
        let values: Vec<Value> = lists.iter().map(|list| list.iter().map(text).collect()).collect();
        let texts: Vec<String> = values.iter().map(Value::to_string).collect();
        let elements: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut codec = Variable::new("numcodecs:vlen-array", &json!({"dtype": ">f8"}), &objects());
        let encoded = codec.encode(&elements, &[4]).unwrap();
        let decoded = codec.decode(&encoded, &[4]).unwrap();
        let decoded: Vec<Value> = decoded.iter().map(|text| zarr_traits::serde_json::from_str(text).unwrap()).collect();
        prop_assert_eq!(decoded, values);
        let labels = json!({"labels": texts, "dtype": "|O", "astype": "<u2"});
        let mut codec = Variable::new("numcodecs:categorize", &labels, &repr(DataType::String));
        let encoded = codec.encode(&elements, &[2, 2]).unwrap();
        prop_assert_eq!(codec.decode(&encoded, &[2, 2]).unwrap(), elements);
    }
}
