//! `zarr stats`: extremes, mean, deviation, missing elements and a histogram of an array, or of all arrays in a group.

mod by;
mod flow;
mod group;
mod histogram;
mod reduce;
mod shown;
mod summary;
mod words;

use std::path::PathBuf;
use std::sync::OnceLock;

use zarr_array::blocking::Array;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::Value;
use zarr_array::traits::number::{NumberType, with_integer, with_number};
use zarr_array::{AnyArray, DataType};
use zarr_hierarchy::ChildState;
use zarr_xarray::{Calendar, Decoded, Flags, NOT_A_TIME, TimeUnit};

use crate::args::decode::{Decode, Shown};
use crate::args::dimension;
use crate::args::labels::Part;
use crate::args::level::Level;
use crate::args::several::More;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::decoded::{Integers, Values, decimals, exact_values};
use crate::elements::Elements;
use crate::exit::{Exit, Failure, Outcome, say};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::pick::Pick;
use crate::slabs::Slab;
use crate::sparse::{self, Part as Piece, Parts};
use crate::verbs::cat::decoded;
use summary::Summary;
use words::Words;

/// Show the extremes, the mean, the deviation and the histogram of an array, or a line for each array in a group.
///
/// Elements are as the attributes say: unpacked numbers, times as dates, missing elements as such.
///
/// Reads every selected element once, in bounded memory. Chunks that are not stored count as the fill value, and take no
/// time if the store can list. Extremes of integers are exact. NaN counts as missing. Infinities count in the extremes, and
/// not in mean, deviation and histogram. The standard deviation is that of all elements, as in NumPy.
///
/// The bins of the histogram are as wide as a power of two and begin at multiples of that, so that their counts are exact
/// after one pass.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The array or group: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    more: More,
    #[command(flatten)]
    decode: Decode,
    /// Print a row for each label of this dimension, or for each `day`, `month` or `year` of a time; decoded. A terminal
    /// gets a table, a pipe or a file CSV.
    #[arg(long, value_name = "DIMENSION", conflicts_with = "stored")]
    by: Option<String>,
    /// Write the means over these dimensions to --output, decoded: of the array, or of all variables of a group.
    #[arg(long, value_name = "DIMENSIONS", value_delimiter = ',', requires = "output", conflicts_with_all = ["by", "json", "stored"])]
    mean: Vec<String>,
    /// The new dataset for --mean.
    #[arg(short, long, value_name = "STORE", requires = "mean")]
    output: Option<PathBuf>,
    /// The weights of means and deviations: a coordinate, or `cos(lat)` for the area of a cell.
    #[arg(long, value_name = "NAME|cos(NAME)", conflicts_with = "stored")]
    weights: Option<String>,
    /// The significant digits of numbers; by default 6, and all in JSON and CSV.
    #[arg(long, value_name = "DIGITS")]
    precision: Option<usize>,
    /// The largest number of bins in the histogram, or of texts that are counted; 0 for none [default: 10, and one line on
    /// a terminal].
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number_of_bins)]
    bins: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    level: Level,
    #[command(flatten)]
    part: Part,
}

const EXAMPLES: &str = "\
Examples:
  zarr stats weather.zarr/t2m
  zarr stats weather.zarr
  zarr stats -s time=2020-01 weather.zarr/t2m
  zarr stats --stored weather.zarr/t2m
  zarr stats --by month --weights 'cos(lat)' weather.zarr/t2m
  zarr stats --mean lat,lon -o series.zarr weather.zarr
  zarr stats --level auto cells.ome.zarr
  zarr stats --bins 100 --json image.zarr/0 | jq .histogram";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    if args.output.is_some() {
        args.more.refuse("--mean")?;
    }
    let one = |store, more| one(&Args { store, more, ..args.clone() }, stores);
    args.more.each("stats", &args.store, args.json, one)
}

fn one(args: &Args, stores: &Stores) -> Outcome {
    let target = args.level.of(Target::find(&args.store, stores)?)?;
    let is_group = matches!(target.look()?.found, ChildState::Node(NodeMeta::Group(_)));
    if let Some(output) = &args.output {
        return by::write(args, &target, output, is_group, stores);
    }
    if is_group {
        return group::run(args, &target);
    }
    let array = target.array()?;
    if args.by.is_some() || args.weights.is_some() {
        return by::rows(args, &target, &array, stores).map_err(|e| match e.exit() {
            Exit::Usage | Exit::Ok => e,
            _ => target.fail(e),
        });
    }
    let in_array = |e: Failure| match e.exit() {
        Exit::Ok => e,
        _ => target.fail(e.within(format_args!("array {:?}", array.path()))),
    };
    let shown = Shown::Elements(&args.part.select);
    let around = args.decode.around_target(&array, shown, &args.store, &target, stores).map_err(in_array)?;
    let (stats, picks) = if let Some(around) = around {
        let part = decoded::Part::of(&around, &args.part.select, &target).map_err(in_array)?;
        let elements = part.picks.iter().fold(1, |count: u64, pick| count.saturating_mul(pick.count));
        (as_decoded(&part, &array, &Progress::elements(elements)).map_err(in_array)?, part.picks)
    } else {
        let picks = args.part.picks(&args.store, &target, &array, stores)?;
        let size = array.data_type().memory_size() as u64;
        let bytes = picks.iter().fold(size, |bytes, pick| bytes.saturating_mul(pick.count));
        (as_stored(&array, &picks, &Progress::new(bytes, false)).map_err(in_array)?, picks)
    };
    let text = if args.json {
        args.more.json(&json::document(stats.members(&target.path, args.bins())).into())
    } else {
        if matches!(&stats, Found::Numbers(Stats { meaning: Meaning::Numbers, flags: None, .. })) {
            note_unweighted(&array, &picks);
        }
        stats.to_text(args)
    };
    print(&text)?;
    Ok(Exit::Ok)
}

fn number_of_bins(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "a whole number from 0 on is expected".to_owned())
}

/// Says that a mean over several latitudes does not count cells by their area.
fn note_unweighted(array: &Array, picks: &[Pick]) {
    let names = dimension::names(array);
    let is_latitude = |name: &str| ["lat", "latitude"].iter().any(|known| name.eq_ignore_ascii_case(known));
    if let Some((name, _)) = names.iter().zip(picks).find(|(name, pick)| is_latitude(name) && pick.count > 1)
    {
        say(&format!(
            "note: the mean counts all cells alike, whatever their area: --weights 'cos({name})' weights them"
        ));
    }
}

impl Args {
    fn bins(&self) -> usize {
        self.bins.unwrap_or(10)
    }
}

/// What was found out about an array.
enum Found {
    Numbers(Stats),
    Words(Words),
}

/// The statistics of an array of numbers.
struct Stats {
    sum: Summary,
    meaning: Meaning,
    /// Whether elements were compared with the fill value.
    has_fill: bool,
    /// The words that numbers stand for, if they do.
    flags: Option<Flags>,
}

/// The meaning of the numbers of an array.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Numbers,
    Times(Calendar, TimeUnit),
}

impl Found {
    fn to_text(&self, args: &Args) -> String {
        match self {
            Self::Numbers(stats) => stats.to_text(args),
            Self::Words(words) => words.to_text(args.bins()),
        }
    }

    fn members(&self, path: &str, bins: usize) -> Vec<(&'static str, Value)> {
        match self {
            Self::Numbers(stats) => stats.members(path, bins),
            Self::Words(words) => words.members(path, bins),
        }
    }
}

/// Returns the words that the numbers of an array stand for.
fn flags(array: &Array) -> Option<Flags> {
    Flags::of(&array.attributes()).ok().flatten()
}

/// Counts texts as they are stored.
fn words(array: &Array, picks: &[Pick], progress: &Progress) -> Result<Words, Failure> {
    let (data_type, mut sum) = (array.data_type(), Words::default());
    sparse::elements(picks)?;
    let size = data_type.memory_size();
    let parts = Parts::of(picks, array, size)?.budget(flow::BUDGET);
    let memory = |piece: &Piece| match piece {
        Piece::Read(slab) => slab.count.iter().fold(size as u64, |bytes, count| bytes.saturating_mul(*count)),
        Piece::Absent(..) => 0,
    };
    let job = |piece| {
        let (slab, times) = match piece {
            Piece::Read(slab) => (slab, 1),
            Piece::Absent(start, count) => (Slab { count: vec![1; start.len()], start }, count),
        };
        let elements = Elements::read(array, slab.selection(picks))?;
        progress.add(slab.count.iter().product());
        Words::of(data_type, &elements, times)
    };
    flow::in_order(array.storage(), &parts, memory, job, |found| sum.merge(found))?;
    Ok(sum)
}

/// Summarises the elements as they are stored.
fn as_stored(array: &Array, picks: &[Pick], progress: &Progress) -> Result<Found, Failure> {
    if words::are_words(array.data_type()) {
        return words(array, picks, progress).map(Found::Words);
    }
    let (size, fill, mut sum) = (array.data_type().memory_size(), array.fill().bytes(), Summary::default());
    // An array without elements shows its data type as well.
    part(array.data_type(), &[], fill)?;
    sparse::elements(picks)?;
    let parts = Parts::of(picks, array, size)?.budget(flow::BUDGET);
    let memory = |piece: &Piece| match piece {
        Piece::Read(slab) => slab.count.iter().fold(size as u64, |bytes, count| bytes.saturating_mul(*count)),
        Piece::Absent(..) => 0,
    };
    let job = |piece| match piece {
        Piece::Read(slab) => {
            let Elements::Fixed(bytes) = Elements::read(array, slab.selection(picks))? else {
                return Err(unsupported(array.data_type()));
            };
            progress.add(bytes.len() as u64);
            part(array.data_type(), &bytes, fill)
        }
        Piece::Absent(_, count) => {
            progress.add(u64::try_from(count.saturating_mul(size as u128)).unwrap_or(u64::MAX));
            Ok(part(array.data_type(), fill, fill)?.times(count))
        }
    };
    flow::in_order(array.storage(), &parts, memory, job, |found| sum.merge(found))?;
    Ok(Found::Numbers(Stats { sum, meaning: Meaning::Numbers, has_fill: true, flags: flags(array) }))
}

/// Summarises stored elements in the byte order of this machine.
fn part(data_type: &DataType, bytes: &[u8], fill: &[u8]) -> Result<Summary, Failure> {
    macro_rules! summary {
        ($t:ty) => {{
            let load = |bytes: &[u8; size_of::<$t>()]| <$t>::from_ne_bytes(*bytes);
            Ok(Summary::of_loaded(bytes.as_chunks().0, load, |_| false, fill.as_chunks().0.first().map(load)))
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
fn as_decoded(part: &decoded::Part, array: &Array, progress: &Progress) -> Result<Found, Failure> {
    if words::are_words(array.data_type()) && part.variable.shape().len() == array.shape().len() {
        return words(array, &part.picks, progress).map(Found::Words);
    }
    let (mut sum, mut meaning) = (Summary::default(), Meaning::Numbers);
    sparse::elements(&part.picks)?;
    // All elements that are not stored are decoded to the same value.
    let absent: OnceLock<(Summary, Meaning)> = OnceLock::new();
    let parts = part.parts(array)?.budget(flow::BUDGET);
    let elements = |slab: &Slab| slab.count.iter().fold(1, |all: u64, count| all.saturating_mul(*count));
    let memory = |piece: &Piece| match piece {
        // Elements as they are stored, and decoded ones.
        Piece::Read(slab) => elements(slab).saturating_mul(16),
        Piece::Absent(..) => 0,
    };
    let read = |slab: &Slab| {
        let mut meaning = Meaning::Numbers;
        let found = summed(exact_values(&decoded::read(&part.variable, &part.picks, slab)?)?, &mut meaning)?;
        Ok::<_, Failure>((found, meaning))
    };
    let job = |piece| match piece {
        Piece::Read(slab) => {
            let found = read(&slab)?;
            progress.add(elements(&slab));
            Ok(found)
        }
        Piece::Absent(start, count) => {
            let one = match absent.get() {
                Some(one) => one.clone(),
                None => {
                    let one = read(&Slab { count: vec![1; start.len()], start })?;
                    absent.get_or_init(|| one).clone()
                }
            };
            progress.add(u64::try_from(count).unwrap_or(u64::MAX));
            Ok((one.0.times(count), one.1))
        }
    };
    flow::in_order(array.storage(), &parts, memory, job, |(found, of)| {
        sum.merge(found);
        meaning = of;
    })?;
    if let Some(decimals) = decimals(&part.variable) {
        sum.round_extremes(|number| decimals.round(number));
    }
    Ok(Found::Numbers(Stats { sum, meaning, has_fill: false, flags: flags(array) }))
}

/// Summarises decoded elements. Changes `meaning` if they are times.
fn summed(values: Values, meaning: &mut Meaning) -> Result<Summary, Failure> {
    let values = match values {
        Values::Decoded(values) => values,
        Values::Integers(integers) => return whole(&integers),
    };
    match values {
        Decoded::Times { times, .. } => {
            *meaning = Meaning::Times(times.calendar(), times.unit());
            Ok(Summary::of_loaded(times.values(), |count| *count, |count: i64| count == NOT_A_TIME, None))
        }
        Decoded::Booleans(values) => {
            let numbers: Vec<f64> = values
                .into_iter()
                .map(|value| value.map_or(f64::NAN, |value| f64::from(u8::from(value))))
                .collect();
            Ok(Summary::of_loaded(&numbers, |number| *number, |_| false, None))
        }
        Decoded::Numbers(values) => numbers(values),
        _ => Err(Failure::unsupported("the decoded elements are neither numbers nor times")),
    }
}

/// Summarises integers, some of which are missing.
fn whole(integers: &Integers) -> Result<Summary, Failure> {
    with_integer!(
        integers.number,
        T => {
            let load = |bytes: &[u8; size_of::<T>()]| T::from_ne_bytes(*bytes);
            let missing: Vec<T> = integers.missing.iter().filter_map(|one| one.as_chunks().0.first().map(load)).collect();
            let numbers = integers.bytes.as_chunks().0;
            Ok(Summary::of_loaded(numbers, load, |number| missing.contains(&number), None))
        },
        Err(unsupported(&integers.data_type()))
    )
}

/// Summarises decoded numbers.
fn numbers(values: AnyArray) -> Result<Summary, Failure> {
    macro_rules! each {
        ($($variant:ident)*) => {
            match values {
                $(AnyArray::$variant(values) => {
                    Ok(Summary::of_loaded(values.as_slice(), |number| *number, |_| false, None))
                })*
                AnyArray::Other { data_type, bytes, .. } => part(&data_type, &bytes, &[]),
                _ => Err(Failure::unsupported("the decoded elements are not real numbers, so they have no mean")),
            }
        };
    }
    each!(Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64)
}
