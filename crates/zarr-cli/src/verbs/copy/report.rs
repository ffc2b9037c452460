//! The plan and the result of a copy, as text and as JSON.

use zarr_array::meta::json::{Object, Value};
use zarr_copy::{CopyNode, CopyPlan, Done, Moved, Share};

use crate::out::json;
use crate::out::table::bytes;

/// Returns a line for each array of a plan, and a last line for all.
pub(super) fn plan(plan: &CopyPlan) -> String {
    let lines = plan.nodes().iter().filter_map(line);
    let sum = format!("would copy {}, {} of elements\n", nodes(plan), bytes(plan.elements()));
    lines.chain([sum]).collect()
}

/// Returns the line of an array.
fn line(node: &CopyNode) -> Option<String> {
    let (path, work) = (node.path(), node.estimate()?);
    if node.moves_objects() {
        return Some(format!("{path:?}: at most {} copied as stored\n", count(work.reads, "object")));
    }
    let passes = count(work.passes.into(), "pass");
    let [read, written] = [work.bytes_read, work.bytes_written].map(bytes);
    let [reads, writes] = [count(work.reads, "read"), count(work.writes, "write")];
    let memory = bytes(work.memory.into());
    let between = match work.intermediate {
        0 => String::new(),
        size => format!(", {} in between", bytes(size)),
    };
    Some(format!(
        "{path:?}: {passes}, {reads} of {read}, {writes} of {written}{between}, {memory} of memory\n"
    ))
}

/// Returns a plan as JSON.
pub(super) fn plan_json(plan: &CopyPlan) -> String {
    let nodes: Value = plan.nodes().iter().map(node).collect();
    let document = json::document([
        ("dry_run", true.into()),
        ("elements_bytes", number(plan.elements())),
        ("nodes", nodes),
    ]);
    json::pretty(&document.into())
}

fn node(node: &CopyNode) -> Value {
    let kind = if node.is_array() { "array" } else { "group" };
    let mut object = json::object([
        ("path", node.path().into()),
        ("node_type", kind.into()),
        ("zarr_format", u64::from(node.format().number()).into()),
    ]);
    let Some(work) = node.estimate() else { return object.into() };
    object.set("moves_objects", node.moves_objects());
    object.set("passes", u64::from(work.passes));
    for (name, value) in [
        ("reads", work.reads),
        ("writes", work.writes),
        ("bytes_read", work.bytes_read),
        ("bytes_written", work.bytes_written),
        ("intermediate_bytes", work.intermediate),
        ("memory", work.memory.into()),
    ] {
        object.set(name, number(value));
    }
    object.into()
}

/// Returns the summary of a finished copy.
pub(super) fn summary(plan: &CopyPlan, done: &Done, verified: bool) -> String {
    let copied = match done.was_complete {
        true => "the copy is complete already".to_owned(),
        false => format!("copied {}, {} of elements", nodes(plan), bytes(plan.elements())),
    };
    let objects = |of: Moved| {
        (of.objects > 0)
            .then(|| format!("{} of {}", count(of.objects.into(), "object"), bytes(of.bytes.into())))
    };
    if !verified {
        let moved = objects(done.moved).map(|moved| format!("; moved {moved} as stored"));
        return format!("{copied}{}\n", moved.unwrap_or_default());
    }
    let elements = |of: u128, with: &str| (of > 0).then(|| format!("{} of elements{with}", bytes(of)));
    let kept = elements(done.kept, " with what lossy codecs keep of them");
    let compared = [objects(done.objects), elements(done.elements, ""), kept];
    let compared = compared.into_iter().flatten().collect::<Vec<_>>().join(", ");
    if done.was_complete && compared.is_empty() {
        return format!("{copied}; it was not compared again, which `zarr diff` does\n");
    }
    format!(
        "{copied}; compared {}\n",
        if compared.is_empty() { "nothing, because nothing is stored" } else { &compared }
    )
}

/// Returns the summary of a copy that several processes shared.
pub(super) fn share(plan: &CopyPlan, share: &Share, verified: bool) -> String {
    let summary = summary(plan, &share.done, verified);
    if share.done.was_complete {
        return summary;
    }
    let [units, bytes] = [count(share.units.into(), "unit"), bytes(share.bytes)];
    format!("{}; this process copied {units} of {bytes}\n", summary.trim_end())
}

/// Returns the summary of a copy that several processes shared as JSON.
pub(super) fn share_json(plan: &CopyPlan, share: &Share, verified: bool) -> String {
    let mut document = object(plan, &share.done, verified);
    document.set("units", share.units);
    document.set("units_bytes", number(share.bytes));
    json::pretty(&document.into())
}

/// Returns the summary of a finished copy as JSON.
pub(super) fn summary_json(plan: &CopyPlan, done: &Done, verified: bool) -> String {
    json::pretty(&object(plan, done, verified).into())
}

fn object(plan: &CopyPlan, done: &Done, verified: bool) -> Object {
    let objects = |of: Moved| json::object([("objects", of.objects.into()), ("bytes", of.bytes.into())]);
    let arrays = plan.nodes().len() as u64 - groups(plan);
    json::document([
        ("dry_run", false.into()),
        ("groups", groups(plan).into()),
        ("arrays", arrays.into()),
        ("elements_bytes", number(plan.elements())),
        ("was_complete", done.was_complete.into()),
        ("moved", objects(done.moved).into()),
        ("verified", verified.into()),
        ("compared", objects(done.objects).into()),
        ("compared_bytes", number(done.elements)),
        ("compared_lossy_bytes", number(done.kept)),
    ])
}

/// Returns how many groups and arrays a plan has.
fn nodes(plan: &CopyPlan) -> String {
    let (groups, all) = (groups(plan), plan.nodes().len() as u64);
    let arrays = count((all - groups).into(), "array");
    if groups == 0 { arrays } else { format!("{} and {arrays}", count(groups.into(), "group")) }
}

fn groups(plan: &CopyPlan) -> u64 {
    plan.nodes().iter().filter(|node| !node.is_array()).count() as u64
}

/// JSON numbers of this command have 64 bits.
fn number(n: u128) -> Value {
    u64::try_from(n).unwrap_or(u64::MAX).into()
}

fn count(n: u128, what: &str) -> String {
    let ending = match (n, what) {
        (1, _) => "",
        (_, "pass") => "es",
        _ => "s",
    };
    format!("{n} {what}{ending}")
}
