//! `scaling [--quick]` measures how the cost of a chunk, of a small box and of a node changes with the size of the array,
//! of the shard and of the hierarchy. It needs no other implementation and no file.
//!
//! It prints one JSON object (`cargo xtask bench --page` draws it):
//!
//! ```json
//! {"scaling": {"version": "0.1.0", "processors": 2, "quick": false, "charts": [
//!     {"title": "…", "size": "chunks", "unit": "chunk", "lines": [{"name": "read", "threads": 1, "points": [
//!         {"size": 1000, "count": 1000, "secs": [0.001], "cpu": [0.001]}]}]}]}}
//! ```
//!
//! A point has the seconds of each repetition; `count` units of work were done in each. With `--quick` the sizes are small,
//! and all work is done once.
#![allow(clippy::print_stdout, reason = "the harness reads it")]

#[path = "../clock.rs"]
mod clock;

use std::thread;

use anyhow::{Context, Result, ensure};
use clock::timed;
use serde_json::{Value, json};
use zarr_array::blocking::Array;
use zarr_array::meta::NodeMeta;
use zarr_array::{ArrayMeta, ConsolidatedPolicy, Cpu, DataType, Limits, NdVec, Storage, standard};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{GroupOptions, UseConsolidated};
use zarr_store::MemoryStore;

/// The side of a chunk of two dimensions, in elements of two bytes.
const SIDE: u64 = 8;
/// The chunks in a row of chunks.
const ROW: u64 = 100;
/// The sides of a stored chunk, and of a small box, in elements of one byte.
const STORED: u64 = 256;
const BOX: u64 = 32;
/// The nodes below the root that belong to one group: the group, and arrays in it.
const FAMILY: u64 = 100;

fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let bench = Bench { quick };
    let charts = [bench.chunks()?, bench.inner_chunks()?, bench.boxes()?, bench.nodes()?];
    let processors = thread::available_parallelism()?.get();
    let version = env!("CARGO_PKG_VERSION");
    println!(
        "{}",
        json!({"scaling": {"version": version, "processors": processors, "quick": quick, "charts": charts}})
    );
    Ok(())
}

struct Bench {
    quick: bool,
}

impl Bench {
    /// Returns the sizes `smallest`, ten times as much, and so on: `steps` of them, or two small ones.
    fn sizes(&self, smallest: u64, steps: u32) -> Vec<u64> {
        if self.quick {
            vec![100, 1000]
        } else {
            (0..steps).map(|step| smallest * 10_u64.pow(step)).collect()
        }
    }

    /// Measures `work`, which does `count` units of work, until its time is known well enough.
    fn point(&self, size: u64, count: u64, mut work: impl FnMut() -> Result<()>) -> Result<Value> {
        let (mut secs, mut cpu) = (Vec::new(), Vec::new());
        loop {
            let (done, seconds, all) = timed(&mut work);
            done?;
            secs.push(seconds);
            cpu.push(all);
            let enough = secs.len() >= 50 || (secs.len() >= 3 && secs.iter().sum::<f64>() > 0.5);
            if self.quick || enough {
                return Ok(json!({"size": size, "count": count, "secs": secs, "cpu": cpu}));
            }
        }
    }

    /// All of an array of small uncompressed chunks, in memory.
    fn chunks(&self) -> Result<Value> {
        let (mut reads, mut writes) = (Lines::new("read all"), Lines::new("write all"));
        for count in self.sizes(1000, 4) {
            let meta = ArrayMeta::builder(grid(count), DataType::UInt16).chunks([SIDE, SIDE]).codecs([]);
            let array = create(meta.build()?)?;
            let values = values(count)?;
            for threads in [1, 2] {
                let array = array.clone().with_cpu(Cpu::threads(threads));
                writes.add(threads, self.point(count, count, || Ok(array.write(.., &values)?))?);
                reads.add(threads, self.point(count, count, || read_all(&array, &values))?);
            }
        }
        let lines = [reads.end(), writes.end()].concat();
        Ok(chart("Chunks of one array, in memory", "chunks of the array", "chunk", lines))
    }

    /// Small uncompressed inner chunks of one shard, in memory: all of them, and one of them.
    fn inner_chunks(&self) -> Result<Value> {
        let (mut reads, mut writes) = (Lines::new("read all"), Lines::new("write all"));
        let (mut again, mut first) = (Lines::new("read one"), Lines::new("open, read one"));
        for count in self.sizes(100, 5) {
            let meta = ArrayMeta::builder(grid(count), DataType::UInt16).chunks([SIDE, SIDE]);
            let array = create(meta.shards(grid(count)).codecs([]).build()?)?;
            let values = values(count)?;
            let one = |array: &Array, number: u64| {
                let number = number * 7919 % count;
                let (y, x) = (number / ROW * SIDE, number % ROW * SIDE);
                let read: NdVec<u16> = array.read([y..y + SIDE, x..x + SIDE])?;
                ensure!(read.as_slice().iter().all(|value| *value != 0), "inner chunk {number} is empty");
                Ok(())
            };
            for threads in [1, 2] {
                let all = array.clone().with_cpu(Cpu::threads(threads));
                writes.add(threads, self.point(count, count, || Ok(all.write(.., &values)?))?);
                reads.add(threads, self.point(count, count, || read_all(&all, &values))?);
                let many = if self.quick { 10 } else { 1000 };
                let warm = || share(threads, many, |number| one(&array, number));
                again.add(threads, self.point(count, many, warm)?);
                let few = 10;
                let cold = || {
                    share(threads, few, |number| {
                        one(&Array::open(array.storage().clone(), "/", &standard())?, number)
                    })
                };
                first.add(threads, self.point(count, few, cold)?);
            }
        }
        let lines = [reads.end(), writes.end(), again.end(), first.end()].concat();
        Ok(chart("Inner chunks of one shard, in memory", "inner chunks of the shard", "inner chunk", lines))
    }

    /// Small boxes of arrays of 1 MiB to 1 PiB, which store a few chunks.
    fn boxes(&self) -> Result<Value> {
        let (mut stored, mut missing) = (Lines::new("stored"), Lines::new("missing"));
        for bits in if self.quick { vec![10, 20] } else { vec![10, 15, 20, 25] } {
            let side = 1_u64 << bits;
            let meta = ArrayMeta::builder([side, side], DataType::UInt8).chunks([STORED, STORED]).codecs([]);
            let array = create(meta.build()?)?;
            let chunks = side / STORED;
            // A few chunks of the first column of chunks. The last column has none.
            let row = |number: u64| number % 4 * (chunks / 4) * STORED;
            for number in 0..4 {
                let values = vec![1_u8; usize::try_from(STORED * STORED)?];
                array.write([row(number)..row(number) + STORED, 0..STORED], &values)?;
            }
            let many = if self.quick { 10 } else { 1000 };
            for (lines, column, value) in [(&mut stored, 0, 1), (&mut missing, side - STORED, 0)] {
                let one = |number: u64| {
                    let (y, x) =
                        (row(number) + number * 31 % (STORED - BOX), column + number * 57 % (STORED - BOX));
                    let read: NdVec<u8> = array.read([y..y + BOX, x..x + BOX])?;
                    ensure!(read.as_slice().iter().all(|found| *found == value), "box {number} is wrong");
                    Ok(())
                };
                for threads in [1, 2] {
                    lines.add(threads, self.point(side * side, many, || share(threads, many, one))?);
                }
            }
        }
        let lines = [stored.end(), missing.end()].concat();
        Ok(chart("Boxes of 32 × 32 bytes, in memory", "bytes of the array", "box", lines))
    }

    /// Hierarchies of groups of 99 arrays each. One thread walks over all of it; two threads walk over half of the groups each.
    fn nodes(&self) -> Result<Value> {
        let (mut listed, mut consolidated) = (Lines::new("documents"), Lines::new("consolidated"));
        for count in self.sizes(1000, 3) {
            let storage = Storage::from(MemoryStore::new());
            let mut limits = Limits::default();
            limits.metadata_bytes = 1 << 30;
            let options = GroupOptions::new().consolidated(ConsolidatedPolicy::Keep).limits(limits);
            Group::create(storage.clone(), "/", &standard())?;
            let mut root = Group::open_with(storage.clone(), "/", &standard(), &options)?;
            let meta = ArrayMeta::builder([1000, 721, 1440], DataType::Float32).chunks([10, 100, 100]);
            let meta = NodeMeta::from(meta.dimension_names(["time", "y", "x"]).build()?);
            let name = |n: u64| format!("g{:04}/a{:02}", n / (FAMILY - 1), n % (FAMILY - 1));
            root.create_nodes((0..count / FAMILY * (FAMILY - 1)).map(|n| (name(n), meta.clone())))?;
            for (lines, uses) in
                [(&mut listed, UseConsolidated::Ignore), (&mut consolidated, UseConsolidated::Require)]
            {
                if uses == UseConsolidated::Require {
                    root.consolidate()?;
                }
                let options = options.clone().use_consolidated(uses);
                let open = || Group::open_with(storage.clone(), "/", &standard(), &options);
                let walk = || {
                    let nodes = open()?.walk().count();
                    ensure!(nodes as u64 == count, "{nodes} nodes instead of {count}");
                    Ok(())
                };
                lines.add(1, self.point(count, count, walk)?);
                let walks = || {
                    let root = open()?;
                    share(2, count / FAMILY, |number| {
                        let nodes = root.group(&format!("g{number:04}"))?.walk().count();
                        ensure!(nodes as u64 == FAMILY - 1, "{nodes} nodes in group {number}");
                        Ok(())
                    })
                };
                lines.add(2, self.point(count, count, walks)?);
            }
        }
        let lines = [listed.end(), consolidated.end()].concat();
        Ok(chart("Walks over a hierarchy, in memory", "nodes of the hierarchy", "node", lines))
    }
}

/// The lines of one kind of work, by the number of threads.
struct Lines {
    name: &'static str,
    points: [Vec<Value>; 2],
}

impl Lines {
    fn new(name: &'static str) -> Self {
        Self { name, points: Default::default() }
    }

    fn add(&mut self, threads: usize, point: Value) {
        eprintln!("{}, {threads} threads: {point}", self.name);
        self.points[threads - 1].push(point);
    }

    fn end(self) -> Vec<Value> {
        let line = |(threads, points)| json!({"name": self.name, "threads": threads, "points": points});
        (1..).zip(self.points).map(line).collect()
    }
}

fn chart(title: &str, size: &str, unit: &str, lines: Vec<Value>) -> Value {
    json!({"title": title, "size": size, "unit": unit, "lines": lines})
}

/// The shape of an array of `count` chunks.
fn grid(count: u64) -> [u64; 2] {
    [count / ROW * SIDE, ROW * SIDE]
}

/// Values that are not the fill value, for `count` chunks.
fn values(count: u64) -> Result<Vec<u16>> {
    (0..count * SIDE * SIDE).map(|n| Ok(u16::try_from(n % 60_000)? + 1)).collect()
}

fn create(meta: ArrayMeta) -> Result<Array> {
    Ok(Array::create(MemoryStore::new(), "/", meta, &standard())?)
}

fn read_all(array: &Array, values: &[u16]) -> Result<()> {
    let read: NdVec<u16> = array.read(..)?;
    let (last, expected) = (read.as_slice().last(), values.last());
    ensure!(last == expected && read.as_slice().len() == values.len(), "other values were read");
    Ok(())
}

/// Does the work of all numbers below `count` in some threads, the caller among them.
fn share(threads: usize, count: u64, work: impl Fn(u64) -> Result<()> + Sync) -> Result<()> {
    let part = |thread: usize| (thread as u64..count).step_by(threads).try_for_each(&work);
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || part(thread))).collect();
        let own = part(0);
        others.into_iter().try_for_each(|other| other.join().ok().context("a thread panicked")?)?;
        own
    })
}
