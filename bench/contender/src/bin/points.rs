//! `points write KIND OUT` makes the array of `bench/points/points.py`, `points read OUT` reads its points.
#![allow(clippy::print_stdout, reason = "the harness reads it")]

use std::time::Instant;

use anyhow::{Context, Result, bail};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, DataType, NdVec, Selection, codecs, standard};
use zarr_store_fs::FsStore;

/// Steps of time, and rows and columns of a global grid: 10 GiB of `float32`.
const SHAPE: [u64; 3] = [640, 2048, 2048];

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", kind, out] => write(kind, out),
        ["read", out] => read(out),
        _ => bail!("write KIND OUT, or read OUT"),
    }
}

fn write(kind: &str, out: &str) -> Result<()> {
    let builder = ArrayMeta::builder(SHAPE, DataType::Float32);
    let builder = match kind {
        "raw" => builder.chunks([16, 128, 128]).codecs([]),
        "zstd" => builder.chunks([16, 128, 128]).codecs([codecs::zstd(3)]),
        "shards" => builder.chunks([16, 64, 64]).shards([64, 512, 512]).codecs([codecs::zstd(3)]),
        _ => bail!("no kind {kind}"),
    };
    let array = Array::create(FsStore::create(out)?, "", builder.build()?, &standard())?;
    for first in (0..SHAPE[0]).step_by(64) {
        array.write(first..first + 64, &slab(first)?)?;
    }
    Ok(())
}

/// A field that changes slowly, and noise in steps of 1/8.
fn slab(first: u64) -> Result<NdVec<f32>> {
    let mut noise = first + 1;
    let mut values = Vec::new();
    for t in first..first + 64 {
        for y in 0..SHAPE[1] {
            for x in 0..SHAPE[2] {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let smooth = u16::try_from(t / 8 + y / 32 + x / 32)?;
                values.push(f32::from(smooth) + f32::from(u8::try_from(noise >> 61)?) / 8.0);
            }
        }
    }
    Ok(NdVec::new([64, SHAPE[1], SHAPE[2]], values)?)
}

fn read(out: &str) -> Result<()> {
    // The generator of points.py.
    let points = (0..1000_u64).map(|n| {
        let at = n.wrapping_mul(2_654_435_761) % (SHAPE[0] * SHAPE[1] * SHAPE[2] / 7);
        let place = at * 7;
        [place / (SHAPE[1] * SHAPE[2]), place / SHAPE[2] % SHAPE[1], place % SHAPE[2]]
    });
    let points: Vec<[u64; 3]> = points.collect();
    let (before, start) = (bytes_read()?, Instant::now());
    let array = Array::open(FsStore::open(out)?, "", &standard())?;
    let values = array.read::<f32>(Selection::points(points))?;
    let seconds = start.elapsed().as_secs_f64();
    let read = bytes_read()? - before;
    println!("{seconds} {} {read}", values.into_iter().map(f64::from).sum::<f64>());
    Ok(())
}

/// The bytes that this process has read.
fn bytes_read() -> Result<u64> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    Ok(line.context("no rchar")?.parse()?)
}
