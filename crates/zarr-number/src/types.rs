//! The numeric data types that have a name in the core specification.

use crate::{FloatFormat, Numeric};

macro_rules! number_types {
    ($($variant:ident, $name:literal, $numpy:literal, $numeric:expr;)*) => {
        /// A numeric data type of the core specification.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are those of the specification")]
        pub enum NumberType {
            $($variant,)*
        }

        impl NumberType {
            /// All types.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name in metadata documents, such as `int16`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The name in NumPy without the byte order, such as `i2`.
            pub const fn numpy_name(self) -> &'static str {
                match self {
                    $(Self::$variant => $numpy,)*
                }
            }

            /// The numeric format of the elements.
            pub const fn numeric(self) -> Numeric {
                match self {
                    $(Self::$variant => $numeric,)*
                }
            }
        }
    };
}

const fn integer(bits: u32, signed: bool) -> Numeric {
    Numeric::Integer { bits, signed }
}

number_types! {
    Bool, "bool", "b1", Numeric::Bool;
    Int8, "int8", "i1", integer(8, true);
    Int16, "int16", "i2", integer(16, true);
    Int32, "int32", "i4", integer(32, true);
    Int64, "int64", "i8", integer(64, true);
    UInt8, "uint8", "u1", integer(8, false);
    UInt16, "uint16", "u2", integer(16, false);
    UInt32, "uint32", "u4", integer(32, false);
    UInt64, "uint64", "u8", integer(64, false);
    Float16, "float16", "f2", Numeric::Float(FloatFormat::FLOAT16);
    Float32, "float32", "f4", Numeric::Float(FloatFormat::FLOAT32);
    Float64, "float64", "f8", Numeric::Float(FloatFormat::FLOAT64);
    Complex64, "complex64", "c8", Numeric::Complex(FloatFormat::FLOAT32);
    Complex128, "complex128", "c16", Numeric::Complex(FloatFormat::FLOAT64);
}

impl NumberType {
    /// The size of an element in bytes.
    pub fn size(self) -> usize {
        self.numeric().size() * self.numeric().components()
    }

    /// Whether elements are whole numbers. Booleans are not.
    pub const fn is_integer(self) -> bool {
        matches!(self.numeric(), Numeric::Integer { .. })
    }

    /// Whether elements are unsigned integers.
    pub const fn is_unsigned(self) -> bool {
        matches!(self.numeric(), Numeric::Integer { signed: false, .. })
    }

    /// Whether elements are real floats.
    pub const fn is_float(self) -> bool {
        matches!(self.numeric(), Numeric::Float(_))
    }
}

/// Evaluates `$body` with `$T` as the Rust type of a [`NumberType`], or `$other` for booleans and complex numbers. The
/// type of `float16` is `half::f16`, so the caller depends on the crate `half`.
///
/// ```
/// use zarr_number::{NumberType, with_number};
///
/// let size = |number| with_number!(number, T => Some(size_of::<T>()), None);
/// assert_eq!(size(NumberType::Int16), Some(2));
/// assert_eq!(size(NumberType::Complex64), None);
/// ```
#[macro_export]
macro_rules! with_number {
    ($number:expr, $T:ident => $body:expr, $other:expr) => {
        match $number {
            $crate::NumberType::Float16 => {
                type $T = ::half::f16;
                $body
            }
            number => $crate::with_primitive!(number, $T => $body, $other),
        }
    };
}

/// Like [`with_number`](crate::with_number) for the integers, `float32` and `float64`, which are types of Rust itself.
#[macro_export]
macro_rules! with_primitive {
    ($number:expr, $T:ident => $body:expr, $other:expr) => {
        match $number {
            $crate::NumberType::Float32 => {
                type $T = f32;
                $body
            }
            $crate::NumberType::Float64 => {
                type $T = f64;
                $body
            }
            number => $crate::with_integer!(number, $T => $body, $other),
        }
    };
}

/// Like [`with_number`](crate::with_number) for the integers alone.
#[macro_export]
macro_rules! with_integer {
    ($number:expr, $T:ident => $body:expr, $other:expr) => {
        match $number {
            $crate::NumberType::Int8 => $crate::with_integer!(@ $T, i8, $body),
            $crate::NumberType::Int16 => $crate::with_integer!(@ $T, i16, $body),
            $crate::NumberType::Int32 => $crate::with_integer!(@ $T, i32, $body),
            $crate::NumberType::Int64 => $crate::with_integer!(@ $T, i64, $body),
            $crate::NumberType::UInt8 => $crate::with_integer!(@ $T, u8, $body),
            $crate::NumberType::UInt16 => $crate::with_integer!(@ $T, u16, $body),
            $crate::NumberType::UInt32 => $crate::with_integer!(@ $T, u32, $body),
            $crate::NumberType::UInt64 => $crate::with_integer!(@ $T, u64, $body),
            _ => $other,
        }
    };
    (@ $T:ident, $type:ty, $body:expr) => {{
        type $T = $type;
        $body
    }};
}
