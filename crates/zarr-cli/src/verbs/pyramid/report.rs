//! The plan and the result of pyramids, as text and as JSON.

use std::time::Duration;

use zarr_array::meta::json::{Object, Value};
use zarr_copy::pyramid::{
    MultiscaleMetadata, PyramidDone, PyramidLevel, PyramidPlan, PyramidPlans, PyramidShare,
};

use crate::out::json;
use crate::out::table::{Table, bytes, count, dimensions};

/// Returns a line for each level of the plans, and a last line for all.
pub(super) fn plan(plans: &PyramidPlans) -> String {
    let mut table = Table::default();
    if !plans.plans().is_empty() {
        table.row(["level", "shape", "chunks", "shards", "scale"]);
    }
    for plan in plans.plans() {
        for level in levels(plan) {
            let shards = level.shards.as_ref().map_or("none".to_owned(), |shards| dimensions(shards));
            let scale: Vec<String> = level.scale.iter().map(f64::to_string).collect();
            let (path, shape) = (path(plans, plan, level), dimensions(&level.shape));
            table.row([&path, &shape, &dimensions(&level.chunks), &shards, &scale.join(", ")]);
        }
    }
    let work = plans.estimate();
    let [read, written] = [work.bytes_read, work.bytes_written].map(bytes);
    format!(
        "{}would make {}{}: {} of {read}, {} of {written}, {} of memory{}\n",
        table.to_text(""),
        number_of_levels(plans),
        match plans.plans() {
            [plan] => match plan.arrays().count() {
                1 => format!(" of {:?} ({})", plan.level0(), plan.method()),
                arrays => format!(" of {arrays} arrays ({})", plan.method()),
            },
            _ => String::new(),
        },
        many(work.reads, "read"),
        many(work.writes, "write"),
        bytes(work.memory.into()),
        match plans.plans() {
            [plan] => format!("; metadata: {}", metadata(plan).join(", ")),
            _ => complete(plans),
        },
    )
}

/// Returns the number of levels, and of images, if there are several.
fn number_of_levels(plans: &PyramidPlans) -> String {
    let levels: usize = plans.plans().iter().map(|plan| plan.levels().len()).sum();
    let levels = count(levels as u64, "level");
    match plans.plans() {
        [_] => levels,
        plans => format!("{levels} of {}", count(plans.len() as u64, "image")),
    }
}

/// Says how many images need nothing.
fn complete(plans: &PyramidPlans) -> String {
    match plans.complete().len() as u64 {
        0 => String::new(),
        number => format!("; {} more without work", count(number, "image")),
    }
}

/// Returns the path of a level: below its group, or of several groups below the root.
fn path(plans: &PyramidPlans, plan: &PyramidPlan, level: &PyramidLevel) -> String {
    match plans.plans() {
        [_] => level.path.clone(),
        _ => format!("{}/{}", plan.group().trim_end_matches('/'), level.path),
    }
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
pub(super) fn plan_json(plans: &PyramidPlans) -> String {
    let work = plans.estimate();
    document(
        plans,
        true,
        [
            ("reads", number(work.reads)),
            ("writes", number(work.writes)),
            ("bytes_read", number(work.bytes_read)),
            ("bytes_written", number(work.bytes_written)),
            ("memory", work.memory.into()),
        ],
    )
}

/// Returns what is said about the images and further members as JSON. Those of the only image are members of the document.
fn document(
    plans: &PyramidPlans,
    is_dry_run: bool,
    further: impl IntoIterator<Item = (&'static str, Value)>,
) -> String {
    let mut document = json::document([("dry_run", is_dry_run.into())]);
    let images: Vec<Object> = plans.plans().iter().map(|plan| image(plan, is_dry_run)).collect();
    match &images[..] {
        [only] => only.members().for_each(|member| document.set(&member.name_lossy(), member.value())),
        _ => document.set("images", images),
    }
    if !plans.complete().is_empty() {
        let paths: Value = plans.complete().iter().map(String::as_str).collect();
        document.set("complete", paths);
    }
    for (name, value) in further {
        document.set(name, value);
    }
    json::pretty(&document.into())
}

/// Returns an image with its levels.
fn image(plan: &PyramidPlan, is_dry_run: bool) -> Object {
    let mut object =
        json::object([("level0", plan.level0().into()), ("levels", levels(plan).map(level).collect())]);
    if is_dry_run {
        let names: Value = metadata(plan).into_iter().filter(|name| name != "none").collect();
        object.set("method", plan.method().name());
        object.set("metadata", names);
    }
    object
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
pub(super) fn summary(plans: &PyramidPlans, done: &PyramidDone, time: Duration) -> String {
    let number = number_of_levels(plans);
    if plans.plans().is_empty() {
        return format!("{} without work\n", count(plans.complete().len() as u64, "image"));
    }
    if done.was_complete {
        return format!("{number}, complete already\n");
    }
    let compared = if done.is_verified { "; compared" } else { "" };
    let seconds = time.as_secs_f64().max(0.001);
    format!(
        "{number}, {}, {} in {seconds:.1} s{compared}; at most {} of memory{}\n",
        count(done.chunks, "chunk"),
        bytes(done.bytes.into()),
        bytes(plans.estimate().memory.into()),
        complete(plans),
    )
}

/// Returns the summary of a run as JSON.
pub(super) fn summary_json(plans: &PyramidPlans, done: &PyramidDone) -> String {
    document(plans, false, members(plans, done))
}

fn members(plans: &PyramidPlans, done: &PyramidDone) -> Vec<(&'static str, Value)> {
    vec![
        ("was_complete", done.was_complete.into()),
        ("verified", done.is_verified.into()),
        ("chunks", done.chunks.into()),
        ("bytes_read", done.bytes_read.into()),
        ("bytes_written", done.bytes.into()),
        ("memory", plans.estimate().memory.into()),
    ]
}

/// Returns what this process did of levels that several processes make.
pub(super) fn share(plans: &PyramidPlans, share: &PyramidShare, time: Duration) -> String {
    if share.done.was_complete || plans.plans().is_empty() {
        return summary(plans, &share.done, time);
    }
    let compared = if share.done.is_verified { "; compared" } else { "" };
    format!(
        "{}; of them this process made {} in {}, {} in {:.1} s{compared}\n",
        number_of_levels(plans),
        count(share.done.chunks, "chunk"),
        count(share.units, "unit"),
        bytes(share.done.bytes.into()),
        time.as_secs_f64().max(0.001),
    )
}

/// Returns what this process did of levels that several processes make, as JSON.
pub(super) fn share_json(plans: &PyramidPlans, share: &PyramidShare) -> String {
    let mut members = members(plans, &share.done);
    members.push(("units", share.units.into()));
    document(plans, false, members)
}

/// JSON numbers of this command have 64 bits.
fn number(n: u128) -> Value {
    u64::try_from(n).unwrap_or(u64::MAX).into()
}

fn many(n: u128, what: &str) -> String {
    count(u64::try_from(n).unwrap_or(u64::MAX), what)
}
