//! Conversion of values from and to Rust types with serde.

use serde_core::de::value::MapAccessDeserializer;
use serde_core::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde_core::forward_to_deserialize_any;

use crate::error::{JsonError, JsonResult};
use crate::number::Number;
use crate::object::{Member, Object};
use crate::pointer;
use crate::value::{Elements, Value, ValueKind};

impl Value {
    /// Returns the value as a Rust type. Unlike `serde_json` it reads a bare `NaN` or `Infinity` as a float, rounds floats
    /// correctly, and the last of several members with one name counts. Integers keep up to 38 digits for `i128`; a type
    /// that takes any number, such as `serde_json::Value`, gets those beyond 64 bits as a float.
    ///
    /// # Errors
    /// If the value does not fit the type, with the JSON pointer to the place inside.
    pub fn deserialize<T: DeserializeOwned>(&self) -> JsonResult<T> {
        T::deserialize(self.clone())
    }
}

impl Object {
    /// Returns the object as a Rust type; see [`Value::deserialize`]. Members that the type does not have are ignored.
    ///
    /// ```
    /// # use zarr_json::Value;
    /// #[derive(serde::Deserialize)]
    /// struct Attributes {
    ///     units: String,
    ///     valid_min: Option<f32>,
    /// }
    /// let attributes = Value::parse(r#"{"units": "K", "note": 1}"#)?.as_object().unwrap_or_default();
    /// let attributes: Attributes = attributes.deserialize()?;
    /// assert_eq!((attributes.units.as_str(), attributes.valid_min), ("K", None));
    /// # Ok::<(), zarr_json::JsonError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Value::deserialize`].
    pub fn deserialize<T: DeserializeOwned>(&self) -> JsonResult<T> {
        self.to_value().deserialize()
    }
}

impl IntoDeserializer<'_, JsonError> for Value {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value {
    type Error = JsonError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> JsonResult<V::Value> {
        match self.kind() {
            ValueKind::Null => visitor.visit_unit(),
            ValueKind::Bool => visitor.visit_bool(self.as_bool() == Some(true)),
            ValueKind::NonFinite => visitor.visit_f64(match self.as_raw() {
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                _ => f64::NAN,
            }),
            ValueKind::Number => number(Number::new(self.as_raw()), visitor),
            ValueKind::String => visitor.visit_string(self.to_text()?.into_owned()),
            ValueKind::Array => sequence(&self, visitor),
            ValueKind::Object => visitor.visit_map(Members::of(&self)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> JsonResult<V::Value> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> JsonResult<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> JsonResult<V::Value> {
        match self.kind() {
            ValueKind::Object => visitor.visit_enum(MapAccessDeserializer::new(Members::of(&self))),
            _ => visitor.visit_enum(self.to_text()?.into_owned().into_deserializer()),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> JsonResult<V::Value> {
        visitor.visit_unit()
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> JsonResult<V::Value> {
        match self.as_integer() {
            Some(integer) => visitor.visit_i128(integer),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> JsonResult<V::Value> {
        self.deserialize_i128(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// Visits the number as an integer of 64 bits if it is spelled as one, else as the nearest `f64`.
fn number<'de, V: Visitor<'de>>(number: Number<'_>, visitor: V) -> JsonResult<V::Value> {
    let integer = number.to_integer().filter(|_| number.is_plain_integer() && number.as_str() != "-0");
    if let Some(integer) = integer.and_then(|integer| u64::try_from(integer).ok()) {
        return visitor.visit_u64(integer);
    }
    if let Some(integer) = integer.and_then(|integer| i64::try_from(integer).ok()) {
        return visitor.visit_i64(integer);
    }
    match number.to_f64() {
        Some(float) => visitor.visit_f64(float),
        None => Err(JsonError::argument(format!("the number {number} is beyond the range of float64"))),
    }
}

fn sequence<'de, V: Visitor<'de>>(array: &Value, visitor: V) -> JsonResult<V::Value> {
    let mut sequence = Sequence { elements: array.elements(), taken: 0 };
    let result = visitor.visit_seq(&mut sequence)?;
    match sequence.next() {
        None => Ok(result),
        Some(_) => Err(array.expected(&format!("an array of {} elements", sequence.taken))),
    }
}

struct Sequence {
    elements: Option<Elements>,
    taken: usize,
}

impl Sequence {
    fn next(&mut self) -> Option<Value> {
        self.elements.as_mut()?.next()
    }
}

impl<'de> SeqAccess<'de> for Sequence {
    type Error = JsonError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> JsonResult<Option<T::Value>> {
        let Some(element) = self.next() else { return Ok(None) };
        let place = pointer::element("", self.taken);
        self.taken += 1;
        seed.deserialize(element).map(Some).map_err(|e| e.at(&place))
    }
}

/// The members of an object. Of several with one name only the last.
struct Members {
    members: std::vec::IntoIter<Member>,
    /// The pointer to the member whose name was requested last.
    place: String,
    value: Option<Value>,
}

impl Members {
    fn of(object: &Value) -> Self {
        let object = object.as_object().unwrap_or_default();
        let members: Vec<Member> = object.distinct().into_iter().cloned().collect();
        Self { members: members.into_iter(), place: String::new(), value: None }
    }
}

impl<'de> MapAccess<'de> for Members {
    type Error = JsonError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> JsonResult<Option<K::Value>> {
        let Some(member) = self.members.next() else { return Ok(None) };
        self.value = Some(member.value());
        self.place = pointer::join("", &member.name_lossy());
        seed.deserialize(member.name()?.into_owned().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> JsonResult<V::Value> {
        let value = self
            .value
            .take()
            .ok_or_else(|| JsonError::argument("the value was requested before its name"))?;
        seed.deserialize(value).map_err(|e| e.at(&self.place))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    enum Kind {
        Point,
        Circle { radius: f64 },
        Line(u8, u8),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct All {
        name: String,
        count: u8,
        least: i64,
        wide: i128,
        ratio: f32,
        missing: Option<u8>,
        kinds: Vec<Kind>,
        pair: (u8, bool),
        map: BTreeMap<String, Option<u8>>,
        any: serde_json::Value,
    }

    fn parse(text: &str) -> Value {
        let document = crate::Document::parse(text.as_bytes(), crate::DEPTH, &mut Vec::new());
        document.unwrap().root
    }

    #[test]
    fn values_deserialize_into_a_type() {
        let text = r#"{"name": "\u00e9", "count": 200, "least": -5, "wide": 18446744073709551616, "ratio": 1.5,
            "kinds": ["Point", {"Circle": {"radius": NaN}}, {"Line": [1, 2]}], "pair": [1, true],
            "map": {"a": null, "b": 1, "a": 2}, "any": [1, 2.5, -0, {"x": null}], "count": 7, "other": Infinity}"#;
        let mut all: All = parse(text).deserialize().unwrap();
        assert!(matches!(all.kinds[1], Kind::Circle { radius } if radius.is_nan()));
        all.kinds.remove(1);
        let expected = All {
            name: "é".to_owned(),
            count: 7,
            least: -5,
            wide: 1 << 64,
            ratio: 1.5,
            missing: None,
            kinds: vec![Kind::Point, Kind::Line(1, 2)],
            pair: (1, true),
            map: [("a".to_owned(), Some(2)), ("b".to_owned(), Some(1))].into(),
            any: serde_json::json!([1, 2.5, -0.0, {"x": null}]),
        };
        assert_eq!(all, expected);
    }

    #[test]
    fn a_value_that_does_not_fit_is_refused_with_its_place() {
        type Table = BTreeMap<String, Vec<u8>>;
        for (text, pointer) in [
            (r#"{"a/b": [1, 300]}"#, "/a~1b/1"),
            (r#"{"a": [1, "x"]}"#, "/a/1"),
            (r#"{"a": [NaN]}"#, "/a/0"),
            (r#"{"a": [1e999]}"#, "/a/0"),
            (r#"{"a": {}}"#, "/a"),
            (r#"{"a": ["\ud800"]}"#, "/a/0"),
            ("[]", ""),
        ] {
            let e = parse(text).deserialize::<Table>().unwrap_err();
            assert_eq!(e.pointer(), pointer, "{e:#}");
        }
        assert!(parse("[1, 2, 3]").deserialize::<(u8, u8)>().is_err());
        assert!(parse(r#""Circle""#).deserialize::<Kind>().is_err());
        assert!(Value::serialize(&BTreeMap::from([((1, 2), 3)])).is_err());
    }
}
