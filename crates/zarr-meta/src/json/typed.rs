//! Conversion of values from and to Rust types with serde.

use std::fmt::Display;

use serde_core::de::value::MapAccessDeserializer;
use serde_core::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde_core::{Serialize, forward_to_deserialize_any};

use super::object::{Member, Object};
use super::value::{Elements, Value, ValueKind};
use super::{Number, pointer};
use crate::error::{MetaError, MetaResult};

impl Value {
    /// Returns the value that `serde_json` writes for `value`. A float that is not finite becomes `null`;
    /// [`float`](Self::float) refuses it.
    ///
    /// ```
    /// use zarr_meta::json::Value;
    /// assert_eq!(Value::serialize(&("K", [0.5, 2.0]))?.as_raw(), r#"["K",[0.5,2.0]]"#);
    /// # Ok::<(), zarr_meta::MetaError>(())
    /// ```
    ///
    /// # Errors
    /// If `value` cannot be represented in JSON, for example a map whose keys are not text.
    pub fn serialize<T: Serialize + ?Sized>(value: &T) -> MetaResult<Self> {
        let text = serde_json::to_string(value);
        let text =
            text.map_err(|e| MetaError::argument("the value cannot be represented in JSON").with_source(e))?;
        Ok(Self::from_valid(text))
    }

    /// Returns the value as a Rust type. Unlike `serde_json` it reads a bare `NaN` or `Infinity` as a float, and the
    /// last of several members with one name counts.
    ///
    /// # Errors
    /// If the value does not fit the type, with the JSON pointer to the place inside.
    pub fn deserialize<T: DeserializeOwned>(&self) -> MetaResult<T> {
        T::deserialize(self.clone())
    }
}

impl Object {
    /// Returns the object as a Rust type; see [`Value::deserialize`]. Members that the type does not have are ignored.
    ///
    /// ```
    /// # use zarr_meta::json::Value;
    /// #[derive(serde::Deserialize)]
    /// struct Attributes {
    ///     units: String,
    ///     valid_min: Option<f32>,
    /// }
    /// let attributes = Value::parse(r#"{"units": "K", "note": 1}"#)?.as_object().unwrap_or_default();
    /// let attributes: Attributes = attributes.deserialize()?;
    /// assert_eq!((attributes.units.as_str(), attributes.valid_min), ("K", None));
    /// # Ok::<(), zarr_meta::MetaError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Value::deserialize`].
    pub fn deserialize<T: DeserializeOwned>(&self) -> MetaResult<T> {
        self.to_value().deserialize()
    }
}

impl Error for MetaError {
    fn custom<M: Display>(message: M) -> Self {
        Self::argument(message.to_string())
    }
}

impl IntoDeserializer<'_, MetaError> for Value {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value {
    type Error = MetaError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> MetaResult<V::Value> {
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

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> MetaResult<V::Value> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> MetaResult<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> MetaResult<V::Value> {
        match self.kind() {
            ValueKind::Object => visitor.visit_enum(MapAccessDeserializer::new(Members::of(&self))),
            _ => visitor.visit_enum(self.to_text()?.into_owned().into_deserializer()),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> MetaResult<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// Visits the number as an integer if it is spelled as one, else as the nearest `f64`.
fn number<'de, V: Visitor<'de>>(number: Number<'_>, visitor: V) -> MetaResult<V::Value> {
    let integer = number.to_integer().filter(|_| number.is_plain_integer() && number.as_str() != "-0");
    if let Some(integer) = integer {
        return match (u64::try_from(integer), i64::try_from(integer)) {
            (Ok(integer), _) => visitor.visit_u64(integer),
            (_, Ok(integer)) => visitor.visit_i64(integer),
            _ => visitor.visit_i128(integer),
        };
    }
    match number.as_str().parse::<f64>() {
        Ok(float) if float.is_finite() => visitor.visit_f64(float),
        _ => {
            Err(MetaError::argument(format!("the number {} is beyond the range of float64", number.as_str())))
        }
    }
}

fn sequence<'de, V: Visitor<'de>>(array: &Value, visitor: V) -> MetaResult<V::Value> {
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
    type Error = MetaError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> MetaResult<Option<T::Value>> {
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
        let mut seen = std::collections::HashSet::new();
        let last = |member: &&Member| seen.insert(member.name_lossy().into_owned());
        let mut members: Vec<Member> = object.members().rev().filter(last).cloned().collect();
        members.reverse();
        Self { members: members.into_iter(), place: String::new(), value: None }
    }
}

impl<'de> MapAccess<'de> for Members {
    type Error = MetaError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> MetaResult<Option<K::Value>> {
        let Some(member) = self.members.next() else { return Ok(None) };
        self.value = Some(member.value());
        self.place = pointer::join("", &member.name_lossy());
        seed.deserialize(member.name()?.into_owned().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> MetaResult<V::Value> {
        let value = self
            .value
            .take()
            .ok_or_else(|| MetaError::argument("the value was requested before its name"))?;
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
        let document = super::super::Document::parse(
            text.as_bytes(),
            &zarr_traits::Limits::default(),
            &mut crate::Ignore,
        );
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
