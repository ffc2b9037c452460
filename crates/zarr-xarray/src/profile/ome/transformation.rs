//! The types of transformations of 0.6 and their members.

use std::collections::BTreeSet;

use zarr_meta::NodeMeta;
use zarr_meta::json::{Object, Value};

use super::{OmeGroup, objects, text};

/// The numbers of axes of the points that a transformation takes and gives, where they are known.
pub(super) type Ranks = (Option<usize>, Option<usize>);

/// What is wrong, if anything.
type Judged = Result<(), String>;

/// Checks a transformation with its members.
pub(super) fn check(group: &OmeGroup<'_>, of: &Object, ranks: Ranks) -> Judged {
    let Some(kind) = text(of, "type") else { return Err("a transformation has no type".to_owned()) };
    let judged = match &*kind {
        "identity" => same(ranks).map(drop),
        "scale" => vector(of, "scale", ranks, |factor| factor > 0.0),
        "translation" => vector(of, "translation", ranks, |_| true),
        "affine" => affine(group, of, ranks),
        "rotation" => rotation(group, of, ranks),
        "mapAxis" => map_axis(of, ranks),
        "projectAxis" => project_axis(of, ranks),
        "sequence" => sequence(group, of, ranks),
        "byDimension" => by_dimension(group, of, ranks),
        "bijection" => bijection(group, of, ranks),
        "displacements" | "coordinates" => field(group, of),
        _ => return Err(format!("there is no transformation of the type {kind:?}")),
    };
    judged.map_err(|message| format!("{kind}: {message}"))
}

/// As many coordinates go in as come out. Returns their number, if it is known.
fn same((from, to): Ranks) -> Result<Option<usize>, String> {
    match (from, to) {
        (Some(from), Some(to)) if from != to => Err(format!("takes {from} coordinates and gives {to}")),
        _ => Ok(from.or(to)),
    }
}

/// A list of a number for each coordinate, which is never in an array.
fn vector(of: &Object, name: &str, ranks: Ranks, is: impl Fn(f64) -> bool) -> Judged {
    if of.contains("path") {
        return Err("the numbers are in the metadata, not at a path".to_owned());
    }
    let numbers = of.get(name).as_ref().and_then(numbers);
    let rank = same(ranks)?;
    let numbers = numbers.filter(|numbers| rank.is_none_or(|rank| numbers.len() == rank));
    match numbers {
        None => Err(format!("{name} is not a list of {} numbers", shown(rank))),
        Some(numbers) if !numbers.iter().all(|number| is(*number)) => {
            Err(format!("{name} has a number that is not positive"))
        }
        Some(_) => Ok(()),
    }
}

/// A row for each coordinate that comes out, with a number for each one that goes in and a last one.
fn affine(group: &OmeGroup<'_>, of: &Object, (from, to): Ranks) -> Judged {
    let Some(matrix) = matrix(group, of, "affine")? else { return Ok(()) };
    let is_right = to.is_none_or(|to| matrix.len() == to)
        && matrix.iter().all(|row| from.map_or(row.len() == matrix[0].len(), |from| row.len() == from + 1));
    let (rows, columns) = (shown(to), from.map_or("equally many".to_owned(), |from| (from + 1).to_string()));
    is_right.then_some(()).ok_or_else(|| format!("the matrix has not {rows} rows of {columns} numbers"))
}

/// As many rows as columns, two to five, and one for each coordinate.
fn rotation(group: &OmeGroup<'_>, of: &Object, ranks: Ranks) -> Judged {
    let rank = same(ranks)?;
    let Some(matrix) = matrix(group, of, "rotation")? else { return Ok(()) };
    let length = matrix.len();
    let is_square = (2..=5).contains(&length) && matrix.iter().all(|row| row.len() == length);
    let is_right = is_square && rank.is_none_or(|rank| rank == length);
    is_right.then_some(()).ok_or_else(|| format!("the matrix is not one of {0} by {0} numbers", shown(rank)))
}

/// The numbers of all axes of the input, each once.
fn map_axis(of: &Object, ranks: Ranks) -> Judged {
    let list = axes(of, "mapAxis")?;
    let rank = same(ranks)?.unwrap_or(list.len());
    let is_right = list.len() == rank && list.iter().all(|axis| *axis < rank);
    is_right.then_some(()).ok_or_else(|| format!("mapAxis does not have each of {rank} axes once"))
}

/// Axes that go, axes that are added, or both: up to three of each.
fn project_axis(of: &Object, (from, to): Ranks) -> Judged {
    let mut counts = [0, 0];
    for (count, (name, rank)) in counts.iter_mut().zip([("droppedInputs", from), ("createdOutputs", to)]) {
        if !of.contains(name) {
            continue;
        }
        let list = axes(of, name)?;
        if !(1..=3).contains(&list.len()) || list.iter().any(|axis| *axis >= rank.unwrap_or(5)) {
            return Err(format!("{name} is not one to three of {} axes", rank.unwrap_or(5)));
        }
        *count = list.len();
    }
    let [dropped, created] = counts;
    match (from, to) {
        _ if dropped + created == 0 => Err("neither droppedInputs nor createdOutputs is there".to_owned()),
        (Some(from), Some(to)) if from + created != to + dropped => {
            Err(format!("does not make {to} coordinates of {from}"))
        }
        _ => Ok(()),
    }
}

/// Transformations one after the other, and at least one.
fn sequence(group: &OmeGroup<'_>, of: &Object, (from, to): Ranks) -> Judged {
    let list = transformations(of)?;
    let keeps =
        |of: &Object| matches!(text(of, "type").as_deref(), Some("scale" | "translation" | "identity"));
    // Of others it is not followed how many coordinates they give.
    let is_same = list.iter().all(keeps);
    let rank = if is_same { same((from, to))? } else { None };
    list.iter().try_for_each(|of| check(group, of, (rank, rank)))
}

/// Transformations of some axes each. Every axis of the output is in one of them.
fn by_dimension(group: &OmeGroup<'_>, of: &Object, (from, to): Ranks) -> Judged {
    let mut seen = BTreeSet::new();
    for entry in transformations(of)? {
        let (inputs, outputs) = (axes(&entry, "inputAxes")?, axes(&entry, "outputAxes")?);
        let is_beyond =
            |list: &[usize], rank: Option<usize>| list.iter().any(|axis| *axis >= rank.unwrap_or(5));
        if is_beyond(&inputs, from) || is_beyond(&outputs, to) {
            return Err("inputAxes or outputAxes has an axis that is not there".to_owned());
        }
        if let Some(axis) = outputs.iter().find(|axis| !seen.insert(**axis)) {
            return Err(format!("the axis {axis} of the output is there twice"));
        }
        let inner = entry.get("transformation").and_then(|of| of.as_object());
        let inner = inner.ok_or("an entry has no transformation")?;
        check(group, &inner, (Some(inputs.len()), Some(outputs.len())))?;
    }
    match to.map(|to| (0..to).find(|axis| !seen.contains(axis))) {
        Some(Some(axis)) => Err(format!("the axis {axis} of the output is in no transformation")),
        _ => Ok(()),
    }
}

/// A transformation and the one back.
fn bijection(group: &OmeGroup<'_>, of: &Object, (from, to): Ranks) -> Judged {
    same((from, to))?;
    for (name, ranks) in [("forward", (from, to)), ("inverse", (to, from))] {
        let inner = of.get(name).and_then(|of| of.as_object());
        let inner = inner.ok_or_else(|| format!("{name} is absent, or not an object"))?;
        check(group, &inner, ranks)?;
    }
    Ok(())
}

/// A field at a path, and how to interpolate in it.
fn field(group: &OmeGroup<'_>, of: &Object) -> Judged {
    let path = text(of, "path").ok_or("path is absent, or not a text")?;
    if group.hierarchy.at(group.path, &path).is_none() {
        return Err(format!("there is nothing at {path:?}"));
    }
    let interpolation = of.get("interpolation").map(|of| of.as_text().unwrap_or_else(|| of.to_string()));
    match interpolation.as_deref() {
        None | Some("nearest" | "linear" | "cubic") => Ok(()),
        Some(other) => Err(format!("interpolation is {other:?}, not nearest, linear or cubic")),
    }
}

/// Returns a matrix; `None` if it is in an array.
fn matrix(group: &OmeGroup<'_>, of: &Object, name: &str) -> Result<Option<Vec<Vec<f64>>>, String> {
    match (of.get(name), of.get("path")) {
        (Some(value), None) => {
            let rows: Option<Vec<_>> =
                value.elements().and_then(|rows| rows.map(|row| numbers(&row)).collect());
            let rows = rows.filter(|rows: &Vec<Vec<f64>>| !rows.is_empty());
            Ok(Some(rows.ok_or_else(|| format!("{name} is not a list of rows of numbers"))?))
        }
        (None, Some(path)) => {
            let place = path.as_text().ok_or("path is not a text")?;
            match group.hierarchy.at(group.path, &place) {
                Some((_, NodeMeta::Array(array))) if array.shape().len() == 2 => Ok(None),
                _ => Err(format!("there is no array of two dimensions at {place:?}")),
            }
        }
        (Some(_), Some(_)) => Err(format!("there are both {name} and path")),
        (None, None) => Err(format!("neither {name} nor path is there")),
    }
}

/// Returns the numbers of axes in a member, which are different.
fn axes(of: &Object, name: &str) -> Result<Vec<usize>, String> {
    let list = of.get(name).and_then(|list| {
        list.elements()?.map(|axis| axis.as_u64()?.try_into().ok()).collect::<Option<Vec<usize>>>()
    });
    let list = list.ok_or_else(|| format!("{name} is not a list of numbers of axes"))?;
    let different: BTreeSet<&usize> = list.iter().collect();
    if different.len() < list.len() {
        return Err(format!("{name} has an axis twice"));
    }
    Ok(list)
}

/// Returns the transformations inside of another one.
fn transformations(of: &Object) -> Result<Vec<Object>, String> {
    let list = objects(of, "transformations").filter(|list| !list.is_empty());
    list.ok_or_else(|| "transformations is absent, empty, or not a list of objects".to_owned())
}

/// Returns the elements of a list of numbers.
fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.elements()?.map(|element| element.as_f64()).collect()
}

fn shown(rank: Option<usize>) -> String {
    rank.map_or_else(|| "some".to_owned(), |rank| rank.to_string())
}
