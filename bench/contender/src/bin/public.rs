//! The programs that `bench/public/run.py` asks of this project, in the words of the public harness.
//!
//! - `public write KIND SHAPE OUT` makes an array of the harness: `raw`, `blosc` or `shards`, of a shape such as `512,1024,1024`.
//! - `public read STORE` reads it into memory; `public read N STORE` reads its chunks with N threads, each one at a time.
//! - `public reencode STORE OUT` decodes each chunk, and encodes it again in a new array.

use std::sync::Mutex;
use std::thread;

use anyhow::{Result, bail, ensure};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, Chunk, DataType, NdVec, codecs, standard};
use zarr_store_fs::FsStore;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", kind, shape, out] => write(kind, shape, out),
        ["read", store] => {
            let values: NdVec<u16> = open(store)?.read(..)?;
            ensure!(!values.as_slice().is_empty(), "the array is empty");
            Ok(())
        }
        ["read", threads, store] => {
            let array = open(store)?;
            each_chunk(&array, threads.parse()?, |chunk| {
                array.read::<u16>(chunk)?;
                Ok(())
            })
        }
        ["reencode", store, out] => {
            let array = open(store)?;
            let new = Array::create(FsStore::create(out)?, "", array.metadata().clone(), &standard())?;
            let threads = thread::available_parallelism().map_or(1, usize::from);
            each_chunk(&array, threads, |chunk| Ok(new.write(chunk, &array.read::<u16>(chunk)?)?))
        }
        _ => bail!("write KIND SHAPE OUT, read STORE, read N STORE, or reencode STORE OUT"),
    }
}

fn open(store: &str) -> Result<Array> {
    Ok(Array::open(FsStore::open(store)?, "", &standard())?)
}

/// Calls `work` for each chunk, from so many threads.
fn each_chunk(array: &Array, threads: usize, work: impl Fn(&Chunk) -> Result<()> + Sync) -> Result<()> {
    let chunks = Mutex::new(array.chunks(..)?);
    let next = || chunks.lock().expect("no thread panics while it takes a chunk").next();
    let worker = || -> Result<()> {
        while let Some(chunk) = next() {
            work(&chunk)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })
}

/// Writes the values of the harness: an element is `x + y² / 32 + z³`, modulo 2^16.
fn write(kind: &str, shape: &str, out: &str) -> Result<()> {
    let shape: Vec<u64> = shape.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let [depth, height, width] = shape[..] else { bail!("the shape has three lengths") };
    let blosc = codecs::blosc("blosclz", 9).with("shuffle", "bitshuffle");
    let builder = ArrayMeta::builder([depth, height, width], DataType::UInt16);
    let builder = match kind {
        "raw" => builder.chunks([256; 3]).codecs([]),
        "blosc" => builder.chunks([256; 3]).codecs([blosc]),
        "shards" => builder.chunks([32; 3]).shards([256; 3]).codecs([blosc]),
        _ => bail!("no kind {kind}"),
    };
    let array = Array::create(FsStore::create(out)?, "", builder.build()?, &standard())?;
    for first in (0..depth).step_by(256) {
        let slab = first..depth.min(first + 256);
        let rows = slab.clone().flat_map(|z| (0..height).map(move |y| y * y / 32 + z * z * z));
        #[allow(clippy::cast_possible_truncation, reason = "modulo 2^16")]
        let values: Vec<u16> = rows.flat_map(|start| (0..width).map(move |x| (start + x) as u16)).collect();
        array.write(slab, &values)?;
    }
    Ok(())
}
