//! Checks of building a codec: data types, shapes and configurations.

use std::panic::{AssertUnwindSafe, catch_unwind};

use zarr_traits::CodecErrorKind;
use zarr_traits::codec::Repr;
use zarr_traits::extension::{Note, Spec};
use zarr_traits::json::pointer::join;
use zarr_traits::json::{Value, json};

use super::chunk::Worker;
use super::subject::Bench;
use crate::report::{Check, Fault, ensure, panic_text};

/// Rule 2.
pub(super) fn refusals(bench: &Bench) -> Check {
    for data_type in bench.types() {
        let (accepted, refused): (Vec<_>, Vec<_>) =
            bench.shapes().into_iter().partition(|shape| bench.accepts(&data_type, shape));
        let takes = !accepted.is_empty();
        ensure!(takes || bench.subject.types.is_none(), "{data_type} is refused in chunks of any shape");
        ensure!(
            !takes || refused.is_empty() || !bench.shapes_are_said(),
            "{data_type} is refused in chunks of shapes {refused:?}, but accepted in chunks of shapes {accepted:?}"
        );
    }
    for data_type in &bench.subject.refused {
        for rank in ranks(bench) {
            let built = bench.chains(&bench.zeros(data_type, rank));
            ensure!(built.is_err(), "{data_type} in {rank} dimensions is not refused");
        }
    }
    for data_type in bench.types() {
        for rank in ranks(bench) {
            let Err(e) = bench.build(&bench.subject.spec, &bench.zeros(&data_type, rank)) else { continue };
            let fits = !matches!(e.kind(), CodecErrorKind::Corrupt | CodecErrorKind::Checksum);
            ensure!(fits, "{data_type} is refused with an error of kind {:?}: {e:#}", e.kind());
        }
    }
    let mut worker = Worker::new();
    for case in bench.cases() {
        case.encode(&case.chains[0], worker.at(&case.chunk))?;
    }
    Ok(())
}

fn ranks(bench: &Bench) -> impl Iterator<Item = usize> {
    let mut ranks: Vec<usize> = bench.shapes().into_iter().map(<[u64]>::len).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks.into_iter()
}

/// Rule 3.
pub(super) fn kind(bench: &Bench) -> Check {
    for repr in accepted(bench) {
        let kind = bench.build(&bench.subject.spec, &repr)?.0.kind();
        let stated = bench.entry.kind();
        ensure!(kind == stated, "the entry states kind {stated:?}, but the codec has kind {kind:?}");
    }
    Ok(())
}

/// Returns all types and ranks for which the codec can be built.
fn accepted(bench: &Bench) -> Vec<Repr> {
    let all = bench.types().into_iter().flat_map(|t| ranks(bench).map(move |rank| (t.clone(), rank)));
    let reprs = all.map(|(data_type, rank)| bench.zeros(&data_type, rank));
    reprs.filter(|repr| bench.build(&bench.subject.spec, repr).is_ok()).collect()
}

/// A member that no codec has.
const UNKNOWN: &str = "conformance.unknown";

/// Rule 4.
pub(super) fn members(bench: &Bench) -> Check {
    let reprs = accepted(bench);
    let Some(repr) = reprs.first() else { return Ok(()) };
    let all = bench.subject.spec.configuration.to_value();
    for (place, changed) in with_unknown(&all) {
        let noted = |notes: &[Note]| notes.iter().any(|note| note.pointer.ends_with(UNKNOWN));
        ensure!(
            build(bench, &changed, repr)?.is_none_or(|notes| noted(&notes)),
            "the unknown member {place}/{UNKNOWN} of the configuration is neither refused nor noted"
        );
    }
    for member in bench.subject.spec.configuration.members() {
        let (name, mut other) = (member.name_lossy(), bench.subject.spec.configuration.clone());
        other.remove(&name);
        let _ = build(bench, &other.to_value(), repr)?;
        for odd in [
            json!(null),
            json!(true),
            json!(-1),
            json!(u64::MAX),
            json!(0.5),
            json!(""),
            json!([]),
            json!({}),
        ] {
            other.set(&name, odd);
            let _ = build(bench, &other.to_value(), repr)?;
        }
    }
    Ok(())
}

/// Returns the notes on another configuration, or `None` if it is refused. A panic is a fault.
fn build(bench: &Bench, configuration: &Value, repr: &Repr) -> Result<Option<Vec<Note>>, Fault> {
    let spec = Spec::new(bench.subject.spec.name.clone(), configuration.clone());
    let built = catch_unwind(AssertUnwindSafe(|| bench.build(&spec?, repr)));
    let built = built.map_err(|panic| {
        Fault(format!("the configuration {configuration} causes a panic: {}", panic_text(&*panic)))
    })?;
    Ok(built.ok().map(|(_, notes)| notes))
}

/// Returns a configuration with an unknown member in one of its objects, for each of them, with the pointer to it.
fn with_unknown(value: &Value) -> Vec<(String, Value)> {
    if let Some(members) = value.as_object() {
        let with = |name: &str, value: Value| {
            let mut changed = members.clone();
            changed.set(name, value);
            changed.to_value()
        };
        let mut all = vec![(String::new(), with(UNKNOWN, json!(1)))];
        for member in members.members() {
            let name = member.name_lossy();
            let inside = with_unknown(&member.value()).into_iter();
            all.extend(inside.map(|(place, value)| (join("", &name) + &place, with(&name, value))));
        }
        return all;
    }
    let items: Vec<Value> = value.elements().into_iter().flatten().collect();
    let mut all = Vec::new();
    for (i, item) in items.iter().enumerate() {
        for (place, value) in with_unknown(item) {
            let mut changed = items.clone();
            changed[i] = value;
            all.push((format!("/{i}{place}"), changed.into()));
        }
    }
    all
}
