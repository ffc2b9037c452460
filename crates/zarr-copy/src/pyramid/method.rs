//! How the elements of a box become one element.

use std::fmt;
use std::str::FromStr;

use zarr_array::DataType;
use zarr_array::traits::number::Numeric;

/// How a box of elements of one level becomes an element of the next level. As text `mean`, `nearest`, ….
///
/// NaN, NaT and [missing values](crate::pyramid::MissingValues) do not count, except for `Nearest`. A box that has only
/// missing elements keeps its first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias("resampling", "downsampling"))]
pub enum Downsample {
    /// The first element of the box, missing or not.
    Nearest,
    /// The mean. Of integers it is rounded, halves to the even number; of booleans it is the mode.
    Mean,
    /// The element in the middle of the sorted ones, the smaller one of two.
    Median,
    /// The most frequent element, the smallest one of several.
    Mode,
    /// The smallest element.
    Min,
    /// The largest element.
    Max,
}

impl Downsample {
    /// All methods.
    pub const ALL: &[Self] = &[Self::Nearest, Self::Mean, Self::Median, Self::Mode, Self::Min, Self::Max];

    /// Returns the name: `nearest`, `mean`, `median`, `mode`, `min`, `max`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Mode => "mode",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// Returns the name in the `multiscales` convention, which is that of GDAL.
    pub(crate) fn name_in_convention(self) -> &'static str {
        match self {
            Self::Mean => "average",
            Self::Median => "med",
            other => other.name(),
        }
    }

    /// Returns why elements of this type cannot be reduced in this way, and the way out; `None` if they can.
    pub(crate) fn obstacle(self, data_type: &DataType) -> Option<String> {
        if data_type.size().is_none() {
            return Some(format!("elements of variable length ({data_type}) have no levels"));
        }
        match data_type.numeric() {
            _ if self == Self::Nearest => None,
            None if is_time(data_type) => None,
            None => Some(format!("cannot take the {self} of {data_type}: use nearest")),
            Some(Numeric::Complex(_)) if self != Self::Mean => {
                Some(format!("cannot take the {self} of complex numbers: use nearest or mean"))
            }
            Some(_) => None,
        }
    }
}

/// Whether elements are times or durations of NumPy: 64-bit integers, the smallest of which is NaT.
pub(crate) fn is_time(data_type: &DataType) -> bool {
    matches!(&*data_type.name(), "numpy.datetime64" | "numpy.timedelta64")
}

impl fmt::Display for Downsample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Downsample {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|method| method.name() == text.trim());
        let names = || Self::ALL.iter().map(|method| method.name()).collect::<Vec<_>>().join(", ");
        known.copied().ok_or_else(|| format!("{text:?} is not a method; there are {}", names()))
    }
}
