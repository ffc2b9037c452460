//! `zarr info`: what a node is.

use std::path::PathBuf;
use std::sync::Arc;

use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::{ArrayDocument, Extension, GroupDocument, NodeDocument};
use zarr_array::meta::{ArrayMeta, MetaResult};
use zarr_array::traits::{ChunkGrid, Context, Spec};
use zarr_array::{DataType, Diagnostic, Limits};

use crate::exit::{Exit, Failure, Outcome, line};
use crate::json;
use crate::stdout::print;
use crate::table::{Table, bytes};
use crate::target::{Target, registry};
use crate::walk::{Found, children, look};

/// Describe an array or a group.
///
/// A node with an unknown codec or data type is described as well; only its elements cannot be read.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a zarr.json.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr info weather.zarr
  zarr info weather.zarr/t2m
  zarr info --json weather.zarr/t2m | jq .shape";

pub(crate) fn run(args: &Args) -> Outcome {
    let target = Target::find(&args.store)?;
    let (document, notes) = target.document()?;
    let text = match document {
        NodeDocument::Array(document) => ArrayInfo::new(document, notes).print(&target, args.json),
        NodeDocument::Group(document) => GroupInfo::new(&target, document, notes)?.print(&target, args.json),
        _ => return Err(target.fail(Failure::unsupported("this kind of node is not known"))),
    };
    print(&text)?;
    Ok(Exit::Ok)
}

/// An array's document, and what of it is understood: one unknown codec leaves the rest readable.
struct ArrayInfo {
    document: ArrayDocument,
    notes: Vec<Diagnostic>,
    data_type: Option<DataType>,
    grid: Option<Arc<dyn ChunkGrid>>,
    /// Why elements cannot be read, if they cannot.
    unreadable: Option<String>,
}

impl ArrayInfo {
    fn new(document: ArrayDocument, mut notes: Vec<Diagnostic>) -> Self {
        let (registry, limits) = (registry(), Limits::default());
        let resolved = ArrayMeta::from(document.clone()).resolve(&registry, &limits, &mut notes);
        let context = Context { registry: &registry, limits: &limits, depth: 0 };
        let data_type =
            spec(document.data_type()).ok().and_then(|spec| registry.data_type(&spec, &context).ok());
        let grid = spec(document.chunk_grid()).ok();
        let grid = grid.and_then(|spec| registry.chunk_grid(&spec, document.shape(), &context).ok());
        Self {
            document,
            notes,
            data_type: data_type.map(|(data_type, _)| data_type),
            grid: grid.map(|(grid, _)| grid),
            unreadable: resolved.err().map(|e| e.to_string()),
        }
    }

    /// The shape of a chunk, where all chunks have the same.
    fn chunk_shape(&self) -> Option<Vec<u64>> {
        let grid = self.grid.as_ref()?;
        let length = |dim| match grid.lengths(dim)[..] {
            [length] => Some(length),
            _ => None,
        };
        (0..grid.rank()).map(length).collect()
    }

    fn chunk_counts(&self) -> Option<Vec<u64>> {
        let grid = self.grid.as_ref()?;
        Some(self.document.shape().iter().enumerate().map(|(dim, length)| grid.count(dim, *length)).collect())
    }

    /// Bytes of all elements, where that is known and below 2^128.
    fn size(&self) -> Option<u128> {
        product(self.document.shape())?.checked_mul(self.data_type.as_ref()?.size()? as u128)
    }

    fn print(&self, target: &Target, as_json: bool) -> String {
        if as_json { json::pretty(&self.to_json(target)) } else { self.page(target) }
    }

    fn to_json(&self, target: &Target) -> Value {
        let d = &self.document;
        let extensions = |list: &[Extension]| list.iter().map(Extension::to_value).collect::<Value>();
        let mut info = json::object([
            ("path", (&target.path).into()),
            ("zarr_format", 3.into()),
            ("node_type", "array".into()),
            ("shape", d.shape().iter().copied().collect()),
            ("data_type", d.data_type().to_value()),
            (
                "dimension_names",
                d.dimension_names().map(|n| n.iter().map(Option::as_deref).collect::<Value>()).into(),
            ),
            ("chunk_grid", d.chunk_grid().to_value()),
            ("chunk_shape", self.chunk_shape().into()),
            ("chunk_counts", self.chunk_counts().into()),
            ("chunk_key_encoding", d.chunk_key_encoding().to_value()),
            ("codecs", extensions(d.codecs())),
            ("fill_value", d.fill_value().clone()),
            ("uncompressed_bytes", self.size().into()),
            ("readable", self.unreadable.is_none().into()),
        ]);
        if let Some(why) = &self.unreadable {
            info.set("unreadable_because", why);
        }
        if !d.storage_transformers().is_empty() {
            info.set("storage_transformers", extensions(d.storage_transformers()));
        }
        info.set("attributes", d.attributes());
        info.set("diagnostics", diagnostics(&self.notes));
        info.into()
    }

    fn page(&self, target: &Target) -> String {
        let d = &self.document;
        let mut table = head(target, "array");
        table.row(["shape", &dimensions(d.shape())]);
        if let Some(names) = d.dimension_names() {
            let name =
                |name: &Option<String>| name.as_ref().map_or("-".to_owned(), |name| format!("{name:?}"));
            table.row(["dimensions", &names.iter().map(name).collect::<Vec<_>>().join(", ")]);
        }
        table.row(["data type", &extension(d.data_type())]);
        match (self.chunk_shape(), self.chunk_counts()) {
            (Some(shape), Some(counts)) => {
                let number = product(&counts).map_or("2^128 or more".to_owned(), |n| n.to_string());
                let chunks = match &counts[..] {
                    [] | [_] => format!("{}, {number} of them", dimensions(&shape)),
                    _ => format!("{}, {} = {number} of them", dimensions(&shape), dimensions(&counts)),
                };
                table.row(["chunks", &chunks]);
            }
            _ => table.row(["chunk grid", &extension(d.chunk_grid())]),
        }
        table.row(["chunk keys", &extension(d.chunk_key_encoding())]);
        table.row(["codecs", &d.codecs().iter().map(extension).collect::<Vec<_>>().join(" > ")]);
        if !d.storage_transformers().is_empty() {
            let list: Vec<_> = d.storage_transformers().iter().map(extension).collect();
            table.row(["transformers", &list.join(" > ")]);
        }
        table.row(["fill value", &d.fill_value().to_compact()]);
        if self.data_type.as_ref().is_some_and(|data_type| data_type.size().is_some()) {
            let size = self.size().unwrap_or(u128::MAX);
            table.row(["size", &format!("{} uncompressed", bytes(size))]);
        }
        if let Some(why) = &self.unreadable {
            table.row(["unreadable", why]);
        }
        end(table, &d.attributes(), &self.notes)
    }
}

/// A group's document, and what lies directly in the group.
struct GroupInfo {
    document: GroupDocument,
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
    fn new(target: &Target, document: GroupDocument, notes: Vec<Diagnostic>) -> Result<Self, Failure> {
        let prefix = target.prefix()?;
        let found = children(&target.storage, &prefix).map_err(|e| target.fail(e))?;
        let children = found.into_iter().filter_map(|(child, odd)| {
            let name = child.as_str().strip_prefix(prefix.as_str()).unwrap_or_default();
            let name = name.strip_suffix('/').unwrap_or(name).to_owned();
            let of_kind =
                |kind| Child { name: name.clone(), kind, shape: None, data_type: None, problem: None };
            let unreadable = |problem| Child { problem: Some(problem), ..of_kind("unreadable") };
            match look(&target.storage, child, odd).found {
                Found::Node(NodeDocument::Array(array)) => Some(Child {
                    shape: Some(array.shape().to_vec()),
                    data_type: Some(array.data_type().to_value()),
                    ..of_kind("array")
                }),
                Found::Node(_) => Some(of_kind("group")),
                Found::Invalid(e) => Some(unreadable(e.to_string())),
                Found::Unreadable(e) => Some(unreadable(e.to_string())),
                Found::NoNode(_) => None,
            }
        });
        let children = children.collect();
        Ok(Self { document, notes, children })
    }

    fn print(&self, target: &Target, as_json: bool) -> String {
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
        let consolidated = self.document.consolidated().map(|nodes| nodes.len());
        json::object([
            ("path", (&target.path).into()),
            ("zarr_format", 3.into()),
            ("node_type", "group".into()),
            ("children", self.children.iter().map(child).collect()),
            ("consolidated_nodes", consolidated.into()),
            ("attributes", self.document.attributes().into()),
            ("diagnostics", diagnostics(&self.notes)),
        ])
        .into()
    }

    fn page(&self, target: &Target) -> String {
        let mut table = head(target, "group");
        if let Some(nodes) = self.document.consolidated() {
            table.row(["consolidated", &format!("metadata of {} nodes", nodes.len())]);
        }
        if self.children.is_empty() {
            table.row(["children", "none"]);
        }
        let mut text = end(table, &self.document.attributes(), &self.notes);
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

fn head(target: &Target, kind: &str) -> Table {
    let mut table = Table::default();
    table.row(["name", &target.path]);
    table.row(["store", &target.store.display().to_string()]);
    table.row(["kind", &format!("{kind}, Zarr format 3")]);
    table
}

/// The table, with attributes and what was tolerated below it.
fn end(mut table: Table, attributes: &Object, notes: &[Diagnostic]) -> String {
    if attributes.is_empty() {
        table.row(["attributes", "none"]);
    }
    let mut text = table.to_text("");
    let mut block = |title: &str, rows: &mut dyn Iterator<Item = String>| {
        text.push_str(title);
        text.push('\n');
        for row in rows {
            text.extend(["  ", &line(&row), "\n"]);
        }
    };
    if !attributes.is_empty() {
        block("attributes", &mut json::pretty(&attributes.to_value()).lines().map(str::to_owned));
    }
    if !notes.is_empty() {
        block("tolerated", &mut notes.iter().map(ToString::to_string));
    }
    text
}

/// The extension as a registry wants it.
fn spec(extension: &Extension) -> MetaResult<Spec> {
    let configuration = extension.configuration().to_serde()?;
    Ok(Spec {
        name: extension.name().to_owned(),
        configuration,
        must_understand: extension.must_understand(),
    })
}

/// `zstd(level=5, checksum=false)`
fn extension(extension: &Extension) -> String {
    called(extension.name(), &extension.configuration())
}

fn called(name: &str, configuration: &Object) -> String {
    let members: Vec<String> =
        configuration.members().map(|m| format!("{}={}", m.name_lossy(), shown(&m.value()))).collect();
    if members.is_empty() { name.to_owned() } else { format!("{name}({})", members.join(", ")) }
}

/// A value for people: text without quotes, extensions inside of extensions like those outside.
fn shown(value: &Value) -> String {
    if let Some(elements) = value.elements() {
        return format!("[{}]", elements.map(|e| shown(&e)).collect::<Vec<_>>().join(", "));
    }
    let object = value.as_object();
    let name = object.as_ref().and_then(|object| object.get("name"));
    match (value.to_text(), name.as_ref().map(Value::to_text)) {
        (Ok(text), _) => text.into_owned(),
        (_, Some(Ok(name))) => {
            let configuration = object.and_then(|object| object.get("configuration")?.as_object());
            called(&name, &configuration.unwrap_or_default())
        }
        _ => value.to_compact(),
    }
}

fn diagnostics(notes: &[Diagnostic]) -> Value {
    let one = |note: &Diagnostic| {
        json::object([
            ("code", note.code.id().into()),
            ("pointer", (&note.pointer).into()),
            ("message", (&note.message).into()),
        ])
    };
    notes.iter().map(one).collect()
}

/// `24 × 721 × 1440`
fn dimensions(lengths: &[u64]) -> String {
    if lengths.is_empty() {
        return "scalar".to_owned();
    }
    lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}

/// `None` from 2^128 on.
fn product(lengths: &[u64]) -> Option<u128> {
    if lengths.contains(&0) {
        return Some(0);
    }
    lengths.iter().try_fold(1_u128, |n, len| n.checked_mul(u128::from(*len)))
}
