//! Transposes: squares of each element size, permuted volumes, compared with `ndarray` and `memcpy`.
#![allow(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "benches use small numbers and panic on failure"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndarray::{ArrayView2, ArrayView3, ArrayViewMut2, ArrayViewMut3};
use zarr_strided::{Destination, Plain, Source, Swap, zeroed};

fn square<T: Plain>(c: &mut Criterion, name: &str, sides: &[usize]) {
    for &n in sides {
        let shape = [n as u64; 2];
        let from: Vec<T> = zeroed::<T>(n * n).unwrap();
        let mut out: Vec<T> = zeroed(n * n).unwrap();
        let mut group = c.benchmark_group(format!("transpose/{name}/{n}"));
        group.throughput(Throughput::Bytes((n * n * size_of::<T>()) as u64));
        let swaps = [("strided", Swap::NONE), ("swapped", Swap::units(size_of::<T>()).unwrap())];
        for (name, swap) in swaps {
            group.bench_function(name, |b| {
                b.iter(|| {
                    let source = Source::of(&from, &shape).unwrap().permute(&[1, 0]).unwrap();
                    Destination::of(&mut out, &shape).unwrap().put(source, swap).unwrap();
                });
            });
        }
        group.bench_function("ndarray", |b| {
            let from = ArrayView2::from_shape((n, n), &from).unwrap();
            b.iter(|| ArrayViewMut2::from_shape((n, n), &mut out).unwrap().assign(&from.t()));
        });
        group.bench_function("memcpy", |b| {
            b.iter(|| black_box(&mut out[..]).copy_from_slice(black_box(&from)));
        });
    }
}

fn squares(c: &mut Criterion) {
    square::<u16>(c, "u16", &[1000, 1024, 4096]);
    square::<u8>(c, "u8", &[1024, 4096]);
    square::<u32>(c, "u32", &[1024, 4096]);
    square::<u64>(c, "u64", &[1024, 2048]);
    square::<u128>(c, "u128", &[1024]);
}

/// Volumes in every order of axes, such as a chunk in Fortran order or with its channels first.
fn volume(c: &mut Criterion) {
    for shape in [[128u64, 128, 128], [512, 512, 3]] {
        for order in [[2u64, 1, 0], [2, 0, 1], [1, 0, 2], [0, 2, 1]] {
            let len = shape.iter().product::<u64>() as usize;
            let from: Vec<u16> = zeroed(len).unwrap();
            let mut out: Vec<u16> = zeroed(len).unwrap();
            let to = order.map(|dim| shape[dim as usize]);
            let mut group = c.benchmark_group(format!("volume/u16/{shape:?}/{order:?}"));
            group.throughput(Throughput::Bytes(2 * len as u64));
            group.bench_function("strided", |b| {
                b.iter(|| {
                    let source = Source::of(&from, &shape).unwrap().permute(&order).unwrap();
                    Destination::of(&mut out, &to).unwrap().put(source, Swap::NONE).unwrap();
                });
            });
            group.bench_function("ndarray", |b| {
                let from = ArrayView3::from_shape(shape.map(|n| n as usize), &from).unwrap();
                let from = from.permuted_axes(order.map(|n| n as usize));
                b.iter(|| {
                    ArrayViewMut3::from_shape(to.map(|n| n as usize), &mut out).unwrap().assign(&from);
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .sample_size(15);
    targets = squares, volume
}
criterion_main!(benches);
