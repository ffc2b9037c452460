//! Conversion from and to Rust values and `serde_json`.

use super::number::Number;
use super::object::Object;
use super::string;
use super::value::{DEPTH, Value, ValueKind};
use crate::error::{MetaError, MetaResult};
use crate::json::pointer;

macro_rules! from_integer {
    ($($t:ty)*) => {
        $(impl From<$t> for Value {
            fn from(number: $t) -> Self {
                Self::from_valid(number.to_string())
            }
        })*
    };
}

from_integer!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize i128 u128 bool);

/// Takes a JSON number of any length.
impl From<Number<'_>> for Value {
    fn from(number: Number<'_>) -> Self {
        Self::from_valid(number.as_str())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        let mut out = String::with_capacity(text.len() + 2);
        string::quote(text, &mut out);
        Self::from_valid(out)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        object.to_value()
    }
}

impl From<&Object> for Value {
    fn from(object: &Object) -> Self {
        object.to_value()
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

impl<V: Into<Value>> From<Vec<V>> for Value {
    fn from(elements: Vec<V>) -> Self {
        elements.into_iter().collect()
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or_else(|| Self::from_valid("null"), Into::into)
    }
}

impl<V: Into<Value>> FromIterator<V> for Value {
    fn from_iter<I: IntoIterator<Item = V>>(elements: I) -> Self {
        let mut out = String::from("[");
        for (i, element) in elements.into_iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(element.into().as_raw());
        }
        out.push(']');
        Self::from_valid(out)
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        (&value).into()
    }
}

impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Self {
        Self::from_valid(value.to_string())
    }
}

impl From<&serde_json::Map<String, serde_json::Value>> for Object {
    fn from(map: &serde_json::Map<String, serde_json::Value>) -> Self {
        let mut object = Object::new();
        for (name, value) in map {
            object.set(name, value);
        }
        object
    }
}

impl Value {
    /// Returns the value for `serde_json`, whose numbers are `u64`, `i64` and `f64`.
    ///
    /// Decimal fractions become the nearest `f64`. Any other loss is an error.
    ///
    /// # Errors
    /// If a value inside cannot be represented in `serde_json`: a bare `NaN`, a number beyond the range of `f64`, an
    /// integer beyond the ranges of `i64` and `u64`, a lone surrogate, or more than 128 levels of nesting. The error
    /// has its JSON pointer.
    pub fn to_serde(&self) -> MetaResult<serde_json::Value> {
        self.read_whole().map_or_else(|| convert(self, &mut String::new(), DEPTH), Ok)
    }

    /// Reads the whole text at once, where `serde_json` loses nothing of it. [`convert`] finds the losses and their places,
    /// but looks for the parts of each value again.
    fn read_whole(&self) -> Option<serde_json::Value> {
        if has_long_number(self.as_raw().as_bytes()) {
            return None;
        }
        serde_json::from_str(self.as_raw()).ok()
    }
}

impl Object {
    /// Returns the object for `serde_json`; see [`Value::to_serde`].
    ///
    /// # Errors
    /// Those of [`Value::to_serde`].
    pub fn to_serde(&self) -> MetaResult<serde_json::Map<String, serde_json::Value>> {
        members(self, &mut String::new(), DEPTH)
    }
}

/// Whether a text has 19 or more digits in a row. An integer of fewer digits fits in `i64`; `serde_json` may make a float
/// of a longer one.
fn has_long_number(text: &[u8]) -> bool {
    const LONG: usize = 19;
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    // So many digits are at one of these places at least.
    (LONG - 1..text.len()).step_by(LONG).filter(|at| text[*at].is_ascii_digit()).any(|at| {
        let (before, after) = text.split_at(at);
        before.iter().rev().take_while(is_digit).count() + after.iter().take_while(is_digit).count() >= LONG
    })
}

fn convert(value: &Value, place: &mut String, depth: usize) -> MetaResult<serde_json::Value> {
    use serde_json::Value as Serde;
    if depth == 0 {
        return Err(
            MetaError::limit(format!("nested more than {DEPTH} levels deep")).at(pointer::outermost(place))
        );
    }
    Ok(match value.kind() {
        ValueKind::Null => Serde::Null,
        ValueKind::Bool => Serde::Bool(value.as_bool() == Some(true)),
        ValueKind::NonFinite => return Err(cannot_hold(value, place)),
        ValueKind::Number => Serde::Number(number(value).ok_or_else(|| cannot_hold(value, place))?),
        ValueKind::String => Serde::String(value.to_text().map_err(|e| e.at(place))?.into_owned()),
        ValueKind::Array => {
            let mut out = Vec::new();
            for (i, element) in value.elements().into_iter().flatten().enumerate() {
                out.push(inside(&i.to_string(), place, |place| convert(&element, place, depth - 1))?);
            }
            Serde::Array(out)
        }
        ValueKind::Object => Serde::Object(members(&value.as_object().unwrap_or_default(), place, depth)?),
    })
}

fn members(
    object: &Object,
    place: &mut String,
    depth: usize,
) -> MetaResult<serde_json::Map<String, serde_json::Value>> {
    let mut map = serde_json::Map::with_capacity(object.len());
    for member in object.members() {
        let name = member.name().map_err(|e| e.at(place))?.into_owned();
        let value = inside(&name, place, |place| convert(&member.value(), place, depth - 1))?;
        map.insert(name, value);
    }
    Ok(map)
}

/// Runs `f` with `place` one step deeper.
fn inside<R>(step: &str, place: &mut String, f: impl FnOnce(&mut String) -> R) -> R {
    let length = place.len();
    pointer::push(place, step);
    let result = f(place);
    place.truncate(length);
    result
}

fn number(value: &Value) -> Option<serde_json::Number> {
    let number = value.as_number()?;
    if number.is_plain_integer() && number.as_str() != "-0" {
        let n = number.to_integer()?;
        let unsigned = u64::try_from(n).ok().map(serde_json::Number::from);
        return unsigned.or_else(|| i64::try_from(n).ok().map(serde_json::Number::from));
    }
    serde_json::Number::from_f64(number.as_str().parse().ok()?)
}

fn cannot_hold(value: &Value, place: &str) -> MetaError {
    let message =
        format!("the number {} cannot be represented as a 64-bit integer or float", value.summary());
    MetaError::new(crate::MetaErrorKind::Unsupported, message).at(place)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;
    use crate::diagnostic::Ignore;
    use crate::{Limits, json::Document};

    /// Texts whose conversion could differ, and whether `serde_json` may read them.
    const TEXTS: [(&str, bool); 17] = [
        ("0", true),
        ("-0", true),
        ("-0.0", true),
        ("999999999999999999", true),
        ("-999999999999999999", true),
        ("9223372036854775807", false),
        ("18446744073709551616", false),
        ("-9223372036854775809", false),
        ("0.1000000000000000055511151231257827", false),
        ("5e-324", true),
        ("1e-999999999999999", true),
        ("0e99999999999999999", true),
        ("1e400", false),
        (r#""\u00e9\ud83d\ude00""#, true),
        (r#""\ud800""#, false),
        ("NaN", false),
        (r#" { "a" : null, "b" : [ true ], "a" : 2 } "#, true),
    ];

    #[test]
    fn long_numbers_are_found_at_each_place() {
        for before in 0..40 {
            for (length, expected) in [(18, false), (19, true), (20, true), (40, true)] {
                for after in [0, 1, 18, 19] {
                    let text = format!("{}{}{}", " ".repeat(before), "7".repeat(length), "x".repeat(after));
                    assert_eq!(has_long_number(text.as_bytes()), expected, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn reading_the_whole_text_equals_converting_its_parts() {
        for (text, whole) in TEXTS {
            let value = Document::parse(text.as_bytes(), &Limits::default(), &mut Ignore).unwrap().root;
            let (at_once, by_part) = (value.read_whole(), convert(&value, &mut String::new(), DEPTH));
            assert_eq!(at_once.is_some(), whole, "{text}");
            if let Some(at_once) = at_once {
                // The text tells `-0.0` and the order of members too.
                assert_eq!(at_once.to_string(), by_part.unwrap().to_string(), "{text}");
            }
        }
    }
}
