//! The axes of an image.

use zarr_meta::Severity;
use zarr_meta::json::Object;

use super::{objects, text, twice};
use crate::profile::rules::{Rule, is_bool, is_name, is_text, judge, may, must};

/// An axis: its name and its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) of: Option<String>,
}

const AXIS: &[Rule] = &[
    must("name", "a name", is_name),
    may("type", "a text", |value| is_text(value) || value.is_null()),
    may("unit", "a text", |value| is_text(value) || value.is_null()),
    may("discrete", "true or false", is_bool),
    may("longName", "a text", is_text),
];

/// Reads `axes`, and tells which are wrong.
pub(super) fn read(of: &Object, mut wrong: impl FnMut(String)) -> Vec<Axis> {
    let Some(list) = objects(of, "axes") else {
        wrong("axes is absent, or not a list of objects".to_owned());
        return Vec::new();
    };
    for axis in &list {
        judge(axis, AXIS, |_: Severity, message| {
            wrong(format!("the axis {}: {message}", axis.to_value().to_compact()))
        });
    }
    let named = |axis: &Object| Some(Axis { name: text(axis, "name")?, of: text(axis, "type") });
    let axes: Vec<Axis> = list.iter().filter_map(named).collect();
    let names: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
    if let Some(name) = twice(&names) {
        wrong(format!("two axes are named {name:?}"));
    }
    axes
}

/// Tells what is wrong with the axes of an image: two to five; perhaps time, perhaps a channel or another one, two or three of
/// space, in this order.
pub(super) fn of_image(axes: &[Axis], mut wrong: impl FnMut(String)) {
    if !(2..=5).contains(&axes.len()) {
        wrong(format!("there are {} axes, not two to five", axes.len()));
    }
    let ranks: Vec<u8> = axes
        .iter()
        .map(|axis| match axis.of.as_deref() {
            Some("time") => 0,
            Some("space") => 2,
            _ => 1,
        })
        .collect();
    let count = |rank: u8| ranks.iter().filter(|of| **of == rank).count();
    if !(2..=3).contains(&count(2)) {
        wrong(format!("there are {} axes of type space, not two or three", count(2)));
    }
    if count(0) > 1 || count(1) > 1 {
        wrong(
            "there is more than one axis of time, or more than one of a channel or another type".to_owned(),
        );
    }
    if !ranks.is_sorted() {
        wrong("the axes are not in the order time, channel, space".to_owned());
    }
}

/// Whether axes are those of an array, not of an image.
pub(super) fn are_of_array(axes: &[Axis]) -> bool {
    axes.len() >= 2 && axes.iter().all(|axis| axis.of.as_deref() == Some("array"))
}
