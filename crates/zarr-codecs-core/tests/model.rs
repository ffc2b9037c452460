//! Random chains, data and parts: elements survive a round trip, and a part has the elements of the whole.
#![cfg(all(
    any(feature = "blosc", feature = "pure"),
    feature = "bytes",
    feature = "conditional",
    feature = "crc32c",
    feature = "gzip",
    feature = "n5_default",
    feature = "reshape",
    feature = "transpose",
    any(feature = "pure", feature = "zstd")
))]

use proptest::prelude::*;
use proptest::sample::{Index, select};
use zarr_traits::json::{Value, json};
use zarr_traits::strided::{Source, Swap};
use zarr_traits::{Region, Scratch};

use crate::testing::{Noise, chain, decode_part, encode};

fn bytes_bytes() -> impl Strategy<Value = Value> {
    let blosc = (
        select(&["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"][..]),
        0..=9,
        select(&["noshuffle", "shuffle", "bitshuffle"][..]),
        select(&[1, 2, 4, 8, 3, 200, 300][..]),
        select(&[0, 1, 128, 1000, 4096][..]),
    );
    let one = prop_oneof![
        Just(json!("crc32c")),
        (0..=9).prop_map(|level| json!({"name": "gzip", "configuration": {"level": level}})),
        (-7..=9, any::<bool>()).prop_map(
            |(level, checksum)| json!({"name": "zstd", "configuration": {"level": level, "checksum": checksum}})
        ),
        blosc.prop_map(|(cname, clevel, shuffle, typesize, blocksize)| json!({
            "name": "blosc",
            "configuration": {
                "cname": cname, "clevel": clevel, "shuffle": shuffle, "typesize": typesize, "blocksize": blocksize
            }
        })),
    ];
    one.prop_recursive(2, 6, 3, |inner| {
        proptest::collection::vec(inner, 0..4).prop_map(
            |codecs| json!({"name": "conditional", "configuration": {"codecs": codecs, "header_bits": 16}}),
        )
    })
}

#[derive(Debug, Clone)]
struct Case {
    data_type: &'static str,
    shape: Vec<u64>,
    codecs: Value,
    part: Region,
    seed: u64,
    noisy: bool,
}

/// Returns a transpose or reshape codec for a chunk of `shape`, and changes `shape` to the encoded shape.
fn array_array(shape: &mut Vec<u64>, what: u8, first: Index, second: Index) -> Value {
    let rank = shape.len();
    if rank == 0 {
        return json!({"name": "transpose", "configuration": {"order": []}});
    }
    let (at, dims) = (first.index(rank), 0..rank);
    let reshape = |shape: Vec<Value>| json!({"name": "reshape", "configuration": {"shape": shape}});
    match what {
        // splits a dimension
        0 if shape[at] > 0 => {
            let factors: Vec<u64> = (1..=shape[at]).filter(|n| shape[at].is_multiple_of(*n)).collect();
            let factor = factors[second.index(factors.len())];
            shape.splice(at..=at, [factor, shape[at] / factor]);
            let split = dims.flat_map(|dim| {
                let rest = if shape.contains(&0) { json!(shape[at + 1]) } else { json!(-1) };
                if dim == at { vec![json!(factor), rest] } else { vec![json!([dim])] }
            });
            reshape(split.collect())
        }
        // joins some dimensions
        1 => {
            let end = at + 1 + second.index(rank - at);
            let together: u64 = shape[at..end].iter().product();
            shape.splice(at..end, [together]);
            let joined = dims.filter(|dim| *dim <= at || *dim >= end);
            reshape(
                joined
                    .map(|dim| if dim == at { json!(Vec::from_iter(at..end)) } else { json!([dim]) })
                    .collect(),
            )
        }
        // overlapping groups: only all of them together have the same number of elements
        2 if shape.iter().all(|n| *n > 0) => {
            shape.reverse();
            reshape(shape.iter().map(|n| json!(n)).collect())
        }
        _ => {
            let mut order: Vec<usize> = dims.collect();
            order.rotate_left(at);
            order.swap(0, at);
            *shape = order.iter().map(|dim| shape[*dim]).collect();
            json!({"name": "transpose", "configuration": {"order": order}})
        }
    }
}

const TYPES: [&str; 9] =
    ["bool", "uint8", "int16", "float32", "complex64", "float64", "complex128", "r24", "r136"];

fn case() -> impl Strategy<Value = Case> {
    let shape = prop_oneof![
        4 => proptest::collection::vec(0_u64..12, 0..5),
        1 => proptest::collection::vec(30_u64..90, 2..3),
        1 => proptest::collection::vec(20_000_u64..90_000, 1..2),
    ];
    let shapings = proptest::collection::vec((0_u8..5, any::<Index>(), any::<Index>()), 0..4);
    let tail = proptest::collection::vec(bytes_bytes(), 0..4);
    let corners = proptest::collection::vec(any::<(Index, Index)>(), 5);
    (
        (select(&TYPES[..]), shape, shapings, select(&["little", "big"][..]), tail),
        corners,
        any::<u64>(),
        any::<(bool, bool)>(),
    )
        .prop_map(|((data_type, shape, shapings, endian, tail), corners, seed, (noisy, n5))| {
            let mut encoded = shape.clone();
            let shapings = shapings.into_iter();
            let mut codecs: Vec<Value> =
                shapings.map(|(what, a, b)| array_array(&mut encoded, what, a, b)).collect();
            if n5 && ["uint8", "int16", "float32", "float64"].contains(&data_type) {
                let backwards: Vec<usize> = (0..encoded.len()).rev().collect();
                let inner = [
                    json!({"name": "transpose", "configuration": {"order": backwards}}),
                    json!({"name": "bytes", "configuration": {"endian": "big"}}),
                ];
                codecs.push(json!({"name": "n5_default", "configuration": {"codecs": inner}}));
            } else {
                codecs.push(json!({"name": "bytes", "configuration": {"endian": endian}}));
            }
            codecs.extend(tail);
            let (start, len): (Vec<u64>, Vec<u64>) = shape
                .iter()
                .zip(corners)
                .map(|(n, (a, b))| {
                    let start = a.index(usize::try_from(*n + 1).unwrap()) as u64;
                    (start, b.index(usize::try_from(*n - start + 1).unwrap()) as u64)
                })
                .unzip();
            let part = Region::new(start, len).unwrap();
            Case { data_type, shape, codecs: codecs.into(), part, seed, noisy }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn elements_survive_a_round_trip(case in case()) {
        let chain = chain(&case.codecs, case.data_type, case.shape.len());
        chain.check_shape(&case.shape).unwrap();
        let size = chain.repr().data_type.size().unwrap();
        let len = usize::try_from(case.shape.iter().product::<u64>()).unwrap() * size;
        let mut noise = Noise(case.seed | 1);
        let mut elements = if case.noisy { noise.bytes(len) } else { noise.waves(len + 1) };
        elements.resize(len, 0);

        let encoded = encode(&chain, &case.shape, &elements);
        let bound = chain.encoded_size(&case.shape).bound().unwrap();
        prop_assert!(encoded.len() as u64 <= bound, "{} of {bound} bytes", encoded.len());

        let scratch = &mut Scratch::new();
        let whole = Region::whole(&case.shape);
        prop_assert_eq!(&decode_part(&chain, &case.shape, &whole, &encoded, scratch).unwrap(), &elements);

        let mut expected = Vec::new();
        let source = Source::dense(&elements, &case.shape, size).unwrap();
        source.sub(case.part.start(), case.part.shape()).unwrap().append_to(&mut expected, Swap::NONE).unwrap();
        prop_assert_eq!(decode_part(&chain, &case.shape, &case.part, &encoded, scratch).unwrap(), expected);
    }
}
