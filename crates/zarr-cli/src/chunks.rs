//! `zarr chunks`: what is stored of an array, object by object.

use std::path::PathBuf;

use zarr_array::block_on;
use zarr_array::blocking::Array;
use zarr_array::meta::v3::sharding::inner_chunk_shapes;
use zarr_array::traits::{Dims, Key};

use crate::exit::{Exit, Failure, Outcome, line};
use crate::json;
use crate::stdout::Stdout;
use crate::stored::{Object, Stored};
use crate::table::{bytes, number};
use crate::target::Target;

/// List the stored chunks or shards of an array.
///
/// Each with its key, its index in the grid and its size in bytes, in the order of the keys. What lies among them and is no
/// chunk of the array is listed as stray. Nothing is decoded.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The array: a directory with a zarr.json.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Print one JSON object a line for each stored object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr chunks weather.zarr/t2m
  zarr chunks --json weather.zarr/t2m | jq -s 'map(.bytes) | add'
  zarr chunks --json weather.zarr/t2m | jq -r 'select(.stray).key'";

pub(crate) fn run(args: &Args) -> Outcome {
    let target = Target::find(&args.store)?;
    let array = target.array()?;
    let entries = entries(&array).map_err(|e| target.fail(e))?.map(|entry| entry.map_err(|e| target.fail(e)));
    let mut out = Stdout::new();
    if args.json {
        for entry in entries {
            out.write(entry?.to_json().as_bytes())?;
        }
    } else {
        print(&array, entries, &mut out)?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// A stored object.
struct Entry {
    key: Key,
    /// The index of a chunk, or why it is stray.
    chunk: Result<Dims, &'static str>,
    bytes: u64,
}

/// What is stored of the array. What is deleted while it is listed is left out.
fn entries(array: &Array) -> Result<impl Iterator<Item = Result<Entry, Failure>>, Failure> {
    let sized = |Object { key, chunk }| {
        let stat = block_on(array.storage().reader().size(&key))?;
        Ok(stat.map(|stat| Entry { key, chunk, bytes: stat.size }))
    };
    Ok(Stored::of(array)?.filter_map(move |object| object.map_err(Failure::from).and_then(sized).transpose()))
}

impl Entry {
    fn to_json(&self) -> String {
        let mut object = json::object([("key", self.key.as_str().into())]);
        match &self.chunk {
            Ok(index) => object.set("index", index.to_vec()),
            Err(why) => object.set("stray", *why),
        }
        object.set("bytes", self.bytes);
        format!("{}\n", object.to_value().to_compact())
    }
}

/// Prints a table, line by line, and what it sums up to.
fn print(
    array: &Array,
    entries: impl Iterator<Item = Result<Entry, Failure>>,
    out: &mut Stdout,
) -> Result<(), Failure> {
    let counts = array.chunk_counts();
    let (mut chunks, mut size, mut strays) = (0_u64, 0_u128, 0_u64);
    let columns = Columns::of(array, &counts)?;
    out.write(columns.row("key", "index", "size").as_bytes())?;
    for entry in entries {
        let Entry { key, chunk, bytes: length } = entry?;
        let row = match chunk {
            Ok(index) => {
                chunks += 1;
                size += u128::from(length);
                columns.row(key.as_str(), &format!("{index:?}"), &bytes(length.into()))
            }
            Err(why) => {
                strays += 1;
                columns.row(key.as_str(), "stray", &format!("{}, {why}", bytes(length.into())))
            }
        };
        out.write(row.as_bytes())?;
    }
    let is_sharded = inner_chunk_shapes(array.metadata().document().codecs()).is_none_or(|s| !s.is_empty());
    let what = if is_sharded { "shards" } else { "chunks" };
    let strays = if strays > 0 { format!("; {strays} stray") } else { String::new() };
    let sum = format!("{chunks} of {} {what} stored, {}{strays}\n", number(&counts), bytes(size));
    out.write(sum.as_bytes())
}

/// The widths of key and index, known before there is a row: those of the last chunk.
struct Columns {
    key: usize,
    index: usize,
}

impl Columns {
    fn of(array: &Array, counts: &[u64]) -> Result<Self, Failure> {
        let last: Vec<u64> = counts.iter().map(|count| count.saturating_sub(1)).collect();
        let key = array.chunk_key(&last)?.as_str().chars().count();
        Ok(Self { key: key.max("key".len()), index: format!("{last:?}").len().max("index".len()) })
    }

    fn row(&self, key: &str, index: &str, size: &str) -> String {
        let Self { key: wide, index: narrow } = self;
        format!("{:wide$}  {index:narrow$}  {size}\n", line(key))
    }
}
