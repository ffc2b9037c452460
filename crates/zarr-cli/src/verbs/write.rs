//! `zarr write`: overwrites elements of an array, or of all arrays of a dataset.

use std::path::PathBuf;

use zarr_array::blocking::Array;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{DecodedType, FromOptions};

use crate::args::decode::{Decode, Shown};
use crate::args::encode::{self, MISSING};
use crate::args::from::{self, Layout, Wanted};
use crate::args::labels::{Around, Chosen, Part, select};
use crate::args::scalar;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::boxes::Boxes;
use crate::elements::Elements;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::pick::Pick;
use crate::slabs::Budget;
use crate::taken::{self, Pair};
use crate::verbs::append::{Coordinates, refused};

/// Overwrite elements of an array, or of all arrays of a dataset.
///
/// The input must have as many elements as the selection, and its shape. If a write fails, the parts before it are
/// written already.
///
/// Of two datasets, the variables of SRC with a selected dimension are written. Without -s the labels of SRC say where. The
/// labels in the region must be the same, and so must be the coordinates along other dimensions. Elements are stored as those
/// of DST are: packed, in the units of its times.
///
/// --value, tables, text and JSON are taken as `zarr cat` prints them, and stored as the attributes of the array say. Raw and
/// npy have elements as they are stored.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("elements").required(true).args(["source", "from", "value"])))]
pub(crate) struct Args {
    /// The array or the group.
    #[arg(value_name = "DST")]
    store: PathBuf,
    /// The array or the group with the new elements, in any store.
    #[arg(value_name = "SRC", conflicts_with_all = ["decode", "stored"])]
    source: Option<PathBuf>,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    input: from::Options,
    /// One value for all selected elements: a number, a date, a text, or `missing` for a missing element.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    #[command(flatten)]
    decode: Decode,
    /// What happens if coordinates differ, along other dimensions and in the region, or in the columns of a table.
    #[arg(long, value_enum, value_name = "ACTION", default_value_t = Coordinates::Equal)]
    coords: Coordinates,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr write year.zarr january.zarr
  zarr write year.zarr other.zarr -s time=2020-01 --coords ignore
  zarr write weather.zarr/t2m -s 0:24 --from day.npy
  zarr write weather.zarr/t2m -s '5,:,[0,1]' --value 271.35
  zarr write weather.zarr/t2m -s time=2020-03-01 --value missing
  zarr write weather.zarr/t2m -s 5 --stored --value -32767
  zarr write weather.zarr/time -s 0 --value 2020-01-01T06:00
  zarr cat -f csv -s 3 a.zarr | zarr write b.zarr -s 3 --from - --from-format csv";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    target.check_writable()?;
    let source = args.source.as_deref();
    let pair = source.map(|source| Pair::open(&target, source, stores)).transpose()?;
    let (array, from) = match pair {
        Some(Pair::Datasets(own, part)) => return dataset(args, &target, &own, &part),
        Some(Pair::Arrays(array, from)) => (array, Some(from)),
        None => (target.array()?, None),
    };
    let in_array = |e: Failure| target.fail(e.within(format_args!("array {:?}", target.path)));
    let picks = args.part.picks(&args.store, &target, &array, stores)?;
    let counts: Vec<u64> = picks.iter().map(|pick| pick.count).collect();
    let select = &args.part.select;
    let shown = if args.input.is_table() { Shown::Table(select) } else { Shown::Elements(select) };
    let is_decoded = args.value.is_some() || args.input.is_decoded(args.decode);
    let around = match is_decoded {
        true => args.decode.around_target(&array, shown, &args.store, &target, stores).map_err(in_array)?,
        false => None,
    };
    let variable = around.as_ref().map(Around::variable).transpose().map_err(in_array)?;
    match (&args.value, from) {
        (Some(value), _) => {
            let element = match &variable {
                Some(variable) => {
                    let is_missing = value.trim() == MISSING && variable.data_type() != DecodedType::Texts;
                    encode::element((!is_missing).then_some(value), variable, array.data_type())
                }
                None => scalar::element(value, array.data_type()).map(|element| element.bytes().to_vec()),
            };
            let element = element.map_err(|e| in_array(e.within("--value")))?;
            fill(&array, &picks, &element, args.json).map_err(|e| target.fail(e))?;
        }
        (None, Some(from)) => {
            taken::check_same(&array, &from).map_err(in_array)?;
            let dims = dims(&picks, from.shape()).map_err(in_array)?;
            let progress = Progress::written(args.json);
            let copied = taken::copy(&from, &dims, &array, &picks, |bytes| progress.add(bytes));
            copied.map_err(|e| target.fail(e))?;
        }
        (None, None) => {
            let data_type = array.data_type();
            let layout = match args.input.is_table() {
                true => {
                    let is_checked = args.coords == Coordinates::Equal;
                    Some(Layout::of(&array, around.as_ref(), &picks, None, is_checked).map_err(in_array)?)
                }
                false => None,
            };
            let wanted = Wanted {
                data_type: Some(data_type),
                variable: variable.as_ref(),
                layout: layout.as_ref(),
                ..Wanted::default()
            };
            let reader = args.input.open(&wanted).and_then(|input| input.reader(data_type, &counts, false));
            let reader = reader.map_err(in_array)?;
            let progress = Progress::new(reader.bytes(), args.json);
            let written = reader.write(&array, &picks, |bytes| progress.add(bytes));
            written.map_err(|e| target.fail(e))?;
        }
    }
    let count = counts.iter().fold(1_u64, |all, count| all.saturating_mul(*count));
    print(&match args.json {
        true => {
            let members = [("path", (&target.path).into()), ("elements", count.into())];
            json::pretty(&json::document(members).into())
        }
        false => format!("wrote {}\n", crate::out::table::count(count, "element")),
    })?;
    Ok(Exit::Ok)
}

/// Returns the dimensions of a selection that an array of `shape` has: all, or those that no index drops.
fn dims(picks: &[Pick], shape: &[u64]) -> Result<Vec<usize>, Failure> {
    let fits = |dims: &[usize]| dims.iter().map(|dim| picks[*dim].count).eq(shape.iter().copied());
    let all: Vec<usize> = (0..picks.len()).collect();
    let kept: Vec<usize> = all.iter().copied().filter(|dim| picks[*dim].keep).collect();
    [all, kept].into_iter().find(|dims| fits(dims)).ok_or_else(|| {
        let wanted: Vec<u64> = picks.iter().map(|pick| pick.count).collect();
        Failure::usage(format!("the new elements have shape {shape:?}, {wanted:?} is needed"))
    })
}

/// Writes a dataset.
fn dataset(args: &Args, target: &Target, own: &Dataset, part: &Dataset) -> Outcome {
    let place = match &args.part.select {
        Chosen::Labels(selectors) => select(own, selectors).map_err(|e| target.fail(e))?,
        Chosen::Positions(select) if select.is_all() => own.clone(),
        Chosen::Positions(_) => {
            return Err(target.fail(Failure::usage(
                "this is a group: -s selects by the names of dimensions, such as time@0:24 or time=2020-01",
            )));
        }
    };
    let options = FromOptions::new().any_coordinates(args.coords == Coordinates::Ignore);
    let progress = Progress::written(args.json);
    let done = place.write_from(part, &options, &|bytes| progress.add(bytes));
    drop(progress);
    let done = done.map_err(|e| refused(&e, target, args.source.as_deref().unwrap_or(&args.store)))?;
    print(&match args.json {
        true => taken::to_json(&done, &target.path),
        false => taken::to_text(&done, own, None),
    })?;
    Ok(Exit::Ok)
}

/// Writes the same element to all places.
fn fill(array: &Array, picks: &[Pick], element: &[u8], quiet: bool) -> Result<(), Failure> {
    let size = array.data_type().memory_size().max(element.len());
    let all = picks.iter().fold(size as u64, |bytes, pick| bytes.saturating_mul(pick.count));
    let progress = Progress::new(all, quiet);
    for slab in Boxes::new(picks, array.chunk_grid(), size, Budget::DEFAULT) {
        let count = slab.count.iter().fold(1_u64, |count, length| count.saturating_mul(*length));
        let number = usize::try_from(count).unwrap_or(usize::MAX);
        let elements = match array.data_type().size() {
            Some(_) => Elements::Fixed(element.repeat(number)),
            None => Elements::Variable(vec![element.to_vec(); number]),
        };
        elements.write(array, slab.selection(picks))?;
        progress.add(count.saturating_mul(size as u64));
    }
    Ok(())
}
