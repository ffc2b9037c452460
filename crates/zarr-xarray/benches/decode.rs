//! The time per element of decoding, beside a copy of the result in the same run.
//!
//! `cargo bench -p zarr-xarray --bench decode [-- NAME]`, where NAME is a part of the names of rows. Each figure is the median of paired runs: a copy, then the work. The bounds are those
//! that the crate was written for; they are printed, not checked, because a busy machine exceeds any bound. Without
//! `--bench`, as in `cargo test --bench decode`, each work is done once.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "this is a program for people")]

use std::hint::black_box;
use std::time::Instant;

use zarr_hierarchy::zarr_array::traits::Scratch;
use zarr_hierarchy::zarr_array::traits::codec::with_runs;
use zarr_hierarchy::zarr_array::traits::strided::{Destination, Source, Swap, zeroed};
use zarr_hierarchy::zarr_array::{Cpu, DataType, Storage, standard};
use zarr_hierarchy::{ArrayMeta, blocking::Group};
use zarr_meta::json;
use zarr_meta::v3::Extension;
use zarr_store::MemoryStore;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::kernel::{Packing, TimeCoding};
use zarr_xarray::{
    Calendar, Index, IndexValues, Label, Method, NumberType, Scalar, StoredCounts, TimeUnit, TimeUnits,
    Times, decode_times,
};

const COUNT: usize = 1 << 22;

/// How often work is done to measure it.
fn runs(many: usize) -> usize {
    if std::env::args().any(|arg| arg == "--bench") { many } else { 1 }
}

fn main() {
    let numbers: Vec<u8> =
        (0..COUNT * 4).map(|n| u8::try_from(n.wrapping_mul(2_654_435_761) >> 13 & 0xFF).unwrap()).collect();
    let (int16, float32) = (&numbers[..COUNT * 2], &numbers[..COUNT * 4]);
    println!("{:<44} {:>9} {:>9} {:>7} {:>7}", "", "ns", "copy ns", "ratio", "bound");
    kernels(int16, float32);
    strided(int16);
    reads();
    times();
    selections();
}

/// Prints the median time per element of `work` and of a copy of 8 bytes an element, and the median of their ratios.
fn paired(name: &str, bound: f64, mut work: impl FnMut()) {
    let mut parts = std::env::args().skip(1).filter(|part| !part.starts_with('-')).peekable();
    if parts.peek().is_some() && !parts.any(|part| name.contains(&part)) {
        return;
    }
    let from = vec![1_u8; COUNT * 8];
    let mut to = vec![0_u8; COUNT * 8];
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for _ in 0..runs(15) {
        let copy = nanoseconds(|| black_box(&mut to).copy_from_slice(black_box(&from)));
        rows.push((nanoseconds(&mut work), copy));
    }
    let median = |of: fn(&(f64, f64)) -> f64| {
        let mut all: Vec<f64> = rows.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let per = COUNT as f64;
    let [work, copy, ratio] = [median(|r| r.0) / per, median(|r| r.1) / per, median(|r| r.0 / r.1)];
    println!("{name:<44} {work:>9.3} {copy:>9.3} {ratio:>7.2} {bound:>7.2}");
}

fn nanoseconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}

fn packing(stored: NumberType, missing: &[i128], scaled: bool, decoded: NumberType) -> Packing {
    let missing = missing.iter().map(|n| Scalar::Integer(*n)).collect();
    let (scale, offset) = if scaled { (Some(0.01), Some(200.0)) } else { (None, None) };
    Packing::plain(stored).missing(missing).scale(scale).offset(offset).decoded(decoded)
}

fn kernels(int16: &[u8], float32: &[u8]) {
    use NumberType::{Float32, Float64, Int16};
    let mut dst = vec![0_u8; COUNT * 8];
    for (name, bound, packing, src) in [
        ("int16, fill, scale, offset to float64", 0.75, packing(Int16, &[-9], true, Float64), int16),
        ("int16, two missing values to float64", 1.0, packing(Int16, &[-9, -8], true, Float64), int16),
        ("int16, fill to float32", 0.4, packing(Int16, &[-9], false, Float32), int16),
        ("float32, fill", 0.5, packing(Float32, &[-9], false, Float32), float32),
    ] {
        let dst = &mut dst[..COUNT * packing.decoded.size()];
        paired(name, bound, || packing.decode(black_box(src), black_box(&mut *dst)).unwrap());
    }
}

/// Decodes 256 chunks into their places in an image, as a read of uncompressed chunks does.
fn strided(int16: &[u8]) {
    let packing = packing(NumberType::Int16, &[-9], true, NumberType::Float64);
    let (mut image, mut scratch) = (vec![0.0_f64; COUNT], Scratch::new());
    let floats = vec![1.0_f64; COUNT];
    paired("copy of float64, chunks of 128 x 128 into an image", 1.25, || {
        for (number, chunk) in (0_u64..).zip(black_box(&floats).chunks(128 * 128)) {
            let dst = Destination::of(&mut image, &[2048, 2048]).unwrap();
            let mut dst = dst.sub(&[number / 16 * 128, number % 16 * 128], &[128, 128]).unwrap();
            dst.put(Source::of(chunk, &[128, 128]).unwrap(), Swap::NONE).unwrap();
        }
        black_box(&mut image);
    });
    paired("the same, chunks of 128 x 128 into an image", 1.25, || {
        for (number, chunk) in (0_u64..).zip(black_box(int16).chunks(128 * 128 * 2)) {
            let dst = Destination::of(&mut image, &[2048, 2048]).unwrap();
            let dst = dst.sub(&[number / 16 * 128, number % 16 * 128], &[128, 128]).unwrap();
            let src = Source::dense(chunk, &[128, 128], 2).unwrap();
            let decode = |src: &[u8], dst: &mut [u8], _: &mut Scratch| {
                packing.decode(src, dst).unwrap();
                Ok(())
            };
            with_runs(&src, dst, &mut scratch, decode).unwrap();
        }
        black_box(&mut image);
    });
}

/// Reads of 4 Mi packed elements in 256 chunks, on the threads of the store. The result is new memory, and so is that of its copy.
fn reads() {
    let bytes = Extension::new("bytes").with("endian", "little");
    let zstd = Extension::new("zstd").with("level", 1).with("checksum", false);
    for (name, codecs) in [("uncompressed", vec![bytes.clone()]), ("zstd", vec![bytes, zstd])] {
        let storage = Storage::from(MemoryStore::new());
        let root = Group::create(storage.clone(), "/", &standard()).unwrap();
        let attributes = json!({ "scale_factor": 0.01, "add_offset": 200.0, "missing_value": -9 });
        let meta = ArrayMeta::builder([2048, 2048], DataType::Int16).chunks([128, 128]).codecs(codecs);
        let meta = meta.dimension_names(["y", "x"]).attributes(attributes).build().unwrap();
        let array = root.create_array("v", meta).unwrap();
        let values: Vec<i16> = (0..COUNT).map(|n| i16::try_from(n % 1009).unwrap()).collect();
        array.write(.., &values).unwrap();
        let group = Group::open(storage, "/", &standard()).unwrap();
        let variable = Dataset::open(group).unwrap().variable("v").unwrap();
        let raw = array.with_cpu(Cpu::inline());
        let from = vec![1.0; COUNT];
        paired(&format!("copy to new memory, {name}"), 1.0, || {
            let mut to = zeroed::<f64>(COUNT).unwrap();
            to.copy_from_slice(black_box(&from));
            black_box(to);
        });
        paired(&format!("read of int16 as stored, {name}"), 1.0, || {
            drop(black_box(raw.read::<i16>(..).unwrap()))
        });
        paired(&format!("read to float64, {name}"), 1.25, || {
            drop(black_box(variable.read::<f64>().unwrap()))
        });
    }
}

fn times() {
    let counts: Vec<i32> = (0..COUNT).map(|n| i32::try_from(n % 40_000).unwrap()).collect();
    let stored: Vec<u8> = counts.iter().flat_map(|n| n.to_ne_bytes()).collect();
    let wide: Vec<i64> = counts.iter().map(|n| i64::from(*n)).collect();
    let mut dst = vec![0_u8; COUNT * 8];
    for calendar in [Calendar::Standard, Calendar::NoLeap] {
        let units = TimeUnits::parse("days since 1900-01-01", calendar, &mut Vec::new()).unwrap();
        let packing = packing(NumberType::Int32, &[-9], false, NumberType::Float64);
        let coding =
            TimeCoding::times(packing, &units, TimeUnit::Nanoseconds, TimeUnit::Nanoseconds).unwrap();
        let name = calendar.name();
        paired(&format!("int32 to ticks, {name} (bound 1.5 ns)"), f64::NAN, || {
            coding.decode(black_box(&stored), black_box(&mut dst)).unwrap();
        });
        paired(&format!("axis of int64 to times, {name}"), f64::NAN, || {
            drop(black_box(
                decode_times(StoredCounts::Integers(&wide), &units, TimeUnit::Nanoseconds).unwrap(),
            ));
        });
        let times = decode_times(StoredCounts::Integers(&wide), &units, TimeUnit::Nanoseconds).unwrap();
        paired(&format!("times to fields, {name} (bound 15 ns)"), f64::NAN, || {
            let days: u64 = times.iter().flatten().map(|time| u64::from(time.date.day)).sum();
            black_box(days);
        });
    }
}

/// Selections on an index of 100,000 times.
fn selections() {
    let hours = (0..100_000_i64).map(|n| n * 3600).collect();
    let index = Index::new(IndexValues::Times(Times::new(Calendar::Standard, TimeUnit::Seconds, hours)));
    let (from, to) = (Label::from("1975-03"), Label::from("1977-02-03T05"));
    let median = |work: &mut dyn FnMut()| {
        let mut all: Vec<f64> = (0..runs(1001)).map(|_| nanoseconds(&mut *work) / 1000.0).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let range = median(&mut || {
        black_box(index.between(&from, &to).unwrap());
    });
    println!("range of 100,000 times: {range:.2} µs (bound 10)");
    let near = Label::from("1975-03-04T05:06");
    let nearest = median(&mut || {
        black_box(index.find_near(&near, Method::Nearest, None).unwrap());
    });
    println!("nearest of 100,000 times: {nearest:.2} µs (bound 10)");
}
