//! Keys: elements of an index and labels in a form that can be compared.

use std::cmp::Ordering;

/// A key. Times and spans are integers: their nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Key<'a> {
    Integer(i128),
    Float(f64),
    Text(&'a str),
    /// A missing time. It cannot be compared.
    Missing,
}

impl Key<'_> {
    /// Returns the order of two keys, or `None` for NaN, missing times, and keys of different kinds.
    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b),
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Float(b)) => integer_and_float(a, b),
            (Self::Float(a), Self::Integer(b)) => integer_and_float(b, a).map(Ordering::reverse),
            _ => None,
        }
    }

    /// Whether both keys are the same. NaN equals NaN.
    pub(super) fn is(self, other: Self) -> bool {
        let is_nan = |key: Self| matches!(key, Self::Float(float) if float.is_nan());
        is_nan(self) && is_nan(other) || self.compare(other) == Some(Ordering::Equal)
    }

    /// Returns the distance of two numbers, or `None` for texts.
    pub(super) fn distance(self, other: Self) -> Option<Distance> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(Distance::Exact(a.abs_diff(b))),
            _ => Some(Distance::Float((self.to_f64()? - other.to_f64()?).abs())),
        }
    }

    pub(super) fn to_f64(self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(integer as f64),
            Self::Float(float) => Some(float),
            Self::Text(_) | Self::Missing => None,
        }
    }
}

/// A distance of two numbers, exact if both are integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Distance {
    Exact(u128),
    Float(f64),
}

impl Distance {
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Self::Exact(exact) => exact as f64,
            Self::Float(float) => float,
        }
    }

    /// Whether this distance is larger than another distance from the same label.
    pub(super) fn exceeds(self, other: Self) -> bool {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => a > b,
            _ => self.to_f64() > other.to_f64(),
        }
    }
}

/// Compares an integer and a float without rounding the integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "floats beyond the range saturate, which keeps the order"
)]
fn integer_and_float(integer: i128, float: f64) -> Option<Ordering> {
    let below = float.floor();
    match integer.cmp(&(below as i128)) {
        _ if float.is_nan() => None,
        Ordering::Equal if float > below => Some(Ordering::Less),
        order => Some(order),
    }
}
