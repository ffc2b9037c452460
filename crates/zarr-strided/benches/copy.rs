//! Gathers of runs, whole copies, byte swaps and fills, compared with `ndarray` and `memcpy`.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "benches use small numbers and panic on failure"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndarray::{Array3, ArrayView3, ArrayViewMut3, s};
use zarr_strided::{Destination, Source, Swap, bytes_of_mut, zeroed};

/// A box of runs in a volume: `run` bytes of every 2 `run`, every second row.
fn gather(c: &mut Criterion) {
    for (name, total) in [("2MiB", 2usize << 20), ("64MiB", 64 << 20)] {
        for run in [8usize, 16, 64, 512] {
            let columns = run / 2;
            let rows = 64;
            let planes = total / 2 / (2 * columns * 2 * rows);
            let shape = [planes, 2 * rows, 2 * columns];
            let values: Vec<u16> = (0..shape.iter().product()).map(|i: usize| i as u16).collect();
            let part = [planes as u64, rows as u64, columns as u64];
            let at = [0, 31, columns as u64 / 2];
            let mut out: Vec<u16> = zeroed(planes * rows * columns).unwrap();
            let mut group = c.benchmark_group(format!("gather/{name}/{run}"));
            group.throughput(Throughput::Bytes((out.len() * 2) as u64));

            let whole = Source::of(&values, &shape.map(|n| n as u64)).unwrap();
            group.bench_function("strided", |b| {
                b.iter(|| {
                    let source = whole.sub(&at, &part).unwrap();
                    Destination::of(&mut out, &part).unwrap().put(source, Swap::NONE).unwrap();
                });
            });
            group.bench_function("swapped", |b| {
                b.iter(|| {
                    let source = whole.sub(&at, &part).unwrap();
                    Destination::of(&mut out, &part).unwrap().put(source, Swap::units(2).unwrap()).unwrap();
                });
            });
            group.bench_function("ndarray", |b| {
                let from = ArrayView3::from_shape(shape, &values).unwrap();
                let from = from.slice(s![.., 31..31 + rows, columns / 2..columns / 2 + columns]);
                b.iter(|| {
                    ArrayViewMut3::from_shape((planes, rows, columns), &mut out).unwrap().assign(&from);
                });
            });
            group.bench_function("runs", |b| {
                b.iter(|| {
                    for (i, to) in out.chunks_exact_mut(columns).enumerate() {
                        let row = i / rows * 2 * rows + i % rows + 31;
                        to.copy_from_slice(&values[row * 2 * columns + columns / 2..][..columns]);
                    }
                });
            });
            group.bench_function("memcpy", |b| {
                let from = &values[..out.len()];
                b.iter(|| black_box(&mut out[..]).copy_from_slice(black_box(from)));
            });
        }
    }
}

/// Whole arrays: plain, and with the bytes of each unit reversed.
fn whole(c: &mut Criterion) {
    for (name, len) in [("256KiB", 256usize << 10), ("64MiB", 64 << 20)] {
        let from: Vec<u8> = (0..len).map(|i| i as u8).collect();
        let mut out: Vec<u8> = zeroed(len).unwrap();
        let mut group = c.benchmark_group(format!("whole/{name}"));
        group.throughput(Throughput::Bytes(len as u64));
        for unit in [1, 2, 4, 8, 16] {
            let swap = Swap::units(unit).unwrap();
            let shape = [(len / 16) as u64];
            group.bench_function(format!("swap{unit}"), |b| {
                b.iter(|| {
                    let source = Source::dense(&from, &shape, 16).unwrap();
                    Destination::dense(&mut out, &shape, 16).unwrap().put(source, swap).unwrap();
                });
            });
        }
        group.bench_function("memcpy", |b| {
            b.iter(|| black_box(&mut out[..]).copy_from_slice(black_box(&from)));
        });
    }
}

/// Filling, and testing for a fill.
fn fill(c: &mut Criterion) {
    let mut values = Array3::<f32>::zeros((16, 256, 256));
    let bytes = bytes_of_mut(values.as_slice_mut().unwrap());
    let (shape, part) = ([16, 256, 256], [16, 200, 100]);
    let mut group = c.benchmark_group("fill/4MiB");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    for (name, element) in [("zero", [0; 4]), ("value", 1.5f32.to_ne_bytes())] {
        group.bench_function(name, |b| {
            b.iter(|| Destination::dense(bytes, &shape, 4).unwrap().fill(&element).unwrap());
        });
        group.bench_function(format!("is_{name}"), |b| {
            b.iter(|| assert!(Source::dense(bytes, &shape, 4).unwrap().is_filled_with(&element)));
        });
        group.bench_function(format!("is_{name}_box"), |b| {
            let part = Source::dense(bytes, &shape, 4).unwrap().sub(&[0, 3, 5], &part).unwrap();
            b.iter(|| assert!(part.is_filled_with(&element)));
        });
    }
}

/// The cost of a copy before it moves a byte.
fn small(c: &mut Criterion) {
    let from = vec![1u8; 1 << 12];
    let mut out = vec![0u8; 1 << 12];
    let whole = Source::dense(&from, &[16, 16, 16], 1).unwrap();
    c.bench_function("small/8x8x8", |b| {
        b.iter(|| {
            let to = Destination::dense(&mut out, &[16, 16, 16], 1).unwrap();
            let source = whole.sub(&[1, 2, 3], &[8, 8, 8]).unwrap();
            to.sub(&[2, 2, 2], &[8, 8, 8]).unwrap().put(source, Swap::NONE).unwrap();
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .sample_size(15);
    targets = whole, gather, fill, small
}
criterion_main!(benches);
