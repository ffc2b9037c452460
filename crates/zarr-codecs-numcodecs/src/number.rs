//! The number types of numpy: names, casts and arithmetic.
//!
//! Arithmetic stays in its type, as in numpy: integers wrap around, `float16` is rounded after each step.

use half::f16;
use zarr_traits::extension::Configuration;
use zarr_traits::{Buffer, CodecError, CodecErrorKind, CodecResult, DataType, Scratch};

/// A number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

/// Runs `$body` with `$T` the [`Number`] of a [`Kind`].
macro_rules! with_number {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            $crate::number::Kind::Bool => with_number!(@ $T, $crate::number::Truth, $body),
            $crate::number::Kind::I8 => with_number!(@ $T, i8, $body),
            $crate::number::Kind::I16 => with_number!(@ $T, i16, $body),
            $crate::number::Kind::I32 => with_number!(@ $T, i32, $body),
            $crate::number::Kind::I64 => with_number!(@ $T, i64, $body),
            $crate::number::Kind::U8 => with_number!(@ $T, u8, $body),
            $crate::number::Kind::U16 => with_number!(@ $T, u16, $body),
            $crate::number::Kind::U32 => with_number!(@ $T, u32, $body),
            $crate::number::Kind::U64 => with_number!(@ $T, u64, $body),
            $crate::number::Kind::F16 => with_number!(@ $T, half::f16, $body),
            $crate::number::Kind::F32 => with_number!(@ $T, f32, $body),
            $crate::number::Kind::F64 => with_number!(@ $T, f64, $body),
        }
    };
    (@ $T:ident, $type:ty, $body:expr) => {{
        type $T = $type;
        $body
    }};
}
pub(crate) use with_number;

use Kind::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

impl Kind {
    const ALL: [Self; 12] = [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64];

    /// Returns the number type of a data type, or `None` if it is not numeric.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.data_type() == *data_type)
    }

    /// Returns the data type of these numbers.
    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Bool,
            Self::I8 => DataType::Int8,
            Self::I16 => DataType::Int16,
            Self::I32 => DataType::Int32,
            Self::I64 => DataType::Int64,
            Self::U8 => DataType::UInt8,
            Self::U16 => DataType::UInt16,
            Self::U32 => DataType::UInt32,
            Self::U64 => DataType::UInt64,
            Self::F16 => DataType::Float16,
            Self::F32 => DataType::Float32,
            Self::F64 => DataType::Float64,
        }
    }

    /// The size of a number in bytes.
    pub(crate) fn size(self) -> usize {
        with_number!(self, T => size_of::<T>())
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Returns the type to which numpy promotes two types.
    pub(crate) fn promote(self, other: Self) -> Self {
        let (large, small) = if self.size() >= other.size() { (self, other) } else { (other, self) };
        let float = |size: usize| match size {
            1 => Self::F16,
            2 => Self::F32,
            _ => Self::F64,
        };
        match (large, small) {
            (a, b) if a == b => a,
            (Self::Bool, a) | (a, Self::Bool) => a,
            (a, b) if a.is_float() && b.is_float() => a,
            (a, b) | (b, a) if a.is_float() => match float(b.size()) {
                wide if wide.size() > a.size() => wide,
                _ => a,
            },
            (a, b) if a.is_signed() == b.is_signed() || (a.is_signed() && a.size() > b.size()) => a,
            (a, _) => match a.size() {
                1 => Self::I16,
                2 => Self::I32,
                4 => Self::I64,
                _ => Self::F64,
            },
        }
    }
}

/// A number type with a stored byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberType {
    pub(crate) kind: Kind,
    /// Whether the stored byte order differs from that of this machine.
    pub(crate) foreign: bool,
}

impl NumberType {
    /// Returns the type in the byte order of this machine.
    pub(crate) fn native(kind: Kind) -> Self {
        Self { kind, foreign: false }
    }

    /// Reads a type such as `<f4` or `|u1`, or a name such as `float32`, which is little endian.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (order, code) = match text.as_bytes() {
            [order @ (b'<' | b'>' | b'|'), ..] => (*order, &text[1..]),
            _ => (b'<', text),
        };
        let kind = match code {
            "b1" | "bool" => Kind::Bool,
            "i1" | "int8" => Kind::I8,
            "i2" | "int16" => Kind::I16,
            "i4" | "int32" => Kind::I32,
            "i8" | "int64" => Kind::I64,
            "u1" | "uint8" => Kind::U8,
            "u2" | "uint16" => Kind::U16,
            "u4" | "uint32" => Kind::U32,
            "u8" | "uint64" => Kind::U64,
            "f2" | "float16" => Kind::F16,
            "f4" | "float32" => Kind::F32,
            "f8" | "float64" => Kind::F64,
            _ => return None,
        };
        if order == b'|' && kind.size() > 1 {
            return None;
        }
        let big = order == b'>';
        Some(Self { kind, foreign: kind.size() > 1 && big != cfg!(target_endian = "big") })
    }

    /// Reads the type that a member of a configuration names, or returns `default` if the member is absent.
    ///
    /// # Errors
    /// `Configuration` if both are missing, or if the type is not numeric.
    pub(crate) fn member(
        configuration: &mut Configuration<'_>,
        name: &'static str,
        default: Option<Self>,
    ) -> CodecResult<Self> {
        let wrong =
            |message: String| CodecError::configuration(message).at(&format!("/configuration/{name}"));
        if configuration.get(name).is_none_or(zarr_traits::serde_json::Value::is_null) {
            return default.ok_or_else(|| wrong(format!("{name} is missing")));
        }
        let text = configuration.optional_string(name)?.unwrap_or_default();
        Self::parse(text).ok_or_else(|| wrong(format!("{name} is {text:?}, expected a numeric type")))
    }

    /// Converts numbers between the stored byte order and that of this machine.
    pub(crate) fn swap(self, numbers: &mut [u8]) {
        if self.foreign {
            self.kind.data_type().swap_bytes(numbers);
        }
    }
}

/// A number of any type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wide {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

/// A Rust number type.
pub(crate) trait Number: Copy {
    /// Returns the numbers in `bytes`.
    fn each(bytes: &[u8]) -> impl Iterator<Item = Self>;
    /// Writes numbers into `bytes`, as many as fit.
    fn put(numbers: impl Iterator<Item = Self>, bytes: &mut [u8]);
    /// Replaces each number in `bytes`.
    fn update(bytes: &mut [u8], change: impl FnMut(Self) -> Self);
    fn wide(self) -> Wide;
    /// Casts a number as C does. Undefined cases of C are as on x86.
    fn of(wide: Wide) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Returns the quotient, or 0 for integers, which numpy divides as floats.
    fn over(self, other: Self) -> Self;
    /// Rounds to the nearest whole number, ties to even.
    fn rounded(self) -> Self;
}

/// Casts numbers of one type to another.
pub(crate) fn cast(from: Kind, src: &[u8], to: Kind, dst: &mut [u8]) {
    if from == to && from != Kind::Bool {
        let len = src.len().min(dst.len());
        dst[..len].copy_from_slice(&src[..len]);
        return;
    }
    with_number!(from, S => with_number!(to, D => D::put(S::each(src).map(|number| D::of(number.wide())), dst)));
}

/// Returns numbers converted to another type, in scratch memory.
pub(crate) fn converted(from: Kind, src: &[u8], to: Kind, scratch: &mut Scratch) -> CodecResult<Buffer> {
    let too_many = || CodecError::new(CodecErrorKind::LimitExceeded, "the size of the numbers overflows");
    let len = (src.len() / from.size()).checked_mul(to.size()).ok_or_else(too_many)?;
    let mut numbers = scratch.take(len)?;
    cast(from, src, to, &mut numbers);
    Ok(numbers)
}

/// A boolean: every byte but 0 is true.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Truth(bool);

impl Truth {
    fn from_ne_bytes([byte]: [u8; 1]) -> Self {
        Self(byte != 0)
    }

    fn to_ne_bytes(self) -> [u8; 1] {
        [u8::from(self.0)]
    }
}

macro_rules! memory {
    ($T:ty) => {
        fn each(bytes: &[u8]) -> impl Iterator<Item = Self> {
            bytes.as_chunks().0.iter().map(|bytes| <$T>::from_ne_bytes(*bytes))
        }

        fn put(numbers: impl Iterator<Item = Self>, bytes: &mut [u8]) {
            bytes.as_chunks_mut().0.iter_mut().zip(numbers).for_each(|(bytes, n)| *bytes = n.to_ne_bytes());
        }

        fn update(bytes: &mut [u8], mut change: impl FnMut(Self) -> Self) {
            for bytes in bytes.as_chunks_mut().0 {
                *bytes = change(<$T>::from_ne_bytes(*bytes)).to_ne_bytes();
            }
        }
    };
}

macro_rules! integer {
    ($T:ty, $wide:ident, $truncate:ident) => {
        impl Number for $T {
            memory!($T);

            fn wide(self) -> Wide {
                Wide::$wide(self.into())
            }

            #[allow(clippy::cast_possible_truncation, reason = "casts wrap around")]
            fn of(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(n) => n as $T,
                    Wide::Unsigned(n) => n as $T,
                    Wide::Float(x) => $truncate(x) as $T,
                }
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn over(self, _: Self) -> Self {
                0
            }

            fn rounded(self) -> Self {
                self
            }
        }
    };
}

integer!(i8, Signed, to_i32);
integer!(i16, Signed, to_i32);
integer!(i32, Signed, to_i32);
integer!(i64, Signed, to_i64);
integer!(u8, Unsigned, to_i32);
integer!(u16, Unsigned, to_i32);
integer!(u32, Unsigned, to_i64);
integer!(u64, Unsigned, to_u64);

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

#[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_i32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 { x as i32 } else { i32::MIN }
}

#[allow(clippy::cast_possible_truncation, reason = "the range is checked")]
fn to_i64(x: f64) -> i64 {
    if (-TWO_63..TWO_63).contains(&x) { x as i64 } else { i64::MIN }
}

fn to_u64(x: f64) -> u64 {
    if x >= TWO_63 { to_i64(x - TWO_63).cast_unsigned() ^ (1 << 63) } else { to_i64(x).cast_unsigned() }
}

macro_rules! float {
    ($T:ty, $computed:ty, $from:expr, $to:expr, $narrow:expr) => {
        impl Number for $T {
            memory!($T);

            fn wide(self) -> Wide {
                Wide::Float($to(self).into())
            }

            fn of(wide: Wide) -> Self {
                match wide {
                    Wide::Signed(n) => $from(n as $computed),
                    Wide::Unsigned(n) => $from(n as $computed),
                    Wide::Float(x) => $narrow(x),
                }
            }

            fn plus(self, other: Self) -> Self {
                $from($to(self) + $to(other))
            }

            fn minus(self, other: Self) -> Self {
                $from($to(self) - $to(other))
            }

            fn times(self, other: Self) -> Self {
                $from($to(self) * $to(other))
            }

            fn over(self, other: Self) -> Self {
                $from($to(self) / $to(other))
            }

            fn rounded(self) -> Self {
                $from($to(self).round_ties_even())
            }
        }
    };
}

float!(f16, f32, f16::from_f32_const, f16::to_f32_const, |x| f16::from_f32_const(to_odd(x)));
float!(f32, f32, same, same, narrow);
float!(f64, f64, same, same, same);

fn same<T>(x: T) -> T {
    x
}

#[allow(clippy::cast_possible_truncation, reason = "rounding is wanted")]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// Returns `x` as `float32`, rounded to odd: the last bit is set if bits are lost. Rounding this further gives the same
/// result as rounding `x` directly.
fn to_odd(x: f64) -> f32 {
    let near = narrow(x);
    let back = f64::from(near);
    if back == x || !near.is_finite() {
        return near;
    }
    let bits = near.to_bits() - u32::from(back.abs() > x.abs());
    f32::from_bits(bits | 1)
}

impl Number for Truth {
    memory!(Truth);

    fn wide(self) -> Wide {
        Wide::Unsigned(self.0.into())
    }

    fn of(wide: Wide) -> Self {
        Self(match wide {
            Wide::Signed(n) => n != 0,
            Wide::Unsigned(n) => n != 0,
            Wide::Float(x) => x != 0.0,
        })
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn minus(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    fn times(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn over(self, _: Self) -> Self {
        Self(false)
    }

    fn rounded(self) -> Self {
        self
    }
}
