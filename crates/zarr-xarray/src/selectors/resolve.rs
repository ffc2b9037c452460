//! Finds the positions of an entry in the index of its coordinate.

use std::ops::Range;

use crate::calendar::Calendar;
use crate::error::{XarrayError, XarrayErrorKind, XarrayResult};
use crate::index::{Index, IndexValues, LabelPositions, Method};
use crate::interval::Interval;
use crate::label::Label;
use crate::positions::Positions;
use crate::units::Unit;

use super::words::{at_marks, unquoted};
use super::{How, Selector};

/// The meaning of the text behind `=`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    Label(String),
    Between { start: Option<String>, end: Option<String>, step: i64 },
}

/// Returns the positions of an entry.
///
/// # Errors
/// `NotFound` if there are no such elements, with the range of the index.
pub(super) fn resolve(selector: &Selector, index: &Index) -> XarrayResult<Positions> {
    let label = |text: &str| label(text, index.values());
    let found = match selector.how {
        How::Positions => return positions(&selector.text),
        How::Nearest => {
            let at = index.find_near(&label(&unquoted(&selector.text))?, Method::Nearest, None);
            at.map(|at| Positions::from(signed(at)))
        }
        How::Labels => match meaning(&selector.text, index.values())? {
            Meaning::Label(text) => index.find(&label(&text)?).map(|found| match found {
                LabelPositions::One(at) => Positions::from(signed(at)),
                LabelPositions::Range(range) => Positions::from(signed(range.start)..signed(range.end)),
                LabelPositions::Many(list) => list.into_iter().map(signed).collect::<Vec<_>>().into(),
            }),
            Meaning::Between { start, end, step } => {
                let ends = [start, end].map(|end| end.map(|text| label(&text)).transpose());
                let [start, end] = ends;
                between(index, start?, end?)
                    .map(|range| Positions::step(signed(range.start)..signed(range.end), step))
            }
        },
    };
    found.map_err(|error| with_range(error, index))
}

/// Returns the positions between two labels, in any order. `None` is an open end: the smallest or the largest label.
fn between(index: &Index, start: Option<Label>, end: Option<Label>) -> XarrayResult<Range<usize>> {
    let range = match (&start, &end) {
        (Some(one), Some(other)) => index.between(one, other)?,
        (start, end) if index.is_descending() => index.slice(end.as_ref(), start.as_ref())?,
        (start, end) => index.slice(start.as_ref(), end.as_ref())?,
    };
    match range.is_empty() && !index.is_empty() {
        true => Err(XarrayError::new(XarrayErrorKind::NotFound, "no element lies between the two labels")),
        false => Ok(range),
    }
}

/// Adds the first and the last element of the index to the error for a missing label.
pub(super) fn with_range(error: XarrayError, index: &Index) -> XarrayError {
    let ends = index.len().checked_sub(1).and_then(|last| Some((index.text(0)?, index.text(last)?)));
    match (error.kind(), ends) {
        (XarrayErrorKind::NotFound, Some((first, last))) => {
            let message = format!("{error:#}; the coordinate goes from {first} to {last}");
            XarrayError::new(XarrayErrorKind::NotFound, message)
        }
        _ => error,
    }
}

/// Returns positions in the syntax of Python.
pub(super) fn positions(text: &str) -> XarrayResult<Positions> {
    let wrong = || {
        let message = format!("{text:?} is neither a position nor a range like 0:24 or ::2");
        XarrayError::invalid(message)
    };
    let number = |part: &str| match part.trim() {
        "" => Ok(None),
        part => part.parse::<i64>().map(Some).map_err(|_| wrong()),
    };
    let parts = text.split(':').map(number).collect::<XarrayResult<Vec<_>>>()?;
    let (start, end, step) = match parts[..] {
        [Some(position)] => return Ok(position.into()),
        [start, end] => (start, end, 1),
        [start, end, step] => (start, end, step.unwrap_or(1)),
        _ => return Err(wrong()),
    };
    // Backwards, a slice begins at its first number and ends before the second; the range has ends in ascending order.
    let after = |position: i64| if position == -1 { i64::MAX } else { position.saturating_add(1) };
    let (start, end) = match step {
        0 => return Err(XarrayError::invalid(format!("the step of {text:?} is 0"))),
        1.. => (start, end),
        _ => (end.map(after), start.filter(|first| *first != -1).map(after)),
    };
    let range = match (start, end) {
        (Some(start), Some(end)) => Positions::from(start..end),
        (Some(start), None) => (start..).into(),
        (None, Some(end)) => (..end).into(),
        (None, None) => (..).into(),
    };
    Ok(Positions::step(range, step))
}

/// Reads the text behind `=` for an index of these elements.
pub(super) fn meaning(text: &str, values: &IndexValues) -> XarrayResult<Meaning> {
    if let IndexValues::Times(times) = values {
        return times_meaning(text, times.calendar());
    }
    let parts = at_marks(text, &[':'])?;
    let end = |part: &str| Some(unquoted(part.trim())).filter(|label| !label.is_empty());
    match parts[..] {
        [label] => Ok(Meaning::Label(unquoted(label))),
        [start, last] => Ok(Meaning::Between { start: end(start), end: end(last), step: 1 }),
        [start, last, step] => {
            Ok(Meaning::Between { start: end(start), end: end(last), step: step_of(step)? })
        }
        _ => Err(XarrayError::invalid(format!(
            "{text:?} has more than two colons: write labels with colons in double quotes"
        ))),
    }
}

fn step_of(text: &str) -> XarrayResult<i64> {
    match text.trim().parse() {
        Ok(step @ 1..) => Ok(step),
        _ => Err(XarrayError::invalid(format!("the step {text:?} must be an integer of 1 or more"))),
    }
}

/// Reads one time, or two times between `/` or a colon. Times have colons themselves, so every colon is tried: exactly one
/// of them must leave two times.
fn times_meaning(text: &str, calendar: Calendar) -> XarrayResult<Meaning> {
    let is_time = |text: &str| Interval::parse(&unquoted(text.trim()), calendar).is_ok();
    let is_end = |text: &str| text.trim().is_empty() || is_time(text);
    let end = |text: &str| Some(unquoted(text.trim())).filter(|label| !label.is_empty());
    let range = |start: &str, last: &str, step| Meaning::Between { start: end(start), end: end(last), step };
    if is_time(text) {
        return Ok(Meaning::Label(unquoted(text)));
    }
    if let Some((start, last)) = text.split_once('/') {
        return match is_end(start) && is_end(last) {
            true => Ok(range(start, last, 1)),
            false => Err(no_time(text, calendar)),
        };
    }
    let colons: Vec<usize> = text.match_indices(':').map(|(at, _)| at).collect();
    let two = |text: &str| -> Vec<usize> {
        let is_split =
            |at: &&usize| text.get(..**at).is_some_and(is_end) && text.get(**at + 1..).is_some_and(is_end);
        colons.iter().filter(|at| **at < text.len()).filter(is_split).copied().collect()
    };
    let [plain, stepped] = [Some(text), text.rsplit_once(':').map(|(range, _)| range)]
        .map(|text| text.map(|text| (text, two(text))));
    let (found, step) = match (plain, stepped) {
        (Some((whole, splits)), _) if !splits.is_empty() => ((whole, splits), 1),
        (_, Some((head, splits))) if !splits.is_empty() => {
            let step = &text[head.len() + 1..];
            match step.trim().parse::<i64>() {
                Ok(_) => ((head, splits), step_of(step)?),
                Err(_) => return Err(no_time(text, calendar)),
            }
        }
        _ => return Err(no_time(text, calendar)),
    };
    match found {
        (text, splits) if splits.len() == 1 => Ok(range(&text[..splits[0]], &text[splits[0] + 1..], step)),
        (text, _) => Err(XarrayError::invalid(format!(
            "{text:?} can be split into two times in several ways: write A/B"
        ))),
    }
}

/// The error for a text that holds no time.
fn no_time(text: &str, calendar: Calendar) -> XarrayError {
    match Interval::parse(&unquoted(text), calendar) {
        Err(error) if !text.contains([':', '/']) => error,
        _ => XarrayError::invalid(format!(
            "{text:?} is neither a time nor two times: a time begins with its date, as in 2020-01-31T06:00, and the calendar \
             is {}",
            calendar.name()
        )),
    }
}

/// Reads a label for an index of these elements.
pub(super) fn label(text: &str, values: &IndexValues) -> XarrayResult<Label> {
    let wrong = |what: &str| XarrayError::invalid(format!("the label {text:?} is not {what}"));
    Ok(match values {
        IndexValues::Integers(_) | IndexValues::Unsigned(_) => match text.parse::<i64>() {
            Ok(integer) => integer.into(),
            Err(_) => text.parse::<f64>().map_err(|_| wrong("a number"))?.into(),
        },
        IndexValues::Floats(_) | IndexValues::SmallFloats(_) => {
            text.parse::<f64>().map_err(|_| wrong("a number"))?.into()
        }
        IndexValues::Booleans(_) => text.parse::<bool>().map_err(|_| wrong("true or false"))?.into(),
        IndexValues::Texts(_) | IndexValues::Times(_) => text.into(),
        IndexValues::Spans(_) => {
            Label::Span(span(text).ok_or_else(|| wrong("a span of time such as 6h, 90min or 1.5d"))?)
        }
    })
}

/// Reads a number with a unit of time, in nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the size is checked, and a fraction of a nanosecond is rounded"
)]
fn span(text: &str) -> Option<i64> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = (text[..at].trim().parse::<f64>().ok()?, &text[at..]);
    let unit = match unit {
        "d" | "day" | "days" => Unit::Days,
        "h" | "hour" | "hours" => Unit::Hours,
        "min" | "minute" | "minutes" => Unit::Minutes,
        "s" | "second" | "seconds" => Unit::Seconds,
        "ms" => Unit::Milliseconds,
        "us" => Unit::Microseconds,
        "ns" => Unit::Nanoseconds,
        _ => return None,
    };
    let length = (number * unit.nanoseconds() as f64).round();
    (length.abs() < i64::MAX as f64).then_some(length as i64)
}

/// Returns a position of an index. An index is in memory, so its positions fit.
pub(super) fn signed(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selectors::Selectors;
    use crate::times::Times;
    use crate::units::TimeUnit;

    /// The elements of the coordinate of a name: `time` has times, `name` has texts, all others have numbers.
    fn values(name: &str) -> IndexValues {
        match name {
            "time" => IndexValues::Times(Times::new(Calendar::Standard, TimeUnit::Seconds, vec![0])),
            "name" => IndexValues::Texts(vec!["a".to_owned()]),
            _ => IndexValues::Floats(vec![0.0]),
        }
    }

    /// Returns each entry as `name how labels`.
    fn meanings(text: &str) -> XarrayResult<Vec<String>> {
        let one = |selector: &Selector| {
            let Selector { name, how, text } = selector;
            Ok(match how {
                How::Nearest => format!("{name} nearest {}", unquoted(text)),
                How::Positions => positions(text).map(|_| format!("{name} position {text}"))?,
                How::Labels => match meaning(text, &values(name))? {
                    Meaning::Label(label) => format!("{name} label {label}"),
                    Meaning::Between { start, end, step } => {
                        let [start, end] = [start, end].map(|end| end.unwrap_or_else(|| "-".to_owned()));
                        format!("{name} between {start} {end} {step}")
                    }
                },
            })
        };
        text.parse::<Selectors>()?.0.iter().map(one).collect()
    }

    #[test]
    fn texts_mean_what_people_mean() {
        for (text, wanted) in [
            (
                "time=2020-01-01:2020-02-01,lat=10:20",
                &["time between 2020-01-01 2020-02-01 1", "lat between 10 20 1"][..],
            ),
            ("time=2020-01", &["time label 2020-01"]),
            ("time=2020-01-01T06:00", &["time label 2020-01-01T06:00"]),
            ("time=2020-01-01T06:00:2020-01-02", &["time between 2020-01-01T06:00 2020-01-02 1"]),
            (
                "time=2020-01-01T06:00:00:2020-01-02T00:00:00",
                &["time between 2020-01-01T06:00:00 2020-01-02T00:00:00 1"],
            ),
            ("time=2020-01-01T06:00/2020-01-02T12:30", &["time between 2020-01-01T06:00 2020-01-02T12:30 1"]),
            ("time=2020-01-01:", &["time between 2020-01-01 - 1"]),
            ("time=:2020", &["time between - 2020 1"]),
            ("time=2020-01-01:2020-12-31:7", &["time between 2020-01-01 2020-12-31 7"]),
            ("lat=~41.3,lon=~-100", &["lat nearest 41.3", "lon nearest -100"]),
            ("time=~2020-01-01T05:20", &["time nearest 2020-01-01T05:20"]),
            ("lat=-10:-20.5", &["lat between -10 -20.5 1"]),
            ("lat=1e1:2e1", &["lat between 1e1 2e1 1"]),
            ("time@0:24", &["time position 0:24"]),
            ("time@-1,lat=10", &["time position -1", "lat label 10"]),
            ("time@::2", &["time position ::2"]),
            (r#"name="a,b""#, &["name label a,b"]),
            (r#"name="a:b":"c""#, &["name between a:b c 1"]),
            (r#"name="a ""b"" c""#, &[r#"name label a "b" c"#]),
            ("time=2020-01-01T06:2020-01-02T06:30", &["time between 2020-01-01T06 2020-01-02T06:30 1"]),
            ("time=::7", &["time between - - 7"]),
            (r#"time="2020-01-01 06:00""#, &["time label 2020-01-01 06:00"]),
        ] {
            assert!(Selectors::are_meant_by(text), "{text}");
            assert_eq!(meanings(text).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn slices_mean_the_same_as_in_python() {
        for (text, wanted) in [
            ("2:4", &[2, 3][..]),
            ("-3::2", &[7, 9]),
            ("::-4", &[9, 5, 1]),
            ("5:2:-1", &[5, 4, 3]),
            ("-1:-4:-2", &[9, 7]),
            ("99:7:-1", &[9, 8]),
            ("2:-1:-1", &[]),
            ("2:5:-1", &[]),
            (":-3:-1", &[9, 8]),
            ("1::-1", &[1, 0]),
        ] {
            let picked = positions(text).unwrap().resolve(10).unwrap();
            let found: Vec<_> = (0..picked.len()).map(|at| picked.at(at)).collect();
            assert_eq!(found, wanted, "{text}");
        }
    }

    #[test]
    fn positions_without_names_are_another_form() {
        for text in ["0:24,:,5", "...,5", "", "[1, 2]", "@g/mask", "0,@list"] {
            assert!(!Selectors::are_meant_by(text), "{text}");
        }
    }

    #[test]
    fn wrong_texts_are_refused_with_the_reason() {
        for (text, reason) in [
            ("lat=10,5", "labels and positions without a name cannot be mixed"),
            ("lat=", "no label"),
            ("=5", "no name"),
            ("lat=10,lat=20", "\"lat\" is named twice"),
            ("lat=~", "no label"),
            ("time=2020-01-01:2020-12-31:0", "1 or more"),
            ("time=2020-01-01:2020-12-31:x", "neither a time nor two times"),
            ("time=12:00", "neither a time nor two times"),
            ("time=2020-13", "does not have it"),
            ("lat=1:2:3:4", "more than two colons"),
            ("lat@x", "neither a position"),
            ("lat@::0", "is 0"),
            ("name=\"a", "is not closed"),
        ] {
            let error = format!("{:#}", meanings(text).unwrap_err());
            assert!(error.contains(reason), "{text}: {error:#}");
        }
    }

    #[test]
    fn errors_name_the_range_of_the_coordinate() {
        let index = Index::new(IndexValues::Floats(vec![60.0, 50.5, 40.0]));
        let found = |text: &str| {
            let selectors: Selectors = text.parse().unwrap();
            resolve(&selectors.0[0], &index)
        };
        for text in ["lat=41", "lat=70:80", "lat=61:"] {
            let error = found(text).unwrap_err();
            assert_eq!(error.kind(), XarrayErrorKind::NotFound, "{text}");
            assert!(format!("{error:#}").contains("the coordinate goes from 60 to 40"), "{error:#}");
        }
        for (text, wanted) in [
            ("lat=40:51", Positions::step(1..3, 1)),
            ("lat=51:40", Positions::step(1..3, 1)),
            ("lat=:51", Positions::step(1..3, 1)),
            ("lat=50:", Positions::step(0..2, 1)),
            ("lat=::2", Positions::step(0..3, 2)),
            ("lat=~44", Positions::from(2)),
            ("lat=5.05e1", Positions::from(1)),
        ] {
            assert_eq!(found(text).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn spans_have_units() {
        for (text, wanted) in [
            ("6h", Some(21_600_000_000_000)),
            ("-1.5d", Some(-129_600_000_000_000)),
            ("90 min", Some(5_400_000_000_000)),
            ("7", None),
            ("1e30d", None),
            ("3 weeks", None),
        ] {
            assert_eq!(span(text), wanted, "{text}");
        }
    }
}
