//! Values of attributes: numbers in JSON.

use zarr_meta::json::{Value, ValueKind};

use crate::number::Scalar;

/// Reads a number, also a bare NaN or infinity. Returns `None` for anything else.
pub(crate) fn number(value: &Value) -> Option<Scalar> {
    match value.kind() {
        ValueKind::NonFinite => value.as_raw().parse().ok().map(Scalar::Float),
        ValueKind::Number => {
            let number = value.as_number()?;
            let integer = number.to_integer().filter(|_| number.is_plain_integer());
            integer.map(Scalar::Integer).or_else(|| number.as_str().parse().ok().map(Scalar::Float))
        }
        _ => None,
    }
}

/// Returns the element of a list of length one, and any other value unchanged.
pub(crate) fn alone(value: Value) -> Value {
    let first =
        value.elements().and_then(|mut elements| elements.next().filter(|_| elements.next().is_none()));
    first.unwrap_or(value)
}
