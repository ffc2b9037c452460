//! `zarr copy -s`: a part of an array, or of all variables of datasets.

use std::path::Path;

use zarr_array::meta::NodeMeta;
use zarr_copy::Copy;
use zarr_hierarchy::ChildState;
use zarr_xarray::Selectors;
use zarr_xarray::blocking::{DataTree, Dataset};

use crate::args::labels::{Chosen, Part, pick, select as select_labels};
use crate::args::similar::did_you_mean;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::Failure;
use crate::pick::selection;
use crate::visit::Source;

/// Adds the selected part of each array to a copy of the node that was found at `given`.
pub(super) fn select(
    copy: Copy,
    chosen: &Chosen,
    given: &Path,
    source: &Target,
    stores: &Stores,
) -> Result<Copy, Failure> {
    if !matches!(source.look()?.found, ChildState::Node(NodeMeta::Group(_))) {
        let part = Part { select: chosen.clone() };
        let picks = part.picks(given, source, &source.array()?, stores)?;
        return Ok(copy.select("", selection(picks)));
    }
    let Chosen::Labels(selectors) = chosen else {
        return Err(source.fail(Failure::usage(
            "this is a group: -s selects by the names of dimensions, such as time@0:24 or time=2020-01",
        )));
    };
    let tree = DataTree::open(source.group(Source::default())?).map_err(|e| source.fail(e))?;
    datasets(copy, &tree, selectors).map_err(|e| source.fail(e))
}

/// Restricts a copy to variables of the dataset at the source, and to what belongs to them.
pub(super) fn variables(copy: Copy, names: &[String], source: &Target) -> Result<Copy, Failure> {
    if !matches!(source.look()?.found, ChildState::Node(NodeMeta::Group(_))) {
        return Err(source
            .fail(Failure::usage("--variables: this is an array, and variables are those of a dataset")));
    }
    let dataset = Dataset::open(source.group(Source::default())?).map_err(|e| source.fail(e))?;
    if let Some(unknown) = names.iter().find(|name| !dataset.variables().any(|own| own == *name)) {
        let hint = did_you_mean(unknown, dataset.variables().map(str::to_owned)).unwrap_or_default();
        let message = format!("--variables: there is no variable {unknown:?}{hint}");
        return Err(source.fail(Failure::usage(message)));
    }
    let all = dataset.with_related(names).map_err(|e| source.fail(e))?;
    Ok(copy.include(all.iter().map(|name| pattern_of(name))))
}

/// Returns the pattern that only this name matches.
fn pattern_of(name: &str) -> String {
    let one = |c: char| if "*?[]{}\\".contains(c) { format!("[{c}]") } else { c.to_string() };
    name.chars().map(one).collect()
}

/// Selects from each dataset of a tree along the dimensions that it has.
fn datasets(mut copy: Copy, tree: &DataTree, selectors: &Selectors) -> Result<Copy, Failure> {
    let knows = |dataset: &Dataset, name: &str| {
        dataset.dimensions().contains_key(name) || dataset.coordinates().any(|of| of == name)
    };
    let all = || tree.paths().map(|path| tree.dataset(path).map(|dataset| (path, dataset)));
    for name in selectors.names() {
        let mut is_known = false;
        for entry in all() {
            is_known |= knows(&entry?.1, name);
        }
        if !is_known {
            // This fails, and says what the names are.
            select_labels(&tree.dataset("/")?, selectors)?;
        }
    }
    for entry in all() {
        let (path, dataset) = entry?;
        let Some(known) = selectors.filter(|name| knows(&dataset, name)) else { continue };
        let selected =
            select_labels(&dataset, &known).map_err(|e| e.within(format_args!("group {path:?}")))?;
        for dimension in dataset.dimensions().keys() {
            if let Some(positions) = selected.selected(dimension) {
                copy = copy.select_dimension(path, dimension, pick(positions).axis());
            }
        }
    }
    Ok(copy)
}
