//! What every contender of the benchmark harness agrees on: arguments, random boxes, report.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::clock::timed;

/// `OP --key value …`; unknown keys are ignored.
pub(crate) struct Args {
    pub(crate) op: String,
    map: BTreeMap<String, String>,
}

impl Args {
    pub(crate) fn parse() -> Self {
        let mut words = std::env::args().skip(1);
        let op = words.next().unwrap_or_default();
        let mut map = BTreeMap::new();
        while let Some(key) = words.next() {
            map.insert(key.trim_start_matches("--").to_owned(), words.next().unwrap_or_default());
        }
        Self { op, map }
    }

    pub(crate) fn optional(&self, key: &str) -> Option<&str> {
        self.map.get(key).map(String::as_str)
    }

    pub(crate) fn text(&self, key: &str) -> Result<&str> {
        self.optional(key).with_context(|| format!("--{key} is missing"))
    }

    pub(crate) fn number(&self, key: &str, default: u64) -> Result<u64> {
        self.optional(key).map_or(Ok(default), |v| v.parse().with_context(|| format!("--{key} is no number")))
    }

    pub(crate) fn list(&self, key: &str) -> Result<Vec<u64>> {
        self.text(key)?.split(',').map(|v| v.parse().with_context(|| format!("--{key} is no list"))).collect()
    }
}

/// The measurements and the checksum of one operation.
#[derive(Default)]
pub(crate) struct Report {
    secs: Vec<f64>,
    cpu: Vec<f64>,
    pub(crate) bytes: u64,
    pub(crate) count: u64,
    crc: Option<u32>,
}

impl Report {
    /// Times one repetition.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let (result, seconds, cpu) = timed(work);
        self.secs.push(seconds);
        self.cpu.push(cpu);
        result
    }

    /// The checksum of the result, which every repetition must give.
    pub(crate) fn checksum<'a>(&mut self, parts: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
        let mut hasher = crc32fast::Hasher::new();
        parts.into_iter().for_each(|part| hasher.update(part));
        let crc = hasher.finalize();
        if self.crc.replace(crc).is_some_and(|before| before != crc) {
            bail!("repetitions disagree");
        }
        Ok(())
    }

    pub(crate) fn print(&self, op: &str) {
        println!(
            "{}",
            json!({
                "contender": "ours", "version": env!("CARGO_PKG_VERSION"), "op": op,
                "secs": self.secs, "cpu": self.cpu, "bytes": self.bytes, "count": self.count,
                "crc32": self.crc.map(|crc| format!("{crc:08x}")),
            })
        );
    }
}

/// Tells the harness that there is no such operation yet.
pub(crate) fn unsupported(why: &str) {
    println!("{}", json!({ "unsupported": why }));
}

/// splitmix64, the one random generator of the contract.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }
}

/// The origins of `n` boxes of `size`: one draw a dimension, in order.
pub(crate) fn random_boxes(shape: &[u64], size: &[u64], n: u64, seed: u64) -> Vec<Vec<u64>> {
    let mut random = Random(seed);
    (0..n).map(|_| shape.iter().zip(size).map(|(s, z)| random.below(s - z + 1)).collect()).collect()
}

/// The origins of the cells of a grid in C order, or shuffled (Fisher-Yates from the end), cut to `n` if that is not 0.
pub(crate) fn grid_cells(shape: &[u64], cell: &[u64], shuffle: Option<u64>, n: u64) -> Vec<Vec<u64>> {
    let mut cells: Vec<Vec<u64>> = vec![Vec::new()];
    for (length, step) in shape.iter().zip(cell) {
        let starts = || (0..length.div_ceil(*step)).map(|i| i * step);
        cells = cells.iter().flat_map(|cell| starts().map(|s| [&cell[..], &[s]].concat())).collect();
    }
    if let Some(seed) = shuffle {
        let mut random = Random(seed);
        for i in (1..cells.len()).rev() {
            let other = random.below(i as u64 + 1);
            cells.swap(i, usize::try_from(other).unwrap_or(i));
        }
    }
    if n > 0 {
        cells.truncate(usize::try_from(n).unwrap_or(usize::MAX));
    }
    cells
}
