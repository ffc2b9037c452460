//! `zarr rm`: erases a node, or what an unfinished copy has left.

mod unfinished;

use std::fs;
use std::path::PathBuf;

use zarr_array::meta::Format;
use zarr_hierarchy::{EraseOptions, blocking::erase};

use crate::args::several::More;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::doomed::{Doomed, check_others};
use crate::exit::{Exit, Failure, Outcome};
use crate::out::stdout::print;
use crate::out::table::count;

/// Erase an array, or a group with everything in it.
///
/// The metadata document of the node is erased first, so an interruption leaves no partial node. Consolidated metadata
/// in groups above is updated. A group that holds folders that are not nodes, or foreign files, is erased only with
/// --force.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    more: More,
    /// Erase a group together with the nodes in it.
    #[arg(short, long)]
    recursive: bool,
    /// Also erase the root of a store, and objects that belong to no node, or to no copy.
    #[arg(short = 'y', short_alias = 'f', long)]
    force: bool,
    /// Erase what interrupted writers have left: an unfinished copy at a URL, or beside a path, and in a directory the hidden
    /// files of killed writers (`*.__lock`). Or undo an append to a dataset that was interrupted while lengths were stored.
    #[arg(long)]
    unfinished: bool,
    /// With --unfinished: erase hidden files that were last written at least this long ago. The age protects files of
    /// writers that take no locks.
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400, requires = "unfinished")]
    older_than: u64,
    /// Erase nothing; list what would be erased.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr rm weather.zarr/t2m
  zarr rm weather.zarr/old weather.zarr/older
  zarr rm -r --dry-run weather.zarr/monthly
  zarr rm -r --force weather.zarr
  zarr rm --unfinished weather.zarr
  zarr rm --unfinished s3://bucket/weather.zarr";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let one = |store, more| one(&Args { store, more, ..args.clone() }, stores);
    args.more.each("rm", &args.store, args.json, one)
}

fn one(args: &Args, stores: &Stores) -> Outcome {
    if args.unfinished {
        return unfinished::run(args, stores);
    }
    let target = Target::to_change(&args.store, stores)?;
    check_links(&target)?;
    if target.format == Some(Format::V1) {
        return Err(target.fail(Failure::unsupported("arrays of format 1 can be read, but not erased")));
    }
    let doomed = Doomed::below(&target)?;
    if !args.dry_run {
        doomed.check(args).map_err(|e| target.fail(e.within(format_args!("node {:?}", target.path))))?;
        let options = EraseOptions::new().root(args.force);
        erase(target.storage.clone(), &target.path, &options).map_err(|e| target.fail(e))?;
        if let Some(root) = target.root.as_ref().filter(|_| target.path == "/") {
            // Remove the directory of the store, unless it holds something else.
            let _ = fs::remove_dir(root);
        }
    }
    print(&match args.json {
        true => args.more.json(&doomed.to_json(args.dry_run).into()),
        false => doomed.to_text(args.dry_run),
    })?;
    Ok(Exit::Ok)
}

/// A document behind a link belongs to another node, whose chunks are elsewhere. Only the path of the store may have
/// links.
pub(crate) fn check_links(target: &Target) -> Result<(), Failure> {
    let Some(root) = &target.root else { return Ok(()) };
    // Without a slash at the end, which would follow a link.
    let store: PathBuf = root.components().collect();
    let is_root = target.path == "/";
    let names = target.path.trim_matches('/').split('/').filter(|_| !is_root);
    let below = names.scan(store.clone(), |directory, name| {
        directory.push(name);
        Some(directory.clone())
    });
    let mut erased = below.chain(is_root.then_some(store));
    match erased.find(|path| path.is_symlink()) {
        Some(link) => Err(Failure::usage(format!("{link:?} is a link; its target would be erased"))),
        None => Ok(()),
    }
}

impl Doomed {
    fn check(&self, args: &Args) -> Result<(), Failure> {
        let refuse = |message: String| Err(Failure::usage(message));
        if self.nodes.len() > 1 && !args.recursive {
            return refuse(format!(
                "{} below it would be erased as well; add -r",
                count(self.nodes.len() - 1, "node")
            ));
        }
        if args.force {
            return Ok(());
        }
        if self.nodes.first().is_some_and(|path| path == "/") {
            return refuse("this is the root of a store; --force erases all of it".to_owned());
        }
        check_others(&self.others, "a node")
    }
}
