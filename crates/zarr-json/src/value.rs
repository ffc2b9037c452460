//! JSON values, each a slice of its document's text.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::error::{JsonError, JsonErrorKind, JsonResult};
use crate::layout::{self, Indent};
use crate::number::Number;
use crate::source::{Mark, Source};
use crate::split::Walk;
use crate::{scan, string};

/// The nesting that [`Value::parse`] accepts, in levels.
pub const DEPTH: usize = 128;

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
    pub(crate) source: Arc<Source>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The number of its mark.
    pub(crate) mark: u32,
}

impl Value {
    /// Returns a part of `source`, which has been scanned.
    pub(crate) fn slice(source: &Arc<Source>, start: usize, end: usize) -> Self {
        Self::marked(source, start, end, Mark::NONE)
    }

    /// Returns a part of `source` with its mark.
    pub(crate) fn marked(source: &Arc<Source>, start: usize, end: usize, mark: u32) -> Self {
        Self { source: Arc::clone(source), start, end, mark }
    }

    /// Returns the value of a text that has been scanned.
    pub(crate) fn whole(text: &str, scanned: scan::Scanned) -> Self {
        let scan::Scanned { value, long, marks } = scanned;
        let source = Arc::new(Source::new(text, long, marks));
        Self { start: value.start, end: value.end, mark: source.root(), source }
    }

    /// Returns a value for a text that is valid by construction.
    pub(crate) fn from_valid(text: impl Into<Box<str>>) -> Self {
        let source = Arc::new(Source::from(text));
        Self { start: 0, end: source.len(), mark: Mark::NONE, source }
    }

    /// Reads a JSON text strictly, without tolerance. Documents are read with
    /// [`Document::parse`](crate::Document::parse).
    ///
    /// # Errors
    /// If `text` is not one JSON value, or is nested more than 128 levels deep.
    pub fn parse(text: &str) -> JsonResult<Self> {
        Self::parse_within(text, DEPTH)
    }

    /// Like [`parse`](Self::parse) with another limit of nesting.
    ///
    /// # Errors
    /// If `text` is not one JSON value, or is nested more than `depth` levels deep.
    pub fn parse_within(text: &str, depth: usize) -> JsonResult<Self> {
        let mut deviations = Vec::new();
        let scanned = scan::scan(text, depth, &mut deviations);
        if let Some(first) = deviations.into_iter().next() {
            return Err(first.into());
        }
        Ok(Self::whole(text, scanned?))
    }

    /// Returns `null`.
    pub fn null() -> Self {
        Self::from_valid("null")
    }

    /// Returns a number.
    ///
    /// # Errors
    /// If `number` is not finite, which JSON cannot represent.
    pub fn float(number: f64) -> JsonResult<Self> {
        if !number.is_finite() {
            return Err(JsonError::argument(format!("JSON has no number {number}")));
        }
        Ok(number.into())
    }

    /// Returns the spelling, including the white space inside.
    pub fn as_raw(&self) -> &str {
        &self.source[self.start..self.end]
    }

    /// Returns the kind of the value.
    pub fn kind(&self) -> ValueKind {
        match &self.source.as_bytes()[self.start..self.end] {
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

    /// Returns the value of an integer that fits, in the spelling of integers: not of `1.0`.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_integer()?.try_into().ok()
    }

    /// Returns the value of an integer that fits, in the spelling of integers: not of `1.0`.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_integer()?.try_into().ok()
    }

    /// Returns the value of an integer of at most 38 digits, in the spelling of integers: not of `1.0`.
    pub fn as_integer(&self) -> Option<i128> {
        self.as_number().filter(|number| number.is_plain_integer())?.to_integer()
    }

    /// Returns the `f64` that is nearest to a number, or `None` if the number is beyond the range of `f64`.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.to_f64()
    }

    /// Returns the text of a string.
    ///
    /// # Errors
    /// If the value is not a string, or has a lone surrogate escape, so it is not text.
    pub fn to_text(&self) -> JsonResult<Cow<'_, str>> {
        if self.kind() != ValueKind::String {
            return Err(self.expected("a string"));
        }
        let raw = self.as_raw();
        text_of(&raw[1..raw.len() - 1])
    }

    /// Returns the text of a string without an error, which costs time.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        let is_string = self.kind() == ValueKind::String;
        is_string.then(|| string::text(&self.source[self.start + 1..self.end - 1]))?
    }

    /// Returns the text of a string, or `None` for anything else and for a string that is not text.
    pub fn as_text(&self) -> Option<String> {
        self.text().map(Cow::into_owned)
    }

    /// Returns element `index` of an array. Finding it takes time in proportion to what is before it.
    pub fn element(&self, index: usize) -> Option<Value> {
        self.elements()?.nth(index)
    }

    /// Iterates over the elements of an array. Each is found on access.
    pub fn elements(&self) -> Option<Elements> {
        let walk = || Walk::new(&self.source, self.start, self.mark);
        (self.kind() == ValueKind::Array).then(|| Elements { source: Arc::clone(&self.source), walk: walk() })
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
    #[must_use]
    pub fn laid_out(&self) -> Self {
        Self::from_valid(self.to_pretty())
    }

    /// Returns the same value, with each level indented by `spaces`.
    #[must_use]
    pub fn laid_out_by(&self, spaces: usize) -> Self {
        let mut out = String::with_capacity(2 * (self.end - self.start));
        layout::pretty(self.as_raw(), Indent { base: "", unit: &" ".repeat(spaces) }, &mut out);
        Self::from_valid(out)
    }

    /// Returns an error that says what was expected in place of this value.
    pub fn expected(&self, what: &str) -> JsonError {
        JsonError::new(JsonErrorKind::Invalid, format!("expected {what}, found {}", self.summary()))
    }

    /// Returns the value in a few words on one line.
    pub fn summary(&self) -> String {
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
pub(crate) fn text_of(inner: &str) -> JsonResult<Cow<'_, str>> {
    string::text(inner).ok_or_else(|| {
        JsonError::new(JsonErrorKind::Invalid, "the string has a lone surrogate escape, so it is not text")
    })
}

/// An iterator over the elements of an array.
#[derive(Debug, Clone)]
pub struct Elements {
    source: Arc<Source>,
    walk: Walk,
}

impl Iterator for Elements {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        let (start, end, mark) = self.walk.element(&self.source)?;
        Some(Value::marked(&self.source, start, end, mark))
    }
}

impl std::iter::FusedIterator for Elements {}

/// Returns `null`.
impl Default for Value {
    fn default() -> Self {
        Self::null()
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_raw() == other.as_raw() || self.to_compact() == other.to_compact()
    }
}

impl Eq for Value {}

/// Whether the value is a string of this text.
impl PartialEq<str> for Value {
    fn eq(&self, text: &str) -> bool {
        self.text().is_some_and(|own| own == text)
    }
}

/// Whether the value is a string of this text.
impl PartialEq<&str> for Value {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

/// The spelling as bytes.
impl AsRef<[u8]> for Value {
    fn as_ref(&self) -> &[u8] {
        self.as_raw().as_bytes()
    }
}

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
