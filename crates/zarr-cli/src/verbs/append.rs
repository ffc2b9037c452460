//! `zarr append`: adds elements at the end of an array.

use std::path::PathBuf;

use zarr_array::DataType;

use crate::args::from;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::out::table::product;
use crate::pick::Pick;

/// Append elements to an array along one dimension.
///
/// The array becomes longer first; until the elements are written, they read as the fill value. Several processes may
/// append at the same time: each gets a range of its own. Consolidated metadata in groups above is updated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The array: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    input: from::Options,
    /// The dimension that grows; a negative number counts from the end.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    axis: i64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr append weather.zarr/t2m --from day.npy
  zarr append --axis -1 series.zarr --from new.csv
  sensor | zarr append run.zarr/7 --from -

A NumPy file or CSV has the rank of the array, or lacks the dimension that grows. The length of raw bytes decides how
far the array grows.";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::to_change(&args.store, stores)?;
    target.check_writable()?;
    let mut array = target.array()?;
    let in_array = |e: Failure| target.fail(e.within(format_args!("array {:?}", target.path)));
    let axis = axis(args.axis, array.shape().len()).map_err(in_array)?;
    let wanted: (DataType, bool) = (array.data_type().clone(), false);
    let input = args.input.open(Some(&wanted))?;
    let lengths = lengths(array.shape(), axis, input.shape.as_deref(), input.count()).map_err(in_array)?;
    let reader = input.reader(&wanted.0, &lengths, false)?;
    let start = array.shape()[axis];
    let range = match lengths[axis] {
        0 => start..start,
        length => array.extend(axis, length).map_err(|e| target.fail(e))?,
    };
    // Another writer may append behind these elements, into the same last chunk.
    let writer = array.with_shape(array.shape()).map_err(|e| target.fail(e))?;
    let whole = array.shape().iter().enumerate();
    let picks: Vec<Pick> =
        whole.map(|(dim, n)| Pick::range(if dim == axis { range.clone() } else { 0..*n })).collect();
    let progress = Progress::new(reader.bytes(), args.json);
    reader.write(&writer, &picks, |bytes| progress.add(bytes)).map_err(|e| {
        let place = format!(
            "the array is longer already, elements {}..{} of dimension {axis} may be the fill value",
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
        false => format!("appended {}..{} of dimension {axis}\n", range.start, range.end),
    })?;
    Ok(Exit::Ok)
}

fn axis(given: i64, rank: usize) -> Result<usize, Failure> {
    let counted = if given < 0 { given.checked_add_unsigned(rank as u64) } else { Some(given) };
    let axis = counted.and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank);
    axis.ok_or_else(|| Failure::usage(format!("--axis {given}: the array has {rank} dimensions")))
}

/// Returns the lengths of the input in the dimensions of the array.
fn lengths(shape: &[u64], axis: usize, input: Option<&[u64]>, count: u64) -> Result<Vec<u64>, Failure> {
    let with = |length: u64| {
        let mut lengths = shape.to_vec();
        lengths[axis] = length;
        lengths
    };
    let wrong = |what: String| {
        let message = format!("{what} cannot be appended along dimension {axis} of shape {shape:?}");
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
        let ok = |axis, input: Option<&[u64]>, count| lengths(&[5, 2, 3], axis, input, count).ok();
        assert_eq!(ok(0, Some(&[4, 2, 3]), 24), Some(vec![4, 2, 3]));
        assert_eq!(ok(0, Some(&[2, 3]), 6), Some(vec![1, 2, 3]));
        assert_eq!(ok(2, Some(&[5, 2]), 10), Some(vec![5, 2, 1]));
        assert_eq!(ok(1, None, 45), Some(vec![5, 3, 3]));
        assert_eq!(ok(1, None, 0), Some(vec![5, 0, 3]));
        assert_eq!(
            [ok(0, Some(&[4, 3, 2]), 24), ok(0, Some(&[3, 2]), 6), ok(0, None, 5)],
            [None, None, None]
        );
        assert!(lengths(&[0, 0], 0, None, 0).is_err());
        assert_eq!(
            [axis(-1, 3).ok(), axis(2, 3).ok(), axis(-4, 3).ok(), axis(3, 3).ok()],
            [Some(2), Some(2), None, None]
        );
        assert!(axis(i64::MIN, 3).is_err());
    }
}
