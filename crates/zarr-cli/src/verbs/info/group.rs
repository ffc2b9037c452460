//! The output of `zarr info` for a group.

use std::collections::BTreeSet;

use zarr_array::Diagnostic;
use zarr_array::meta::GroupMeta;
use zarr_array::meta::json::{Object, Value};

use super::dataset::DatasetInfo;
use super::{Args, attribute_lines, diagnostics, end, head, tolerated};
use crate::args::target::Target;
use crate::exit::{Failure, line};
use crate::listed::{Listed, list};
use crate::out::json;
use crate::out::table::{Table, count};
use crate::visit::Source;
use crate::walk::note_odd_paths;

/// The largest number of children that are shown, and that a group has which is opened as a dataset: both take some
/// kilobytes for each.
const MOST: usize = 2000;

/// A group's metadata and its children.
pub(super) struct GroupInfo {
    meta: GroupMeta,
    notes: Vec<Diagnostic>,
    children: Children,
    consolidated: Option<Consolidated>,
    /// The group as a dataset, if it has arrays with named dimensions, or the reason why it is not a dataset.
    dataset: Result<Option<DatasetInfo>, String>,
    has_attributes: bool,
}

/// The children of a group.
struct Children {
    /// The first ones, at most [`MOST`].
    first: Vec<Listed>,
    /// The number of others.
    more: usize,
    /// The names of all.
    names: BTreeSet<String>,
}

impl Children {
    fn of(target: &Target, source: Source) -> Result<Self, Failure> {
        let mut children = Self { first: Vec::new(), more: 0, names: BTreeSet::new() };
        for child in list(target, source, 1)?.skip(1).filter(|child| child.kind != "none") {
            children.names.insert(child.below(&target.path).to_owned());
            match children.first.len() < MOST {
                true => children.first.push(child),
                false => children.more += 1,
            }
        }
        Ok(children)
    }

    /// Returns the names of children that `others` lack.
    fn without(&self, others: &Self) -> Vec<String> {
        self.names.difference(&others.names).cloned().collect()
    }
}

/// A summary of the consolidated metadata.
struct Consolidated {
    nodes: usize,
    /// The differences from the children in the store, if the store can list.
    differs: Option<Differs>,
}

struct Differs {
    missing: Vec<String>,
    gone: Vec<String>,
}

impl GroupInfo {
    pub(super) fn new(
        target: &Target,
        args: &Args,
        meta: GroupMeta,
        notes: Vec<Diagnostic>,
    ) -> Result<Self, Failure> {
        let source = args.source;
        let group = target.group(Source::default())?;
        let dataset = |children: &Children| match source.is_documents() && target.lists() {
            _ if children.more > 0 => Ok(Err(format!("the group has more than {MOST} children"))),
            true => target.group(source).map(|group| DatasetInfo::of(&group, !args.no_values)),
            false => Ok(DatasetInfo::of(&group, !args.no_values)),
        };
        let has_attributes = !args.no_attrs;
        if !group.is_consolidated() {
            let children = Children::of(target, Source::DOCUMENTS)?;
            let dataset = dataset(&children)?;
            return Ok(Self { meta, notes, children, consolidated: None, dataset, has_attributes });
        }
        note_odd_paths(&group);
        let nodes = group.walk().filter(|child| child.kind().is_some()).count();
        let known = Children::of(target, Source::default())?;
        if !target.lists() {
            let consolidated = Some(Consolidated { nodes, differs: None });
            let dataset = dataset(&known)?;
            return Ok(Self { meta, notes, children: known, consolidated, dataset, has_attributes });
        }
        let stored = Children::of(target, Source::DOCUMENTS)?;
        let differs = Differs { missing: stored.without(&known), gone: known.without(&stored) };
        let consolidated = Some(Consolidated { nodes, differs: Some(differs) });
        let children = if source.is_documents() { stored } else { known };
        let dataset = dataset(&children)?;
        Ok(Self { meta, notes, children, consolidated, dataset, has_attributes })
    }

    pub(super) fn to_json(&self, target: &Target) -> Object {
        let child = |child: &Listed| {
            let mut object = json::object([("name", child.below(&target.path).into())]);
            for member in child.to_json().members() {
                object.set(&member.name_lossy(), member.value());
            }
            object
        };
        let consolidated = self.consolidated.as_ref();
        let mut info = json::document([
            ("path", (&target.path).into()),
            ("zarr_format", self.meta.format().number().into()),
            ("node_type", "group".into()),
            ("children", self.children.first.iter().map(child).collect()),
            ("consolidated_nodes", consolidated.map(|known| known.nodes).into()),
        ]);
        if self.children.more > 0 {
            info.set("more_children", self.children.more as u64);
        }
        if let Some(known) = consolidated.and_then(|known| known.differs.as_ref()) {
            info.set("consolidated_lacks", known.missing.iter().collect::<Value>());
            info.set("consolidated_names_absent", known.gone.iter().collect::<Value>());
        }
        match &self.dataset {
            Ok(Some(dataset)) => dataset.to_json(&mut info),
            Ok(None) => {}
            Err(reason) => info.set("no_dataset_because", reason),
        }
        if self.has_attributes {
            info.set("attributes", self.meta.attributes());
        }
        info.set("diagnostics", diagnostics(&self.notes));
        info
    }

    pub(super) fn page(&self, target: &Target) -> String {
        if let Ok(Some(dataset)) = &self.dataset {
            return self.dataset_page(target, dataset);
        }
        let mut table = head(target, "group", self.meta.format());
        if let Err(reason) = &self.dataset {
            table.row(["no dataset", reason]);
        }
        if let Some(known) = &self.consolidated {
            table.row(["consolidated", &known.to_text()]);
        }
        if self.children.first.is_empty() {
            table.row(["children", "none"]);
        }
        let mut text = match self.has_attributes {
            true => end(table, &self.meta.attributes(), &self.notes),
            false => table.to_text("") + &tolerated(&self.notes),
        };
        if !self.children.first.is_empty() {
            text.push_str("children\n");
        }
        let mut table = Table::default();
        for child in &self.children.first {
            let [data_type, shape] =
                child.array.as_ref().map(|array| [array.data_type(), array.shape()]).unwrap_or_default();
            // In the last column, because it can be wide.
            let problem = child.problem.as_deref().unwrap_or_default();
            table.row([child.below(&target.path), child.kind(), &data_type, &shape, problem]);
        }
        text.push_str(&table.to_text("  "));
        if self.children.more > 0 {
            text.push_str(&format!("  and {} more, which `zarr ls` lists\n", self.children.more));
        }
        text
    }
}

impl GroupInfo {
    /// The page of a dataset: its arrays as variables, and the names of groups below.
    fn dataset_page(&self, target: &Target, dataset: &DatasetInfo) -> String {
        let mut table = Table::default();
        let path = if target.path == "/" { String::new() } else { format!(", group {:?}", target.path) };
        let of = format!("{}{path}, Zarr format {}", target.store.display(), self.meta.format());
        table.row(["dataset", &of]);
        if let Some(known) = &self.consolidated {
            table.row(["consolidated", &known.to_text()]);
        }
        let variables = dataset.page(&mut table);
        let mut text = table.to_text("") + &variables;
        let groups: Vec<&str> = self
            .children
            .first
            .iter()
            .filter(|child| child.kind == "group")
            .map(|child| child.below(&target.path))
            .collect();
        if !groups.is_empty() {
            text.push_str(&format!("groups\n  {}\n", line(&groups.join(", "))));
        }
        if self.has_attributes {
            text.push_str(&attribute_lines(&self.meta.attributes()));
        }
        text + &tolerated(&self.notes)
    }
}

impl Consolidated {
    fn to_text(&self) -> String {
        let nodes = count(self.nodes, "node");
        let differs = |names: &[String], what| match names {
            [] => String::new(),
            [name] => format!(", {what} {name:?}"),
            [name, ..] => format!(", {what} {} children such as {name:?}", names.len()),
        };
        let children = match &self.differs {
            None => ", the store cannot be listed".to_owned(),
            Some(Differs { missing, gone }) if missing.is_empty() && gone.is_empty() => {
                ", the same children".to_owned()
            }
            Some(Differs { missing, gone }) => {
                differs(missing, "without") + &differs(gone, "with the absent")
            }
        };
        format!("metadata of {nodes}{children}")
    }
}
