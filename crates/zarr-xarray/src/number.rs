//! Numbers before conversion to a type, and what the conventions say of number types.

pub use zarr_array::traits::number::NumberType;
use zarr_array::traits::number::Numeric;
use zarr_meta::DataType;
use zarr_meta::json::Value;

use crate::error::XarrayResult;
use NumberType::{
    Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32,
    UInt64,
};

/// The signed integers, and the unsigned integers of the same size.
const TWINS: [(NumberType, NumberType); 4] =
    [(Int8, UInt8), (Int16, UInt16), (Int32, UInt32), (Int64, UInt64)];

/// Returns the type of the elements of `data_type`, or `None` if they are not numbers.
pub(crate) fn of(data_type: &DataType) -> Option<NumberType> {
    data_type.number().filter(|number| *number != NumberType::Bool)
}

/// Returns the integer type of the same size with the other signedness, or `None` for other types.
pub(crate) fn twin(of: NumberType) -> Option<NumberType> {
    TWINS.into_iter().find_map(|(signed, unsigned)| match of {
        _ if of == signed => Some(unsigned),
        _ if of == unsigned => Some(signed),
        _ => None,
    })
}

/// Returns the type in which NaN can mark a missing element: float32 for integers up to 16 bits, float64 for larger
/// integers, and other types unchanged.
pub(crate) fn with_missing(of: NumberType) -> NumberType {
    match of {
        integer if !integer.is_integer() => of,
        small if small.size() <= 2 => Float32,
        _ => Float64,
    }
}

/// A number as an attribute spells it. Integers and floats of Rust convert to it:
///
/// ```
/// use zarr_xarray::{Encoding, NumberType, Scalar};
///
/// let packed = Encoding::new().data_type(NumberType::Int16).scale(0.1).missing(-1_i16);
/// assert_eq!([Scalar::from(7_u64), Scalar::from(0.5_f32)], [Scalar::Integer(7), Scalar::Float(0.5)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Scalar {
    /// Spelled as an integer.
    Integer(i128),
    /// Spelled with a fraction, an exponent, or as NaN or infinity.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
}

/// Converts types of numbers exactly, through a wider type.
macro_rules! from {
    ($variant:ident: $($number:ty),*) => {
        $(impl From<$number> for Scalar {
            fn from(number: $number) -> Self {
                Self::$variant(number.into())
            }
        })*
    };
}

from!(Integer: i8, i16, i32, i64, u8, u16, u32, u64);
from!(Float: f32, f64);

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Float(float) => write!(f, "{float}"),
            Self::Complex(real, imaginary) => write!(f, "{real}{imaginary:+}i"),
        }
    }
}

impl Scalar {
    /// Reads an element in the byte order of the machine. Returns `None` for a slice of another size.
    pub(crate) fn load(of: NumberType, bytes: &[u8]) -> Option<Self> {
        let numeric = of.numeric();
        Some(match numeric {
            _ if bytes.len() != of.size() => return None,
            Numeric::Float(format) => Self::Float(format.to_f64(numeric.load(bytes))),
            Numeric::Complex(format) => {
                let (real, imaginary) = bytes.split_at(numeric.size());
                Self::Complex(format.to_f64(numeric.load(real)), format.to_f64(numeric.load(imaginary)))
            }
            _ => Self::Integer(numeric.integer(numeric.load(bytes))?),
        })
    }

    /// Returns the element that equals the number, or for floats the nearest element. Returns `None` if an integer type
    /// does not have the number.
    pub(crate) fn element(self, of: NumberType) -> Option<Self> {
        let (real, imaginary) = self.to_complex();
        Some(match of {
            Float16 => Self::Float(half::f16::from_f64(self.to_f64()?).to_f64()),
            Float32 => Self::Float(narrow(self.to_f64()?)),
            Float64 => Self::Float(self.to_f64()?),
            Complex64 => Self::Complex(narrow(real), narrow(imaginary)),
            Complex128 => Self::Complex(real, imaginary),
            integer => {
                let (number, (least, most)) = (self.to_integer()?, integer.numeric().range()?);
                return (least..=most).contains(&number).then_some(Self::Integer(number));
            }
        })
    }

    /// Returns the element with the same bits, for a number that only the [`twin`] type has.
    pub(crate) fn wrapped(self, of: NumberType) -> Option<Self> {
        let (integer, (least, most)) = (self.element(twin(of)?)?.to_integer()?, of.numeric().range()?);
        let span = most - least + 1;
        let wrapped = [integer - span, integer + span].into_iter().find(|n| (least..=most).contains(n));
        wrapped.map(Self::Integer)
    }

    /// Returns the JSON of a fill value: NaN and infinities are texts.
    ///
    /// # Errors
    /// `Invalid` for an integer beyond the range of JSON.
    pub(crate) fn to_json(self) -> XarrayResult<Value> {
        let float = |float: f64| match float {
            float if float.is_nan() => Ok(Value::from("NaN")),
            f64::INFINITY => Ok(Value::from("Infinity")),
            f64::NEG_INFINITY => Ok(Value::from("-Infinity")),
            float => Value::float(float),
        };
        Ok(match self {
            Self::Integer(integer) => Value::parse(&integer.to_string())?,
            Self::Float(real) => float(real)?,
            Self::Complex(real, imaginary) => [float(real)?, float(imaginary)?].into_iter().collect(),
        })
    }

    pub(crate) fn is_nan(self) -> bool {
        match self {
            Self::Integer(_) => false,
            Self::Float(float) => float.is_nan(),
            Self::Complex(real, imaginary) => real.is_nan() || imaginary.is_nan(),
        }
    }

    /// Returns the nearest float of a real number.
    pub(crate) fn to_f64(self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(integer as f64),
            Self::Float(float) => Some(float),
            Self::Complex(..) => None,
        }
    }

    fn to_complex(self) -> (f64, f64) {
        match self {
            Self::Complex(real, imaginary) => (real, imaginary),
            real => (real.to_f64().unwrap_or(f64::NAN), 0.0),
        }
    }

    /// Returns the integer that the number equals.
    #[expect(clippy::cast_possible_truncation, reason = "the float is a whole number within the range")]
    pub(crate) fn to_integer(self) -> Option<i128> {
        match self {
            Self::Integer(integer) => Some(integer),
            Self::Float(float) => (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128),
            Self::Complex(..) => None,
        }
    }
}

/// The nearest float32, as a float64.
#[expect(clippy::cast_possible_truncation, reason = "the number is rounded on purpose")]
fn narrow(float: f64) -> f64 {
    f64::from(float as f32)
}
