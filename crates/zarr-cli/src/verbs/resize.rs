//! `zarr resize`: changes the shape of an array.

use std::path::PathBuf;

use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::traits::Prefix;

use crate::args::dimension;
use crate::args::shape::NewShape;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::print;
use crate::out::table::{count, dimensions};
use crate::stored::Stored;

/// Change the shape of an array.
///
/// New elements have the fill value. Elements outside of a smaller shape are erased: chunks outside of it, and parts of
/// chunks that its edge cuts; that needs --force if any are stored. Consolidated metadata in groups above is updated.
///
/// If a resize was interrupted, chunks outside of the array may be left. A larger shape is refused while they would become
/// elements again; a resize to the shape that the array has erases them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The array: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// The new length of each dimension, or of some by their names.
    #[arg(value_name = "A,B,…|NAME=A,…")]
    shape: NewShape,
    /// Erase stored elements outside of the new shape.
    #[arg(short = 'y', short_alias = 'f', long)]
    force: bool,
    /// Change nothing; list the chunks that would be erased or cut.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr resize weather.zarr/t2m 8784,721,1440
  zarr resize weather.zarr/t2m time=8784
  zarr resize --dry-run weather.zarr/t2m 8000,721,1440";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::to_change(&args.store, stores)?;
    target.check_writable()?;
    let mut array = target.array()?;
    let in_array = |e: Failure| target.fail(e.within(format_args!("array {:?}", target.path)));
    let old = array.shape().to_vec();
    let new = &args.shape.of(&dimension::names(&array), &old).map_err(in_array)?;
    let lost = Lost::of(&array, new).map_err(in_array)?;
    if !args.dry_run {
        if !lost.is_nothing() && !args.force {
            return Err(in_array(Failure::usage(format!("{}; --force does so", lost.warning()))));
        }
        array.resize(new.clone()).map_err(|e| target.fail(e))?;
    }
    print(&match args.json {
        true => lost.to_json(args.dry_run, &target.path, &old, new),
        false if args.dry_run => lost.to_text(),
        false => format!("resized {} to {}\n", dimensions(&old), dimensions(new)),
    })?;
    Ok(Exit::Ok)
}

/// The stored chunks that a smaller shape would erase or cut, by their keys.
#[derive(Debug, Default)]
struct Lost {
    erased: Vec<String>,
    cut: Vec<String>,
    /// Whether the store cannot list, so the chunks are unknown.
    is_unknown: bool,
}

impl Lost {
    fn of(array: &Array, shape: &[u64]) -> Result<Self, Failure> {
        let mut lost = Self::default();
        let mut lengths = array.shape().iter().zip(shape);
        if array.shape() != shape && lengths.all(|(old, new)| old <= new) {
            return Ok(lost);
        }
        if !array.storage().capabilities().list {
            return Ok(Self { is_unknown: true, ..lost });
        }
        let (progress, prefix) = (Progress::objects(), Prefix::of_node(array.path())?);
        for object in Stored::of(array)? {
            progress.add(1);
            let object = object?;
            let name = prefix.strip(&object.listed.key).unwrap_or_default();
            let Some(chunk) = array.key_encoding().decode(name, shape.len()) else { continue };
            let is_outside = |(dim, i): (usize, &u64)| *i >= array.chunk_grid().count(dim, shape[dim]);
            let spans = chunk.iter().enumerate().map(|(dim, i)| (array.chunk_grid().span(dim, *i), dim));
            let spans: Vec<_> = spans.filter_map(|(span, dim)| Some((span?, dim))).collect();
            let key = || object.listed.key.as_str().to_owned();
            if chunk.iter().enumerate().any(is_outside) {
                lost.erased.push(key());
            } else if spans.iter().any(|(span, dim)| span.end.min(array.shape()[*dim]) > shape[*dim]) {
                lost.cut.push(key());
            }
        }
        Ok(lost)
    }

    fn is_nothing(&self) -> bool {
        self.erased.is_empty() && self.cut.is_empty() && !self.is_unknown
    }

    fn warning(&self) -> String {
        if self.is_unknown {
            return "elements outside of the new shape would be erased".to_owned();
        }
        format!("{} would be erased and {} cut", count(self.erased.len(), "stored chunk"), self.cut.len())
    }

    fn to_text(&self) -> String {
        let line = |what: &str, key: &String| format!("{what}  {}\n", crate::exit::line(key));
        let erased = self.erased.iter().map(|key| line("erase", key));
        erased.chain(self.cut.iter().map(|key| line("cut", key))).collect()
    }

    fn to_json(&self, dry_run: bool, path: &str, old: &[u64], new: &[u64]) -> String {
        let keys = |keys: &[String]| keys.iter().map(|key| Value::from(key.as_str())).collect::<Value>();
        json::pretty(
            &json::document([
                ("dry_run", dry_run.into()),
                ("path", path.into()),
                ("old_shape", old.to_vec().into()),
                ("shape", new.to_vec().into()),
                ("erased", keys(&self.erased)),
                ("cut", keys(&self.cut)),
            ])
            .into(),
        )
    }
}
