//! Numbers as JSON. Non-finite numbers are strings.

use zarr_traits::json::{Value, ValueKind};

use crate::number::{Number, NumberType, Wide, with_number};

/// Calls `visit` with the text of each number in `bytes`, as short as its type allows.
pub(crate) fn each(kind: NumberType, bytes: &[u8], mut visit: impl FnMut(&str)) {
    let short = matches!(kind, NumberType::Float16 | NumberType::Float32);
    with_number!(kind, T => for number in T::each(bytes) {
        visit(&write(number.wide(), kind == NumberType::Bool, short));
    });
}

#[allow(clippy::cast_possible_truncation, reason = "it was a float32")]
fn write(number: Wide, truth: bool, short: bool) -> String {
    match number {
        Wide::Unsigned(n) if truth => (n != 0).to_string(),
        Wide::Unsigned(n) => n.to_string(),
        Wide::Signed(n) => n.to_string(),
        Wide::Float(x) if x.is_nan() => "\"NaN\"".into(),
        Wide::Float(x) if x.is_infinite() => format!("\"{}Infinity\"", if x < 0.0 { "-" } else { "" }),
        Wide::Float(x) if short => format!("{:?}", x as f32),
        Wide::Float(x) => format!("{x:?}"),
    }
}

/// Returns the bytes of a number at the start of an array, or `None` if `kind` does not have the number.
pub(crate) fn read(value: &Value, kind: NumberType) -> Option<[u8; 8]> {
    let number = match value.kind() {
        ValueKind::Bool => Wide::Unsigned(value.as_bool()?.into()),
        ValueKind::Number => {
            let whole = value.as_u64().map(Wide::Unsigned).or_else(|| value.as_i64().map(Wide::Signed));
            whole.or_else(|| value.as_f64().map(Wide::Float))?
        }
        ValueKind::String => Wide::Float(match &*value.as_text()? {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => return None,
        }),
        _ => return None,
    };
    let mut bytes = [0; 8];
    let fits = with_number!(kind, T => {
        let cast = T::of(number);
        T::put([cast].into_iter(), &mut bytes[..kind.size()]);
        kind.is_float() || is_same(cast.wide(), number)
    });
    fits.then_some(bytes)
}

/// Whether an integer equals a number of any type.
fn is_same(integer: Wide, number: Wide) -> bool {
    match (integer, number) {
        (Wide::Signed(a), Wide::Unsigned(b)) | (Wide::Unsigned(b), Wide::Signed(a)) => {
            u64::try_from(a) == Ok(b)
        }
        (Wide::Signed(a), Wide::Float(b)) => a as f64 == b,
        (Wide::Unsigned(a), Wide::Float(b)) => a as f64 == b,
        (a, b) => a == b,
    }
}
