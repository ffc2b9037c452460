//! Plates of OME-Zarr: wells in rows and columns, each with images.

use super::{list, objects, ome_members, path, text};
use crate::documents::Format;
use crate::error::{MetaError, MetaResult};
use crate::json::Object;

/// The largest number of wells of a plate, and of images of a well.
const MOST: usize = 100_000;

/// A plate: rows and columns of wells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlateDocument {
    /// The version of OME-Zarr. Any text.
    pub version: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The paths of the groups of the wells, below the group of the plate.
    pub wells: Vec<String>,
}

/// A well of a plate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WellDocument {
    /// The paths of the groups of its images, below the group of the well.
    pub images: Vec<String>,
}

impl PlateDocument {
    /// Returns the plate that the attributes of a group of this format describe; `None` if they describe none.
    ///
    /// # Errors
    /// [`Invalid`](crate::MetaErrorKind::Invalid) for a document that does not follow the specification;
    /// [`LimitExceeded`](crate::MetaErrorKind::LimitExceeded) for too many wells.
    pub fn read(attributes: &Object, format: Format) -> MetaResult<Option<Self>> {
        let Some((members, plate)) = member(attributes, format, "plate")? else { return Ok(None) };
        let names = |list_name: &str| -> Vec<String> {
            list(&plate, list_name).take(MOST).filter_map(|of| of.get("name")?.as_text()).collect()
        };
        Ok(Some(Self {
            version: text(&plate, "version").or_else(|| text(&members, "version")),
            name: text(&plate, "name"),
            rows: names("rows"),
            columns: names("columns"),
            wells: paths(&plate, "plate", "wells")?,
        }))
    }
}

impl WellDocument {
    /// Returns the well that the attributes of a group of this format describe; `None` if they describe none.
    ///
    /// # Errors
    /// As [`PlateDocument::read`].
    pub fn read(attributes: &Object, format: Format) -> MetaResult<Option<Self>> {
        let Some((_, well)) = member(attributes, format, "well")? else { return Ok(None) };
        Ok(Some(Self { images: paths(&well, "well", "images")? }))
    }
}

/// Returns the members of OME-Zarr, and the one of this name, which is an object.
fn member(attributes: &Object, format: Format, name: &str) -> MetaResult<Option<(Object, Object)>> {
    let (members, is_within) = ome_members(attributes, format);
    let Some(value) = members.get(name) else { return Ok(None) };
    match value.as_object() {
        Some(object) => Ok(Some((members, object))),
        // Other attributes can have such a name.
        None if !is_within => Ok(None),
        None => {
            let message = format!("expected an object, found {}", value.summary());
            Err(MetaError::invalid(message).at(&format!("/ome/{name}")))
        }
    }
}

/// Returns the paths in a list of objects.
fn paths(of: &Object, owner: &str, name: &str) -> MetaResult<Vec<String>> {
    // A plate whose images are not written yet has no wells.
    if list(of, name).next().is_none() && of.get(name).is_none_or(|list| list.elements().is_some()) {
        return Ok(Vec::new());
    }
    let entries = objects(of, name, MOST).map_err(|e| e.at(&format!("/{owner}")))?;
    let one = |(number, entry): (usize, &Object)| {
        path(entry, "path").map_err(|e| e.at(&format!("/{owner}/{name}/{number}")))
    };
    entries.iter().enumerate().map(one).collect()
}
