//! `zarr rm`: erases a node, or what an unfinished copy has left.

mod unfinished;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use zarr_array::block_on;
use zarr_array::meta::{Format, NodeMeta, is_document};
use zarr_array::traits::Prefix;
use zarr_hierarchy::{ChildState, EraseOptions, blocking::erase};

use crate::exit::{Exit, Failure, Outcome, line};
use crate::json;
use crate::stdout::print;
use crate::stores::Stores;
use crate::table::count;
use crate::target::Target;
use crate::walk::{Source, walk};

/// Erase an array, or a group with everything in it.
///
/// The metadata document of the node is erased first, so an interruption leaves no partial node. Consolidated metadata
/// in groups above is updated. A group that holds folders that are not nodes, or foreign files, is erased only with
/// --force.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Erase a group together with the nodes in it.
    #[arg(short, long)]
    recursive: bool,
    /// Also erase the root of a store, and objects that belong to no node, or to no copy.
    #[arg(short = 'y', short_alias = 'f', long)]
    force: bool,
    /// Erase an unfinished copy: everything that an interrupted `zarr copy` has left at a URL, or beside a path.
    #[arg(long)]
    unfinished: bool,
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
  zarr rm -r --dry-run weather.zarr/monthly
  zarr rm -r --force weather.zarr
  zarr rm --unfinished weather.zarr
  zarr rm --unfinished s3://bucket/weather.zarr";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
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
        if let Some(root) = target.root.filter(|_| target.path == "/") {
            // Remove the directory of the store, unless it holds something else.
            let _ = fs::remove_dir(root);
        }
    }
    print(&if args.json { doomed.to_json(args.dry_run) } else { doomed.to_text(args.dry_run) })?;
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

/// Everything that is erased with a node.
#[derive(Debug, Default)]
struct Doomed {
    /// Paths of nodes, including broken ones. The first is the target node.
    nodes: Vec<String>,
    /// Objects and folders in groups that belong to no node.
    others: Vec<String>,
}

impl Doomed {
    fn below(target: &Target) -> Result<Self, Failure> {
        let mut doomed = Self::default();
        let mut inside = Vec::new();
        for visit in walk(target, Source::DOCUMENTS, usize::MAX)? {
            let path = visit.path();
            match &visit.found {
                ChildState::Node(node) => {
                    if let NodeMeta::Group(_) = node {
                        inside.extend(strangers(target, &visit.prefix)?);
                    }
                    doomed.nodes.push(path);
                }
                ChildState::Broken(_) => doomed.nodes.push(path),
                _ => doomed.others.push(path),
            }
        }
        let nodes: BTreeSet<&String> = doomed.nodes.iter().collect();
        doomed.others.extend(inside.into_iter().filter(|path| !nodes.contains(path)));
        doomed.others.sort_unstable();
        doomed.others.dedup();
        Ok(doomed)
    }

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

    fn to_text(&self, dry_run: bool) -> String {
        if dry_run {
            let others = self.others.iter().map(|path| format!("{} (not a node)\n", line(path)));
            return self.nodes.iter().map(|path| format!("{}\n", line(path))).chain(others).collect();
        }
        format!("erased {}\n", count(self.nodes.len(), "node"))
    }

    fn to_json(&self, dry_run: bool) -> String {
        let named = |path: &String| json::object([("path", path.into())]);
        json::pretty(
            &json::document([
                ("dry_run", dry_run.into()),
                ("nodes", self.nodes.iter().map(named).collect()),
                ("not_nodes", self.others.iter().map(named).collect()),
            ])
            .into(),
        )
    }
}

/// Fails if a node that is replaced holds objects or folders that belong to no node.
pub(crate) fn check_replaced(target: &Target) -> Result<(), Failure> {
    check_others(&Doomed::below(target)?.others, "a node").map_err(|e| target.fail(e))
}

/// The largest number of foreign objects that a message names.
const NAMED: usize = 3;

/// Fails if there is anything that does not belong to `what`.
fn check_others(others: &[String], what: &str) -> Result<(), Failure> {
    let names: Vec<String> = others.iter().take(NAMED).map(|other| format!("{other:?}")).collect();
    let more = match others.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (do_not, them) = match others.len() {
        0 => return Ok(()),
        1 => ("does not", "it"),
        _ => ("do not", "them"),
    };
    let names = names.join(", ");
    Err(Failure::usage(format!("{names}{more} {do_not} belong to {what}; --force erases {them} as well")))
}

/// Lists the objects and folders directly below a group, without the group's own metadata documents. Folders of nodes
/// are included.
fn strangers(target: &Target, group: &Prefix) -> Result<Vec<String>, Failure> {
    let dir = block_on(target.storage.list_dir(group)).map_err(|e| target.fail(e))?;
    let keys = dir.objects.iter().map(|listed| &listed.key);
    let objects = keys.filter(|key| !is_document(key.name())).map(|key| format!("/{key}"));
    Ok(objects.chain(dir.prefixes.iter().map(Prefix::node_path)).collect())
}
