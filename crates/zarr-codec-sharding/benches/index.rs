//! Shards of small inner chunks: the cost of their index.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{FETCHING, bytes, chain, checked, encode, sharding};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zarr_engine::Chain;
use zarr_traits::json;
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{Region, Scratch, partial::Known};

/// The length of an inner chunk.
const INNER: u64 = 16;

fn index(c: &mut Criterion) {
    let inner = json!([bytes("little")]);
    let chain = chain(&json!([sharding(&[INNER], &inner, &checked(), "end")]), "uint16", &[0; 2], 1);
    for count in [100, 10_000, 100_000_u64] {
        let shape = [count * INNER];
        let value = |n: u64| u16::try_from(n % 1000).unwrap() + 1;
        let elements: Vec<u8> = (0..count * INNER).flat_map(|n| value(n).to_ne_bytes()).collect();
        let object = encode(&chain, &shape, &elements);
        let one = Region::new([(count / 2) * INNER], [INNER]).unwrap();
        let mut group = c.benchmark_group(format!("{count} inner chunks"));
        group.throughput(Throughput::Elements(count));
        let mut scratch = Scratch::new();
        let mut out = Vec::new();
        group.bench_function("encode", |b| {
            b.iter(|| {
                out.clear();
                chain.encode(Source::dense(&elements, &shape, 2).unwrap(), &mut out, &mut scratch).unwrap();
            });
        });
        let mut back = vec![0; elements.len()];
        group.bench_function("decode", |b| {
            b.iter(|| {
                let dst = Destination::dense(&mut back, &shape, 2).unwrap();
                chain.decode_into(&object, &shape, &Region::whole(&shape), dst, &mut scratch).unwrap();
            });
        });
        group.throughput(Throughput::Elements(1));
        group
            .bench_function("find one, index read", |b| b.iter(|| find(&chain, &shape, &one, &object, None)));
        let known = find(&chain, &shape, &one, &object, None).unwrap();
        group.bench_function("find one, index known", |b| {
            b.iter(|| find(&chain, &shape, &one, &object, Some(&known)));
        });
        group.bench_function("find half, index known", |b| {
            let half = Region::new([0], [count / 2 * INNER]).unwrap();
            b.iter(|| find(&chain, &shape, &half, &object, Some(&known)));
        });
    }
}

/// Finds the inner chunks of a part, as an engine does before it reads them. Returns the decoded index.
fn find(chain: &Chain, shape: &[u64], part: &Region, object: &[u8], known: Option<&Known>) -> Option<Known> {
    let mut read = chain.partial(shape, part, FETCHING, known).unwrap().unwrap();
    while let Some(want) = read.wants().first() {
        let range = want.resolve(object.len() as u64).unwrap();
        let index = &object[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
        read.feed(&[index], Some(object.len() as u64)).unwrap();
    }
    let mut pieces = Vec::new();
    read.pieces(&mut pieces).unwrap();
    assert!(!pieces.is_empty());
    read.known()
}

criterion_group!(benches, index);
criterion_main!(benches);
