//! Times and spans of time: `units`, `calendar`, `dtype`.

use super::Work;
use super::options::{DecodeOptions, SpanDecoding};
use crate::calendar::Calendar;
use crate::error::{XarrayError, XarrayResult};
use crate::finding::FindingCode;
use crate::kernel::Packing;
use crate::units::{TimeUnit, TimeUnits, Unit};

/// The meaning of the numbers of a variable.
pub(super) enum Meaning {
    Numbers,
    /// Times: the units of the stored numbers, and the unit of the result.
    Times(TimeUnits, TimeUnit),
    /// Spans: the unit of the stored numbers, and the unit of the result.
    Spans(Unit, TimeUnit),
}

impl Work<'_> {
    /// Returns whether the numbers are times, spans or plain numbers.
    pub(super) fn meaning(&mut self, options: &DecodeOptions) -> XarrayResult<Meaning> {
        let Some(text) = self.text("units") else { return Ok(Meaning::Numbers) };
        if let Some((stored, unit)) = self.span(&text, options)? {
            return Ok(Meaning::Spans(stored, unit));
        }
        match options.times {
            Some(unit) if TimeUnits::are_meant_by(&text) => Ok(Meaning::Times(self.time_units(&text)?, unit)),
            _ => Ok(Meaning::Numbers),
        }
    }

    fn time_units(&mut self, text: &str) -> XarrayResult<TimeUnits> {
        self.take("units");
        let calendar = match self.take("calendar") {
            None => Calendar::Standard,
            Some(name) => {
                let known = name.to_text().ok().and_then(|name| Calendar::from_name(&name));
                known.ok_or_else(|| XarrayError::invalid(format!("unknown calendar {name}")))?
            }
        };
        TimeUnits::parse(text, calendar, self.findings)
    }

    /// Reports missing times and empty axes in model calendars: xarray, which uses cftime there, does not support them.
    pub(super) fn report_model_calendar(&mut self, calendar: Calendar, packing: &Packing, is_empty: bool) {
        if calendar.is_civil() {
            return;
        }
        if !packing.missing.is_empty() {
            self.found(FindingCode::MissingTimes, format!("the calendar is {}", calendar.name()));
        }
        if is_empty {
            self.found(FindingCode::EmptyTimes, format!("the calendar is {}", calendar.name()));
        }
    }

    /// Returns the stored unit and the unit of the result if a variable with these units contains spans.
    fn span(&mut self, units: &str, options: &DecodeOptions) -> XarrayResult<Option<(Unit, TimeUnit)>> {
        let Some(stored) = Unit::of_spans(units) else { return Ok(None) };
        let dtype = self.text("dtype");
        let asked = dtype.as_deref().and_then(|dtype| dtype.strip_prefix("timedelta64[")?.strip_suffix(']'));
        let unit = match (options.spans, asked) {
            (SpanDecoding::Off, _) => return Ok(None),
            (SpanDecoding::ByAttribute, Some(asked)) if options.times.is_some() => self.span_unit(asked)?,
            (SpanDecoding::ByAttribute, _) => return Ok(None),
            (SpanDecoding::ByUnits(_), Some(asked)) => self.span_unit(asked)?,
            (SpanDecoding::ByUnits(unit), None) => unit,
        };
        self.take("units");
        if asked.is_some() {
            self.take("dtype");
        }
        Ok(Some((stored, unit)))
    }

    /// The unit of `timedelta64[asked]`.
    fn span_unit(&mut self, asked: &str) -> XarrayResult<TimeUnit> {
        if ["D", "h", "m"].contains(&asked) {
            self.found(FindingCode::SpanResolution, format!("dtype asks for timedelta64[{asked}]"));
            return Ok(TimeUnit::Seconds);
        }
        let known = TimeUnit::ALL.into_iter().find(|unit| unit.name() == asked);
        known.ok_or_else(|| {
            XarrayError::invalid(format!("dtype has the unknown unit {asked:?} for timedelta64"))
        })
    }
}
