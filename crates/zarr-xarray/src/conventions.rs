//! Plans from the attributes of a variable how its elements are decoded. No element is read.
//!
//! The steps are those of xarray, in its order: texts, `_Unsigned`, missing values, scale and offset, spans, times,
//! booleans. An attribute that a step uses moves from the attributes to the encoding.

mod masking;
mod options;
mod time;
mod variable;

pub use options::{CoordinateNames, DecodeOptions, FillIsMissing, SpanDecoding};
pub use variable::{Decoding, VariablePlan};

pub(crate) use variable::{Stored, decode_variable};

use zarr_meta::json::{Object, Value};

use crate::finding::{Finding, FindingCode};

/// The attributes of a variable, and its encoding, to which used attributes move.
#[derive(Debug)]
struct Work<'a> {
    attributes: Object,
    encoding: Object,
    findings: &'a mut Vec<Finding>,
}

impl Work<'_> {
    /// Returns an attribute and moves it to the encoding.
    fn take(&mut self, name: &str) -> Option<Value> {
        let value = self.attributes.remove(name)?;
        self.encoding.set(name, value.clone());
        Some(value)
    }

    /// Returns an attribute if it is a text.
    fn text(&self, name: &str) -> Option<String> {
        Some(self.attributes.get(name)?.to_text().ok()?.into_owned())
    }

    fn found(&mut self, code: FindingCode, message: impl Into<String>) {
        self.findings.push(Finding::new(code, message));
    }
}
