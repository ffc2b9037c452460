//! Options of decoding.

use std::collections::BTreeSet;

use crate::units::TimeUnit;

/// Which attributes are applied, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Whether missing values and packing are applied. The default is that of xarray.
    pub mask_and_scale: bool,
    /// The coarsest unit of decoded times. With `None` times stay numbers, and so do spans by attribute.
    pub times: Option<TimeUnit>,
    /// Which variables are spans.
    pub spans: SpanDecoding,
    /// Whether single bytes along the last dimension are joined, and bytes with `_Encoding` become texts.
    pub texts: bool,
    /// Which attributes name coordinates.
    pub coordinates: CoordinateNames,
    /// Whether the fill value of an array is a missing value.
    pub fill_is_missing: FillIsMissing,
    /// The names of variables that a [`Dataset`](crate::Dataset) leaves out before it compares lengths of dimensions.
    pub dropped: BTreeSet<String>,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            mask_and_scale: true,
            times: Some(TimeUnit::Nanoseconds),
            spans: SpanDecoding::ByAttribute,
            texts: true,
            coordinates: CoordinateNames::Coordinates,
            fill_is_missing: FillIsMissing::AsFormat,
            dropped: BTreeSet::new(),
        }
    }
}

/// Which variables are spans of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpanDecoding {
    /// Variables with an attribute `dtype` of the form `timedelta64[…]`.
    ByAttribute,
    /// Also variables whose units are `days` to `nanoseconds`, decoded in this unit, as xarray did before 2025.
    ByUnits(TimeUnit),
    /// No variables.
    Off,
}

/// Which attributes name coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoordinateNames {
    /// No attributes.
    Off,
    /// The attribute `coordinates`.
    Coordinates,
    /// `coordinates`, `bounds`, `grid_mapping`, `climatology`, `geometry`, `node_coordinates`, `node_count`,
    /// `part_node_count`, `interior_ring`, `cell_measures` and `formula_terms`.
    All,
}

/// Whether the fill value of an array is a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FillIsMissing {
    /// In format 2 and before, not in format 3.
    AsFormat,
    /// In all formats.
    Always,
    /// In no format: only the attribute `_FillValue` counts.
    Never,
}
