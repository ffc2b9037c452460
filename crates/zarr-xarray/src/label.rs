//! Labels: values to find in an index.

use std::fmt;

use crate::calendar::Calendar;
use crate::date_time::DateTime;

/// A value to find in an index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Label {
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A boolean.
    Boolean(bool),
    /// A text. For an index of times it is an [`Interval`](crate::Interval).
    Text(String),
    /// An instant.
    Time(DateTime, Calendar),
    /// A span in nanoseconds.
    Span(i64),
}

impl From<i64> for Label {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<f64> for Label {
    fn from(float: f64) -> Self {
        Self::Float(float)
    }
}

impl From<bool> for Label {
    fn from(truth: bool) -> Self {
        Self::Boolean(truth)
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Float(float) => write!(f, "{float}"),
            Self::Boolean(truth) => write!(f, "{truth}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Time(time, _) => write!(f, "{time}"),
            Self::Span(nanoseconds) => write!(f, "{nanoseconds} ns"),
        }
    }
}
