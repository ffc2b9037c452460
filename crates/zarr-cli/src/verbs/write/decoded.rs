//! `zarr write --decode`: elements as the attributes of the variable say, which are stored as it stores them.

use zarr_array::blocking::Array;
use zarr_array::traits::number::with_primitive;
use zarr_array::{DataType, NdVec};
use zarr_xarray::blocking::Variable;
use zarr_xarray::{Calendar, Decoded, DecodedType, Interval, NOT_A_TIME, NumberType, Spans, TimeUnit, Times};

use crate::args::from;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::progress::Progress;
use crate::pick::Pick;

/// The word for a missing element.
const MISSING: &str = "missing";

/// Returns the stored bytes of an element that is typed: a number, a date, `true`, a text, or `missing`.
pub(super) fn element(text: &str, variable: &Variable) -> Result<Vec<u8>, Failure> {
    let plain = text.trim();
    let wrong = |what: &str| Failure::usage(format!("{text:?} is not {what}"));
    let decoded: Decoded = match variable.data_type() {
        DecodedType::Numbers(of) => {
            let plain = if plain == MISSING { "nan" } else { plain };
            let number =
                with_primitive!(of, T => plain.parse::<T>().ok().map(|number| vec![number].into()), None);
            number.ok_or_else(|| wrong(&format!("a number of {}", of.name())))?
        }
        DecodedType::Booleans => match plain {
            "true" | "True" | "1" => vec![true].into(),
            "false" | "False" | "0" => vec![false].into(),
            _ => return Err(wrong("true or false")),
        },
        DecodedType::Times(calendar, _) if plain == MISSING => {
            Times::new(calendar, TimeUnit::Seconds, vec![NOT_A_TIME]).into()
        }
        DecodedType::Times(calendar, _) => time(plain, calendar)?.into(),
        DecodedType::Spans(unit) => {
            let count = if plain == MISSING { Ok(NOT_A_TIME) } else { plain.parse() };
            let count = count.map_err(|_| wrong(&format!("a number of {}", unit.name())))?;
            Spans::new(unit, vec![count]).into()
        }
        DecodedType::Texts => vec![text.to_owned()].into(),
        _ => return Err(Failure::unsupported("--decode writes numbers, dates, booleans and texts")),
    };
    encoded(variable, decoded)
}

fn encoded(variable: &Variable, decoded: impl Into<Decoded>) -> Result<Vec<u8>, Failure> {
    variable.encode(decoded).map_err(|e| {
        let failure = Failure::from(e.clone());
        let is_of_elements = failure.exit() == crate::exit::Exit::Invalid;
        if is_of_elements { Failure::usage(failure.message()) } else { failure }
    })
}

/// Returns the first instant of a date.
fn time(text: &str, calendar: Calendar) -> Result<Times, Failure> {
    let interval = Interval::parse(text, calendar).map_err(|e| Failure::usage(format!("{e:#}")))?;
    let nanoseconds = interval.first().and_then(|time| time.to_nanoseconds(calendar));
    let exact = |(unit, size): (TimeUnit, i128)| {
        let count = nanoseconds.filter(|all| all % size == 0)? / size;
        Some(Times::new(calendar, unit, vec![i64::try_from(count).ok()?]))
    };
    let units = [(TimeUnit::Seconds, 1_000_000_000), (TimeUnit::Nanoseconds, 1)];
    let found = units.into_iter().find_map(exact);
    found.ok_or_else(|| Failure::usage(format!("{text:?} is out of the range of times")))
}

/// Writes the numbers of a file.
pub(super) fn file(
    input: &from::Options,
    variable: &Variable,
    array: &Array,
    picks: &[Pick],
    quiet: bool,
) -> Result<(), Failure> {
    let narrow = match variable.data_type() {
        DecodedType::Numbers(NumberType::Float64) => false,
        DecodedType::Numbers(NumberType::Float32) => true,
        _ => {
            return Err(Failure::unsupported(
                "--decode with --from writes variables whose elements are floats",
            ));
        }
    };
    let counts: Vec<u64> = picks.iter().map(|pick| pick.count).collect();
    let wanted = (DataType::Float64, false);
    let reader = input.open(Some(&wanted))?.reader(&wanted.0, &counts, false)?;
    let progress = Progress::new(reader.bytes(), quiet);
    let form = |shape: &[u64], elements: Elements| {
        let Elements::Fixed(bytes) = elements else { return Ok(elements) };
        let numbers = bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
        let encoded = match narrow {
            #[expect(clippy::cast_possible_truncation, reason = "the elements are float32")]
            true => {
                encoded(variable, NdVec::new(shape, numbers.map(|number| number as f32).collect::<Vec<_>>())?)
            }
            false => encoded(variable, NdVec::new(shape, numbers.collect::<Vec<_>>())?),
        };
        encoded.map(Elements::Fixed)
    };
    reader.write_as(array, picks, form, |bytes| progress.add(bytes))
}
