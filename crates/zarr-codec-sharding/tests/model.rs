//! Random shards and parts: elements survive a round trip, and a part has the elements of the whole, in memory and by
//! partial reads.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use zarr_traits::Region;
use zarr_traits::json::{Value, json};
use zarr_traits::strided::{Dims, Source, Swap};

use crate::common::*;

#[derive(Debug, Clone)]
struct Case {
    data_type: &'static str,
    shape: Vec<u64>,
    codecs: Value,
    part: Region,
    /// This many of eight inner chunks are missing.
    missing: u64,
    seed: u64,
    whole_only: bool,
}

fn order(picks: &[Index], rank: usize) -> Vec<u64> {
    let mut order: Vec<u64> = (0..rank as u64).collect();
    for (i, pick) in picks.iter().take(rank).enumerate() {
        order.swap(i, pick.index(rank));
    }
    order
}

fn tail() -> impl Strategy<Value = Vec<Value>> {
    let codec = prop_oneof![
        Just(json!("crc32c")),
        (1..=5, any::<bool>())
            .prop_map(|(level, checksum)| json!({"name": "zstd", "configuration": {"level": level, "checksum": checksum}})),
    ];
    proptest::collection::vec(codec, 0..3)
}

fn case() -> impl Strategy<Value = Case> {
    let dims = proptest::collection::vec((1_u64..4, 1_u64..4, 1_u64..3), 1..5);
    let picks = || proptest::option::of(proptest::collection::vec(any::<Index>(), 4));
    let endian = || select(&["little", "big"][..]);
    let place = || select(&["end", "start"][..]);
    (
        (select(&["uint8", "int16", "float32", "complex128", "r24"][..]), dims, picks(), picks()),
        (tail(), endian(), endian(), any::<bool>(), place(), place()),
        (any::<bool>(), proptest::bool::weighted(0.1), any::<bool>()),
        (proptest::collection::vec(any::<(Index, Index)>(), 4), 0_u64..9, any::<u64>()),
    )
        .prop_map(
            |(
                (data_type, dims, outside, inside),
                (tail, endian, index_endian, crc, location, inner_location),
                (nested, after, transposed_index),
                (corners, missing, seed),
            )| {
                let rank = dims.len();
                let least: Vec<u64> = dims.iter().map(|d| d.0).collect();
                let chunk: Vec<u64> = dims.iter().map(|d| d.0 * d.2).collect();
                let shard: Vec<u64> = dims.iter().map(|d| d.0 * d.1 * d.2).collect();
                let mut index = vec![bytes(index_endian)];
                if transposed_index {
                    let backwards: Vec<u64> = (0..=rank as u64).rev().collect();
                    index.insert(0, transpose(&backwards));
                }
                if crc {
                    index.push(json!("crc32c"));
                }
                let index = Value::from(index);
                let mut inner = Vec::new();
                let mut least = least;
                if let Some(picks) = inside {
                    let order = order(&picks, rank);
                    least = Dims::from(least).permuted(&order).unwrap().to_vec();
                    inner.push(transpose(&order));
                }
                if nested {
                    inner.push(sharding(&least, &json!([bytes(endian)]), &checked(), inner_location));
                } else {
                    inner.push(bytes(endian));
                }
                inner.extend(tail);
                let mut codecs = vec![sharding(&chunk, &Value::from(inner), &index, location)];
                let mut shape = shard.clone();
                if let Some(picks) = outside {
                    let order = order(&picks, rank);
                    for (i, dim) in order.iter().enumerate() {
                        shape[usize::try_from(*dim).unwrap()] = shard[i];
                    }
                    codecs.insert(0, transpose(&order));
                }
                if after {
                    codecs.push(json!("crc32c"));
                }
                let (start, len): (Vec<u64>, Vec<u64>) = shape
                    .iter()
                    .zip(corners)
                    .map(|(n, (a, b))| {
                        let start = a.index(usize::try_from(*n + 1).unwrap()) as u64;
                        (start, b.index(usize::try_from(*n - start + 1).unwrap()) as u64)
                    })
                    .unzip();
                let part = Region::new(start, len).unwrap();
                let codecs = Value::from(codecs);
                Case { data_type, shape, codecs, part, missing, seed, whole_only: after }
            },
        )
}

/// Returns noise in some boxes of the size of inner chunks, and the fill value elsewhere.
fn elements(case: &Case, fill: &[u8]) -> Vec<u8> {
    let mut noise = Noise(case.seed | 1);
    let salt = noise.next();
    let count = case.shape.iter().product::<u64>();
    let mut out = Vec::new();
    for i in 0..count {
        let mut rest = i;
        let mut cell = salt;
        for n in case.shape.iter().rev() {
            // halves and thirds of shards are often whole inner chunks
            let at = rest % n * 6 / n;
            cell = (cell ^ (at / 2 + 7)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
            rest /= n;
        }
        if cell % 8 < case.missing {
            out.extend_from_slice(fill);
        } else {
            out.extend((0..fill.len()).map(|_| noise.next().to_le_bytes()[7] & 3));
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_part_has_the_elements_of_the_whole(case in case()) {
        let size = zarr_traits::DataType::core(case.data_type).unwrap().size().unwrap();
        let fill = vec![2; size];
        let chain = chain(&case.codecs, case.data_type, &fill, case.shape.len());
        chain.check_shape(&case.shape).unwrap();
        let elements = elements(&case, &fill);

        let encoded = encode(&chain, &case.shape, &elements);
        let bound = chain.encoded_size(&case.shape).bound().unwrap();
        prop_assert!(encoded.len() as u64 <= bound, "{} of {bound} bytes", encoded.len());
        prop_assert_eq!(&decode(&chain, &case.shape, &encoded).unwrap(), &elements);

        let mut expected = Vec::new();
        let source = Source::dense(&elements, &case.shape, size).unwrap();
        source.sub(case.part.start(), case.part.shape()).unwrap().append_to(&mut expected, Swap::NONE).unwrap();
        prop_assert_eq!(&decode_part(&chain, &case.shape, &case.part, &encoded).unwrap(), &expected);
        match partial(&chain, &case.shape, &case.part, &encoded).unwrap() {
            Some((got, _)) => prop_assert_eq!(got, expected),
            None => prop_assert!(case.whole_only),
        }
    }
}
