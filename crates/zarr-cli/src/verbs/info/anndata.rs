//! The output of `zarr info` for a group that AnnData has written: observations, variables and matrices.

use std::collections::BTreeMap;

use zarr_array::ArrayMeta;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{GroupMeta, NodeMeta};
use zarr_hierarchy::ChildState;

use super::row;
use crate::args::target::Target;
use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::number::grouped;
use crate::out::table::dimensions;
use crate::visit::Source;
use crate::walk::walk;

/// The levels below the group that are looked at: `obs/ct/categories`.
const LEVELS: usize = 3;

/// The largest number of categories that are read, and that are shown.
const READ: u64 = 10_000;
const SHOWN: usize = 6;

/// The nodes of an AnnData group by their paths in it.
pub(super) struct AnnData {
    version: String,
    nodes: BTreeMap<String, NodeMeta>,
    /// The first categories of a column, and how many there are.
    categories: BTreeMap<String, (Vec<String>, u64)>,
}

impl AnnData {
    /// Reads the documents below a group that says that it is AnnData, and the categories if `has_values`. Returns
    /// `None` for another group.
    pub(super) fn of(
        target: &Target,
        source: Source,
        attributes: &Object,
        has_values: bool,
    ) -> Result<Option<Self>, Failure> {
        if text(attributes, "encoding-type").as_deref() != Some("anndata") {
            return Ok(None);
        }
        let version = text(attributes, "encoding-version").unwrap_or_default();
        let mut nodes = BTreeMap::new();
        for visit in walk(target, source, LEVELS)? {
            let path = visit.path();
            let below = path.strip_prefix(target.path.as_str()).unwrap_or(&path).trim_matches('/');
            if let ChildState::Node(node) = visit.found {
                nodes.insert(below.to_owned(), node);
            }
        }
        let mut found = Self { version, nodes, categories: BTreeMap::new() };
        let named = |path: &str| path.strip_suffix("/categories").map(str::to_owned);
        let columns: Vec<String> = found.nodes.keys().filter_map(|path| named(path)).collect();
        for column in columns {
            let Some(meta) = found.array(&format!("{column}/categories")) else { continue };
            let count = meta.shape().first().copied().unwrap_or(0);
            let read = (has_values && count <= READ).then(|| first(target, &column, count));
            found.categories.insert(column, (read.flatten().unwrap_or_default(), count));
        }
        Ok(Some(found))
    }

    fn array(&self, path: &str) -> Option<&ArrayMeta> {
        match self.nodes.get(path)? {
            NodeMeta::Array(meta) => Some(meta),
            NodeMeta::Group(_) => None,
        }
    }

    fn group(&self, path: &str) -> Option<&GroupMeta> {
        match self.nodes.get(path)? {
            NodeMeta::Group(meta) => Some(meta),
            NodeMeta::Array(_) => None,
        }
    }

    /// Returns the attributes of a node.
    fn attributes(&self, path: &str) -> Object {
        match self.nodes.get(path) {
            Some(NodeMeta::Array(meta)) => meta.document().attributes(),
            Some(NodeMeta::Group(meta)) => meta.attributes(),
            None => Object::new(),
        }
    }

    /// Returns the number of rows of a table, which is the length of its index.
    fn rows(&self, table: &str) -> Option<u64> {
        let index = text(&self.attributes(table), "_index")?;
        self.array(&format!("{table}/{index}"))?.shape().first().copied()
    }

    /// Returns the version and the numbers of rows, for the first line.
    pub(super) fn head(&self) -> String {
        let version = if self.version.is_empty() { String::new() } else { format!(" {}", self.version) };
        let count = |table| self.rows(table).map_or_else(|| "?".to_owned(), |rows| rows.to_string());
        format!("{version}: {} obs × {} var", count("obs"), count("var"))
    }

    /// Returns the lines below the first one.
    pub(super) fn page(&self) -> String {
        let mut page = match self.nodes.contains_key("X") {
            true => row("X", &self.matrix("X", true)),
            false => row("X", "none"),
        };
        for table in ["obs", "var"] {
            let columns = self.columns(table);
            page += &row(table, if columns.is_empty() { "no columns" } else { &columns });
        }
        for part in ["layers", "obsm", "varm", "obsp", "varp"] {
            let members: Vec<String> = self
                .below(part)
                .map(|name| format!("{name} {}", self.matrix(&format!("{part}/{name}"), false)))
                .collect();
            if !members.is_empty() {
                page += &row(part, &members.join(", "));
            }
        }
        let names: Vec<&str> = self.below("uns").collect();
        if !names.is_empty() {
            page += &row("uns", &names.join(", "));
        }
        // An absent one may be stored as null.
        if self.nodes.contains_key("raw/X") {
            page += &row("raw", &self.matrix("raw/X", true));
        }
        page
    }

    /// Returns the names of the nodes directly below a group.
    fn below<'a>(&'a self, group: &'a str) -> impl Iterator<Item = &'a str> {
        let names = self.nodes.keys().filter_map(move |path| path.strip_prefix(group)?.strip_prefix('/'));
        names.filter(|name| !name.contains('/'))
    }

    /// Returns a matrix in words: `csr float32, 50,000 of 1,000,000 stored (5.0 %)`, or `2000 × 10 float32`.
    fn matrix(&self, path: &str, has_share: bool) -> String {
        if let Some(meta) = self.array(path) {
            return format!("{} {}", dimensions(meta.shape()), meta.document().data_type());
        }
        let attributes = self.attributes(path);
        let encoding = text(&attributes, "encoding-type").unwrap_or_else(|| "group".to_owned());
        let Some(data) = self.array(&format!("{path}/data")).filter(|_| encoding.ends_with("_matrix")) else {
            return encoding;
        };
        let shape = attributes.get("shape");
        let shape: Vec<u64> =
            shape.iter().flat_map(Value::elements).flatten().filter_map(|length| length.as_u64()).collect();
        let (kind, data_type) = (encoding.trim_end_matches("_matrix"), data.document().data_type());
        if !has_share {
            return format!("{kind} {} {data_type}", dimensions(&shape));
        }
        let stored = data.shape().first().copied().unwrap_or(0);
        let all: u128 = shape.iter().map(|length| u128::from(*length)).product();
        let share =
            if all > 0 { format!(" ({:.1} %)", 100.0 * stored as f64 / all as f64) } else { String::new() };
        format!("{kind} {data_type}, {} of {} stored{share}", grouped(stored), grouped(all))
    }

    /// Returns the columns of a table in words, in their order.
    fn columns(&self, table: &str) -> String {
        let order = self.attributes(table).get("column-order");
        let names: Vec<String> =
            order.iter().flat_map(Value::elements).flatten().filter_map(|name| name.as_text()).collect();
        let shown = names.iter().map(|name| format!("{name} {}", self.column(&format!("{table}/{name}"))));
        shown.collect::<Vec<_>>().join(", ")
    }

    fn column(&self, path: &str) -> String {
        if let Some(meta) = self.array(path) {
            let data_type = meta.document().data_type();
            // The length of texts says little.
            return match data_type.name() {
                "string" | "fixed_length_utf32" | "variable_length_utf8" => "string".to_owned(),
                _ => data_type.to_string(),
            };
        }
        if let Some((names, count)) = self.categories.get(path) {
            let more = if (names.len() as u64) < *count { ", …" } else { "" };
            let names =
                if names.is_empty() { String::new() } else { format!(": {}{more}", names.join(", ")) };
            return format!("categorical ({}{names})", grouped(*count));
        }
        match (self.array(&format!("{path}/values")), self.group(path)) {
            (Some(values), _) => format!("nullable {}", values.document().data_type()),
            (None, Some(_)) => {
                text(&self.attributes(path), "encoding-type").unwrap_or_else(|| "group".to_owned())
            }
            (None, None) => "missing".to_owned(),
        }
    }
}

fn text(attributes: &Object, name: &str) -> Option<String> {
    attributes.get(name)?.as_text()
}

/// Returns the first categories of a column. They are only shown, so an error hides them.
fn first(target: &Target, column: &str, count: u64) -> Option<Vec<String>> {
    let path = format!("{}/{column}/categories", target.path.trim_end_matches('/'));
    let array = target.open(&path).ok()?;
    let shown = count.min(SHOWN as u64);
    let selection = crate::pick::selection([crate::pick::Pick::range(0..shown)]);
    let Elements::Variable(texts) = Elements::read(&array, selection).ok()? else {
        return None;
    };
    Some(texts.into_iter().map(|text| String::from_utf8_lossy(&text).into_owned()).collect())
}
