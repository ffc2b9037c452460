//! The number types of elements, and numbers before conversion to a type.

use zarr_meta::DataType;
use zarr_meta::json::Value;

use crate::error::XarrayResult;

/// A data type whose elements are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of `DataType`")]
pub enum NumberType {
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    Float32,
    Float64,
    Complex64,
    Complex128,
}

use NumberType::{
    Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32,
    UInt64,
};

/// All types.
const TYPES: [NumberType; 13] = [
    Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, Float32, Float64, Complex64,
    Complex128,
];

/// The signed integers, and the unsigned integers of the same size.
const TWINS: [(NumberType, NumberType); 4] =
    [(Int8, UInt8), (Int16, UInt16), (Int32, UInt32), (Int64, UInt64)];

impl NumberType {
    /// Returns the type of the elements of `data_type`, or `None` if they are not numbers.
    pub fn of(data_type: &DataType) -> Option<Self> {
        TYPES.into_iter().find(|number| number.data_type() == *data_type)
    }

    /// The data type.
    pub fn data_type(self) -> DataType {
        match self {
            Int8 => DataType::Int8,
            Int16 => DataType::Int16,
            Int32 => DataType::Int32,
            Int64 => DataType::Int64,
            UInt8 => DataType::UInt8,
            UInt16 => DataType::UInt16,
            UInt32 => DataType::UInt32,
            UInt64 => DataType::UInt64,
            Float16 => DataType::Float16,
            Float32 => DataType::Float32,
            Float64 => DataType::Float64,
            Complex64 => DataType::Complex64,
            Complex128 => DataType::Complex128,
        }
    }

    /// The size of an element in bytes.
    pub const fn size(self) -> usize {
        match self {
            Int8 | UInt8 => 1,
            Int16 | UInt16 | Float16 => 2,
            Int32 | UInt32 | Float32 => 4,
            Int64 | UInt64 | Float64 | Complex64 => 8,
            Complex128 => 16,
        }
    }

    /// Whether elements are whole numbers.
    pub const fn is_integer(self) -> bool {
        matches!(self, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    }

    /// Whether elements are real floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Float16 | Float32 | Float64)
    }

    /// Returns the integer type of the same size with the other signedness, or `None` for floats.
    pub fn twin(self) -> Option<Self> {
        let other = |(signed, unsigned)| match self {
            of if of == signed => Some(unsigned),
            of if of == unsigned => Some(signed),
            _ => None,
        };
        TWINS.into_iter().find_map(other)
    }

    /// Whether elements are unsigned integers.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, UInt8 | UInt16 | UInt32 | UInt64)
    }

    /// Returns the type in which NaN can mark a missing element: float32 for integers up to 16 bits, float64 for larger
    /// integers, and floats and complex numbers unchanged.
    pub const fn with_missing(self) -> Self {
        match self {
            Int8 | UInt8 | Int16 | UInt16 => Float32,
            Int32 | UInt32 | Int64 | UInt64 => Float64,
            float => float,
        }
    }

    /// The smallest and the largest integer of the type.
    fn range(self) -> Option<(i128, i128)> {
        self.data_type().numeric()?.range()
    }

    /// Reads an element in the byte order of the machine. Returns `None` for a slice of another size.
    pub(crate) fn load(self, bytes: &[u8]) -> Option<Scalar> {
        macro_rules! read {
            ($t:ty) => {
                <$t>::from_ne_bytes(bytes.try_into().ok()?)
            };
        }
        Some(match self {
            Int8 => Scalar::Integer(read!(i8).into()),
            Int16 => Scalar::Integer(read!(i16).into()),
            Int32 => Scalar::Integer(read!(i32).into()),
            Int64 => Scalar::Integer(read!(i64).into()),
            UInt8 => Scalar::Integer(read!(u8).into()),
            UInt16 => Scalar::Integer(read!(u16).into()),
            UInt32 => Scalar::Integer(read!(u32).into()),
            UInt64 => Scalar::Integer(read!(u64).into()),
            Float16 => Scalar::Float(read!(half::f16).into()),
            Float32 => Scalar::Float(read!(f32).into()),
            Float64 => Scalar::Float(read!(f64)),
            Complex64 | Complex128 => {
                let part = if self == Complex64 { Float32 } else { Float64 };
                let (real, imaginary) = bytes.split_at_checked(part.size())?;
                Scalar::Complex(part.load(real)?.to_f64()?, part.load(imaginary)?.to_f64()?)
            }
        })
    }

    /// Returns the element with the same bits, for a number that only the [twin](Self::twin) type has.
    pub(crate) fn wrapped(self, scalar: Scalar) -> Option<Scalar> {
        let (integer, (least, most)) = (scalar.to_integer()?, self.range()?);
        let span = most - least + 1;
        let wrapped = [integer - span, integer + span].into_iter().find(|n| (least..=most).contains(n));
        wrapped
            .filter(|_| self.twin().is_some_and(|twin| twin.element(scalar).is_some()))
            .map(Scalar::Integer)
    }

    /// Returns the element that equals a number, or for floats the nearest element. Returns `None` if an integer type
    /// does not have the number.
    pub(crate) fn element(self, scalar: Scalar) -> Option<Scalar> {
        match self {
            Float16 => Some(Scalar::Float(half::f16::from_f64(scalar.to_f64()?).to_f64())),
            Float32 => Some(Scalar::Float(narrow(scalar.to_f64()?))),
            Float64 => scalar.to_f64().map(Scalar::Float),
            Complex64 => {
                let (real, imaginary) = scalar.to_complex();
                Some(Scalar::Complex(narrow(real), narrow(imaginary)))
            }
            Complex128 => {
                let (real, imaginary) = scalar.to_complex();
                Some(Scalar::Complex(real, imaginary))
            }
            _ => {
                let (integer, (least, most)) = (scalar.to_integer()?, self.range()?);
                (least..=most).contains(&integer).then_some(Scalar::Integer(integer))
            }
        }
    }
}

/// A number as an attribute spells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// Spelled as an integer.
    Integer(i128),
    /// Spelled with a fraction, an exponent, or as NaN or infinity.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
}

impl From<i64> for Scalar {
    fn from(integer: i64) -> Self {
        Self::Integer(integer.into())
    }
}

impl From<f64> for Scalar {
    fn from(float: f64) -> Self {
        Self::Float(float)
    }
}

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
