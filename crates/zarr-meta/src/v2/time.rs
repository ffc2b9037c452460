//! The units of times.

use std::fmt;

use crate::json::Value;
use crate::v3::Extension;

const UNITS: [&str; 13] = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"];
const GENERIC: &str = "generic";

/// The step in which a time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time {
    unit: &'static str,
    scale: i32,
}

impl Time {
    /// Reads the unit at the end of a type string: `[ns]`, `[10s]`, or nothing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self { unit: GENERIC, scale: 1 });
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let digits = inner.find(|c: char| !c.is_ascii_digit())?;
        let (scale, unit) = inner.split_at(digits);
        let scale = if scale.is_empty() { 1 } else { scale.parse().ok()? };
        Self::new(unit, scale)
    }

    pub(crate) fn new(unit: &str, scale: i32) -> Option<Self> {
        let unit = if let "\u{3bc}s" | "\u{b5}s" = unit { "us" } else { unit };
        let unit = UNITS.into_iter().chain([GENERIC]).find(|u| *u == unit)?;
        (scale >= 1).then_some(Self { unit, scale })
    }

    pub(crate) fn data_type(self, name: &str) -> Value {
        Extension::new(name).with("unit", self.unit).with("scale_factor", self.scale).into()
    }
}

/// Prints the unit as at the end of a type string.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.unit, self.scale) {
            (GENERIC, 1) => Ok(()),
            (unit, 1) => write!(f, "[{unit}]"),
            (unit, scale) => write!(f, "[{scale}{unit}]"),
        }
    }
}
