//! `zarr view`: writes a page that shows a store into one file.

use std::path::PathBuf;

use zarr_array::meta::json::Object;

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::output::Output;
use crate::out::picture::Options;
use crate::out::progress::Progress;
use crate::verbs::page::{Asked, alone, chunks, node, plane, tree};

/// Write a page that shows a store: one HTML file that needs nothing else.
///
/// The page shows the tree of nodes, their metadata and attributes, which chunks are stored and how large they are, and
/// planes of each array as pictures, in the first dimension that is not shown at up to eight positions. `zarr serve` shows
/// the same with all positions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store or the node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// The file to write; `-` is stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The largest number of megabytes that pictures and chunk maps take. The page says what was left out.
    #[arg(long, value_name = "MB", default_value_t = 10)]
    max_size: u32,
    #[command(flatten)]
    picture: Options,
}

const EXAMPLES: &str = "\
Examples:
  zarr view weather.zarr -o weather.html
  zarr view --colormap viridis s3://bucket/weather.zarr/t2m -o t2m.html";

/// The number of positions at which planes of an array are shown.
const POSITIONS: u64 = 8;

/// The largest number of chunks in the map of an array.
const CHUNKS: usize = 20_000;

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let mut room = u64::from(args.max_size).saturating_mul(1_000_000);
    let all = tree(&target, |_| true)?;
    let (mut nodes, mut maps, mut planes) = (Object::new(), Object::new(), Object::new());
    let progress = Progress::objects();
    for listed in all.get("nodes").iter().flat_map(|nodes| nodes.elements().into_iter().flatten()) {
        let text = |name: &str| {
            let member = listed.as_object().and_then(|listed| listed.get(name));
            member.and_then(|value| value.to_text().ok().map(|text| text.into_owned())).unwrap_or_default()
        };
        let (below, kind) = (text("path"), text("node_type"));
        progress.at(&below);
        progress.add(1);
        let here = target.at_path(&format!("{}{below}", target.path.trim_end_matches('/')));
        if !["array", "group"].contains(&kind.as_str()) {
            continue;
        }
        nodes.set(&below, answer(node(&here)));
        if kind == "array" {
            add(&mut maps, &below, &mut room, || here.array().and_then(|array| chunks(&array, CHUNKS)));
            add(&mut planes, &below, &mut room, || positions(&here, args));
        }
    }
    drop(progress);
    let answers = json::object([
        ("tree", all.into()),
        ("node", nodes.into()),
        ("chunks", maps.into()),
        ("planes", planes.into()),
    ]);
    let mut output = Output::open(Some(&args.output))?;
    output.write(alone(&answers).as_bytes())?;
    output.finish()?;
    Ok(Exit::Ok)
}

/// Returns planes of an array at some positions of the dimension before its last two.
fn positions(here: &Target, args: &Args) -> Result<Object, Failure> {
    let array = here.array()?;
    let shape = array.shape();
    let before = shape.len().checked_sub(3);
    let length = before.map_or(1, |dim| shape[dim]).max(1);
    let shown = length.min(POSITIONS);
    let mut planes = Vec::new();
    for number in 0..shown {
        let mut at = vec![0; shape.len()];
        if let Some(dim) = before {
            at[dim] = match shown {
                1 => 0,
                _ => u64::try_from(u128::from(length - 1) * u128::from(number) / u128::from(shown - 1))
                    .unwrap_or(0),
            };
        }
        planes.push(plane(&array, &Asked { sides: None, at, options: args.picture })?);
    }
    Ok(json::object([("planes", planes.into_iter().collect())]))
}

/// Adds an answer if there is room for it.
fn add(to: &mut Object, path: &str, room: &mut u64, make: impl FnOnce() -> Result<Object, Failure>) {
    let left_out =
        || json::object([("error", "left out: the page has reached its size (--max-size)".into())]);
    if *room == 0 {
        return to.set(path, left_out());
    }
    let made = answer(make());
    let size = made.to_value().to_compact().len() as u64;
    match room.checked_sub(size) {
        Some(rest) => {
            *room = rest;
            to.set(path, made);
        }
        None => to.set(path, left_out()),
    }
}

/// Returns the answer, or the error as one.
fn answer(made: Result<Object, Failure>) -> Object {
    made.unwrap_or_else(|e| json::object([("error", e.message().into())]))
}
