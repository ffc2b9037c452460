//! JSON values, each a slice of its document's text.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use zarr_traits::Bytes;

use super::layout::{self, Indent};
use super::number::Number;
use super::source::Source;
use super::{scan, split, string};
use crate::diagnostic::Strict;
use crate::error::{MetaError, MetaResult};

/// The nesting that [`Value::parse`] accepts. Documents have a limit of their own.
pub(crate) const DEPTH: usize = 128;

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// `NaN`, `Infinity` or `-Infinity`: not JSON, but found in attributes and fill values.
    NonFinite,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A JSON value in the spelling of its document.
///
/// A value is a slice of text that has been checked. Cloning does not copy the text, and the parts of a value are found
/// on access, one level at a time. Only a conversion to another type can lose information.
///
/// Two values are equal if their spelling is the same except for white space: `1.0` is not `1`, and the order of
/// members counts.
#[derive(Clone)]
pub struct Value {
    pub(super) source: Arc<Source>,
    pub(super) start: usize,
    end: usize,
}

/// The owner of the bytes of a value.
struct Raw(Value);

impl AsRef<[u8]> for Raw {
    fn as_ref(&self) -> &[u8] {
        self.0.as_raw().as_bytes()
    }
}

impl Value {
    /// Returns a part of `source`, which has been scanned.
    pub(super) fn slice(source: &Arc<Source>, start: usize, end: usize) -> Self {
        Self { source: Arc::clone(source), start, end }
    }

    /// Returns a value for a text that is valid by construction.
    pub(super) fn from_valid(text: impl Into<Box<str>>) -> Self {
        let source = Arc::new(Source::from(text));
        Self { start: 0, end: source.len(), source }
    }

    /// Reads a JSON text strictly, without tolerance. Documents are read with
    /// [`Document::parse`](super::Document::parse).
    ///
    /// # Errors
    /// If `text` is not one JSON value, or is nested more than 128 levels deep.
    pub fn parse(text: &str) -> MetaResult<Self> {
        Self::parse_within(text, DEPTH)
    }

    /// Like [`parse`](Self::parse) with another limit of nesting.
    pub(crate) fn parse_within(text: &str, depth: usize) -> MetaResult<Self> {
        let scan::Scanned { value, long } = scan::scan(text, depth, &mut Strict)?;
        Ok(Self::slice(&Arc::new(Source::new(text, long)), value.start, value.end))
    }

    /// Returns a number.
    ///
    /// # Errors
    /// If `number` is not finite, which JSON cannot represent.
    pub fn float(number: f64) -> MetaResult<Self> {
        if !number.is_finite() {
            return Err(MetaError::argument(format!("JSON has no number {number}")));
        }
        Ok(Self::from_valid(format!("{number:?}")))
    }

    /// Returns the spelling, including the white space inside.
    pub fn as_raw(&self) -> &str {
        &self.source[self.start..self.end]
    }

    /// Returns the spelling as bytes. They share the memory of the text, and keep it alive.
    pub fn to_raw_bytes(&self) -> Bytes {
        Bytes::from_owner(Raw(self.clone()))
    }

    /// Returns the kind of the value.
    pub fn kind(&self) -> ValueKind {
        match self.as_raw().as_bytes() {
            [b'n', ..] => ValueKind::Null,
            [b't' | b'f', ..] => ValueKind::Bool,
            [b'"', ..] => ValueKind::String,
            [b'[', ..] => ValueKind::Array,
            [b'{', ..] => ValueKind::Object,
            [b'N' | b'I', ..] | [b'-', b'I', ..] => ValueKind::NonFinite,
            _ => ValueKind::Number,
        }
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.kind() == ValueKind::Null
    }

    /// Returns the value of a bool.
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == ValueKind::Bool).then(|| self.as_raw() == "true")
    }

    /// Returns the value of a number. A bare `NaN` or `Infinity` is not a number.
    pub fn as_number(&self) -> Option<Number<'_>> {
        (self.kind() == ValueKind::Number).then(|| Number::new(self.as_raw()))
    }

    /// Returns the text of a string.
    ///
    /// # Errors
    /// If the value is not a string, or has a lone surrogate escape, so it is not text.
    pub fn to_text(&self) -> MetaResult<Cow<'_, str>> {
        if self.kind() != ValueKind::String {
            return Err(self.expected("a string"));
        }
        let raw = self.as_raw();
        text_of(&raw[1..raw.len() - 1])
    }

    /// Iterates over the elements of an array. Each is found on access.
    pub fn elements(&self) -> Option<Elements> {
        (self.kind() == ValueKind::Array)
            .then(|| Elements { source: Arc::clone(&self.source), at: self.start + 1 })
    }

    /// Returns the spelling without white space.
    pub fn to_compact(&self) -> String {
        let mut out = String::with_capacity(self.end - self.start);
        layout::compact(self.as_raw(), &mut out);
        out
    }

    /// Returns the spelling with each member and each element on its own line, indented by two spaces for each level.
    pub fn to_pretty(&self) -> String {
        let mut out = String::with_capacity(2 * (self.end - self.start));
        layout::pretty(self.as_raw(), Indent { base: "", unit: "  " }, &mut out);
        out
    }

    /// Returns the same value in the layout of [`to_pretty`](Self::to_pretty).
    pub(crate) fn laid_out(&self) -> Self {
        Self::from_valid(self.to_pretty())
    }

    /// Returns the same value, with each level indented by `spaces`.
    pub(crate) fn laid_out_by(&self, spaces: usize) -> Self {
        let mut out = String::with_capacity(2 * (self.end - self.start));
        layout::pretty(self.as_raw(), Indent { base: "", unit: &" ".repeat(spaces) }, &mut out);
        Self::from_valid(out)
    }

    /// Returns an error that says what was expected in place of this value.
    pub(crate) fn expected(&self, what: &str) -> MetaError {
        MetaError::invalid(format!("expected {what}, found {}", self.summary()))
    }

    /// Returns the value in a few words on one line.
    pub(crate) fn summary(&self) -> String {
        const LONGEST: usize = 60;
        let raw = self.as_raw();
        match self.kind() {
            ValueKind::Array if raw.len() > LONGEST => "a long array".to_owned(),
            ValueKind::Object if raw.len() > LONGEST => "an object".to_owned(),
            ValueKind::Array | ValueKind::Object => self.to_compact(),
            _ if raw.len() > LONGEST => raw.chars().take(LONGEST / 2).chain(['…']).collect(),
            _ => raw.to_owned(),
        }
    }
}

/// Returns the text between two quotes.
pub(super) fn text_of(inner: &str) -> MetaResult<Cow<'_, str>> {
    string::unescape(inner)
        .into_text()
        .ok_or_else(|| MetaError::invalid("the string has a lone surrogate escape, so it is not text"))
}

/// An iterator over the elements of an array.
#[derive(Debug, Clone)]
pub struct Elements {
    source: Arc<Source>,
    at: usize,
}

impl Iterator for Elements {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let (start, end) = split::element(&self.source, self.at)?;
        self.at = end;
        Some(Value::slice(&self.source, start, end))
    }
}

impl std::iter::FusedIterator for Elements {}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_raw() == other.as_raw() || self.to_compact() == other.to_compact()
    }
}

impl Eq for Value {}

/// Prints the spelling.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_raw())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_raw())
    }
}
