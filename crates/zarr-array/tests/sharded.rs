//! Compares sharded arrays with a plain model in memory: any chain, any writes, any reads, on any kind of store.

use std::fmt::Write;
use std::time::Duration;

use crate::common::Odd;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use zarr_array::blocking::Array;
use zarr_array::meta::Ignore;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::{
    ArrayMeta, Axis, Cpu, DataType, EmptyChunks, InnerOrder, PartialWrites, Selection, Storage, standard,
};
use zarr_store::MemoryStore;

/// One dimension of an array: the lengths of the array, its shards, their inner chunks, and nested inner chunks.
#[derive(Debug, Clone, Copy)]
struct Dim {
    length: u64,
    shard: u64,
    inner: u64,
    least: u64,
}

#[derive(Debug, Clone)]
struct Case {
    dims: Vec<Dim>,
    codecs: String,
    fill: u16,
    store: Kind,
    threads: usize,
    store_fill: bool,
    morton: bool,
    cache: bool,
    /// The block size: inner chunks and their bytes.
    block: (u64, u64),
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Memory,
    Remote,
    /// A store without suffix ranges, conditional writes and versions.
    Poor,
}

#[derive(Debug, Clone)]
enum Step {
    Read(Vec<(Index, Index, u64)>),
    /// Writes fill values, or noise from a seed.
    Write(Vec<(Index, Index, u64)>, Option<u16>),
}

fn numbers(values: impl IntoIterator<Item = u64>) -> String {
    let list: Vec<String> = values.into_iter().map(|n| n.to_string()).collect();
    format!("[{}]", list.join(","))
}

fn order(picks: &[Index], rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    for (i, pick) in picks.iter().take(rank).enumerate() {
        order.swap(i, pick.index(rank));
    }
    order
}

fn bytes(big: bool) -> String {
    format!(r#"{{"name":"bytes","configuration":{{"endian":"{}"}}}}"#, if big { "big" } else { "little" })
}

fn transpose(order: &[usize]) -> String {
    let order = numbers(order.iter().map(|dim| *dim as u64));
    format!(r#"{{"name":"transpose","configuration":{{"order":{order}}}}}"#)
}

fn sharding(chunk: &[u64], codecs: &str, at_start: bool) -> String {
    let place = if at_start { "start" } else { "end" };
    format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{},"codecs":[{codecs}],"index_codecs":[{},{{"name":"crc32c"}}],"index_location":"{place}"}}}}"#,
        numbers(chunk.iter().copied()),
        bytes(false),
    )
}

fn case() -> impl Strategy<Value = Case> {
    let dims = (1_usize..6).prop_flat_map(|rank| {
        // more dimensions are shorter
        let most = [0, 12, 5, 3, 3, 2][rank] as u64;
        proptest::collection::vec((1..=most * 3, 1_u64..=2, 1..=most.min(4), 1_u64..=2), rank)
    });
    let axis = || (any::<Index>(), any::<Index>(), prop_oneof![4 => Just(1_u64), 1 => 2_u64..4]);
    let selection = move || proptest::collection::vec(axis(), 5);
    let step = prop_oneof![
        selection().prop_map(Step::Read),
        (selection(), any::<u16>()).prop_map(|(s, seed)| Step::Write(s, (seed % 4 > 0).then_some(seed))),
    ];
    let picks = || proptest::option::of(proptest::collection::vec(any::<Index>(), 5));
    (
        dims,
        (picks(), picks(), picks()),
        (
            any::<[bool; 7]>(),
            select(
                &["", r#","crc32c""#, r#",{"name":"zstd","configuration":{"level":1,"checksum":false}}"#][..],
            ),
        ),
        (
            select(&[0_u16, 7][..]),
            select(&[Kind::Memory, Kind::Remote, Kind::Poor][..]),
            0_usize..3,
            select(&[(1_u64 << 14, 64 << 20), (1, 1 << 20), (3, 1 << 20), (100, 64_u64)][..]),
        ),
        proptest::collection::vec(step, 1..7),
    )
        .prop_map(
            |(dims, (outside, between, inside), (flags, tail), (fill, store, threads, block), steps)| {
                let dims: Vec<Dim> = dims
                    .into_iter()
                    .map(|(length, least, chunks, times)| {
                        let inner = least * times;
                        Dim { length, shard: inner * chunks, inner, least }
                    })
                    .collect();
                let rank = dims.len();
                let [nested, start, inner_start, big, store_fill, morton, cast] = flags;
                let mut codecs = String::new();
                let wide = r#"{"name":"cast_value","configuration":{"data_type":"uint32"}},"#;
                if cast && big {
                    codecs += wide;
                }
                // the dimension of the array for each dimension at this place of the chain
                let mut at: Vec<usize> = (0..rank).collect();
                let reorder = |codecs: &mut String, at: &mut Vec<usize>, picks: &Option<Vec<Index>>| {
                    if let Some(picks) = picks {
                        let order = order(picks, rank);
                        write!(codecs, "{},", transpose(&order)).unwrap();
                        *at = order.iter().map(|dim| at[*dim]).collect();
                    }
                };
                reorder(&mut codecs, &mut at, &outside);
                if cast && !big {
                    codecs += wide;
                }
                let chunk: Vec<u64> = at.iter().map(|dim| dims[*dim].inner).collect();
                let mut inner = String::new();
                reorder(&mut inner, &mut at, &between);
                let least: Vec<u64> = at.iter().map(|dim| dims[*dim].least).collect();
                if nested {
                    let mut innermost = String::new();
                    reorder(&mut innermost, &mut at, &inside);
                    innermost += &bytes(big);
                    innermost += tail;
                    inner += &sharding(&least, &innermost, inner_start);
                } else {
                    inner += &bytes(big);
                    inner += tail;
                }
                codecs += &sharding(&chunk, &inner, start);
                let cache = store_fill || big;
                Case { dims, codecs, fill, store, threads, store_fill, morton, cache, block, steps }
            },
        )
}

/// Returns the selection, and the positions in C order of its elements.
fn select_in(shape: &[u64], axes: &[(Index, Index, u64)]) -> (Selection, Vec<usize>) {
    let mut positions = vec![0_usize];
    let mut selection = Vec::new();
    for (length, (a, b, step)) in shape.iter().zip(axes) {
        let start = a.index(usize::try_from(*length + 1).unwrap()) as u64;
        let end = start + b.index(usize::try_from(*length - start + 1).unwrap()) as u64;
        selection.push(Axis::step(start..end, *step));
        let picked: Vec<u64> = (start..end).step_by(usize::try_from(*step).unwrap()).collect();
        positions = positions
            .iter()
            .flat_map(|before| {
                picked
                    .iter()
                    .map(move |i| before * usize::try_from(*length).unwrap() + usize::try_from(*i).unwrap())
            })
            .collect();
    }
    (Selection::new(selection), positions)
}

fn open(case: &Case) -> Array {
    let shape: Vec<u64> = case.dims.iter().map(|dim| dim.length).collect();
    let shards: Vec<u64> = case.dims.iter().map(|dim| dim.shard).collect();
    let codecs = Value::parse(&format!("[{}]", case.codecs)).unwrap();
    let codecs: Vec<Extension> =
        codecs.elements().unwrap().map(|codec| Extension::parse(&codec, &mut Ignore).unwrap()).collect();
    let meta = ArrayMeta::builder(shape, DataType::UInt16).chunks(shards).codecs(codecs).fill(case.fill);
    let memory = Storage::from(MemoryStore::new());
    let mut odd = Odd::new(&memory);
    match case.store {
        Kind::Memory => {}
        Kind::Remote => (odd.in_flight, odd.delay) = (Some(4), Duration::ZERO),
        Kind::Poor => {
            (odd.capabilities.suffix, odd.capabilities.delete_if) = (false, false);
            (odd.capabilities.put_if, odd.versions) = (false, false);
        }
    }
    let array = Array::create(odd.storage(), "/a", meta.build().unwrap(), &standard()).unwrap();
    let array = array
        .with_cpu(Cpu::threads(case.threads))
        .with_empty_chunks(if case.store_fill { EmptyChunks::Store } else { EmptyChunks::Skip })
        .with_inner_order(match (case.morton, case.cache) {
            (false, _) => InnerOrder::C,
            (true, false) => InnerOrder::Morton,
            (true, true) => InnerOrder::F,
        });
    // with the default, these small shards would be read whole
    let mut fetching = array.fetching();
    (fetching.whole, fetching.gap) = if case.morton { (0, 3) } else { (fetching.whole, 0) };
    let array = match case.store {
        Kind::Poor => array.with_partial_writes(PartialWrites::Unchecked),
        _ => array,
    };
    let array = array.with_fetching(fetching).with_block_size(case.block.0, case.block.1);
    if case.cache { array } else { array.with_index_cache(0) }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn a_sharded_array_is_an_array(case in case()) {
        is_an_array(&case)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    #[ignore = "large: cargo xtask full"]
    fn large_a_sharded_array_is_an_array(case in case()) {
        is_an_array(&case)?;
    }
}

/// After any writes, any reads return the elements of a plain array in memory.
fn is_an_array(case: &Case) -> Result<(), TestCaseError> {
    let array = open(case);
    let shape: Vec<u64> = case.dims.iter().map(|dim| dim.length).collect();
    let mut model = vec![case.fill; usize::try_from(shape.iter().product::<u64>()).unwrap()];
    for step in &case.steps {
        match step {
            Step::Write(axes, seed) => {
                let (selection, positions) = select_in(&shape, axes);
                let values: Vec<u16> = match seed {
                    None => vec![case.fill; positions.len()],
                    Some(seed) => (0..positions.len())
                        .map(|i| seed.wrapping_mul(31).wrapping_add(u16::try_from(i % 999).unwrap()))
                        .collect(),
                };
                array.write(selection, &values).unwrap();
                for (position, value) in positions.iter().zip(values) {
                    model[*position] = value;
                }
            }
            Step::Read(axes) => {
                let (selection, positions) = select_in(&shape, axes);
                let got = array.read::<u16>(selection).unwrap();
                let expected: Vec<u16> = positions.iter().map(|position| model[*position]).collect();
                prop_assert_eq!(got.as_slice(), expected);
            }
        }
    }
    prop_assert_eq!(array.read::<u16>(..).unwrap().into_vec(), &model[..]);
    let one = array.clone().with_partial_writes(PartialWrites::RejectUnaligned);
    one.write(.., &model).unwrap();
    prop_assert_eq!(array.read::<u16>(..).unwrap().into_vec(), &model[..], "whole shards");
    Ok(())
}
