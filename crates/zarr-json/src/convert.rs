//! Conversion from Rust values.

use crate::number::Number;
use crate::object::Object;
use crate::string;
use crate::value::Value;

macro_rules! from_integer {
    ($($t:ty)*) => {
        $(impl From<$t> for Value {
            fn from(number: $t) -> Self {
                Self::from_valid(number.to_string())
            }
        }

        impl From<&$t> for Value {
            fn from(number: &$t) -> Self {
                (*number).into()
            }
        })*
    };
}

from_integer!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize i128 u128 bool);

macro_rules! from_float {
    ($($t:ty)*) => {
        $(
            /// A float that is not finite becomes `null`, because JSON has no such number; [`Value::float`] refuses it.
            impl From<$t> for Value {
                fn from(number: $t) -> Self {
                    if number.is_finite() { Self::from_valid(format!("{number:?}")) } else { Self::null() }
                }
            }
        )*
    };
}

from_float!(f32 f64);

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

impl<V: Into<Value>, const N: usize> From<[V; N]> for Value {
    fn from(elements: [V; N]) -> Self {
        elements.into_iter().collect()
    }
}

impl<V: Clone + Into<Value>> From<&[V]> for Value {
    fn from(elements: &[V]) -> Self {
        elements.iter().cloned().collect()
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or_else(Self::null, Into::into)
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
