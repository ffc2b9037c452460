//! `strings NAMES OUT SHARDED`: what `bench/strings/strings.py` asks of every contender, with zarrs.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use zarrs::array::codec::ZstdCodec;
use zarrs::array::{Array, ArrayBuilder, ArraySubset, data_type};
use zarrs::filesystem::FilesystemStore;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, names, out, sharded] = &args[..] else { return Err("NAMES OUT SHARDED".into()) };
    let text = std::fs::read_to_string(names)?;
    let names: Vec<String> = text.lines().map(str::to_owned).collect();
    let n = names.len() as u64;
    let store = Arc::new(FilesystemStore::new(out)?);
    let chunk = if sharded == "true" { 250_000 } else { 10_000 };
    let mut builder = ArrayBuilder::new(vec![n], vec![chunk], data_type::string(), "");
    builder.bytes_to_bytes_codecs(vec![Arc::new(ZstdCodec::new(3, false))]);
    if sharded == "true" {
        builder.subchunk_shape(vec![2_500]);
    }
    let array = builder.build(store.clone(), "/")?;
    array.store_metadata()?;
    let all = ArraySubset::new_with_shape(vec![n]);
    // it takes the names as its own
    let given = names.clone();
    let start = Instant::now();
    array.store_array_subset(&all, given)?;
    println!("write {}", start.elapsed().as_secs_f64() * 1e3);
    let array = Array::open(store, "/")?;
    let start = Instant::now();
    let read: Vec<String> = array.retrieve_array_subset(&all)?;
    println!("all {}", start.elapsed().as_secs_f64() * 1e3);
    assert!(read == names);
    let start = Instant::now();
    for i in 0..200 {
        let at = i * 7_919 * 617 % (n - 10);
        let rows: Vec<String> = array.retrieve_array_subset(&ArraySubset::new_with_ranges(&[at..at + 10]))?;
        assert!(rows[..] == names[at as usize..][..10]);
    }
    println!("rows {}", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
