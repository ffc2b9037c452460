//! Scalars in configurations, in the form of fill values of a numeric data type.

use zarr_traits::json::{Value, ValueKind};
use zarr_traits::number::{Numeric, Real, Rounding};

/// Returns the component for a fill value in JSON, for integers and real floats.
///
/// A JSON number with a fraction is first parsed as a double, so it can be rounded twice.
pub(crate) fn component(numeric: Numeric, value: &Value) -> Option<u64> {
    match (numeric, value.kind()) {
        (Numeric::Float(format), ValueKind::String) => format.from_text(&value.as_text()?),
        (Numeric::Float(format), ValueKind::Number) => {
            format.round(Real::from(value.as_f64()?), Rounding::NearestEven).ok()
        }
        (Numeric::Integer { .. }, ValueKind::Number) => numeric.from_integer(value.as_integer()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::json;
    use zarr_traits::number::FloatFormat;

    use super::*;

    const INT4: Numeric = Numeric::Integer { bits: 4, signed: true };
    const UINT2: Numeric = Numeric::Integer { bits: 2, signed: false };
    const UINT64: Numeric = Numeric::Integer { bits: 64, signed: false };
    const INT64: Numeric = Numeric::Integer { bits: 64, signed: true };

    #[test]
    fn fill_values_in_json_become_components() {
        // rule B.t73
        for (numeric, value, bits) in [
            (INT4, json!(-8), Some(-8_i64)),
            (INT4, json!(8), None),
            (UINT2, json!(3), Some(3)),
            (UINT2, json!(4), None),
            (UINT2, json!(-1), None),
            (UINT64, json!(u64::MAX), Some(-1)),
            (UINT64, json!(1_u128 << 64), None),
            (INT64, json!(i64::MIN), Some(i64::MIN)),
            (INT64, json!(1.5), None),
            (INT64, json!("1"), None),
            (Numeric::Float(FloatFormat::FLOAT32), json!(0.1), Some(0x3dcc_cccd)),
            (Numeric::Float(FloatFormat::FLOAT32), json!("NaN"), Some(0x7fc0_0000)),
            (Numeric::Float(FloatFormat::FLOAT16), json!(1e6), None),
            (Numeric::Bool, json!(true), None),
        ] {
            assert_eq!(component(numeric, &value), bits.map(i64::cast_unsigned), "{numeric:?} {value}");
        }
    }
}
