//! The checks of GeoZarr: the registered conventions `multiscales`, `spatial` and `proj`, and `uom` and `license`.
//!
//! Specification: [multiscales](https://github.com/zarr-conventions/multiscales),
//! [spatial](https://github.com/zarr-conventions/spatial) and [proj](https://github.com/zarr-conventions/proj), version 0.1,
//! [uom](https://github.com/clbarnes/zarr-convention-uom) and
//! [license](https://github.com/clbarnes/zarr-convention-license), version 1.

mod layout;
mod members;

use zarr_meta::Severity;
use zarr_meta::json::Object;

use super::registered::{ATTRIBUTE, Registered, declared};
use super::{Geozarr, Group, Hierarchy, Report};
use crate::finding::FindingCode;

/// A node with its attributes.
struct Node<'a> {
    path: &'a str,
    attributes: &'a Object,
    /// The names of the dimensions: those of an array, or of the arrays of a group. Empty if there are none.
    dimensions: &'a [String],
    is_array: bool,
    declared: Vec<Registered>,
}

pub(super) fn check(hierarchy: &Hierarchy, group: &Group<'_>, report: &mut Report<'_>) {
    let dimensions: Vec<String> = group.arrays.iter().flat_map(|array| array.names().to_vec()).collect();
    node(hierarchy, (group.path, &group.attributes), (&dimensions, false), report);
    for array in &group.arrays {
        node(hierarchy, (&array.path, &array.attributes), (array.names(), true), report);
    }
}

/// Checks the conventions of a node.
fn node(
    hierarchy: &Hierarchy,
    (path, attributes): (&str, &Object),
    (dimensions, is_array): (&[String], bool),
    report: &mut Report<'_>,
) {
    let mut tell = teller(report, path, FindingCode::GeozarrForm);
    let declared = declared(attributes, &mut tell);
    for convention in Registered::all().filter(|of| of.is_used(attributes) && !declared.contains(of)) {
        let message = format!(
            "the attributes use the convention {}, which {ATTRIBUTE} does not declare",
            convention.name()
        );
        tell(Severity::Error, message);
    }
    drop(tell);
    let node = Node { path, attributes, dimensions, is_array, declared };
    for convention in &node.declared {
        match convention {
            Registered::Multiscales => layout::check(hierarchy, &node, report),
            of => members::check(*of, &node, teller(report, path, FindingCode::GeozarrForm)),
        }
    }
}

/// Returns a function that adds findings of a code to a node.
fn teller(report: &mut Report<'_>, path: &str, code: FindingCode) -> impl FnMut(Severity, String) {
    move |severity, message| report.add(&[Geozarr], severity, path, code, message)
}
