//! `zarr append`: adds elements at the end of an array, or of all arrays of a dataset.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use zarr_array::blocking::Array;
use zarr_xarray::blocking::Dataset;
use zarr_xarray::{FromOptions, XarrayError, XarrayErrorKind};

use crate::args::decode::{Decode, Shown};
use crate::args::dimension::{self, Dimension};
use crate::args::from::{self, Layout, Wanted};
use crate::args::labels::{Around, Chosen};
use crate::args::stores::{Stores, shown};
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::out::table::product;
use crate::pick::Pick;
use crate::taken::{self, Pair};
use crate::torn;

/// Append elements to an array, or a dataset to a dataset, along one dimension.
///
/// Of two datasets, all variables with the dimension become longer. SRC must have exactly these variables, the same other
/// dimensions and the same coordinates along them; its elements are stored as those of DST are: packed, in the units of
/// its times. All chunks are written first, then the shapes, that of the coordinate last, so readers see the old dataset or
/// the longer one. After an error the old one is left. Only one process may append to a dataset at a time.
///
/// Tables, text and JSON are taken as `zarr cat` prints them, and stored as the attributes of the array say. Raw and npy have
/// elements as they are stored.
///
/// An array becomes longer first; until the elements are written, they read as the fill value. Several processes may
/// append to it at the same time: each gets a range of its own.
///
/// Consolidated metadata in groups above is updated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("elements").args(["source", "from"])))]
pub(crate) struct Args {
    /// The array or the group that grows.
    #[arg(value_name = "DST")]
    store: PathBuf,
    /// The array or the group with the new elements, in any store.
    #[arg(value_name = "SRC", conflicts_with_all = ["decode", "stored"])]
    source: Option<PathBuf>,
    #[command(flatten)]
    input: from::Options,
    /// The dimension that grows: its name, or its number; a negative number counts from the end. By default that of the
    /// datasets whose labels differ, and the first one of an array.
    #[arg(long, visible_alias = "axis", value_name = "NAME|N", allow_hyphen_values = true)]
    along: Option<Dimension>,
    /// What happens to labels of SRC that do not come after the last label of DST.
    #[arg(long, value_enum, value_name = "ACTION", default_value_t = Overlap::Error, requires = "source")]
    overlap: Overlap,
    #[command(flatten)]
    decode: Decode,
    /// What happens if coordinates along other dimensions differ, also in the columns of a table.
    #[arg(long, value_enum, value_name = "ACTION", default_value_t = Coordinates::Equal)]
    coords: Coordinates,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Overlap {
    /// They are an error.
    Error,
    /// They are left out.
    Skip,
    /// Their elements overwrite those of DST, where they must be the last ones. Readers see this at once.
    Replace,
}

/// What happens to coordinates without the dimension that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Coordinates {
    /// They must be equal.
    Equal,
    /// Those of DST stay.
    Ignore,
}

const EXAMPLES: &str = "\
Examples:
  zarr append year.zarr january.zarr
  zarr append year.zarr s3://bucket/new.zarr --along time --overlap skip
  zarr append weather.zarr/t2m --from day.npy
  zarr append --along lon series.zarr --from new.csv
  sensor | zarr append run.zarr/7 --from -

A NumPy file or CSV has the rank of the array, or lacks the dimension that grows. The length of raw bytes decides how
far the array grows.";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::to_change(&args.store, stores)?;
    target.check_writable()?;
    let Some(source) = &args.source else {
        return match args.input.is_given() {
            true => file(args, &target, stores),
            false => Err(Failure::usage("SRC or --from is needed")),
        };
    };
    if taken::is_group(&target)? {
        torn::finish(&target)?;
    }
    match Pair::open(&target, source, stores)? {
        Pair::Arrays(array, from) => stored(args, &target, array, &from),
        Pair::Datasets(own, more) => dataset(args, &target, own, &more, source),
    }
}

/// Appends a dataset.
fn dataset(args: &Args, target: &Target, mut own: Dataset, more: &Dataset, source: &Path) -> Outcome {
    let fail = |e: XarrayError| refused(&e, target, source);
    let along = match &args.along {
        Some(Dimension::Name(name)) => name.clone(),
        Some(Dimension::Number(number)) => {
            let message =
                format!("--along {number}: the dimensions of a dataset have no order, give the name");
            return Err(target.fail(Failure::usage(message)));
        }
        None => own.continued_along(more).map_err(|e| {
            let e = fail(e);
            Failure::new(e.exit(), format!("{}; --along names the dimension that grows", e.message()))
        })?,
    };
    let options = FromOptions::new().any_coordinates(args.coords == Coordinates::Ignore);
    let options = options.overlap(match args.overlap {
        Overlap::Error => zarr_xarray::Overlap::Fail,
        Overlap::Skip => zarr_xarray::Overlap::Skip,
        Overlap::Replace => zarr_xarray::Overlap::Replace,
    });
    let before = own.dimensions().get(&along).copied().unwrap_or(0);
    let progress = Progress::written(args.json);
    let done = own.append_from(&along, more, &options, &|bytes| progress.add(bytes)).map_err(|e| {
        let overlaps = format!("{e:#}").contains("does not come after");
        let e = fail(e);
        let hint = if overlaps { "; --overlap skip or replace" } else { "" };
        Failure::new(e.exit(), format!("{}{hint}", e.message()))
    })?;
    drop(progress);
    print(&match args.json {
        true => taken::to_json(&done, &target.path),
        false if done.region.values().all(Range::is_empty) => {
            format!("{along} {before}: all labels are stored already, nothing is written\n")
        }
        false => taken::to_text(&done, &own, Some((&along, before))),
    })?;
    Ok(Exit::Ok)
}

/// Returns the error of two datasets that do not fit each other.
pub(super) fn refused(e: &XarrayError, target: &Target, source: &Path) -> Failure {
    let is_usage = matches!(e.kind(), XarrayErrorKind::Invalid | XarrayErrorKind::OutOfRange);
    let of = Failure::from(e.clone());
    let exit = if is_usage { Exit::Usage } else { of.exit() };
    target.fail(Failure::new(exit, of.message()).within(format_args!("from {:?}", shown(source))))
}

/// Appends the elements of another array.
fn stored(args: &Args, target: &Target, array: Array, from: &Array) -> Outcome {
    let in_array = |e: Failure| target.fail(e.within(format_args!("array {:?}", target.path)));
    taken::check_same(&array, from).map_err(in_array)?;
    let axis = axis(args, &array).map_err(in_array)?;
    let lengths =
        lengths(array.shape(), axis, &named(&array, axis), Some(from.shape()), 0).map_err(in_array)?;
    let is_whole = from.shape().len() == lengths.len();
    let dims: Vec<usize> = (0..lengths.len()).filter(|dim| is_whole || *dim != axis).collect();
    let bytes = product(&lengths).unwrap_or(0).saturating_mul(array.data_type().memory_size() as u128);
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    grow(args, target, array, axis, lengths[axis], bytes, |writer, picks, progress| {
        taken::copy(from, &dims, writer, picks, |bytes| progress.add(bytes))
    })
}

/// Appends the elements of a file.
fn file(args: &Args, target: &Target, stores: &Stores) -> Outcome {
    let array = target.array()?;
    let in_array = |e: Failure| target.fail(e.within(format_args!("array {:?}", target.path)));
    let axis = axis(args, &array).map_err(in_array)?;
    let all = Chosen::default();
    let shown = if args.input.is_table() { Shown::Table(&all) } else { Shown::Elements(&all) };
    let around = match args.input.is_decoded(args.decode) {
        true => args.decode.around_target(&array, shown, &args.store, target, stores).map_err(in_array)?,
        false => None,
    };
    let variable = around.as_ref().map(Around::variable).transpose().map_err(in_array)?;
    let layout = match args.input.is_table() {
        true => {
            let picks: Vec<Pick> = array.shape().iter().map(|length| Pick::range(0..*length)).collect();
            let is_checked = args.coords == Coordinates::Equal;
            Some(Layout::of(&array, around.as_ref(), &picks, Some(axis), is_checked).map_err(in_array)?)
        }
        false => None,
    };
    let data_type = array.data_type().clone();
    let wanted = Wanted {
        data_type: Some(&data_type),
        variable: variable.as_ref(),
        layout: layout.as_ref(),
        ..Wanted::default()
    };
    let input = args.input.open(&wanted)?;
    let lengths = lengths(array.shape(), axis, &named(&array, axis), input.shape.as_deref(), input.count())
        .map_err(in_array)?;
    let reader = input.reader(&data_type, &lengths, false)?;
    let bytes = reader.bytes();
    grow(args, target, array, axis, lengths[axis], bytes, |writer, picks, progress| {
        reader.write(writer, picks, |bytes| progress.add(bytes))
    })
}

/// Lengthens an array, and lets `write` write to the new elements.
fn grow(
    args: &Args,
    target: &Target,
    mut array: Array,
    axis: usize,
    length: u64,
    bytes: u64,
    write: impl FnOnce(&Array, &[Pick], &Progress) -> Result<(), Failure>,
) -> Outcome {
    let start = array.shape()[axis];
    let range = match length {
        0 => start..start,
        length => array.extend(axis, length).map_err(|e| target.fail(e))?,
    };
    // Another writer may append behind these elements, into the same last chunk.
    let writer = array.with_shape(array.shape()).map_err(|e| target.fail(e))?;
    let whole = array.shape().iter().enumerate();
    let picks: Vec<Pick> =
        whole.map(|(dim, n)| Pick::range(if dim == axis { range.clone() } else { 0..*n })).collect();
    let name = named(&array, axis);
    let progress = Progress::new(bytes, args.json);
    write(&writer, &picks, &progress).map_err(|e| {
        let place = format!(
            "the array is longer already, elements {}..{} of dimension {name} may be the fill value",
            range.start, range.end
        );
        target.fail(e.within(place))
    })?;
    array.check_extended(axis, &range).map_err(|e| target.fail(e))?;
    drop(progress);
    print(&match args.json {
        true => json::pretty(
            &json::document([
                ("path", (&target.path).into()),
                ("axis", axis.into()),
                ("start", range.start.into()),
                ("end", range.end.into()),
                ("shape", array.shape().to_vec().into()),
            ])
            .into(),
        ),
        false => format!("appended {}..{} of dimension {name}\n", range.start, range.end),
    })?;
    Ok(Exit::Ok)
}

/// Returns the name of a dimension in quotes, or its number if it has none.
fn named(array: &Array, axis: usize) -> String {
    let name = dimension::names(array).get(axis).filter(|name| !name.is_empty()).cloned();
    name.map_or_else(|| axis.to_string(), |name| format!("{name:?}"))
}

fn axis(args: &Args, array: &Array) -> Result<usize, Failure> {
    let first = Dimension::Number(0);
    args.along.as_ref().unwrap_or(&first).find(array).map_err(|e| e.within("--along"))
}

/// Returns the lengths of the input in the dimensions of the array.
fn lengths(
    shape: &[u64],
    axis: usize,
    name: &str,
    input: Option<&[u64]>,
    count: u64,
) -> Result<Vec<u64>, Failure> {
    let with = |length: u64| {
        let mut lengths = shape.to_vec();
        lengths[axis] = length;
        lengths
    };
    let wrong = |what: String| {
        let message = format!("{what} cannot be appended along dimension {name} of shape {shape:?}");
        Err(Failure::usage(message))
    };
    match input {
        Some(input) if input.len() == shape.len() && with(input[axis]) == input => Ok(input.to_vec()),
        Some(input) if input == [&shape[..axis], &shape[axis + 1..]].concat() => Ok(with(1)),
        Some(input) => wrong(format!("elements of shape {input:?}")),
        None => match product(&with(1)).and_then(|row| u64::try_from(row).ok()) {
            Some(row) if row > 0 && count.is_multiple_of(row) => Ok(with(count / row)),
            _ => wrong(format!("{count} elements")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_decides_how_far_an_array_grows() {
        let ok = |axis, input: Option<&[u64]>, count| lengths(&[5, 2, 3], axis, "0", input, count).ok();
        assert_eq!(ok(0, Some(&[4, 2, 3]), 24), Some(vec![4, 2, 3]));
        assert_eq!(ok(0, Some(&[2, 3]), 6), Some(vec![1, 2, 3]));
        assert_eq!(ok(2, Some(&[5, 2]), 10), Some(vec![5, 2, 1]));
        assert_eq!(ok(1, None, 45), Some(vec![5, 3, 3]));
        assert_eq!(ok(1, None, 0), Some(vec![5, 0, 3]));
        assert_eq!(
            [ok(0, Some(&[4, 3, 2]), 24), ok(0, Some(&[3, 2]), 6), ok(0, None, 5)],
            [None, None, None]
        );
        assert!(lengths(&[0, 0], 0, "0", None, 0).is_err());
    }
}
