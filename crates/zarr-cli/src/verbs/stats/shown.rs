//! The statistics of numbers as text and as JSON.

use zarr_array::meta::json::Value;
use zarr_xarray::{Calendar, TimeUnit, Times};

use super::histogram::Bin;
use super::summary::Number;
use super::{Args, Meaning, Stats, words};
use crate::out::json;
use crate::out::number::{short, significant};
use crate::out::screen::Screen;
use crate::out::table::Table;
use crate::verbs::cat::column::iso;

impl Stats {
    /// Returns a number as text: a time as ISO 8601.
    fn shown(&self, number: Number, precision: Option<usize>) -> String {
        match (self.meaning, number) {
            (Meaning::Numbers, Number::Integer(integer)) => integer.to_string(),
            (Meaning::Numbers, Number::Float(float)) => rounded(float, precision),
            (Meaning::Times(calendar, unit), number) => time(calendar, unit, number.to_f64()),
        }
    }

    /// Returns a width or a deviation as text: of times with a unit.
    fn distance(&self, number: f64, precision: Option<usize>) -> String {
        let Meaning::Times(_, unit) = self.meaning else { return rounded(number, precision) };
        let seconds = number
            / match unit {
                TimeUnit::Seconds => 1.0,
                TimeUnit::Milliseconds => 1e3,
                TimeUnit::Microseconds => 1e6,
                TimeUnit::Nanoseconds => 1e9,
            };
        const UNITS: [(f64, &str); 4] =
            [(86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds")];
        let (unit, name) = UNITS.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1.0, "seconds"));
        format!("{} {name}", rounded(seconds / unit, precision))
    }

    /// Returns minimum, maximum, mean and deviation as text, `-` without elements.
    pub(super) fn numbers(&self, precision: Option<usize>) -> [String; 4] {
        let sum = &self.sum;
        [
            sum.extremes.map(|(low, _)| self.shown(low, precision)),
            sum.extremes.map(|(_, high)| self.shown(high, precision)),
            sum.mean().map(|mean| self.shown(Number::Float(mean), precision)),
            sum.deviation().map(|deviation| self.distance(deviation, precision)),
        ]
        .map(|text| text.unwrap_or_else(|| "-".to_owned()))
    }

    pub(super) fn to_text(&self, args: &Args) -> String {
        let sum = &self.sum;
        let share = |part: u128| match sum.count {
            0 => "0".to_owned(),
            all => format!("{part} ({:.3} %)", 100.0 * part as f64 / all as f64),
        };
        let [minimum, maximum, mean, deviation] = self.numbers(args.precision);
        let mut table = Table::default();
        table.row(["elements", &sum.count.to_string()]);
        table.row(["missing", &share(sum.missing)]);
        if sum.infinite > 0 {
            table.row(["infinite", &share(sum.infinite)]);
        }
        if self.has_fill {
            table.row(["fill value", &share(sum.fill)]);
        }
        table.row(["minimum", &minimum]);
        table.row(["maximum", &maximum]);
        table.row(["mean", &mean]);
        table.row(["deviation", &deviation]);
        let words = self.words();
        if !words.is_empty() {
            return table.to_text("")
                + &words::counted(words.iter().map(|(word, count)| (word.as_str(), *count)));
        }
        if args.bins.is_none() && Screen::of_stdout().is_some() {
            table.row(["histogram", &blocks(&sum.histogram.bins(BLOCKS))]);
            return table.to_text("");
        }
        format!("{}{}", table.to_text(""), self.bars(&sum.histogram.bins(args.bins()), args.precision))
    }

    /// Returns how often each word of flags occurs, in their order; empty without flags.
    fn words(&self) -> Vec<(String, u128)> {
        let Some(flags) = &self.flags else { return Vec::new() };
        let bins = self.sum.histogram.bins(usize::MAX);
        // A bin of whole numbers has one of them, if it is not wider than 1.
        if bins.iter().any(|bin| bin.to - bin.from > 1.0) {
            return Vec::new();
        }
        let mut words: Vec<(String, u128)> = flags.words().map(|word| (word.to_owned(), 0)).collect();
        for bin in bins.iter().filter(|bin| bin.count > 0) {
            #[expect(clippy::cast_possible_truncation, reason = "bins begin at whole numbers below 2^53")]
            for word in flags.meanings(bin.from.floor() as i128) {
                words.iter_mut().filter(|(of, _)| of == word).for_each(|(_, count)| *count += bin.count);
            }
        }
        words
    }

    /// Returns a bar for each bin.
    fn bars(&self, bins: &[Bin], precision: Option<usize>) -> String {
        const LONGEST: u128 = 40;
        let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
        let mut table = Table::default();
        let only = self.sum.extremes.filter(|(low, high)| low == high && bins.len() == 1);
        for Bin { from, to, count } in bins {
            let [from, to] = [from, to].map(|end| self.shown_end(*end));
            let range =
                only.map_or_else(|| format!("{from} to {to}"), |(number, _)| self.shown(number, precision));
            let scaled = count.checked_mul(LONGEST).map(|long| long / most);
            let length = scaled.unwrap_or_else(|| count / (most / LONGEST));
            let bar = "#".repeat(usize::try_from(length).unwrap_or(0));
            table.row([&range, &count.to_string(), &bar]);
        }
        table.to_text("  ")
    }

    /// Returns the end of a bin, with all digits.
    fn shown_end(&self, end: f64) -> String {
        match self.meaning {
            Meaning::Numbers => short(end),
            Meaning::Times(..) => self.shown(Number::Float(end), None),
        }
    }

    /// Returns the members of the JSON object.
    pub(super) fn members(&self, path: &str, bins: usize) -> Vec<(&'static str, Value)> {
        let sum = &self.sum;
        let shown = |number: Number| match (self.meaning, number) {
            (Meaning::Numbers, Number::Integer(integer)) => Value::from(integer),
            (Meaning::Numbers, Number::Float(float)) => json::float(float),
            _ => self.shown(number, None).into(),
        };
        let bin = |Bin { from, to, count }: Bin| {
            let [from, to] = [from, to].map(|end| shown(Number::Float(end)));
            json::object([("from", from), ("to", to), ("count", count.into())])
        };
        let mut members = vec![
            ("path", path.into()),
            ("elements", sum.count.into()),
            ("missing", sum.missing.into()),
            ("infinite", sum.infinite.into()),
            ("minimum", sum.extremes.map(|(low, _)| shown(low)).into()),
            ("maximum", sum.extremes.map(|(_, high)| shown(high)).into()),
            ("mean", sum.mean().map(|mean| shown(Number::Float(mean))).into()),
            ("deviation", sum.deviation().map(json::float).into()),
            ("histogram", sum.histogram.bins(bins).into_iter().map(bin).collect()),
        ];
        if self.has_fill {
            members.push(("fill", sum.fill.into()));
        }
        if let Meaning::Times(_, unit) = self.meaning {
            members.push(("unit", unit.name().into()));
        }
        let words = self.words();
        if !words.is_empty() {
            let counts = words.iter().map(|(word, count)| (word.as_str(), Value::from(*count)));
            members.push(("flags", json::object(counts).to_value()));
        }
        members
    }
}

/// The number of bins in one line.
const BLOCKS: usize = 8;

/// Returns the bins as blocks in one line, with their ends.
fn blocks(bins: &[Bin]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
    let height = |bin: &Bin| {
        let part = bin.count.checked_mul(7).map_or_else(|| bin.count / (most / 7), |part| part / most);
        let height = usize::try_from(part).ok().and_then(|part| HEIGHTS.get(part));
        height.filter(|_| bin.count > 0).copied().unwrap_or(' ')
    };
    let ends = bins.first().zip(bins.last());
    let ends = ends.map(|(first, last)| format!("  {} to {}", short(first.from), short(last.to)));
    bins.iter().map(height).collect::<String>() + &ends.unwrap_or_default()
}

/// Returns a number with so many significant digits, by default 6, or as many as are before the point.
fn rounded(number: f64, precision: Option<usize>) -> String {
    const DIGITS: usize = 6;
    if precision.is_none() && number.abs() >= 1e15 {
        return short(number);
    }
    let whole = format!("{:.0}", number.abs().trunc()).len();
    significant(number, precision.unwrap_or(DIGITS.max(whole)))
}

/// Returns a time as ISO 8601.
#[expect(clippy::cast_possible_truncation, reason = "counts that are too large have no time")]
fn time(calendar: Calendar, unit: TimeUnit, count: f64) -> String {
    let time = Times::new(calendar, unit, vec![count.round() as i64]).get(0);
    time.map_or_else(|| "-".to_owned(), iso)
}
