//! `zarr write`: overwrites elements of an array.

use std::path::PathBuf;

use zarr_array::blocking::Array;

use crate::args::from;
use crate::args::labels::Part;
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

/// Overwrite elements of an array.
///
/// The input must have as many elements as the selection, and its shape. If a write fails, the parts before it are
/// written already.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("elements").required(true).args(["from", "value"])))]
pub(crate) struct Args {
    /// The array: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    input: from::Options,
    /// One value for all selected elements, as `zarr create --fill` takes it.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr write weather.zarr/t2m -s 0:24 --from day.npy
  zarr write weather.zarr/t2m -s '5,:,[0,1]' --value nan
  zarr cat -s 3 a.zarr | zarr write b.zarr -s 3 --from -";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    target.check_writable()?;
    let array = target.array()?;
    let in_array = |e: Failure| target.fail(e.within(format_args!("array {:?}", target.path)));
    let picks = args.part.picks(&args.store, &target, &array, stores)?;
    match &args.value {
        Some(value) => {
            let element =
                scalar::element(value, array.data_type()).map_err(|e| in_array(e.within("--value")))?;
            fill(&array, &picks, element.bytes(), args.json).map_err(|e| target.fail(e))?;
        }
        None => {
            let data_type = array.data_type().clone();
            let counts: Vec<u64> = picks.iter().map(|pick| pick.count).collect();
            let input = args.input.open(Some(&(data_type.clone(), false)))?;
            let reader = input.reader(&data_type, &counts, false)?;
            let progress = Progress::new(reader.bytes(), args.json);
            let written = reader.write(&array, &picks, |bytes| progress.add(bytes));
            written.map_err(|e| target.fail(e))?;
        }
    }
    let count = picks.iter().fold(1_u64, |count, pick| count.saturating_mul(pick.count));
    print(&match args.json {
        true => {
            let members = [("path", (&target.path).into()), ("elements", count.into())];
            json::pretty(&json::document(members).into())
        }
        false => format!("wrote {}\n", crate::out::table::count(count, "element")),
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
