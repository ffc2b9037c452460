//! `strings NAMES OUT SHARDED`: what `bench/strings/strings.py` asks of every contender.
#![allow(clippy::print_stdout, reason = "the harness reads it")]

use std::time::Instant;

use anyhow::{Result, bail, ensure};
use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::{ArrayMeta, DataType, standard};
use zarr_store_fs::FsStore;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, names, out, sharded] = &args[..] else { bail!("NAMES OUT SHARDED") };
    let text = std::fs::read_to_string(names)?;
    let names: Vec<&str> = text.lines().collect();
    let n = names.len() as u64;
    let builder = ArrayMeta::builder([n], DataType::String).codecs([Extension::new("zstd").with("level", 3)]);
    let metadata = match sharded.as_str() {
        "true" => builder.shards([250_000]).chunks([2_500]),
        _ => builder.chunks([10_000]),
    };
    let array = Array::create(FsStore::create(out)?, "", metadata.build()?, &standard())?;
    let start = Instant::now();
    array.write(.., &names)?;
    print("write", start);
    let array = Array::open(FsStore::open(out)?, "", &standard())?;
    let start = Instant::now();
    let read = array.read::<String>(..)?;
    print("all", start);
    ensure!(read.as_slice() == names, "other names were read");
    let start = Instant::now();
    for i in 0..200 {
        let at = i * 7919 * 617 % (n - 10);
        let rows = array.read::<String>(at..at + 10)?;
        let expected = &names[usize::try_from(at)?..][..10];
        ensure!(rows.as_slice() == expected, "other rows were read");
    }
    print("rows", start);
    Ok(())
}

fn print(cell: &str, start: Instant) {
    println!("{cell} {}", start.elapsed().as_secs_f64() * 1e3);
}
