//! The checks of variables that name others, and of the coordinates of CF.

use zarr_meta::NodeMeta;

use super::{Array, Cf, Geozarr, Group, Hierarchy, Report, Xarray, text};
use crate::finding::FindingCode;
use crate::related::{RELATED, related_names};
use crate::units::TimeUnits;

/// Units of pressure, with which a vertical coordinate needs no `positive`.
const PRESSURE: [&str; 9] = ["Pa", "hPa", "kPa", "bar", "millibar", "mbar", "mb", "decibar", "atmosphere"];

pub(super) fn check(hierarchy: &Hierarchy, group: &Group<'_>, array: &Array<'_>, report: &mut Report<'_>) {
    related(hierarchy, group, array, report);
    bounds(group, array, report);
    coordinate(array, report);
    grid_mapping(group, array, report);
}

/// Attributes that name other variables.
fn related(hierarchy: &Hierarchy, group: &Group<'_>, array: &Array<'_>, report: &mut Report<'_>) {
    let external = text(&group.attributes, "external_variables").unwrap_or_default();
    let external: Vec<&str> = external.split_whitespace().collect();
    for attribute in RELATED.into_iter().chain(["coordinates"]) {
        let Some(value) = array.attributes.get(attribute) else { continue };
        let read = value.to_text().ok().and_then(|text| related_names(attribute, &text));
        let Some(read) = read.filter(|read| !read.is_malformed) else {
            let message = format!("{attribute} is {value}, which cannot be parsed");
            report.error(&[Cf, Xarray], &array.path, FindingCode::ReferencedNames, message);
            continue;
        };
        let is_absent = |name: &&str| !hierarchy.has_array(group.path, name) && !external.contains(name);
        let absent: Vec<&str> = read.names.iter().map(String::as_str).filter(is_absent).collect();
        if !absent.is_empty() {
            let message = format!("{attribute} names {}, which is not there", absent.join(", "));
            report.error(&[Cf, Xarray], &array.path, FindingCode::ReferencedNames, message);
        }
    }
}

/// The bounds of a coordinate have its dimensions and one more, and its units.
fn bounds(group: &Group<'_>, array: &Array<'_>, report: &mut Report<'_>) {
    let Some(bounds) = array.text("bounds").and_then(|name| group.array(name.trim())) else { return };
    let (own, theirs) = (array.meta.shape(), bounds.meta.shape());
    if theirs.split_last().is_none_or(|(last, rest)| rest != own || *last < 2) {
        let message = format!("the bounds of {:?} have shape {theirs:?}, and it has {own:?}", array.name);
        report.error(&[Cf], &bounds.path, FindingCode::BoundsForm, message);
    }
    for name in ["units", "calendar"] {
        if let (Some(own), Some(other)) = (array.text(name), bounds.text(name))
            && own != other
        {
            let message = format!("{name} is {other:?}, and {own:?} in {:?}", array.name);
            report.error(&[Cf], &bounds.path, FindingCode::BoundsForm, message);
        }
    }
}

/// The roles of coordinates in CF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Latitude,
    Longitude,
    Vertical,
    Time,
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Self::Latitude => "latitude",
            Self::Longitude => "longitude",
            Self::Vertical => "vertical coordinate",
            Self::Time => "time",
        }
    }
}

/// Coordinates of latitude, longitude, height and time have units, and heights a direction.
fn coordinate(array: &Array<'_>, report: &mut Report<'_>) {
    let Some(role) = role(array) else { return };
    let units = array.text("units");
    let wanted = match role {
        Role::Latitude => "degrees_north",
        Role::Longitude => "degrees_east",
        Role::Vertical => "units of length or pressure",
        Role::Time => "a unit since a time",
    };
    let is_time = units.as_deref().is_some_and(TimeUnits::are_meant_by);
    if units.is_none() || role == Role::Time && !is_time && array.text("axis").as_deref() == Some("T") {
        let found =
            units.as_ref().map_or_else(|| "no units".to_owned(), |units| format!("the units {units:?}"));
        let message = format!("the {} has {found}; CF wants {wanted}", role.name());
        report.error(&[Cf], &array.path, FindingCode::CoordinateUnits, message);
    }
    let is_pressure = units.as_deref().is_some_and(|units| PRESSURE.contains(&units));
    if role == Role::Vertical && !is_pressure && !array.attributes.contains("positive") {
        let message = "a vertical coordinate without units of pressure has no attribute positive";
        report.error(&[Cf], &array.path, FindingCode::CoordinateUnits, message);
    }
}

/// Returns the role of a coordinate with the labels of a dimension, or of a variable with the standard name of one.
fn role(array: &Array<'_>) -> Option<Role> {
    let is_numpy_time = array.meta.document().data_type().name() == "numpy.datetime64";
    let named = match &*array.text("standard_name").unwrap_or_default() {
        "latitude" => Some(Role::Latitude),
        "longitude" => Some(Role::Longitude),
        "time" => Some(Role::Time),
        "height" | "depth" | "altitude" | "air_pressure" if array.is_index() => Some(Role::Vertical),
        _ => None,
    };
    let by_axis = || match array.text("axis").as_deref() {
        Some("T") => Some(Role::Time),
        Some("Z") => Some(Role::Vertical),
        _ => None,
    };
    let by_name = || match &*array.name.to_ascii_lowercase() {
        "lat" | "latitude" => Some(Role::Latitude),
        "lon" | "longitude" => Some(Role::Longitude),
        "time" => Some(Role::Time),
        _ => None,
    };
    let role = named.or_else(|| array.is_index().then(|| by_axis().or_else(by_name)).flatten());
    role.filter(|role| !(*role == Role::Time && is_numpy_time))
}

/// A grid mapping says which one it is, the same as `proj:wkt2` of the group.
fn grid_mapping(group: &Group<'_>, array: &Array<'_>, report: &mut Report<'_>) {
    let named = array.text("grid_mapping").and_then(|text| related_names("grid_mapping", &text));
    for name in named.into_iter().flat_map(|named| named.names) {
        let Some(mapping) = group.array(&name) else { continue };
        let known = mapping.text("crs_wkt");
        if known.is_none() && mapping.text("grid_mapping_name").is_none() {
            let message =
                format!("the grid mapping of {:?} has neither grid_mapping_name nor crs_wkt", array.name);
            report.warning(&[Cf, Geozarr], &mapping.path, FindingCode::GridMapping, message);
        }
        let own = text(&group.attributes, "proj:wkt2");
        if let (Some(own), Some(known)) = (own, known)
            && own != known
        {
            let message = "crs_wkt differs from proj:wkt2 of the group";
            report.warning(&[Geozarr, Cf], &mapping.path, FindingCode::GridMapping, message);
        }
    }
}

impl Hierarchy {
    /// Whether a path, relative to a group, is a group.
    pub(super) fn has_group(&self, group: &str, path: &str) -> bool {
        matches!(self.at(group, path), Some((_, NodeMeta::Group(_))))
    }
}
