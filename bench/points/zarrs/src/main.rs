//! `points-with-zarrs read OUT`: what `bench/points/points.py` asks of every contender. zarrs has no selection of points, so
//! it reads each point as a region, from all threads.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use zarrs::array::{Array, ArraySubset};
use zarrs::filesystem::FilesystemStore;

const SHAPE: [u64; 3] = [640, 2048, 2048];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, _, out] = &args[..] else { return Err("read OUT".into()) };
    let points = (0..1000_u64).map(|n| {
        let place = n.wrapping_mul(2_654_435_761) % (SHAPE[0] * SHAPE[1] * SHAPE[2] / 7) * 7;
        [place / (SHAPE[1] * SHAPE[2]), place / SHAPE[2] % SHAPE[1], place % SHAPE[2]]
    });
    let points: Vec<[u64; 3]> = points.collect();
    let (before, start) = (bytes_read()?, Instant::now());
    let array = Array::open(Arc::new(FilesystemStore::new(out)?), "/")?;
    let values: Result<Vec<f32>, _> = points
        .par_iter()
        .map(|[t, y, x]| {
            let subset = ArraySubset::new_with_ranges(&[*t..t + 1, *y..y + 1, *x..x + 1]);
            array.retrieve_array_subset::<Vec<f32>>(&subset).map(|values| values[0])
        })
        .collect();
    let values = values?;
    let seconds = start.elapsed().as_secs_f64();
    let read = bytes_read()? - before;
    println!("{seconds} {} {read}", values.into_iter().map(f64::from).sum::<f64>());
    Ok(())
}

/// The bytes that this process has read.
fn bytes_read() -> Result<u64, Box<dyn Error>> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    Ok(line.ok_or("no rchar")?.parse()?)
}
