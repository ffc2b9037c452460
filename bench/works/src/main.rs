//! `bench-works` prints the names of small works, and `bench-works NAME COUNT` does one of them `COUNT` times: calls that a user makes in
//! a loop, on one thread and in memory. `cargo xtask works` counts the instructions of each.
#![allow(clippy::print_stdout, reason = "the names")]

use std::hint::black_box;

use anyhow::{Context as _, Result};
use zarr_array::blocking::Array;
use zarr_array::meta::json::Object;
use zarr_array::{
    ArrayMeta, ChunkCache, Cpu, DataType, NdVec, Registry, Selection, Storage, codecs, standard,
};
use zarr_hierarchy::blocking::Group;
use zarr_store::MemoryStore;

/// A work: its name, and what does it so many times.
type Work = (&'static str, fn(u64) -> Result<()>);

const WORKS: [Work; 14] = [
    ("open", open),
    ("open-attributes", open_attributes),
    ("open-member", open_member),
    ("open-group", open_group),
    ("children", children),
    ("read-element", |count| read(&raw()?, (5, 7), count)),
    ("read-row", |count| read(&raw()?, (3, 0..256), count)),
    ("read-chunk", |count| read(&zstd()?, (0..32, 0..32), count)),
    ("read-cached", |count| read(&cached()?, (0..32, 0..32), count)),
    ("read-inner", |count| read(&shards()?, (0..8, 0..8), count)),
    ("read-points", |count| read(&raw()?, points(), count)),
    ("read-lists", |count| read(&raw()?, Selection::from((vec![1_u64, 40, 41], vec![0_u64, 5, 90])), count)),
    ("write-chunk", |count| write(&zstd()?, (0..32, 0..32), &NdVec::new([32, 32], vec![1.5; 1024])?, count)),
    ("write-element", |count| write(&raw()?, (5, 7), &NdVec::new([], vec![1.5])?, count)),
];

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let Some(name) = args.next() else {
        WORKS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    let (_, work) =
        WORKS.iter().find(|(known, _)| *known == name).with_context(|| format!("no work {name}"))?;
    work(args.next().context("bench-works NAME COUNT")?.parse()?)
}

fn storage() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    // More threads would make the counts depend on their turns.
    Cpu::inline().use_for(&storage);
    storage
}

fn builder() -> zarr_array::meta::ArrayBuilder {
    ArrayMeta::builder([256, 256], DataType::Float32).chunks([64, 64])
}

/// An array of numbers that zstd makes smaller.
fn filled(meta: ArrayMeta) -> Result<Array> {
    let array = Array::create(storage(), "/a", meta, &standard())?;
    let values: Vec<f32> =
        (0..=255_u8).flat_map(|row| (0..=255_u8).map(move |n| f32::from(row ^ n))).collect();
    array.write(.., &NdVec::new([256, 256], values)?)?;
    Ok(array)
}

fn raw() -> Result<Array> {
    filled(builder().codecs([]).build()?)
}

fn zstd() -> Result<Array> {
    filled(builder().chunks([32, 32]).codecs([codecs::zstd(3)]).build()?)
}

fn cached() -> Result<Array> {
    Ok(zstd()?.with_chunk_cache(ChunkCache::new(1 << 20)))
}

fn shards() -> Result<Array> {
    filled(builder().chunks([8, 8]).shards([64, 64]).codecs([]).build()?)
}

fn points() -> Selection {
    Selection::points((0..100_u64).map(|n| [n * 41 % 256, n * 97 % 256]).collect::<Vec<_>>())
}

fn read(array: &Array, selection: impl Into<Selection>, count: u64) -> Result<()> {
    let selection = selection.into();
    for _ in 0..count {
        black_box(array.read::<f32>(selection.clone())?);
    }
    Ok(())
}

fn write(array: &Array, selection: impl Into<Selection>, values: &NdVec<f32>, count: u64) -> Result<()> {
    let selection = selection.into();
    for _ in 0..count {
        array.write(selection.clone(), values)?;
    }
    Ok(())
}

fn open(count: u64) -> Result<()> {
    let storage = storage();
    Array::create(storage.clone(), "/a", builder().build()?, &standard())?;
    for _ in 0..count {
        black_box(Array::open(storage.clone(), "/a", &standard())?);
    }
    Ok(())
}

/// Opens an array with a thousand attributes, and reads none of them.
fn open_attributes(count: u64) -> Result<()> {
    let storage = storage();
    let attributes: Object = (0..1000).map(|n| (format!("attribute {n}"), n)).collect();
    Array::create(storage.clone(), "/a", builder().attributes(attributes).build()?, &standard())?;
    for _ in 0..count {
        black_box(Array::open(storage.clone(), "/a", &standard())?);
    }
    Ok(())
}

/// A group of a hundred arrays, with consolidated metadata.
fn hierarchy(registry: &Registry) -> Result<Storage> {
    let storage = storage();
    let mut group = Group::create(storage.clone(), "/", registry)?;
    for number in 0..100 {
        group.create_array(&format!("v{number}"), builder().build()?)?;
    }
    group.consolidate()?;
    Ok(storage)
}

fn open_group(count: u64) -> Result<()> {
    let storage = hierarchy(&standard())?;
    for _ in 0..count {
        black_box(Group::open(storage.clone(), "/", &standard())?);
    }
    Ok(())
}

fn open_member(count: u64) -> Result<()> {
    let group = Group::open(hierarchy(&standard())?, "/", &standard())?;
    for _ in 0..count {
        black_box(group.array("v50")?);
    }
    Ok(())
}

fn children(count: u64) -> Result<()> {
    let group = Group::open(hierarchy(&standard())?, "/", &standard())?;
    for _ in 0..count {
        black_box(group.children()?);
    }
    Ok(())
}
