//! The cost of a call per chunk, without the work of codecs: selections are cut into chunks, and the chunks are missing.
#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, Cpu, DataType, Selection, standard};
use zarr_store::MemoryStore;

/// The side of an array of 1,000 × 1,000 chunks.
const SIDE: u64 = 8000;

/// Creates an array that stores no chunk.
fn array(meta: ArrayMeta) -> Array {
    Array::create(MemoryStore::new(), "/", meta, &standard()).unwrap().with_cpu(Cpu::inline())
}

fn plan(c: &mut Criterion) {
    let meta = ArrayMeta::builder([SIDE, SIDE], DataType::UInt16).chunks([8, 8]).build().unwrap();
    let plain = array(meta);
    let meta = ArrayMeta::builder([SIDE, SIDE], DataType::UInt16).chunks([8, 8]).shards([800, 800]);
    let sharded = array(meta.build().unwrap());
    let diagonal = (0..SIDE).step_by(80).map(|at| [at, at]);
    let selections: [(&str, Selection, u64); 4] = [
        ("1 chunk", Selection::from([3..6, 7990..7995]), 1),
        ("100 chunks", Selection::from([76..156, 76..156]), 121),
        ("10000 chunks", Selection::from([0..800, 0..800]), 10_000),
        ("100 points", Selection::points(diagonal), 100),
    ];
    for (name, selection, chunks) in selections {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(chunks));
        for (kind, array) in [("chunks", &plain), ("shards", &sharded)] {
            group.bench_function(format!("{kind}, explain"), |b| {
                b.iter(|| black_box(array.explain(selection.clone()).unwrap()));
            });
            group.bench_function(format!("{kind}, read"), |b| {
                b.iter(|| black_box(array.read::<u16>(selection.clone()).unwrap()));
            });
        }
    }
    c.bench_function("10000 chunks/selections of them", |b| {
        b.iter(|| black_box(plain.chunks([0..800, 0..800]).unwrap().count()));
    });
}

criterion_group!(benches, plan);
criterion_main!(benches);
