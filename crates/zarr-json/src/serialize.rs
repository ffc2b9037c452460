//! Conversion of Rust values to JSON with serde.

use std::fmt::{Display, Write};

use serde_core::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::error::{JsonError, JsonResult};
use crate::number::Number;
use crate::string;
use crate::value::Value;

/// The beginning of the names under which `serde_json` gives a text: of its raw values, and of its numbers in programs
/// that keep the digits.
const SERDE_JSON: &str = "$serde_json::private::";

impl Value {
    /// Returns `value` as JSON. Members are in the order of the fields of a struct. A float that is not finite becomes
    /// `null`; [`float`](Self::float) refuses it.
    ///
    /// ```
    /// use zarr_json::Value;
    /// assert_eq!(Value::serialize(&("K", [0.5, 2.0]))?.as_raw(), r#"["K",[0.5,2.0]]"#);
    /// # Ok::<(), zarr_json::JsonError>(())
    /// ```
    ///
    /// # Errors
    /// If `value` cannot be represented in JSON, for example a map whose keys are not text.
    pub fn serialize<T: Serialize + ?Sized>(value: &T) -> JsonResult<Self> {
        let mut out = String::new();
        value.serialize(Writer(&mut out))?;
        Ok(Self::from_valid(out))
    }
}

/// Appends values to a text.
struct Writer<'a>(&'a mut String);

/// An array or object of which the elements follow.
struct Open<'a> {
    out: &'a mut String,
    is_first: bool,
    end: &'static str,
}

impl<'a> Writer<'a> {
    fn display(self, value: impl Display) -> JsonResult<()> {
        write!(self.0, "{value}").map_err(Error::custom)
    }

    fn text(self, text: &str) -> JsonResult<()> {
        string::quote(text, self.0);
        Ok(())
    }

    fn open(self, start: &str, end: &'static str) -> JsonResult<Open<'a>> {
        self.0.push_str(start);
        Ok(Open { out: self.0, is_first: true, end })
    }

    /// Opens the value of a variant, which is the only member of an object.
    fn variant(self, name: &str, start: &str, end: &'static str) -> JsonResult<Open<'a>> {
        self.0.push('{');
        string::quote(name, self.0);
        self.0.push(':');
        self.open(start, end)
    }
}

impl<'a> Open<'a> {
    fn next(&mut self) -> Writer<'_> {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
        Writer(self.out)
    }

    fn key<T: Serialize + ?Sized>(&mut self, key: &T) -> JsonResult<()> {
        let Writer(out) = self.next();
        let start = out.len();
        key.serialize(Writer(out))?;
        let written = &out[start..];
        if Number::parse(written).is_some() || matches!(written, "true" | "false") {
            out.insert(start, '"');
            out.push('"');
        } else if !written.starts_with('"') {
            return Err(JsonError::argument("the name of a member must be text"));
        }
        out.push(':');
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> JsonResult<()> {
        if name.starts_with(SERDE_JSON) {
            let text = Value::serialize(value)?;
            self.out.push_str(Value::parse(&text.to_text()?)?.as_raw());
            return Ok(());
        }
        let Writer(out) = self.next();
        string::quote(name, out);
        out.push(':');
        value.serialize(Writer(out))
    }

    fn close(self) -> JsonResult<()> {
        self.out.push_str(self.end);
        Ok(())
    }
}

macro_rules! display {
    ($($name:ident $type:ty)*) => {
        $(fn $name(self, value: $type) -> JsonResult<()> {
            self.display(value)
        })*
    };
}

macro_rules! float {
    ($($name:ident $type:ty)*) => {
        $(fn $name(self, value: $type) -> JsonResult<()> {
            self.0.push_str(Value::from(value).as_raw());
            Ok(())
        })*
    };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = JsonError;
    type SerializeSeq = Open<'a>;
    type SerializeTuple = Open<'a>;
    type SerializeTupleStruct = Open<'a>;
    type SerializeTupleVariant = Open<'a>;
    type SerializeMap = Open<'a>;
    type SerializeStruct = Open<'a>;
    type SerializeStructVariant = Open<'a>;

    display! {
        serialize_bool bool serialize_i8 i8 serialize_i16 i16 serialize_i32 i32 serialize_i64 i64 serialize_i128 i128
        serialize_u8 u8 serialize_u16 u16 serialize_u32 u32 serialize_u64 u64 serialize_u128 u128
    }

    float! { serialize_f32 f32 serialize_f64 f64 }

    fn serialize_char(self, value: char) -> JsonResult<()> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> JsonResult<()> {
        self.text(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> JsonResult<()> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> JsonResult<()> {
        self.display("null")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> JsonResult<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> JsonResult<()> {
        self.display("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> JsonResult<()> {
        self.display("null")
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> JsonResult<()> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> JsonResult<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> JsonResult<()> {
        let object = self.variant(variant, "", "}")?;
        value.serialize(Writer(object.out))?;
        object.close()
    }

    fn serialize_seq(self, _: Option<usize>) -> JsonResult<Open<'a>> {
        self.open("[", "]")
    }

    fn serialize_tuple(self, _: usize) -> JsonResult<Open<'a>> {
        self.open("[", "]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> JsonResult<Open<'a>> {
        self.open("[", "]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> JsonResult<Open<'a>> {
        self.variant(variant, "[", "]}")
    }

    fn serialize_map(self, _: Option<usize>) -> JsonResult<Open<'a>> {
        self.open("{", "}")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> JsonResult<Open<'a>> {
        if name.starts_with(SERDE_JSON) { self.open("", "") } else { self.open("{", "}") }
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> JsonResult<Open<'a>> {
        self.variant(variant, "{", "}}")
    }
}

macro_rules! elements {
    ($($trait:ident $method:ident)*) => {
        $(impl $trait for Open<'_> {
            type Ok = ();
            type Error = JsonError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> JsonResult<()> {
                value.serialize(self.next())
            }

            fn end(self) -> JsonResult<()> {
                self.close()
            }
        })*
    };
}

elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! fields {
    ($($trait:ident)*) => {
        $(impl $trait for Open<'_> {
            type Ok = ();
            type Error = JsonError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> JsonResult<()> {
                self.field(name, value)
            }

            fn end(self) -> JsonResult<()> {
                self.close()
            }
        })*
    };
}

fields! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Open<'_> {
    type Ok = ();
    type Error = JsonError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> JsonResult<()> {
        self.key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> JsonResult<()> {
        value.serialize(Writer(self.out))
    }

    fn end(self) -> JsonResult<()> {
        self.close()
    }
}
