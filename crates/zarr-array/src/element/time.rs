//! Times and spans of time: `numpy.datetime64` and `numpy.timedelta64`.
//!
//! An element is a number of steps; for a time, the steps since the start of 1970. Nothing is ever rounded.

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;

use std::borrow::Cow;
use std::fmt;

use zarr_meta::types;
use zarr_traits::DataType;

use super::Form;
use super::step::{DATETIME, SECOND, Step, TIMEDELTA, Unit};
use crate::error::{ArrayError, ArrayResult};
use crate::values::NOT_A_TIME;

const NANOSECOND: i128 = 1_000_000_000;

/// A time type of a library.
trait Time: Clone + Send + Sync + 'static {
    /// The data type.
    const OF: &'static str;

    /// Returns the reason why the type does not fit times in this unit, or `None` if it fits.
    fn refuses(unit: Unit) -> Option<&'static str> {
        let _ = unit;
        None
    }

    /// Returns the time `count` units after the start of 1970, or the span of `count` units.
    fn new(unit: Unit, count: i128) -> Result<Self, Problem>;

    /// The inverse of [`new`](Self::new).
    fn count(&self, unit: Unit) -> Result<i128, Problem>;
}

/// The reason why a time cannot be converted.
#[derive(Debug, Clone, Copy)]
enum Problem {
    /// The time is out of range.
    Range,
    /// The time is not a whole number of steps or nanoseconds.
    Fraction,
    /// The time cannot be represented at all.
    Kind(&'static str),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Range => "is out of range",
            Self::Fraction => "is not exact",
            Self::Kind(what) => what,
        })
    }
}

/// Returns the data type in nanoseconds, which represent every value of the libraries, if the type fits it.
fn usual<T: Time>() -> Option<DataType> {
    let make = if T::OF == DATETIME { types::datetime64 } else { types::timedelta64 };
    make("ns").ok().filter(|data_type| fits::<T>(data_type).is_ok_and(|fits| fits))
}

fn fits<T: Time>(data_type: &DataType) -> ArrayResult<bool> {
    let Some(step) = Step::of(data_type, T::OF)? else { return Ok(false) };
    let refused = |why| ArrayError::invalid(format!("a step is {}, and {why}", step.shown));
    T::refuses(step.unit).map_or(Ok(true), |why| Err(refused(why)))
}

/// Turns steps into elements. `element` gets `None` for NaT, and returns `None` if the type cannot hold it.
fn read<T: Time, E>(
    memory: &[i64],
    form: &Form<'_>,
    element: impl Fn(Option<T>) -> Option<E>,
) -> ArrayResult<Vec<E>> {
    let step = Step::of(form.data_type(), T::OF)?.ok_or_else(no_time)?;
    let time = |(position, steps): (usize, &i64)| {
        let count = i128::from(*steps).checked_mul(step.length).ok_or(Problem::Range);
        let time = if *steps == NOT_A_TIME {
            None
        } else {
            let time = count.and_then(|count| T::new(step.unit, count));
            let named = |problem| format!("is {steps} steps of {}, which {problem} in this type", step.shown);
            Some(time.map_err(|problem| form.wrong(position, named(problem)))?)
        };
        element(time).ok_or_else(|| form.wrong(position, "is not a time (NaT): read an Option"))
    };
    memory.iter().enumerate().map(time).collect()
}

/// Turns elements into steps.
fn write<'a, 'b, T: Time>(
    times: impl Iterator<Item = Option<&'b T>>,
    form: &Form<'_>,
) -> ArrayResult<Cow<'a, [i64]>> {
    let step = Step::of(form.data_type(), T::OF)?.ok_or_else(no_time)?;
    let steps = |time: &T| {
        let count = time.count(step.unit)?;
        if count % step.length != 0 {
            return Err(Problem::Fraction);
        }
        i64::try_from(count / step.length).ok().filter(|steps| *steps != NOT_A_TIME).ok_or(Problem::Range)
    };
    let element = |(position, time): (usize, Option<&T>)| {
        let named = |problem| form.wrong(position, format!("{problem} in steps of {}", step.shown));
        time.map_or(Ok(NOT_A_TIME), |time| steps(time).map_err(named))
    };
    times.enumerate().map(element).collect()
}

fn no_time() -> ArrayError {
    ArrayError::invalid("the data type has no times")
}

/// Implements the element traits for time types and for `Option` of them, where `None` is NaT.
macro_rules! times {
    ($($(#[$attr:meta])* $time:ty => $name:literal;)*) => {$(
        impl crate::element::WriteElement for $time {
            type Memory = i64;

            const NAME: &'static str = $name;

            fn fits(data_type: &zarr_traits::DataType) -> crate::ArrayResult<bool> {
                super::fits::<Self>(data_type)
            }

            fn data_type() -> Option<zarr_traits::DataType> {
                super::usual::<Self>()
            }

            fn as_memory<'a>(
                elements: &'a [Self],
                form: &crate::Form<'_>,
            ) -> crate::ArrayResult<std::borrow::Cow<'a, [i64]>> {
                super::write(elements.iter().map(Some), form)
            }
        }

        impl crate::element::Element for $time {
            fn from_memory(memory: Vec<i64>, form: &crate::Form<'_>) -> crate::ArrayResult<Vec<Self>> {
                super::read::<Self, Self>(&memory, form, |time| time)
            }
        }

        $(#[$attr])*
        impl crate::element::WriteElement for Option<$time> {
            type Memory = i64;

            const NAME: &'static str = concat!("Option<", $name, ">");

            fn fits(data_type: &zarr_traits::DataType) -> crate::ArrayResult<bool> {
                super::fits::<$time>(data_type)
            }

            fn data_type() -> Option<zarr_traits::DataType> {
                super::usual::<$time>()
            }

            fn as_memory<'a>(
                elements: &'a [Self],
                form: &crate::Form<'_>,
            ) -> crate::ArrayResult<std::borrow::Cow<'a, [i64]>> {
                super::write(elements.iter().map(Option::as_ref), form)
            }
        }

        $(#[$attr])*
        impl crate::element::Element for Option<$time> {
            fn from_memory(memory: Vec<i64>, form: &crate::Form<'_>) -> crate::ArrayResult<Vec<Self>> {
                super::read::<$time, Self>(&memory, form, Some)
            }
        }
    )*};
}
use times;

/// Returns the whole seconds and the remaining nanoseconds.
fn seconds(attoseconds: i128) -> Result<(i64, u32), Problem> {
    if attoseconds % NANOSECOND != 0 {
        return Err(Problem::Fraction);
    }
    let seconds = i64::try_from(attoseconds.div_euclid(SECOND)).map_err(|_| Problem::Range)?;
    let rest = attoseconds.rem_euclid(SECOND) / NANOSECOND;
    Ok((seconds, u32::try_from(rest).map_err(|_| Problem::Range)?))
}

/// The inverse of [`seconds`]; seconds and nanoseconds may have either sign.
fn attoseconds(seconds: i64, nanoseconds: impl Into<i128>) -> i128 {
    i128::from(seconds) * SECOND + nanoseconds.into() * NANOSECOND
}

/// Returns the year and the month, from 1 to 12, that is `months` months after January 1970.
fn year_and_month<Y: TryFrom<i128>, M: TryFrom<i128>>(months: i128) -> Result<(Y, M), Problem> {
    let year = Y::try_from(1970 + months.div_euclid(12)).map_err(|_| Problem::Range)?;
    Ok((year, M::try_from(months.rem_euclid(12) + 1).map_err(|_| Problem::Range)?))
}

/// The inverse of [`year_and_month`].
fn months(year: impl Into<i128>, month: impl Into<i128>) -> i128 {
    (year.into() - 1970) * 12 + month.into() - 1
}

/// The reason why types that count seconds cannot hold spans of years and months.
const NO_LENGTH: &str = "years and months have no length in seconds";
