//! Decoded elements as text and as bytes.

use std::fmt::Write;

use zarr_array::{AnyArray, DataType};
use zarr_xarray::blocking::Variable;
use zarr_xarray::{Calendar, DateTime, Decoded, NOT_A_TIME, Spans, TimeUnit, Times};

use crate::decoded::{Integers, Values, values};
use crate::exit::{Exit, Failure};
use crate::out::render::Render;

/// How elements are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// For people: `NaN` and `--` are missing elements.
    Text,
    /// JSON values; null is a missing element.
    Json,
    /// Fields of a table; a missing element is empty.
    Field,
}

/// Decoded elements in C order.
pub(crate) struct Column {
    cells: Cells,
    style: Style,
}

enum Cells {
    /// Elements of one size, in the byte order of this machine.
    Fixed {
        render: Render,
        data_type: DataType,
        bytes: Vec<u8>,
    },
    /// Integers, some of which are missing.
    Integers {
        render: Render,
        integers: Integers,
    },
    /// Elements of variable length.
    Variable {
        render: Render,
        contents: Vec<Vec<u8>>,
    },
    Booleans(Vec<Option<bool>>),
    Texts(Vec<Option<String>>),
    Bytes {
        render: Render,
        contents: Vec<Option<Vec<u8>>>,
    },
    Times(Times),
    Spans(Spans),
}

impl Column {
    /// Reads the elements of a variable. Packed numbers have the decimals of their scale.
    pub(crate) fn read(variable: &Variable, style: Style) -> Result<Self, Failure> {
        match values(variable)? {
            Values::Decoded(decoded) => Self::new(decoded, style),
            Values::Integers(integers) => {
                let data_type = integers.data_type();
                let render = Render::text(&data_type).ok_or_else(|| unprintable(&data_type))?;
                Ok(Self { cells: Cells::Integers { render, integers }, style })
            }
        }
    }

    pub(crate) fn new(decoded: Decoded, style: Style) -> Result<Self, Failure> {
        let render = |data_type: &DataType| {
            let render = if style == Style::Json { Render::json(data_type) } else { Render::text(data_type) };
            render.ok_or_else(|| unprintable(data_type))
        };
        let cells = match decoded {
            Decoded::Booleans(values) => Cells::Booleans(values.into_vec()),
            Decoded::Texts(values) => Cells::Texts(values.into_vec()),
            Decoded::Bytes(values) => {
                Cells::Bytes { render: render(&DataType::Bytes)?, contents: values.into_vec() }
            }
            Decoded::Times { times, .. } => Cells::Times(times),
            Decoded::Spans { spans, .. } => Cells::Spans(spans),
            Decoded::Numbers(values) | Decoded::Other(values) => match plain(values)? {
                Plain::Fixed(data_type, bytes) => match numpy_times(&data_type, &bytes) {
                    Some(times) => times,
                    None => Cells::Fixed { render: render(&data_type)?, data_type, bytes },
                },
                Plain::Variable(data_type, contents) => {
                    Cells::Variable { render: render(&data_type)?, contents }
                }
            },
            _ => return Err(Failure::unsupported("the decoded elements cannot be printed")),
        };
        Ok(Self { cells, style })
    }

    /// Appends element `i` in C order.
    pub(crate) fn element(&self, i: usize, out: &mut Vec<u8>) -> Result<(), Failure> {
        let beyond = || Failure::new(Exit::Corrupt, "the array has fewer elements than its shape says");
        match &self.cells {
            Cells::Fixed { render, data_type, bytes } => {
                let element = bytes.chunks_exact(data_type.memory_size().max(1)).nth(i).ok_or_else(beyond)?;
                match self.style {
                    Style::Json | Style::Field if is_nan(data_type, element) => self.missing(out),
                    _ => render.element(element, out)?,
                }
            }
            Cells::Integers { render, integers: Integers { number, bytes, missing } } => {
                let element = bytes.chunks_exact(number.size()).nth(i).ok_or_else(beyond)?;
                match (missing.iter().any(|one| one == element), self.style) {
                    (true, Style::Text) => out.extend_from_slice(b"NaN"),
                    (true, _) => self.missing(out),
                    (false, _) => render.element(element, out)?,
                }
            }
            Cells::Variable { render, contents } => {
                render.element(contents.get(i).ok_or_else(beyond)?, out)?;
            }
            Cells::Booleans(values) => match values.get(i).ok_or_else(beyond)? {
                Some(truth) => out.extend_from_slice(truth.to_string().as_bytes()),
                None => self.missing(out),
            },
            Cells::Texts(values) => match values.get(i).ok_or_else(beyond)? {
                Some(text) => self.text(text, out)?,
                None => self.missing(out),
            },
            Cells::Bytes { render, contents } => match contents.get(i).ok_or_else(beyond)? {
                Some(content) => render.element(content, out)?,
                None => self.missing(out),
            },
            Cells::Times(times) => match times.get(i) {
                Some(time) => self.word(&iso(time), out),
                None => self.missing(out),
            },
            Cells::Spans(spans) => match *spans.values().get(i).ok_or_else(beyond)? {
                NOT_A_TIME => self.missing(out),
                count => self.word(&duration(spans.unit(), count), out),
            },
        }
        Ok(())
    }

    fn missing(&self, out: &mut Vec<u8>) {
        match self.style {
            Style::Text => out.extend_from_slice(b"--"),
            Style::Json => out.extend_from_slice(b"null"),
            Style::Field => {}
        }
    }

    /// Appends text of a variable. A field of a table is quoted where it is written.
    fn text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), Failure> {
        if self.style == Style::Field {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        let render = if self.style == Style::Json { Render::json } else { Render::text };
        render(&DataType::String).map_or(Ok(()), |render| render.element(text.as_bytes(), out))
    }

    /// Appends a word that needs no escapes.
    fn word(&self, word: &str, out: &mut Vec<u8>) {
        let quote: &[u8] = if self.style == Style::Json { b"\"" } else { b"" };
        out.extend([quote, word.as_bytes(), quote].concat());
    }

    /// Returns all elements as little-endian bytes. `unit` is the unit of times and spans.
    ///
    /// # Errors
    /// For elements that have no such form: texts, missing booleans, times before 1582 or in another unit.
    pub(crate) fn into_bytes(self, unit: Option<TimeUnit>) -> Result<Vec<u8>, Failure> {
        let no_form = |what: &str| Failure::unsupported(format!("{what}; use --format text, json or csv"));
        let counts = |values: &[i64], from: TimeUnit| {
            let to = unit.unwrap_or(from);
            let convert = |count: &i64| in_unit(*count, from, to).map(i64::to_le_bytes);
            let bytes = values.iter().map(convert).collect::<Option<Vec<_>>>();
            bytes
                .map(|bytes| bytes.concat())
                .ok_or_else(|| no_form("an element is no whole number of the unit"))
        };
        match self.cells {
            Cells::Fixed { data_type, mut bytes, .. } => {
                if cfg!(target_endian = "big") {
                    data_type.swap_bytes(&mut bytes);
                }
                Ok(bytes)
            }
            Cells::Booleans(values) => {
                let bytes = values.into_iter().map(|truth| truth.map(u8::from)).collect::<Option<Vec<_>>>();
                bytes.ok_or_else(|| no_form("a boolean is missing"))
            }
            Cells::Times(times) => {
                let is_numpy = |time: Option<DateTime>| {
                    times.calendar() == Calendar::ProlepticGregorian
                        || time.is_none_or(|time| (time.date.year, time.date.month) >= (1582, 11))
                };
                if !times.calendar().is_civil() || !times.iter().all(is_numpy) {
                    return Err(no_form("NumPy does not have the calendar of these times"));
                }
                counts(times.values(), times.unit())
            }
            Cells::Spans(spans) => counts(spans.values(), spans.unit()),
            Cells::Integers { .. } | Cells::Variable { .. } | Cells::Texts(_) | Cells::Bytes { .. } => {
                Err(no_form("the elements have different lengths"))
            }
        }
    }
}

fn unprintable(data_type: &DataType) -> Failure {
    Failure::unsupported(format!("elements of {data_type} cannot be printed"))
}

/// Stored or decoded elements as bytes.
enum Plain {
    Fixed(DataType, Vec<u8>),
    Variable(DataType, Vec<Vec<u8>>),
}

fn plain(values: AnyArray) -> Result<Plain, Failure> {
    macro_rules! numbers {
        ($values:expr, $data_type:ident) => {
            Plain::Fixed(DataType::$data_type, $values.into_iter().flat_map(|n| n.to_ne_bytes()).collect())
        };
    }
    Ok(match values {
        AnyArray::Bool(values) => Plain::Fixed(DataType::Bool, values.into_iter().map(u8::from).collect()),
        AnyArray::Int8(values) => numbers!(values, Int8),
        AnyArray::Int16(values) => numbers!(values, Int16),
        AnyArray::Int32(values) => numbers!(values, Int32),
        AnyArray::Int64(values) => numbers!(values, Int64),
        AnyArray::UInt8(values) => numbers!(values, UInt8),
        AnyArray::UInt16(values) => numbers!(values, UInt16),
        AnyArray::UInt32(values) => numbers!(values, UInt32),
        AnyArray::UInt64(values) => numbers!(values, UInt64),
        AnyArray::Float32(values) => numbers!(values, Float32),
        AnyArray::Float64(values) => numbers!(values, Float64),
        AnyArray::String(values) => {
            Plain::Variable(DataType::String, values.into_iter().map(String::into_bytes).collect())
        }
        AnyArray::Bytes(values) => Plain::Variable(DataType::Bytes, values.into_vec()),
        AnyArray::Variable { data_type, contents } => Plain::Variable(data_type, contents.into_vec()),
        AnyArray::Other { data_type, bytes, .. } => Plain::Fixed(data_type, bytes),
        _ => return Err(Failure::unsupported("structured elements are not decoded; --stored prints them")),
    })
}

/// Returns numbers as bytes in the byte order of this machine, and booleans as `float32` with NaN for missing ones.
#[cfg(feature = "image")]
pub(crate) fn numbers(decoded: Decoded) -> Result<Vec<u8>, Failure> {
    let number = |truth: Option<bool>| truth.map_or(f32::NAN, |truth| f32::from(u8::from(truth)));
    let bytes = match decoded {
        Decoded::Numbers(values) => match plain(values)? {
            Plain::Fixed(_, bytes) => Some(bytes),
            Plain::Variable(..) => None,
        },
        Decoded::Booleans(values) => {
            Some(values.into_iter().flat_map(|truth| number(truth).to_ne_bytes()).collect())
        }
        _ => None,
    };
    bytes.ok_or_else(|| Failure::unsupported("the decoded elements are not numbers"))
}

/// Returns elements of the types `numpy.datetime64` and `numpy.timedelta64` as times and spans.
fn numpy_times(data_type: &DataType, bytes: &[u8]) -> Option<Cells> {
    let DataType::Extension(extension) = data_type else { return None };
    let configuration = extension.configuration();
    let scale = configuration.get("scale_factor").and_then(|scale| scale.as_i64()).unwrap_or(1);
    let (unit, times) = match &*configuration.get("unit")?.as_text()? {
        "D" => (TimeUnit::Seconds, 86_400),
        "h" => (TimeUnit::Seconds, 3600),
        "m" => (TimeUnit::Seconds, 60),
        "s" => (TimeUnit::Seconds, 1),
        "ms" => (TimeUnit::Milliseconds, 1),
        "us" | "μs" => (TimeUnit::Microseconds, 1),
        "ns" => (TimeUnit::Nanoseconds, 1),
        _ => return None,
    };
    let count = |bytes: &[u8; 8]| match i64::from_ne_bytes(*bytes) {
        NOT_A_TIME => Some(NOT_A_TIME),
        count => count.checked_mul(times)?.checked_mul(scale),
    };
    let values: Vec<i64> = bytes.as_chunks().0.iter().map(count).collect::<Option<_>>()?;
    match extension.name() {
        "numpy.datetime64" => Some(Cells::Times(Times::new(Calendar::ProlepticGregorian, unit, values))),
        "numpy.timedelta64" => Some(Cells::Spans(Spans::new(unit, values))),
        _ => None,
    }
}

fn is_nan(data_type: &DataType, element: &[u8]) -> bool {
    match data_type {
        DataType::Float16 => element.try_into().is_ok_and(|e| half::f16::from_ne_bytes(e).is_nan()),
        DataType::Float32 => element.try_into().is_ok_and(|e| f32::from_ne_bytes(e).is_nan()),
        DataType::Float64 => element.try_into().is_ok_and(|e| f64::from_ne_bytes(e).is_nan()),
        _ => false,
    }
}

/// Returns a count in another unit, or `None` if it is not whole or too large.
fn in_unit(count: i64, from: TimeUnit, to: TimeUnit) -> Option<i64> {
    let (from, to) = (from.nanoseconds(), to.nanoseconds());
    match count {
        NOT_A_TIME => Some(NOT_A_TIME),
        _ if from >= to => count.checked_mul(from / to),
        _ => (count % (to / from) == 0).then_some(count / (to / from)),
    }
}

/// Returns a time in ISO 8601, always with seconds, so that all rows have one form.
pub(crate) fn iso(time: DateTime) -> String {
    let DateTime { date, hour, minute, second, nanosecond } = time;
    let fraction = match nanosecond {
        0 => String::new(),
        n => format!(".{n:09}").trim_end_matches('0').to_owned(),
    };
    format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}")
}

/// Returns a span in ISO 8601: `P1DT6H`, `-PT0.5S`.
fn duration(unit: TimeUnit, count: i64) -> String {
    let nanoseconds = u128::from(count.unsigned_abs()) * u128::from(unit.nanoseconds().unsigned_abs());
    let (seconds, fraction) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    let [days, hours, minutes, seconds] =
        [seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    let mut text = String::from(if count < 0 { "-P" } else { "P" });
    let mut put = |n: u128, letter| {
        if n > 0 {
            let _ = write!(text, "{n}{letter}");
        }
    };
    put(days, "D");
    if (hours, minutes, seconds, fraction) == (0, 0, 0, 0) && days > 0 {
        return text;
    }
    text.push('T');
    let mut put = |n: u128, letter| {
        if n > 0 {
            let _ = write!(text, "{n}{letter}");
        }
    };
    put(hours, "H");
    put(minutes, "M");
    if fraction > 0 {
        let digits = format!("{fraction:09}");
        let _ = write!(text, "{seconds}.{}S", digits.trim_end_matches('0'));
    } else if seconds > 0 || text.ends_with('T') {
        let _ = write!(text, "{seconds}S");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_iso_8601() {
        for (unit, count, text) in [
            (TimeUnit::Seconds, 0, "PT0S"),
            (TimeUnit::Seconds, 86_400, "P1D"),
            (TimeUnit::Seconds, 108_000, "P1DT6H"),
            (TimeUnit::Seconds, -21_600, "-PT6H"),
            (TimeUnit::Milliseconds, 90_500, "PT1M30.5S"),
            (TimeUnit::Nanoseconds, 1, "PT0.000000001S"),
        ] {
            assert_eq!(duration(unit, count), text);
        }
    }

    #[test]
    fn counts_change_their_unit_or_are_refused() {
        use TimeUnit::{Nanoseconds, Seconds};
        assert_eq!(in_unit(2, Seconds, Nanoseconds), Some(2_000_000_000));
        assert_eq!(in_unit(2_000_000_000, Nanoseconds, Seconds), Some(2));
        assert_eq!(in_unit(1, Nanoseconds, Seconds), None);
        assert_eq!(in_unit(i64::MAX, Seconds, Nanoseconds), None);
        assert_eq!(in_unit(NOT_A_TIME, Seconds, Nanoseconds), Some(NOT_A_TIME));
    }
}
