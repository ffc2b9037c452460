//! Which conventions are applied.

use crate::units::TimeUnit;

/// Which attributes are applied, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Whether missing values and packing are applied; as it is in xarray unless set.
    pub mask_and_scale: bool,
    /// The unit of times, where a finer one is not needed. `None`: times stay numbers, and so do spans by attribute.
    pub times: Option<TimeUnit>,
    /// Which variables are spans.
    pub spans: SpanDecoding,
    /// Whether single bytes along the last dimension are joined, and bytes with `_Encoding` become texts.
    pub texts: bool,
    /// Which attributes name coordinates.
    pub coordinates: CoordinateNames,
    /// Whether the fill value of an array is a missing value.
    pub fill_is_missing: FillIsMissing,
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
        }
    }
}

/// Which variables are spans of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanDecoding {
    /// Those with an attribute `dtype` that is `timedelta64[…]`.
    ByAttribute,
    /// Those whose units are one of `days` to `nanoseconds` as well, in this unit: what xarray did before 2025.
    ByUnits(TimeUnit),
    /// None.
    Off,
}

/// Which attributes name coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoordinateNames {
    /// None.
    Off,
    /// The attribute `coordinates`.
    Coordinates,
    /// `coordinates`, and those that relate a variable to bounds, grid mappings and others.
    All,
}

/// Whether the fill value of an array is a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillIsMissing {
    /// In format 2 and before, not in format 3.
    AsFormat,
    /// In all formats.
    Always,
    /// In none: the attribute `_FillValue` counts.
    Never,
}
