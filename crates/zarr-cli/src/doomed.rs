//! The objects that are erased with a node, and those among them that belong to no node.

use std::collections::BTreeSet;

use zarr_array::block_on;
use zarr_array::meta::json::Object;
use zarr_array::meta::{NodeMeta, is_document};
use zarr_array::traits::Prefix;
use zarr_hierarchy::ChildState;

use crate::args::target::Target;
use crate::exit::{Failure, line};
use crate::out::json;
use crate::out::table::count;
use crate::visit::Source;
use crate::walk::walk;

/// Everything that is erased with a node.
#[derive(Debug, Default)]
pub(crate) struct Doomed {
    /// Paths of nodes, including broken ones. The first is the target node.
    pub(crate) nodes: Vec<String>,
    /// Objects and folders in groups that belong to no node.
    pub(crate) others: Vec<String>,
}

impl Doomed {
    pub(crate) fn below(target: &Target) -> Result<Self, Failure> {
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

    pub(crate) fn to_text(&self, dry_run: bool) -> String {
        if dry_run {
            let others = self.others.iter().map(|path| format!("{} (not a node)\n", line(path)));
            return self.nodes.iter().map(|path| format!("{}\n", line(path))).chain(others).collect();
        }
        format!("erased {}\n", count(self.nodes.len(), "node"))
    }

    pub(crate) fn to_json(&self, dry_run: bool) -> Object {
        let named = |path: &String| json::object([("path", path.into())]);
        json::document([
            ("dry_run", dry_run.into()),
            ("nodes", self.nodes.iter().map(named).collect()),
            ("not_nodes", self.others.iter().map(named).collect()),
        ])
    }
}

/// Fails if a node that is replaced holds objects or folders that belong to no node.
pub(crate) fn check_replaced(target: &Target) -> Result<(), Failure> {
    check_others(&Doomed::below(target)?.others, "a node").map_err(|e| target.fail(e))
}

/// The largest number of foreign objects that a message names.
const NAMED: usize = 3;

/// Fails if there is anything that does not belong to `what`.
pub(crate) fn check_others(others: &[String], what: &str) -> Result<(), Failure> {
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
