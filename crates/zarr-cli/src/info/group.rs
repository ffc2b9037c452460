//! What `zarr info` says of a group.

use zarr_array::Diagnostic;
use zarr_array::meta::json::Value;
use zarr_array::meta::{GroupMeta, NodeMeta};

use super::{diagnostics, end, head};
use crate::exit::Failure;
use crate::json;
use crate::table::{Table, dimensions};
use crate::target::Target;
use crate::walk::{Found, children, look};

/// A group's metadata, and what lies directly in the group.
pub(super) struct GroupInfo {
    meta: GroupMeta,
    notes: Vec<Diagnostic>,
    children: Vec<Child>,
}

struct Child {
    name: String,
    kind: &'static str,
    shape: Option<Vec<u64>>,
    data_type: Option<Value>,
    /// What is wrong with it.
    problem: Option<String>,
}

impl GroupInfo {
    pub(super) fn new(target: &Target, meta: GroupMeta, notes: Vec<Diagnostic>) -> Result<Self, Failure> {
        let prefix = target.prefix()?;
        let found = children(&target.storage, &prefix).map_err(|e| target.fail(e))?;
        let children = found.into_iter().filter_map(|(child, odd)| {
            let name = child.as_str().strip_prefix(prefix.as_str()).unwrap_or_default();
            let name = name.strip_suffix('/').unwrap_or(name).to_owned();
            let of_kind =
                |kind| Child { name: name.clone(), kind, shape: None, data_type: None, problem: None };
            let unreadable = |problem| Child { problem: Some(problem), ..of_kind("unreadable") };
            match look(&target.storage, child, odd).found {
                Found::Node(NodeMeta::Array(array)) => Some(Child {
                    shape: Some(array.shape().to_vec()),
                    data_type: Some(array.document().data_type().to_value()),
                    ..of_kind("array")
                }),
                Found::Node(_) => Some(of_kind("group")),
                Found::Invalid(e) => Some(unreadable(e.to_string())),
                Found::Unreadable(e) => Some(unreadable(e.to_string())),
                Found::NoNode(_) => None,
            }
        });
        let children = children.collect();
        Ok(Self { meta, notes, children })
    }

    pub(super) fn print(&self, target: &Target, as_json: bool) -> String {
        if as_json { json::pretty(&self.to_json(target)) } else { self.page(target) }
    }

    fn to_json(&self, target: &Target) -> Value {
        let child = |child: &Child| {
            let mut object = json::object([("name", (&child.name).into()), ("node_type", child.kind.into())]);
            if let Some(shape) = &child.shape {
                object.set("shape", shape.clone());
            }
            if let Some(data_type) = &child.data_type {
                object.set("data_type", data_type);
            }
            if let Some(problem) = &child.problem {
                object.set("unreadable_because", problem);
            }
            object
        };
        let consolidated = self.meta.consolidated().map(|nodes| nodes.len());
        json::object([
            ("path", (&target.path).into()),
            ("zarr_format", self.meta.format().number().into()),
            ("node_type", "group".into()),
            ("children", self.children.iter().map(child).collect()),
            ("consolidated_nodes", consolidated.into()),
            ("attributes", self.meta.attributes().into()),
            ("diagnostics", diagnostics(&self.notes)),
        ])
        .into()
    }

    fn page(&self, target: &Target) -> String {
        let mut table = head(target, "group", self.meta.format());
        if let Some(nodes) = self.meta.consolidated() {
            table.row(["consolidated", &format!("metadata of {} nodes", nodes.len())]);
        }
        if self.children.is_empty() {
            table.row(["children", "none"]);
        }
        let mut text = end(table, &self.meta.attributes(), &self.notes);
        if !self.children.is_empty() {
            text.push_str("children\n");
        }
        let mut table = Table::default();
        for child in &self.children {
            let name = &child.name;
            match (&child.shape, &child.data_type, &child.problem) {
                (Some(shape), Some(data_type), _) => {
                    let data_type =
                        data_type.to_text().map_or_else(|_| data_type.to_compact(), |t| t.into_owned());
                    table.row([name, child.kind, &data_type, &dimensions(shape)]);
                }
                // In the last column, which may be of any width.
                (_, _, Some(problem)) => table.row([name, child.kind, "", problem]),
                _ => table.row([name, child.kind]),
            }
        }
        text + &table.to_text("  ")
    }
}
