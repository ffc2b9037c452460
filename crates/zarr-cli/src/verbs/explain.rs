//! `zarr explain`: the cost of reading a part of an array.

use std::path::PathBuf;

use zarr_array::Explanation;
use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::sharding::inner_chunk_shapes;

use crate::args::labels::Part;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Outcome};
use crate::out::json;
use crate::out::lengths::only_shape;
use crate::out::number::grouped;
use crate::out::stdout::print;
use crate::out::table::{Table, bytes, count, dimensions, product};
use crate::pick::{Pick, selection};

/// Show what reading a part of an array would cost, without reading it.
///
/// Shows the chunks or shards that it touches, the number of requests, the fetched bytes and how many of these are
/// useful. The plan comes from the code that reads. Only sizes and the indexes of shards are read from the store. A
/// selection of more than 2^20 chunks or shards is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The array: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    part: Part,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr explain weather.zarr/t2m
  zarr explain -s 0:24,:,5 weather.zarr/t2m
  zarr explain -s time=2020-01,lat=40:50 weather.zarr/t2m
  zarr explain --json -s ':, 20, 30' weather.zarr/t2m | jq '.bytes / .bytes_result'

The numbers are for a single read with empty caches. `zarr cat` reads large selections part by part.";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let array = target.array()?;
    let picks = args.part.picks(&args.store, &target, &array, stores)?;
    let told = array.explain(selection(picks.iter().cloned())).map_err(|e| target.fail(e))?;
    let text = if args.json { json::pretty(&to_json(&told)) } else { page(&array, &picks, &told) };
    print(&text)?;
    Ok(Exit::Ok)
}

/// With the names of the fields in the library.
fn to_json(told: &Explanation) -> Value {
    json::document([
        ("chunks", told.chunks.into()),
        ("chunks_stored", told.chunks_stored.into()),
        ("inner_chunks", told.inner_chunks.into()),
        ("requests", told.requests.into()),
        ("ranges_wanted", told.ranges_wanted.into()),
        ("ranges", told.ranges.into()),
        ("bytes", told.bytes.into()),
        ("bytes_useful", told.bytes_useful.into()),
        ("bytes_result", told.bytes_result.into()),
        ("peak_memory", told.peak_memory.into()),
    ])
    .into()
}

fn page(array: &Array, picks: &[Pick], told: &Explanation) -> String {
    let inner = inner_chunk_shapes(array.metadata().document().codecs());
    let what = if inner.as_ref().is_none_or(|inner| !inner.is_empty()) { "shards" } else { "chunks" };
    let shape: Vec<u64> = picks.iter().filter(|pick| pick.keep).map(|pick| pick.count).collect();
    let size = |n: u64| bytes(n.into());
    let mut table = Table::default();
    table.row(["reads", &reads(told)]);
    table.row(["result", &format!("{}, {}", dimensions(&shape), size(told.bytes_result))]);
    table.row([what, &format!("{} touched, {} of them stored", told.chunks, told.chunks_stored)]);
    if told.inner_chunks > 0 {
        table.row(["inner chunks", &format!("{} touched", told.inner_chunks)]);
    }
    table.row([
        "ranges",
        &match told.ranges_wanted {
            wanted if wanted == told.ranges => wanted.to_string(),
            wanted => format!("{wanted} wanted, {} after merging those close together", told.ranges),
        },
    ]);
    if told.bytes_useful != told.bytes {
        let percent = (u128::from(told.bytes_useful) * 100).checked_div(told.bytes.into()).unwrap_or(0);
        let useful = size(told.bytes_useful);
        table.row(["of them", &format!("{useful} in chunks, {percent} %: the others are indexes and gaps")]);
    }
    table.row(["peak memory", &format!("about {}", size(told.peak_memory))]);
    let hint = inner.and_then(|inner| hint(array, picks, told, &inner)).unwrap_or_default();
    table.to_text("") + &hint
}

/// Returns what is read for the result: `706 KiB in 1 request for 2 bytes (361,000 ×)`.
fn reads(told: &Explanation) -> String {
    let (fetched, result) = (bytes(told.bytes.into()), bytes(told.bytes_result.into()));
    let text = format!("{fetched} in {} for {result}", count(told.requests, "request"));
    match told.bytes as f64 / told.bytes_result.max(1) as f64 {
        // Compressed elements take fewer bytes than the result.
        times if times < 1.5 => text,
        times if times < 10.0 => format!("{text} ({times:.1} ×)"),
        _ => format!("{text} ({} ×)", grouped(told.bytes / told.bytes_result.max(1))),
    }
}

/// Smaller chunks get no hint: a store is not faster for smaller reads.
const LARGE: u128 = 64 << 10;

/// A hint is given when more than this many times the result is fetched.
const WASTE: u64 = 8;

/// Returns a hint if the chunks are much larger than the selected part of them. No hint for steps, for lists or for
/// nested shards, where another shape may not help. Bytes of shard indexes do not count.
fn hint(array: &Array, picks: &[Pick], told: &Explanation, inner: &[Vec<u64>]) -> Option<String> {
    let fetched = if inner.is_empty() { told.bytes } else { told.bytes_useful };
    if !picks.iter().all(Pick::is_dense) || fetched / WASTE <= told.bytes_result {
        return None;
    }
    let (touched, shape, what) = match inner {
        [] => (told.chunks, only_shape(array.chunk_grid(), array.shape())?, "chunk"),
        [shape] if told.inner_chunks > 0 => (told.inner_chunks, shape.clone(), "inner chunk"),
        [_] => (told.chunks, only_shape(array.chunk_grid(), array.shape())?, "shard"),
        _ => return None,
    };
    let chunk = product(&shape)?.checked_mul(array.data_type().size()? as u128)?;
    if chunk < LARGE {
        return None;
    }
    let (chunk, result) = (bytes(chunk), bytes(told.bytes_result.into()));
    let touched = count(touched, what);
    Some(format!(
        "hint: the selection touches {touched} of {chunk}, uncompressed, for {result} of result; smaller {what}s would \
         help\n"
    ))
}
