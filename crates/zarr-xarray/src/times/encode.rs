//! Encodes times and spans as numbers with units.

use super::{NOT_A_TIME, Spans, Times, count_of};
use crate::calendar::{Calendar, Date};
use crate::date_time::DateTime;
use crate::error::{XarrayError, XarrayResult};
use crate::units::{TimeUnit, TimeUnits, Unit};

/// The type of the stored numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NumberKind {
    /// Whole numbers if the units allow it, else floats.
    #[default]
    Free,
    /// Whole numbers. Units that are too coarse for them are replaced by finer units.
    Integers,
    /// Floats.
    Floats,
}

/// Options of the encoding of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TimeEncoding<'a> {
    /// The units. By default the longest unit that divides all differences, since the first time.
    pub units: Option<&'a str>,
    /// The calendar, as the attribute names it. By default the calendar of the times.
    pub calendar: Option<&'a str>,
    /// The type of the numbers.
    pub kind: NumberKind,
}

impl<'a> TimeEncoding<'a> {
    /// Sets the units, such as `hours since 1970-01-01`; `None` is the default.
    #[must_use]
    pub fn units(self, units: impl Into<Option<&'a str>>) -> Self {
        Self { units: units.into(), ..self }
    }

    /// Sets the calendar, as the attribute names it; `None` is the default.
    #[must_use]
    pub fn calendar(self, calendar: impl Into<Option<&'a str>>) -> Self {
        Self { calendar: calendar.into(), ..self }
    }

    /// Sets the type of the numbers.
    #[must_use]
    pub fn kind(self, kind: NumberKind) -> Self {
        Self { kind, ..self }
    }
}

/// The stored numbers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StoredNumbers {
    /// Whole numbers. [`NOT_A_TIME`] is missing.
    Integers(Vec<i64>),
    /// Floats. NaN is missing.
    Floats(Vec<f64>),
}

/// Times as they are stored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EncodedTimes {
    /// The attribute `units`.
    pub units: String,
    /// The attribute `calendar`.
    pub calendar: String,
    /// The encoded numbers, integers or floats.
    pub values: StoredNumbers,
    /// Whether the units are finer than those that were asked for.
    pub is_refined: bool,
}

/// Spans as they are stored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EncodedSpans {
    /// The attribute `units`.
    pub units: &'static str,
    /// The encoded numbers, integers or floats.
    pub values: StoredNumbers,
    /// Whether the units are finer than those that were asked for.
    pub is_refined: bool,
}

/// Encodes times. A missing time is [`NOT_A_TIME`] in whole numbers and NaN in floats. With [`NumberKind::Free`] and a
/// calendar that is not [civil](Calendar::is_civil), missing times make the numbers floats: xarray cannot open integers
/// then.
///
/// # Errors
/// `Invalid` if the units cannot be read or the calendar is unknown. `OutOfRange` if the calendar does not have one of
/// the times, or if a number is out of range.
pub fn encode_times(times: &Times, encoding: &TimeEncoding<'_>) -> XarrayResult<EncodedTimes> {
    let calendar = encoding.calendar.map_or(Ok(times.calendar()), |name| {
        Calendar::from_name(name).ok_or_else(|| XarrayError::invalid(format!("unknown calendar {name:?}")))
    })?;
    let instants = in_calendar(times, calendar)?;
    let given = encoding.units.map(|text| TimeUnits::parse(text, calendar, &mut Vec::new())).transpose()?;
    let units = given.map_or_else(|| inferred(&instants, calendar), Ok)?;
    let reference = units.nanoseconds();
    let differences: Vec<_> = instants.iter().map(|instant| Some((*instant)? - reference)).collect();

    let has_missing = differences.iter().any(Option::is_none);
    let kind = match encoding.kind {
        NumberKind::Free if has_missing && !calendar.is_civil() => NumberKind::Floats,
        kind => kind,
    };
    let finest = times.unit().max(TimeUnit::dividing(reference));
    let (unit, values) = numbers(&differences, units.unit(), kind, finest)?;
    Ok(EncodedTimes {
        units: match given {
            Some(_) => units.with_unit(unit).to_string(),
            None => format!("{} since {}", unit.name(), units.reference().to_seconds_text(' ')),
        },
        calendar: encoding.calendar.unwrap_or(calendar.name()).to_owned(),
        values,
        is_refined: unit != units.unit(),
    })
}

/// Encodes spans in `units`: `days`, `hours`, `minutes`, `seconds`, `milliseconds`, `microseconds` or `nanoseconds`. By
/// default it takes the longest unit that divides all spans.
///
/// # Errors
/// `Invalid` if `units` is another text, `OutOfRange` if a number is out of range.
pub fn encode_spans(spans: &Spans, units: Option<&str>, kind: NumberKind) -> XarrayResult<EncodedSpans> {
    let lengths: Vec<_> = (0..spans.values().len()).map(|position| spans.nanoseconds(position)).collect();
    let given = units.map(|text| {
        let refused =
            || XarrayError::invalid(format!("unknown units of spans {text:?}: use days to nanoseconds"));
        Unit::of_spans(text).ok_or_else(refused)
    });
    let unit = given.unwrap_or_else(|| Ok(dividing(lengths.iter().flatten().copied())))?;
    let (written, values) = numbers(&lengths, unit, kind, spans.unit())?;
    Ok(EncodedSpans { units: written.name(), values, is_refined: written != unit })
}

impl Times {
    /// Returns the times with the same dates in another calendar.
    ///
    /// # Errors
    /// `OutOfRange` if the calendar does not have one of the dates.
    pub(crate) fn in_calendar(&self, calendar: Calendar) -> XarrayResult<Self> {
        if calendar == self.calendar() {
            return Ok(self.clone());
        }
        let unit = i128::from(self.unit().nanoseconds());
        let count = |(position, instant): (usize, Option<i128>)| match instant {
            None => Ok(NOT_A_TIME),
            Some(instant) => {
                count_of(instant / unit).ok_or_else(|| lacks(calendar, position, self.get(position)))
            }
        };
        let counts =
            in_calendar(self, calendar)?.into_iter().enumerate().map(count).collect::<XarrayResult<_>>()?;
        Ok(Self::new(calendar, self.unit(), counts))
    }
}

/// Returns times in nanoseconds since 1970 of `calendar`, with the same date and time of day in that calendar.
fn in_calendar(times: &Times, calendar: Calendar) -> XarrayResult<Vec<Option<i128>>> {
    if calendar == times.calendar() {
        return Ok((0..times.len()).map(|position| times.nanoseconds(position)).collect());
    }
    let element = |(position, count): (usize, &i64)| {
        if *count == NOT_A_TIME {
            return Ok(None);
        }
        let time = times.get(position).filter(|time| !is_before_the_reform(time, calendar));
        let found = time.and_then(|time| time.to_nanoseconds(calendar));
        found.map(Some).ok_or_else(|| lacks(calendar, position, times.get(position)))
    };
    times.values().iter().enumerate().map(element).collect()
}

/// Whether a date of another calendar would become a Julian one.
fn is_before_the_reform(time: &DateTime, calendar: Calendar) -> bool {
    calendar == Calendar::Standard && time.date < Date::REFORM
}

fn lacks(calendar: Calendar, position: usize, time: Option<DateTime>) -> XarrayError {
    let time = time.map_or_else(|| "a time".to_owned(), |time| time.to_string());
    XarrayError::out_of_range(format!(
        "element {position}, {time}, does not exist in the calendar {}",
        calendar.name()
    ))
}

/// Returns the longest unit that divides the differences of neighbours, since the first time.
fn inferred(instants: &[Option<i128>], calendar: Calendar) -> XarrayResult<TimeUnits> {
    let there: Vec<i128> = instants.iter().flatten().copied().collect();
    let unit = dividing(there.windows(2).map(|pair| pair[1] - pair[0]));
    let reference = DateTime::from_nanoseconds(calendar, there.first().copied().unwrap_or(0));
    let units = reference.and_then(|reference| TimeUnits::new(unit, reference, calendar));
    units.ok_or_else(|| lacks(calendar, 0, None))
}

/// Returns the longest unit that divides all lengths.
fn dividing(lengths: impl Iterator<Item = i128> + Clone) -> Unit {
    let divides = |unit: &Unit| lengths.clone().all(|length| length % i128::from(unit.nanoseconds()) == 0);
    Unit::WRITTEN.into_iter().find(divides).unwrap_or(Unit::Nanoseconds)
}

/// Returns lengths as numbers of `unit`, or of a finer unit if whole numbers need it. `finest` divides all lengths.
fn numbers(
    lengths: &[Option<i128>],
    unit: Unit,
    kind: NumberKind,
    finest: TimeUnit,
) -> XarrayResult<(Unit, StoredNumbers)> {
    let there = lengths.iter().flatten().copied();
    let is_whole = there.clone().all(|length| length % i128::from(unit.nanoseconds()) == 0);
    if kind == NumberKind::Floats || kind == NumberKind::Free && !is_whole {
        return Ok((unit, floats(lengths, unit, finest)));
    }
    let unit = if is_whole { unit } else { dividing(there) };
    Ok((unit, integers(lengths, unit)?))
}

fn integers(lengths: &[Option<i128>], unit: Unit) -> XarrayResult<StoredNumbers> {
    let one = |(position, length): (usize, &Option<i128>)| {
        let Some(length) = length else { return Ok(NOT_A_TIME) };
        let too_far = || {
            XarrayError::out_of_range(format!(
                "element {position} is too far away to be counted in {}",
                unit.name()
            ))
        };
        count_of(length / i128::from(unit.nanoseconds())).ok_or_else(too_far)
    };
    lengths.iter().enumerate().map(one).collect::<XarrayResult<_>>().map(StoredNumbers::Integers)
}

/// Divides lengths by the unit, both counted in `finest`, as numpy does.
fn floats(lengths: &[Option<i128>], unit: Unit, finest: TimeUnit) -> StoredNumbers {
    let finest = i128::from(finest.nanoseconds());
    let unit = i128::from(unit.nanoseconds());
    let step = finest.min(unit);
    let one = |length: &Option<i128>| {
        length.map_or(f64::NAN, |length| (length / step) as f64 / (unit / step) as f64)
    };
    StoredNumbers::Floats(lengths.iter().map(one).collect())
}
