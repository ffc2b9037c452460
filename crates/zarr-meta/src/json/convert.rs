//! Conversion from and to Rust values and `serde_json`.

use super::number::Number;
use super::object::Object;
use super::string;
use super::value::{DEPTH, Kind, Value};
use crate::error::{MetaError, MetaResult};
use crate::json::pointer;

macro_rules! from_integer {
    ($($t:ty)*) => {
        $(impl From<$t> for Value {
            fn from(number: $t) -> Self {
                Self::from_valid(&number.to_string())
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
        Self::from_valid(&out)
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
        Self::from_valid(&out)
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        (&value).into()
    }
}

impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Self {
        Self::from_valid(&value.to_string())
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
        convert(self, &mut String::new(), DEPTH)
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

fn convert(value: &Value, place: &mut String, depth: usize) -> MetaResult<serde_json::Value> {
    use serde_json::Value as Serde;
    if depth == 0 {
        return Err(MetaError::limit(format!("nested more than {DEPTH} levels deep")).at(place));
    }
    Ok(match value.kind() {
        Kind::Null => Serde::Null,
        Kind::Bool => Serde::Bool(value.as_bool() == Some(true)),
        Kind::NonFinite => return Err(cannot_hold(value, place)),
        Kind::Number => Serde::Number(number(value).ok_or_else(|| cannot_hold(value, place))?),
        Kind::String => Serde::String(value.to_text().map_err(|e| e.at(place))?.into_owned()),
        Kind::Array => {
            let mut out = Vec::new();
            for (i, element) in value.elements().into_iter().flatten().enumerate() {
                out.push(inside(&i.to_string(), place, |place| convert(&element, place, depth - 1))?);
            }
            Serde::Array(out)
        }
        Kind::Object => Serde::Object(members(&value.as_object().unwrap_or_default(), place, depth)?),
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
