//! Elements of a store that are written into another one: of arrays, and of datasets.

use std::ops::Range;
use std::path::Path;

use zarr_array::blocking::Array;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::Value;
use zarr_hierarchy::ChildState;
use zarr_xarray::Taken;
use zarr_xarray::blocking::Dataset;

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::boxes::Boxes;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::json;
use crate::out::table::bytes;
use crate::pick::Pick;
use crate::slabs::Budget;
use crate::visit::Source;

/// The attributes that say what the stored elements mean.
const MEANING: [&str; 7] =
    ["_FillValue", "missing_value", "scale_factor", "add_offset", "_Unsigned", "units", "calendar"];

/// Two nodes of the same kind: the one that is changed, and the one whose elements are taken.
#[derive(Debug)]
pub(crate) enum Pair {
    Arrays(Array, Array),
    Datasets(Dataset, Dataset),
}

impl Pair {
    /// Opens the node that is found at `given`, and the target.
    pub(crate) fn open(target: &Target, given: &Path, stores: &Stores) -> Result<Self, Failure> {
        let source = Target::find(given, stores)?;
        match (is_group(target)?, is_group(&source)?) {
            (false, false) => Ok(Self::Arrays(target.array()?, source.array()?)),
            (true, true) => Ok(Self::Datasets(dataset(target)?, dataset(&source)?)),
            (true, false) => Err(source.fail(Failure::usage(format!(
                "{:?} is an array, and {:?} in {:?} a group: name both groups, or both arrays",
                source.path, target.path, target.store
            )))),
            (false, true) => Err(source.fail(Failure::usage(format!(
                "{:?} is a group, and {:?} in {:?} an array: name both groups, or both arrays",
                source.path, target.path, target.store
            )))),
        }
    }
}

pub(crate) fn is_group(target: &Target) -> Result<bool, Failure> {
    Ok(matches!(target.look()?.found, ChildState::Node(NodeMeta::Group(_))))
}

fn dataset(target: &Target) -> Result<Dataset, Failure> {
    Dataset::open(target.group(Source::default())?).map_err(|e| target.fail(e))
}

/// Checks that the elements of an array can be copied into another one as they are stored.
pub(crate) fn check_same(array: &Array, from: &Array) -> Result<(), Failure> {
    let (own, new) = (array.data_type(), from.data_type());
    if own != new {
        return Err(Failure::usage(format!("the data type is {own}, and that of the new elements {new}")));
    }
    let [own, new] = [array, from].map(Array::attributes);
    for name in MEANING {
        let [own, new] = [&own, &new].map(|attributes| attributes.get(name).map(|value| value.to_compact()));
        if own != new {
            let [own, new] = [own, new].map(|value| value.unwrap_or_else(|| "none".to_owned()));
            return Err(Failure::usage(format!(
                "{name:?} is {own}, and that of the new elements {new}: name the groups, whose elements are converted"
            )));
        }
    }
    Ok(())
}

/// Writes all elements of an array to a selection of another one, part by part. `dims` are the dimensions of the selection
/// that the array has. Calls `done` with the bytes of each part.
pub(crate) fn copy(
    from: &Array,
    dims: &[usize],
    array: &Array,
    picks: &[Pick],
    done: impl Fn(u64),
) -> Result<(), Failure> {
    let size = array.data_type().memory_size();
    for slab in Boxes::new(picks, array.chunk_grid(), size, Budget::DEFAULT) {
        let part = |dim: &usize| Pick::range(slab.start[*dim]..slab.start[*dim] + slab.count[*dim]);
        let elements = Elements::read(from, crate::pick::selection(dims.iter().map(part)))?;
        elements.write(array, slab.selection(picks))?;
        done(slab.count.iter().fold(size as u64, |bytes, count| bytes.saturating_mul(*count)));
    }
    Ok(())
}

/// Returns the line that says what was taken over, in positions and labels.
pub(crate) fn to_text(done: &Taken, dataset: &Dataset, before: Option<(&str, u64)>) -> String {
    let place = |(name, range): (&String, &Range<u64>)| {
        let positions = match before {
            Some((grown, length)) if grown == name => format!("{length} → {}", range.end.max(length)),
            _ => format!("{}..{}", range.start, range.end),
        };
        format!("{name} {positions}{}", labels(dataset, name, range).unwrap_or_default())
    };
    let places: Vec<String> = done.region.iter().map(place).collect();
    let written = format!("{}; {} written", done.variables.join(", "), bytes(done.bytes.into()));
    format!("{}: {written}\n", places.join(", "))
}

/// Returns the first and the last label of a range.
fn labels(dataset: &Dataset, name: &str, range: &Range<u64>) -> Option<String> {
    let index = dataset.indexes().find(|own| *own == name).and_then(|name| dataset.index(name).ok())?;
    let at = |position: u64| index.text(usize::try_from(position).ok()?);
    let (first, last) = (at(range.start)?, at(range.end.checked_sub(1)?)?);
    Some(if range.end - range.start == 1 { format!(" ({first})") } else { format!(" ({first} … {last})") })
}

/// Returns what was taken over as JSON.
pub(crate) fn to_json(done: &Taken, path: &str) -> String {
    let region = done.region.iter().map(|(name, range)| {
        let range: Value = [range.start, range.end].into_iter().collect();
        (name.as_str(), range)
    });
    let variables: Value = done.variables.iter().map(String::as_str).collect();
    let members = [
        ("path", path.into()),
        ("variables", variables),
        ("region", json::object(region).into()),
        ("bytes", done.bytes.into()),
    ];
    json::pretty(&json::document(members).into())
}
