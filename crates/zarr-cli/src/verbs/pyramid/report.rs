//! The plan and the result of a pyramid, as text and as JSON.

use std::time::Duration;

use zarr_array::meta::json::Value;
use zarr_copy::pyramid::{MultiscaleMetadata, PyramidDone, PyramidLevel, PyramidPlan};

use crate::out::json;
use crate::out::table::{Table, bytes, count, dimensions};

/// Returns a line for each level of a plan, and a last line for all.
pub(super) fn plan(plan: &PyramidPlan) -> String {
    let mut table = Table::default();
    table.row(["level", "shape", "chunks", "shards", "scale"]);
    for level in levels(plan) {
        let shards = level.shards.as_ref().map_or("none".to_owned(), |shards| dimensions(shards));
        let scale: Vec<String> = level.scale.iter().map(f64::to_string).collect();
        let shape = dimensions(&level.shape);
        table.row([&level.path, &shape, &dimensions(&level.chunks), &shards, &scale.join(", ")]);
    }
    let work = plan.estimate();
    let [read, written] = [work.bytes_read, work.bytes_written].map(bytes);
    format!(
        "{}would make {} of {} ({}): {} of {read}, {} of {written}, {} of memory; metadata: {}\n",
        table.to_text(""),
        count(plan.levels().len() as u64, "level"),
        match plan.arrays().count() {
            1 => format!("{:?}", plan.level0()),
            arrays => format!("{arrays} arrays"),
        },
        plan.method(),
        many(work.reads, "read"),
        many(work.writes, "write"),
        bytes(work.memory.into()),
        metadata(plan).join(", "),
    )
}

/// Returns the levels of all arrays.
fn levels(plan: &PyramidPlan) -> impl Iterator<Item = &PyramidLevel> {
    plan.arrays().flat_map(|(_, levels)| levels)
}

/// Returns the names of the metadata that name the levels.
fn metadata(plan: &PyramidPlan) -> Vec<String> {
    let name = |metadata: &MultiscaleMetadata| match (metadata, plan.ome_version()) {
        (MultiscaleMetadata::Ome, Some(version)) => format!("OME-Zarr {version}"),
        _ => "multiscales".to_owned(),
    };
    match plan.metadata() {
        [] => vec!["none".to_owned()],
        some => some.iter().map(name).collect(),
    }
}

/// Returns a plan as JSON.
pub(super) fn plan_json(plan: &PyramidPlan) -> String {
    let work = plan.estimate();
    let names: Value = metadata(plan).into_iter().filter(|name| name != "none").collect();
    let document = json::document([
        ("dry_run", true.into()),
        ("level0", plan.level0().into()),
        ("levels", levels(plan).map(level).collect()),
        ("method", plan.method().name().into()),
        ("metadata", names),
        ("reads", number(work.reads)),
        ("writes", number(work.writes)),
        ("bytes_read", number(work.bytes_read)),
        ("bytes_written", number(work.bytes_written)),
        ("memory", work.memory.into()),
    ]);
    json::pretty(&document.into())
}

fn level(level: &PyramidLevel) -> Value {
    let numbers = |of: &[u64]| -> Value { of.iter().copied().collect() };
    let floats = |of: &[f64]| -> Value { of.iter().copied().map(json::float).collect() };
    let object = json::object([
        ("path", level.path.as_str().into()),
        ("shape", numbers(&level.shape)),
        ("chunks", numbers(&level.chunks)),
        ("shards", level.shards.as_deref().map(numbers).into()),
        ("scale", floats(&level.scale)),
        ("translation", floats(&level.translation)),
    ]);
    object.into()
}

/// Returns the summary of a run.
pub(super) fn summary(plan: &PyramidPlan, done: &PyramidDone, time: Duration) -> String {
    let number = count(plan.levels().len() as u64, "level");
    if done.was_complete {
        return format!("{number}, complete already\n");
    }
    let compared = if done.is_verified { "; compared" } else { "" };
    let seconds = time.as_secs_f64().max(0.001);
    format!(
        "{number}, {}, {} in {seconds:.1} s{compared}; at most {} of memory\n",
        count(done.chunks, "chunk"),
        bytes(done.bytes.into()),
        bytes(plan.estimate().memory.into()),
    )
}

/// Returns the summary of a run as JSON.
pub(super) fn summary_json(plan: &PyramidPlan, done: &PyramidDone) -> String {
    let document = json::document([
        ("dry_run", false.into()),
        ("level0", plan.level0().into()),
        ("levels", levels(plan).map(level).collect()),
        ("was_complete", done.was_complete.into()),
        ("verified", done.is_verified.into()),
        ("chunks", done.chunks.into()),
        ("bytes_read", done.bytes_read.into()),
        ("bytes_written", done.bytes.into()),
        ("memory", plan.estimate().memory.into()),
    ]);
    json::pretty(&document.into())
}

/// JSON numbers of this command have 64 bits.
fn number(n: u128) -> Value {
    u64::try_from(n).unwrap_or(u64::MAX).into()
}

fn many(n: u128, what: &str) -> String {
    count(u64::try_from(n).unwrap_or(u64::MAX), what)
}
