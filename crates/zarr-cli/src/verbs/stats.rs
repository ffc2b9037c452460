//! `zarr stats`: extremes, mean, deviation, missing elements and a histogram of an array, or of all arrays in a group.

mod group;
mod histogram;
mod summary;

use std::path::PathBuf;

use zarr_array::blocking::Array;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::Value;
use zarr_array::traits::number::{NumberType, with_number};
use zarr_array::{AnyArray, DataType};
use zarr_hierarchy::ChildState;
use zarr_xarray::{Calendar, Decoded, NOT_A_TIME, TimeUnit, Times};

use crate::args::labels::{Around, Part};
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::elements::Elements;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::number::short;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::out::table::Table;
use crate::pick::Pick;
use crate::slabs::Slab;
use crate::sparse::{self, Part as Piece, Parts};
use crate::verbs::cat::column::iso;
use crate::verbs::cat::decoded;
use histogram::Bin;
use summary::{Number, Summary};

/// Show the extremes, the mean, the deviation and the histogram of an array, or a line for each array in a group.
///
/// Reads every selected element once, in bounded memory. Chunks that are not stored count as the fill value, and take no
/// time if the store can list. Extremes of integers are exact. NaN counts as missing. Infinities count in the extremes, and
/// not in mean, deviation and histogram. The standard deviation is that of all elements, as in NumPy.
///
/// The bins of the histogram are as wide as a power of two and begin at multiples of that, so that their counts are exact
/// after one pass.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The array or group: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Use the elements as the attributes say: unpacked numbers, times as dates, missing elements as such. By default
    /// elements are used as they are stored.
    #[arg(long)]
    decode: bool,
    /// The largest number of bins in the histogram; 0 for none.
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    bins: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    part: Part,
}

const EXAMPLES: &str = "\
Examples:
  zarr stats weather.zarr/t2m
  zarr stats --decode weather.zarr
  zarr stats --decode -s time=2020-01 weather.zarr/t2m
  zarr stats --bins 100 --json image.zarr/0 | jq .histogram";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    if let ChildState::Node(NodeMeta::Group(_)) = target.look()?.found {
        return group::run(args, &target);
    }
    let array = target.array()?;
    let in_array = |e: Failure| match e.exit() {
        Exit::Ok => e,
        _ => target.fail(e.within(format_args!("array {:?}", array.path()))),
    };
    let stats = if args.decode {
        let around = Around::of(&args.store, &target, stores).map_err(in_array)?;
        let part = decoded::Part::of(&around, &args.part.select, &target).map_err(in_array)?;
        let elements = part.picks.iter().fold(1, |count: u64, pick| count.saturating_mul(pick.count));
        as_decoded(&part, &array, &Progress::elements(elements)).map_err(in_array)?
    } else {
        let picks = args.part.picks(&args.store, &target, &array, stores)?;
        let size = array.data_type().memory_size() as u64;
        let bytes = picks.iter().fold(size, |bytes, pick| bytes.saturating_mul(pick.count));
        as_stored(&array, &picks, &Progress::new(bytes, false)).map_err(in_array)?
    };
    let text = if args.json {
        json::pretty(&json::document(stats.members(&target.path, args.bins)).into())
    } else {
        stats.to_text(args.bins)
    };
    print(&text)?;
    Ok(Exit::Ok)
}

/// The statistics of an array.
struct Stats {
    sum: Summary,
    meaning: Meaning,
    /// Whether elements were compared with the fill value.
    has_fill: bool,
}

/// The meaning of the numbers of an array.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Numbers,
    Times(Calendar, TimeUnit),
}

/// Summarises the elements as they are stored.
fn as_stored(array: &Array, picks: &[Pick], progress: &Progress) -> Result<Stats, Failure> {
    let (size, fill, mut sum) = (array.data_type().memory_size(), array.fill().bytes(), Summary::default());
    // An array without elements shows its data type as well.
    part(array.data_type(), &[], fill)?;
    sparse::elements(picks)?;
    Parts::of(picks, array, size)?.each(|piece| {
        let bytes = match piece {
            Piece::Read(slab) => {
                let Elements::Fixed(bytes) = Elements::read(array, slab.selection(picks))? else {
                    return Err(unsupported(array.data_type()));
                };
                sum.merge(part(array.data_type(), &bytes, fill)?);
                bytes.len() as u64
            }
            Piece::Absent(_, count) => {
                sum.merge(part(array.data_type(), fill, fill)?.times(count));
                u64::try_from(count.saturating_mul(size as u128)).unwrap_or(u64::MAX)
            }
        };
        progress.add(bytes);
        Ok(())
    })?;
    Ok(Stats { sum, meaning: Meaning::Numbers, has_fill: true })
}

/// Summarises stored elements in the byte order of this machine.
fn part(data_type: &DataType, bytes: &[u8], fill: &[u8]) -> Result<Summary, Failure> {
    macro_rules! summary {
        ($t:ty) => {{
            let load = |bytes: &[u8; size_of::<$t>()]| <$t>::from_ne_bytes(*bytes);
            let elements: Vec<$t> = bytes.as_chunks().0.iter().map(load).collect();
            Summary::of(&elements, |_| false, fill.as_chunks().0.first().map(load))
        }};
    }
    match data_type.number() {
        Some(NumberType::Bool) => summary!(u8),
        Some(number) => with_number!(number, T => summary!(T), Err(unsupported(data_type))),
        None => Err(unsupported(data_type)),
    }
}

fn unsupported(data_type: &DataType) -> Failure {
    Failure::unsupported(format!("elements of {data_type} are not real numbers, so they have no mean"))
}

/// Summarises the elements as the attributes say.
fn as_decoded(part: &decoded::Part, array: &Array, progress: &Progress) -> Result<Stats, Failure> {
    let (mut sum, mut meaning) = (Summary::default(), Meaning::Numbers);
    sparse::elements(&part.picks)?;
    // All elements that are not stored are decoded to the same value.
    let mut absent: Option<Summary> = None;
    part.parts(array)?.each(|piece| {
        let (slab, count) = match piece {
            Piece::Read(slab) => (slab, None),
            Piece::Absent(start, count) => (Slab { count: vec![1; start.len()], start }, Some(count)),
        };
        let found = match (&absent, count) {
            (Some(one), Some(_)) => one.clone(),
            _ => summed(decoded::read(&part.variable, &part.picks, &slab)?.read_any()?, &mut meaning)?,
        };
        let Some(count) = count else {
            sum.merge(found);
            progress.add(slab.count.iter().product());
            return Ok(());
        };
        sum.merge(absent.insert(found).clone().times(count));
        progress.add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(())
    })?;
    Ok(Stats { sum, meaning, has_fill: false })
}

/// Summarises decoded elements. Changes `meaning` if they are times.
fn summed(values: Decoded, meaning: &mut Meaning) -> Result<Summary, Failure> {
    match values {
        Decoded::Times { times, .. } => {
            *meaning = Meaning::Times(times.calendar(), times.unit());
            Summary::of(times.values(), |count: i64| count == NOT_A_TIME, None)
        }
        Decoded::Booleans(values) => {
            let numbers: Vec<f64> = values
                .into_iter()
                .map(|value| value.map_or(f64::NAN, |value| f64::from(u8::from(value))))
                .collect();
            Summary::of(&numbers, |_| false, None)
        }
        Decoded::Numbers(values) => numbers(values),
        _ => Err(Failure::unsupported("the decoded elements are neither numbers nor times")),
    }
}

/// Summarises decoded numbers.
fn numbers(values: AnyArray) -> Result<Summary, Failure> {
    macro_rules! each {
        ($($variant:ident)*) => {
            match values {
                $(AnyArray::$variant(values) => Summary::of(values.as_slice(), |_| false, None),)*
                AnyArray::Other { data_type, bytes, .. } => part(&data_type, &bytes, &[]),
                _ => Err(Failure::unsupported("the decoded elements are not real numbers, so they have no mean")),
            }
        };
    }
    each!(Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64)
}

impl Stats {
    /// Returns a number as text: a time as ISO 8601.
    fn shown(&self, number: Number) -> String {
        match (self.meaning, number) {
            (Meaning::Numbers, Number::Integer(integer)) => integer.to_string(),
            (Meaning::Numbers, Number::Float(float)) => short(float),
            (Meaning::Times(calendar, unit), number) => time(calendar, unit, number.to_f64()),
        }
    }

    /// Returns a width or a deviation as text: of times with the unit.
    fn distance(&self, number: f64) -> String {
        match self.meaning {
            Meaning::Numbers => short(number),
            Meaning::Times(_, unit) => format!("{number} {}", unit.name()),
        }
    }

    /// Returns minimum, maximum, mean and deviation as text, `-` without elements.
    fn numbers(&self) -> [String; 4] {
        let sum = &self.sum;
        [
            sum.extremes.map(|(low, _)| self.shown(low)),
            sum.extremes.map(|(_, high)| self.shown(high)),
            sum.mean().map(|mean| self.shown(Number::Float(mean))),
            sum.deviation().map(|deviation| self.distance(deviation)),
        ]
        .map(|text| text.unwrap_or_else(|| "-".to_owned()))
    }

    fn to_text(&self, bins: usize) -> String {
        let sum = &self.sum;
        let share = |part: u128| match sum.count {
            0 => "0".to_owned(),
            all => format!("{part} ({:.3} %)", 100.0 * part as f64 / all as f64),
        };
        let [minimum, maximum, mean, deviation] = self.numbers();
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
        format!("{}{}", table.to_text(""), self.bars(&sum.histogram.bins(bins)))
    }

    /// Returns a bar for each bin.
    fn bars(&self, bins: &[Bin]) -> String {
        const LONGEST: u128 = 40;
        let most = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(1);
        let mut table = Table::default();
        let only = self.sum.extremes.filter(|(low, high)| low == high && bins.len() == 1);
        for Bin { from, to, count } in bins {
            let [from, to] = [from, to].map(|end| self.shown(Number::Float(*end)));
            let range = only.map_or_else(|| format!("{from} to {to}"), |(number, _)| self.shown(number));
            let scaled = count.checked_mul(LONGEST).map(|long| long / most);
            let length = scaled.unwrap_or_else(|| count / (most / LONGEST));
            let bar = "#".repeat(usize::try_from(length).unwrap_or(0));
            table.row([&range, &count.to_string(), &bar]);
        }
        table.to_text("  ")
    }

    /// Returns the members of the JSON object.
    fn members(&self, path: &str, bins: usize) -> Vec<(&'static str, Value)> {
        let sum = &self.sum;
        let shown = |number: Number| match (self.meaning, number) {
            (Meaning::Numbers, Number::Integer(integer)) => Value::from(integer),
            (Meaning::Numbers, Number::Float(float)) => json::float(float),
            _ => self.shown(number).into(),
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
        members
    }
}

/// Returns a time as ISO 8601.
#[expect(clippy::cast_possible_truncation, reason = "counts that are too large have no time")]
fn time(calendar: Calendar, unit: TimeUnit, count: f64) -> String {
    let time = Times::new(calendar, unit, vec![count.round() as i64]).get(0);
    time.map_or_else(|| "-".to_owned(), iso)
}
