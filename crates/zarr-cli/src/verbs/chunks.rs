//! `zarr info --chunks`, and its old name `zarr chunks`: lists the stored chunks of an array.

mod inside;
mod rows;

use std::path::{Path, PathBuf};

use zarr_array::blocking::Array;
use zarr_array::traits::Key;
use zarr_array::traits::strided::Dims;

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Failure, Outcome};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::Stdout;
use crate::stored::{Object, Stored, size};
use inside::{Inside, is_sharded};
use rows::{Rows, Sum};

/// List the stored chunks or shards of an array. The same as `zarr info --chunks`.
///
/// Shows each object with its key, its index in the grid and its size in bytes, in the order of keys; a shard also with
/// the inner chunks in its index. An object that is not a chunk of the array is listed as stray. No elements are read.
/// A shard with a broken index is listed with the reason; the command continues and then exits with 5.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The array: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Print one JSON object for each stored object, one a line; a shard lists its inner chunks.
    #[arg(long)]
    json: bool,
    /// List the stored inner chunks of each shard: first element in the shard, size, place in the object.
    #[arg(long)]
    inner: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr chunks weather.zarr/t2m
  zarr chunks --inner sharded.zarr
  zarr chunks --json weather.zarr/t2m | jq -s 'map(.bytes) | add'
  zarr chunks --json weather.zarr/t2m | jq -r 'select(.stray).key'
  zarr chunks --json sharded.zarr | jq -r 'select(.error) | .key, .error'";

impl Args {
    /// Returns the arguments for a node.
    pub(super) fn of(store: &Path, json: bool, inner: bool) -> Self {
        Self { store: store.to_owned(), json, inner }
    }
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let array = target.array()?;
    let rows = if args.json { None } else { Some(Rows::of(&array, args.inner).map_err(|e| target.fail(e))?) };
    let mut out = Stdout::new();
    let mut sum = Sum::default();
    // The head waits for the first row: a store that cannot list prints no table.
    let mut head = rows.as_ref().map(Rows::head);
    let progress = Progress::rows();
    progress.at(array.path());
    for entry in entries(&array).map_err(|e| target.fail(e))? {
        let entry = entry.map_err(|e| target.fail(e))?;
        sum.add(&entry);
        progress.add(1);
        out.write(head.take().unwrap_or_default().as_bytes())?;
        let text = rows.as_ref().map_or_else(|| entry.to_json(), |rows| rows.of_entry(&entry));
        out.write(text.as_bytes())?;
    }
    drop(progress);
    out.write(head.take().unwrap_or_default().as_bytes())?;
    if rows.is_some() {
        out.write(sum.to_text(&array).as_bytes())?;
    }
    out.flush()?;
    sum.outcome().map_err(|e| target.fail(e.within(format_args!("array {:?}", array.path()))))
}

/// A stored object.
struct Entry {
    key: Key,
    /// The index of a chunk, or the reason why the object is stray.
    chunk: Result<Dims, &'static str>,
    bytes: u64,
    /// The inner chunks, if this is a shard.
    inside: Option<Inside>,
}

/// Returns the stored objects of the array. Objects that are deleted during the listing are left out.
fn entries(array: &Array) -> Result<impl Iterator<Item = Result<Entry, Failure>>, Failure> {
    let is_sharded = is_sharded(array);
    let entry = move |Object { listed, chunk }| -> Result<Option<Entry>, Failure> {
        let Some(bytes) = size(array.storage(), &listed)? else { return Ok(None) };
        let inside = match &chunk {
            Ok(index) if is_sharded => match Inside::of(array, index) {
                None => return Ok(None),
                inside => inside,
            },
            _ => None,
        };
        Ok(Some(Entry { key: listed.key, chunk, bytes, inside }))
    };
    Ok(Stored::of(array)?.filter_map(move |object| object.map_err(Failure::from).and_then(entry).transpose()))
}

impl Entry {
    /// Returns one line of JSON.
    fn to_json(&self) -> String {
        let mut object = json::object([("key", self.key.as_str().into())]);
        match &self.chunk {
            Ok(index) => object.set("index", index.to_vec()),
            Err(why) => object.set("stray", *why),
        }
        object.set("bytes", self.bytes);
        if let Some(inside) = &self.inside {
            inside.set_members(&mut object);
        }
        format!("{}\n", object.to_value().to_compact())
    }
}
