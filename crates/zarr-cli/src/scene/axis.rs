//! The labels along a dimension of a scene.

use std::sync::Arc;

use zarr_xarray::{AxisKind, Index, IndexValues};

use super::Scene;

/// The longest index that is read for labels.
pub(super) const LONGEST: u64 = 4_000_000;

/// What a coordinate measures, as far as pictures care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Latitude,
    Longitude,
    /// Another direction that points up in maps.
    Northing,
    Other,
}

impl Place {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Latitude => "latitude",
            Self::Longitude => "longitude",
            Self::Northing => "northing",
            Self::Other => "",
        }
    }
}

/// A dimension with its labels.
#[derive(Debug)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) units: Option<String>,
    pub(crate) place: Place,
    labels: Labels,
}

#[derive(Debug)]
enum Labels {
    None,
    Index(Arc<Index>),
    /// Numbers at equal distances: the first, and the distance.
    Steps(f64, f64),
    Texts(Vec<String>),
}

/// A label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Label {
    Number(f64),
    Text(String),
}

impl Scene {
    /// Returns a dimension with its labels. Reads the index of a coordinate.
    pub(crate) fn axis(&self, dim: usize) -> Axis {
        let name = self.names().get(dim).cloned().unwrap_or_default();
        if let (Some(image), Some(level)) = (self.image(), &self.level)
            && let Some(axis) = image.axes.get(dim)
        {
            let labels = match axis.kind {
                AxisKind::Channel if !image.channels.is_empty() => {
                    let label = |(at, channel): (usize, &zarr_xarray::Channel)| {
                        channel.label.clone().unwrap_or_else(|| at.to_string())
                    };
                    Labels::Texts(image.channels.iter().enumerate().map(label).collect())
                }
                AxisKind::Channel => Labels::None,
                _ => Labels::Steps(level.translation[dim], level.scale[dim]),
            };
            // The rows of a map point up.
            let is_up = !self.is_picture() && dim == image.sides()[0];
            let place = if is_up { Place::Northing } else { Place::Other };
            return Axis { name, units: axis.unit.clone(), place, labels };
        }
        let dataset = self.around.as_ref().and_then(|around| around.dataset.as_ref());
        let length = self.shape().get(dim).copied().unwrap_or(0);
        let known = dataset.filter(|dataset| {
            self.variable.is_some() && length <= LONGEST && dataset.indexes().any(|index| index == name)
        });
        let Some(dataset) = known else {
            return Axis { name, units: None, place: Place::Other, labels: Labels::None };
        };
        let coordinate = dataset.variable(&name).ok();
        let text = |attribute: &str| coordinate.as_ref()?.attributes().get(attribute)?.as_text();
        let (units, standard) = (text("units"), text("standard_name"));
        let place = match (standard.as_deref(), units.as_deref()) {
            (Some("latitude"), _)
            | (_, Some("degrees_north" | "degree_north" | "degrees_N" | "degreesN")) => Place::Latitude,
            (Some("longitude"), _) | (_, Some("degrees_east" | "degree_east" | "degrees_E" | "degreesE")) => {
                Place::Longitude
            }
            (Some("projection_y_coordinate" | "grid_latitude"), _) => Place::Northing,
            _ => match &*name.to_ascii_lowercase() {
                "lat" | "latitude" => Place::Latitude,
                "lon" | "longitude" => Place::Longitude,
                _ if text("axis").as_deref() == Some("Y") => Place::Northing,
                _ => Place::Other,
            },
        };
        let index = dataset.index(&name).ok().filter(|index| index.len() as u64 == length);
        // Decoded times have no unit.
        let is_time = index
            .as_ref()
            .is_some_and(|index| matches!(index.values(), IndexValues::Times(_) | IndexValues::Spans(_)));
        let units = units.filter(|_| !is_time && index.is_some());
        Axis { name, units, place, labels: index.map_or(Labels::None, Labels::Index) }
    }
}

impl Axis {
    pub(crate) fn label(&self, position: u64) -> Option<Label> {
        let at = usize::try_from(position).ok()?;
        match &self.labels {
            Labels::None => None,
            Labels::Steps(first, step) => Some(Label::Number(first + step * position as f64)),
            Labels::Texts(texts) => texts.get(at).cloned().map(Label::Text),
            Labels::Index(index) => match index.values() {
                IndexValues::Integers(values) => values.get(at).map(|value| Label::Number(*value as f64)),
                IndexValues::Unsigned(values) => values.get(at).map(|value| Label::Number(*value as f64)),
                IndexValues::Floats(values) => values.get(at).copied().map(Label::Number),
                // The text of a small float has fewer digits than the double that is equal to it.
                IndexValues::SmallFloats(values) => {
                    Some(Label::Number(values.get(at)?.to_string().parse().ok()?))
                }
                IndexValues::Texts(values) => values.get(at).cloned().map(Label::Text),
                _ => index.text(at).map(Label::Text),
            },
        }
    }

    /// The mean distance between the elements from `start` to `end`, if the labels are numbers.
    pub(crate) fn distance(&self, start: u64, end: u64) -> Option<f64> {
        match (self.label(start)?, self.label(end.checked_sub(1)?)?) {
            (Label::Number(first), Label::Number(last)) if end - start > 1 => {
                let mean = (last - first).abs() / (end - start - 1) as f64;
                (mean > 0.0 && mean.is_finite()).then_some(mean)
            }
            _ => None,
        }
    }
}
