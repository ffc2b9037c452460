//! `zarr rm`: erasing a node, or what a copy has left that did not become one.

mod unfinished;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use zarr_array::block_on;
use zarr_array::meta::{Format, NodeMeta};
use zarr_array::traits::Prefix;
use zarr_hierarchy::{EraseOptions, Found, blocking::erase};

use crate::exit::{Exit, Failure, Outcome, line};
use crate::json;
use crate::stdout::print;
use crate::stores::Stores;
use crate::table::count;
use crate::target::{Target, is_document};
use crate::walk::{Source, walk};

/// Erase an array, or a group with all that is in it.
///
/// The document of the node goes first, so that an interruption leaves no half node. Consolidated metadata above is kept in
/// step. Only nodes are erased: what is no node, and files of others in a group, keep it from being erased unless --force.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with the documents of one.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Erase a group with the nodes in it.
    #[arg(short, long)]
    recursive: bool,
    /// Erase the root of a store, and what else lies in a group.
    #[arg(short = 'y', short_alias = 'f', long)]
    force: bool,
    /// Erase an unfinished copy at a URL: everything in a place where `zarr copy` has begun and not ended.
    #[arg(long)]
    unfinished: bool,
    /// Erase nothing, and list what would go.
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
  zarr rm --unfinished s3://bucket/weather.zarr";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    if args.unfinished {
        return unfinished::run(args, stores);
    }
    let target = Target::find(&args.store, stores)?;
    check_links(&target)?;
    if target.format == Some(Format::V1) {
        return Err(target.fail(Failure::unsupported("arrays of format 1 are read, and not erased")));
    }
    let doomed = Doomed::below(&target)?;
    if !args.dry_run {
        doomed.check(args).map_err(|e| target.fail(e.within(format_args!("node {:?}", target.path))))?;
        let options = EraseOptions::new().root(args.force);
        erase(target.storage.clone(), &target.path, &options).map_err(|e| target.fail(e))?;
        if let Some(root) = target.root.filter(|_| target.path == "/") {
            // The directory of the store, unless there is something that is no business of a store.
            let _ = fs::remove_dir(root);
        }
    }
    print(&if args.json { doomed.to_json(args.dry_run) } else { doomed.to_text(args.dry_run) })?;
    Ok(Exit::Ok)
}

/// A document behind a link is that of another node, whose chunks are elsewhere. Only the store may be found by a link.
fn check_links(target: &Target) -> Result<(), Failure> {
    let Some(root) = &target.root else { return Ok(()) };
    // Without a slash at the end, which would lead through a link.
    let store: PathBuf = root.components().collect();
    let is_root = target.path == "/";
    let names = target.path.trim_matches('/').split('/').filter(|_| !is_root);
    let below = names.scan(store.clone(), |directory, name| {
        directory.push(name);
        Some(directory.clone())
    });
    let mut erased = below.chain(is_root.then_some(store));
    match erased.find(|path| path.is_symlink()) {
        Some(link) => Err(Failure::usage(format!("{link:?} is a link: what it leads to would be erased"))),
        None => Ok(()),
    }
}

/// What is erased with a node.
#[derive(Debug, Default)]
struct Doomed {
    /// Paths of nodes, also of broken ones; the first is the one that is meant.
    nodes: Vec<String>,
    /// What lies in groups, and is no node: objects, and folders without a document.
    others: Vec<String>,
}

impl Doomed {
    fn below(target: &Target) -> Result<Self, Failure> {
        let mut doomed = Self::default();
        let mut inside = Vec::new();
        for visit in walk(target, Source::DOCUMENTS, usize::MAX)? {
            let path = visit.path();
            match &visit.found {
                Found::Node(node) => {
                    if let NodeMeta::Group(_) = node {
                        inside.extend(strangers(target, &visit.prefix)?);
                    }
                    doomed.nodes.push(path);
                }
                Found::Broken(_) => doomed.nodes.push(path),
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
            return refuse(format!("{} would go with it; -r says so", count(self.nodes.len() - 1, "node")));
        }
        if args.force {
            return Ok(());
        }
        if self.nodes.first().is_some_and(|path| path == "/") {
            return refuse("this is the root of a store; --force erases all of it".to_owned());
        }
        match &self.others[..] {
            [] => Ok(()),
            [other, ..] => refuse(format!("{other:?} is no part of a node; --force erases it as well")),
        }
    }

    fn to_text(&self, dry_run: bool) -> String {
        if dry_run {
            let others = self.others.iter().map(|path| format!("{} (no node)\n", line(path)));
            return self.nodes.iter().map(|path| format!("{}\n", line(path))).chain(others).collect();
        }
        format!("erased {}\n", count(self.nodes.len(), "node"))
    }

    fn to_json(&self, dry_run: bool) -> String {
        json::pretty(
            &json::object([
                ("dry_run", dry_run.into()),
                ("nodes", self.nodes.iter().collect()),
                ("not_nodes", self.others.iter().collect()),
            ])
            .into(),
        )
    }
}

/// What lies directly in a group and is none of its documents: objects, and all folders, nodes or not.
fn strangers(target: &Target, group: &Prefix) -> Result<Vec<String>, Failure> {
    let dir = block_on(target.storage.list_dir(group)).map_err(|e| target.fail(e))?;
    let keys = dir.objects.iter().map(|listed| &listed.key);
    let objects = keys.filter(|key| !is_document(key.name())).map(|key| format!("/{key}"));
    Ok(objects.chain(dir.prefixes.iter().map(Prefix::node_path)).collect())
}
