//! Truncated, damaged and random streams: an error, or numbers of the requested shape.

use proptest::prelude::*;
use proptest::sample::select;
use zarr_traits::CodecErrorKind;
use zarr_traits::json::{Value, json};

use crate::common::{chain, decode, golden};

const FILES: [(&str, &str); 2] =
    [("zfp", include_str!("../testdata/zfp.txt")), ("numcodecs.zfpy", include_str!("../testdata/zfpy.txt"))];

#[test]
fn a_stream_has_exactly_its_length() {
    // rule L101
    for (name, file) in FILES {
        // The length identifies streams of zarrs, so leave them out.
        for golden in golden(file.split("# As zarrs").next().unwrap()) {
            let case = format!("{name} {} {:?} {}", golden.data_type, golden.shape, golden.configuration);
            let chain = chain(name, &golden.configuration, golden.data_type, golden.shape.len());
            let decode = |src: &[u8]| decode(&chain, &golden.shape, src);
            let is_corrupt = |src: &[u8]| {
                let e = decode(src).unwrap_err();
                assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{case}: {e:#}");
            };
            for behind in [1, 7, 8, 64] {
                is_corrupt(&[&golden.encoded[..], &vec![0; behind]].concat());
            }
            // Writers of shorter words leave out unneeded bytes at the end. A truncation is detected, or only removes
            // such bytes.
            for len in 0..golden.encoded.len() {
                match decode(&golden.encoded[..len]) {
                    Ok(elements) => assert_eq!(elements, golden.decoded, "{case}: cut to {len}"),
                    Err(e) => {
                        assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{case}: {e:#}");
                        assert!(len < golden.short, "{case}: cut to {len}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_flipped_bit_never_panics() {
    for (name, file) in FILES {
        for golden in golden(file).step_by(3) {
            let chain = chain(name, &golden.configuration, golden.data_type, golden.shape.len());
            let mut damaged = golden.encoded.clone();
            for bit in 0..damaged.len() * 8 {
                damaged[bit / 8] ^= 1 << (bit % 8);
                if let Ok(elements) = decode(&chain, &golden.shape, &damaged) {
                    assert_eq!(elements.len(), golden.elements.len());
                }
                damaged[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

fn configuration() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"mode": "reversible"})),
        (1.0..60.0).prop_map(|rate| json!({"mode": "fixed_rate", "rate": rate})),
        (0_u32..70).prop_map(|precision| json!({"mode": "fixed_precision", "precision": precision})),
        (0_u32..20_000, 0_u32..40_000, 1_u32..65, any::<i32>()).prop_map(|(a, b, precision, exponent)| {
            let least = a.min(b).min(16_658);
            json!({
                "mode": "expert", "minbits": least, "maxbits": a.max(b), "maxprec": precision, "minexp": exponent
            })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(
        name in select(&["zfp", "numcodecs.zfpy"][..]),
        configuration in configuration(),
        data_type in select(&["int32", "int64", "float32", "float64", "uint8", "int16", "uint64"][..]),
        shape in proptest::collection::vec(0_u64..9, 0..5),
        mut stream in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        let headed = name != "zfp";
        if headed && ["uint8", "int16", "uint64"].contains(&data_type) {
            return Ok(());
        }
        if headed {
            stream.splice(0..0, *b"zfp\x05");
        }
        let configuration = if headed { json!({}) } else { configuration };
        let chain = chain(name, &configuration, data_type, shape.len());
        let elements = decode(&chain, &shape, &stream);
        let len = shape.iter().product::<u64>() * chain.repr().data_type.size().unwrap() as u64;
        prop_assert!(elements.is_err() || elements.is_ok_and(|elements| elements.len() as u64 == len));
    }
}
