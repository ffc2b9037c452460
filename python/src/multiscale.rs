//! Images and grids in several resolutions.

use pyo3::prelude::*;
use zarr_array::meta::json::{Object, Value};
use zarr_xarray::{AxisKind, Multiscale, XarrayError, XarrayErrorKind};

use crate::error::{raised_in_group, raised_of_kind};
use crate::groups::GroupHandle;
use crate::interrupt::wait;

/// Returns what a group says about its levels as JSON text, or `None` if it says nothing.
#[pyfunction]
pub(crate) fn multiscale(py: Python<'_>, group: &GroupHandle) -> PyResult<Option<String>> {
    let group = group.get();
    let image = wait(py, Multiscale::open(&group))?;
    let raised = |e: XarrayError| match (e.kind(), e.hierarchy_error()) {
        (_, Some(inner)) => raised_in_group(py, group.storage(), inner),
        (XarrayErrorKind::Unsupported, None) => raised_of_kind(py, "Unsupported", place(&group, &e)),
        (_, None) => raised_of_kind(py, "Metadata", place(&group, &e)),
    };
    Ok(image.map_err(raised)?.map(|image| document(&image).to_compact()))
}

fn place(group: &zarr_hierarchy::Group, e: &XarrayError) -> String {
    format!("group {:?}: {e:#}", group.path())
}

fn document(image: &Multiscale) -> Value {
    let axes = image.axes.iter().map(|axis| {
        let kind = match axis.kind {
            AxisKind::Space => Some("space"),
            AxisKind::Time => Some("time"),
            AxisKind::Channel => Some("channel"),
            _ => None,
        };
        object([
            ("name", axis.name.as_str().into()),
            ("kind", kind.into()),
            ("unit", axis.unit.as_deref().into()),
        ])
    });
    let levels = image.levels.iter().map(|level| {
        object([
            ("path", level.path.as_str().into()),
            ("paths", texts(&level.arrays)),
            ("shape", level.shape.iter().copied().collect()),
            ("scale", numbers(&level.scale)),
            ("translation", numbers(&level.translation)),
        ])
    });
    let channels = image.channels.iter().map(|channel| {
        object([
            ("label", channel.label.as_deref().into()),
            ("color", channel.color.map(|rgb| rgb.map(u64::from).into_iter().collect::<Value>()).into()),
            ("window", channel.window.map(|(start, end)| numbers(&[start, end])).into()),
            ("limits", channel.limits.map(|(min, max)| numbers(&[min, max])).into()),
            ("active", channel.is_active.into()),
        ])
    });
    let colors = image.label_colors.iter().map(|color| {
        [Value::from(color.label), color.rgba.map(u64::from).into_iter().collect()]
            .into_iter()
            .collect::<Value>()
    });
    object([
        ("format", image.format.to_string().into()),
        ("name", image.name.as_deref().into()),
        ("method", image.method.as_deref().into()),
        ("axes", axes.collect()),
        ("levels", levels.collect()),
        ("sides", image.sides().iter().map(|side| *side as u64).collect()),
        ("channels", channels.collect()),
        ("default_time", image.default_time.into()),
        ("default_depth", image.default_depth.into()),
        ("labels", texts(&image.labels)),
        ("label_colors", colors.collect()),
        ("is_label", image.is_label.into()),
    ])
    .into()
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Object {
    let mut object = Object::new();
    members.into_iter().for_each(|(name, value)| object.set(name, value));
    object
}

fn texts(of: &[String]) -> Value {
    of.iter().map(String::as_str).collect()
}

/// Returns finite numbers.
fn numbers(of: &[f64]) -> Value {
    of.iter().map(|number| Value::float(*number).unwrap_or_else(|_| Value::null())).collect()
}
