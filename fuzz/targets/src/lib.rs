//! Fuzz targets. Each is a function of bytes that must return: a panic, an abort, a time-out and memory beyond the
//! [bound] are failures, and so are two different answers to one question.
#![allow(
    clippy::cast_possible_truncation,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "targets may panic, and make odd numbers of the bytes that they get"
)]

pub mod bound;

mod answers;
mod archives;
mod chunks;
mod documents;
mod icechunk;
mod layouts;
mod listings;
mod names;
mod parquet;
mod references;
mod services;
mod strangers;
mod times;

use layouts::Layout;

/// A function of bytes, with what it needs between two calls.
#[allow(missing_debug_implementations, reason = "it holds a function")]
pub struct Target {
    /// The name, also that of the folder of its corpus.
    pub name: &'static str,
    run: Box<dyn Fn(&[u8]) + Send + Sync>,
    seeds: Vec<Vec<u8>>,
}

impl Target {
    fn new(name: &'static str, run: fn(&[u8]), seeds: Vec<Vec<u8>>) -> Self {
        Self { name, run: Box::new(run), seeds }
    }

    fn of_layouts(name: &'static str, layouts: fn() -> Vec<Layout>) -> Self {
        let subjects: Vec<_> = layouts().into_iter().map(chunks::Subject::new).collect();
        let seeds = chunks::seeds(&subjects);
        Self { name, run: Box::new(move |input| chunks::run(&subjects, input)), seeds }
    }

    /// Valid inputs, made by encoding.
    pub fn seeds(&self) -> &[Vec<u8>] {
        &self.seeds
    }
}

/// The names of all targets.
pub fn names() -> impl Iterator<Item = &'static str> {
    layouts::TABLE.iter().map(|(name, _)| *name).chain(OTHERS.iter().map(|(name, ..)| *name))
}

type Other = (&'static str, fn(&[u8]), fn() -> Vec<Vec<u8>>);

const OTHERS: &[Other] = &[
    ("answers", answers::run, answers::seeds),
    ("archive", archives::run, archives::seeds),
    ("consolidated", documents::consolidated, documents::seeds_of_consolidated),
    ("document_v1", documents::v1, documents::seeds_of_v1),
    ("document_v2", documents::v2, documents::seeds_of_v2),
    ("document_v3", documents::v3, documents::seeds_of_v3),
    ("icechunk", icechunk::run, icechunk::seeds),
    ("listings", listings::run, listings::seeds),
    ("names", names::run, names::seeds),
    ("parquet", parquet::run, parquet::seeds),
    ("references", references::run, references::seeds),
    ("times", times::run, times::seeds),
];

/// Returns the target of this name.
pub fn target(name: &str) -> Option<Target> {
    bound::lift_for_panics();
    let layouts = layouts::TABLE.iter().find(|(n, _)| *n == name);
    let other = OTHERS.iter().find(|(n, ..)| *n == name);
    let layouts = layouts.map(|(name, layouts)| Target::of_layouts(name, *layouts));
    layouts.or_else(|| other.map(|(name, run, seeds)| Target::new(name, *run, seeds())))
}

/// Runs a target once, with its memory bounded.
pub fn run(target: &Target, input: &[u8]) {
    let window = if target.name == "codec_pcodec" { bound::WINDOW } else { 0 };
    bound::bounded(bound::BOUND + window, || (target.run)(input));
}
