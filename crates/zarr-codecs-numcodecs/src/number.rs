//! The number types of numpy: names, casts and arithmetic.
//!
//! Arithmetic stays in its type, as in numpy: integers wrap around, `float16` is rounded after each step.

use half::f16;
use zarr_traits::extension::Configuration;

use crate::non_null;
pub(crate) use zarr_traits::number::NumberType;
use zarr_traits::{Buffer, CodecError, CodecErrorKind, CodecResult, DataType, Scratch};

/// Runs `$body` with `$T` the [`Number`] of a [`NumberType`], which is not complex.
macro_rules! with_number {
    ($kind:expr, $T:ident => $body:expr) => {
        zarr_traits::number::with_number!($kind, $T => $body, {
            type $T = $crate::number::Truth;
            $body
        })
    };
}
pub(crate) use with_number;

/// Returns the number type of a data type, or `None` if it is not a boolean or a real number.
pub(crate) fn of(data_type: &DataType) -> Option<NumberType> {
    data_type.number().filter(|kind| kind.numeric().components() == 1)
}

/// Returns the type to which numpy promotes two types.
pub(crate) fn promote(one: NumberType, other: NumberType) -> NumberType {
    use NumberType::{Bool, Float16, Float32, Float64, Int16, Int32, Int64};
    let (large, small) = if one.size() >= other.size() { (one, other) } else { (other, one) };
    let is_signed = |a: NumberType| a.is_integer() && !a.is_unsigned();
    let float = |size: usize| match size {
        1 => Float16,
        2 => Float32,
        _ => Float64,
    };
    match (large, small) {
        (a, b) if a == b => a,
        (Bool, a) | (a, Bool) => a,
        (a, b) if a.is_float() && b.is_float() => a,
        (a, b) | (b, a) if a.is_float() => match float(b.size()) {
            wide if wide.size() > a.size() => wide,
            _ => a,
        },
        (a, b) if is_signed(a) == is_signed(b) || (is_signed(a) && a.size() > b.size()) => a,
        (a, _) => match a.size() {
            1 => Int16,
            2 => Int32,
            4 => Int64,
            _ => Float64,
        },
    }
}

/// A number type with a stored byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredType {
    pub(crate) kind: NumberType,
    /// Whether the stored byte order differs from that of this machine.
    pub(crate) foreign: bool,
}

impl StoredType {
    /// Returns the type in the byte order of this machine.
    pub(crate) fn native(kind: NumberType) -> Self {
        Self { kind, foreign: false }
    }

    /// Reads a type such as `<f4` or `|u1`, or a name such as `float32`, which is little endian.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (order, code) = match text.as_bytes() {
            [order @ (b'<' | b'>' | b'|'), ..] => (*order, &text[1..]),
            _ => (b'<', text),
        };
        let real = || NumberType::ALL.iter().filter(|kind| kind.numeric().components() == 1);
        let kind = *real().find(|kind| [kind.name(), kind.numpy_name()].contains(&code))?;
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
        if non_null(configuration, name).is_none() {
            return default.ok_or_else(|| wrong(format!("{name} is missing")));
        }
        let text = configuration.optional_string(name)?.unwrap_or_default();
        Self::parse(&text).ok_or_else(|| wrong(format!("{name} is {text:?}, expected a numeric type")))
    }

    /// Converts numbers between the stored byte order and that of this machine.
    pub(crate) fn swap(self, numbers: &mut [u8]) {
        if self.foreign {
            DataType::from(self.kind).swap_bytes(numbers);
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
pub(crate) fn cast(from: NumberType, src: &[u8], to: NumberType, dst: &mut [u8]) {
    if from == to && from != NumberType::Bool {
        let len = src.len().min(dst.len());
        dst[..len].copy_from_slice(&src[..len]);
        return;
    }
    with_number!(from, S => with_number!(to, D => D::put(S::each(src).map(|number| D::of(number.wide())), dst)));
}

/// Returns numbers converted to another type, in scratch memory.
pub(crate) fn converted(
    from: NumberType,
    src: &[u8],
    to: NumberType,
    scratch: &mut Scratch,
) -> CodecResult<Buffer> {
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
