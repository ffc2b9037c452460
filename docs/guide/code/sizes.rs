//! Makes the numbers of the chapter on chunks, shards and codecs: `cargo run --release -p zarr-guide --bin guide-sizes`.
//!
//! One array of made-up temperatures, hours × latitudes × longitudes, is stored in several ways, in a bucket that lies in
//! memory. Counts and sizes are the same everywhere.

use std::sync::{Arc, Mutex};

use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::traits::json;
use zarr_array::{ArrayMeta, DataType, NdVec, Selection, Storage, codecs, standard};
use zarr_store::{Trace, Traced};
use zarr_store_object::{ObjectStorage, object_store::memory::InMemory};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const SHAPE: [u64; 3] = [720, 180, 360];

/// How an array is stored.
struct Layout {
    name: &'static str,
    chunks: [u64; 3],
    shards: Option<[u64; 3]>,
}

fn main() -> Result<()> {
    let values = weather()?;
    println!("{} bytes uncompressed\n", values.as_slice().len() * 4);
    let zstd = [codecs::zstd(3)];

    println!("reading");
    println!("{:<28}{:>8}{:>12}{:>26}{:>26}", "layout", "objects", "bytes", "one map", "one series");
    let mut writes = Vec::new();
    for layout in [
        Layout { name: "maps: 1 × 180 × 360", chunks: [1, 180, 360], shards: None },
        Layout { name: "series: 720 × 6 × 6", chunks: [720, 6, 6], shards: None },
        Layout { name: "boxes: 48 × 45 × 45", chunks: [48, 45, 45], shards: None },
        Layout { name: "small boxes: 24 × 15 × 15", chunks: [24, 15, 15], shards: None },
        Layout { name: "the same in shards", chunks: [24, 15, 15], shards: Some([360, 90, 90]) },
    ] {
        let array = store(&values, &layout, &zstd)?;
        let (objects, bytes) = stored(&array)?;
        let map = cost(&array, (100, .., ..))?;
        let series = cost(&array, (.., 90, 180))?;
        println!("{:<28}{objects:>8}{bytes:>12}{map:>26}{series:>26}", layout.name);
        writes.push((layout.name, write_map(&array)?));
    }

    println!("\nwriting one map that was read");
    for (name, cost) in writes {
        println!("{name:<28}{cost}");
    }

    println!("\n{:<60}{:>14}", "codecs, chunks of 48 × 45 × 45", "bytes");
    let boxes = Layout { name: "", chunks: [48, 45, 45], shards: None };
    let round = Extension::new("bitround").with("keepbits", 9);
    for (name, codecs) in [
        ("none", vec![]),
        ("gzip 6", vec![codecs::gzip(6)]),
        ("zstd 3", zstd.to_vec()),
        ("zstd 9", vec![codecs::zstd(9)]),
        ("blosc: lz4 5, shuffle", vec![blosc("lz4", "shuffle")]),
        ("blosc: zstd 5, shuffle", vec![blosc("zstd", "shuffle")]),
        ("blosc: zstd 5, bitshuffle", vec![blosc("zstd", "bitshuffle")]),
        ("bitround 9 bits, then blosc: zstd 5, shuffle", vec![round, blosc("zstd", "shuffle")]),
    ] {
        println!("{name:<60}{:>14}", stored(&store(&values, &boxes, &codecs)?)?.1);
    }
    Ok(())
}

fn blosc(name: &str, shuffle: &str) -> Extension {
    let configuration =
        [("cname", json!(name)), ("clevel", json!(5)), ("shuffle", json!(shuffle)), ("typesize", json!(4))];
    let blosc = configuration
        .into_iter()
        .fold(Extension::new("blosc"), |codec, (name, value)| codec.with(name, value));
    blosc.with("blocksize", 0)
}

/// Temperatures in K with a mean for each latitude, waves that move, days, and noise of the size of a sensor's.
fn weather() -> Result<NdVec<f32>> {
    let mut state = 1_u64;
    let mut values = Vec::with_capacity(720 * 180 * 360);
    for hour in 0..720_u16 {
        for lat in 0..180_u16 {
            for lon in 0..360_u16 {
                let (hour, lat, lon) = (f32::from(hour), f32::from(lat), f32::from(lon));
                let mean = 250.0 + 50.0 * (lat / 180.0 * std::f32::consts::PI).sin();
                let wave = 6.0 * ((lon + hour * 0.5) / 23.0 + lat / 31.0).sin();
                let day = 4.0 * ((hour / 24.0 + lon / 360.0) * std::f32::consts::TAU).sin();
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let noise = f32::from(u16::try_from(state >> 48)?) / 65536.0 * 0.1;
                values.push(mean + wave + day + noise);
            }
        }
    }
    Ok(NdVec::new(SHAPE, values)?)
}

/// Writes the values into a bucket in memory.
fn store(values: &NdVec<f32>, layout: &Layout, codecs: &[Extension]) -> Result<Array> {
    let mut meta = ArrayMeta::builder(SHAPE, DataType::Float32).chunks(layout.chunks).codecs(codecs.to_vec());
    if let Some(shards) = layout.shards {
        meta = meta.shards(shards);
    }
    let bucket = Storage::from(ObjectStorage::new(Arc::new(InMemory::new()))?);
    let array = Array::create(bucket, "/", meta.build()?, &standard())?;
    array.write(.., values)?;
    Ok(array)
}

/// The number of chunks or shards that are stored, and their bytes.
fn stored(array: &Array) -> Result<(usize, u64)> {
    let (mut objects, mut bytes) = (0, 0);
    let counts = array.chunk_counts();
    for number in 0..counts.iter().product::<u64>() {
        let index = [number / counts[2] / counts[1], number / counts[2] % counts[1], number % counts[2]];
        let key = array.chunk_key(&index)?;
        if let Some(object) = zarr_array::block_on(array.storage().get(&key, u64::MAX))? {
            objects += 1;
            bytes += object.len() as u64;
        }
    }
    Ok((objects, bytes))
}

/// The requests of a read, one for each range, and the bytes that it fetches.
fn cost(array: &Array, selection: impl Into<Selection>) -> Result<String> {
    let cost = array.explain(selection)?;
    Ok(format!("{} requests, {}", cost.ranges, cost.bytes))
}

/// Reads a map, writes it again, and returns what the store is asked for by the write.
fn write_map(array: &Array) -> Result<String> {
    let map: NdVec<f32> = array.read([100..101])?;
    let counts = Arc::new(Mutex::new([0_u64; 4]));
    let count = Arc::clone(&counts);
    let trace = Trace::new(move |request| {
        if let Ok(mut counts) = count.lock() {
            let at = if request.method == "PUT" { 2 } else { 0 };
            counts[at] += 1;
            counts[at + 1] += request.received + request.sent;
        }
    });
    let traced = Array::open(Traced::over(array.storage(), trace), "/", &standard())?;
    let opening = counts.lock().map_or([0; 4], |counts| *counts);
    traced.write([100..101], &map)?;
    let done = counts.lock().map_or([0; 4], |counts| *counts);
    let [reads, read, puts, put] = [0, 1, 2, 3].map(|at| done[at] - opening[at]);
    Ok(format!("{reads:>5} reads of {read:>10} bytes, {puts:>5} puts of {put:>10} bytes"))
}
