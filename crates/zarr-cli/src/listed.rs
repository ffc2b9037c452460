//! Nodes as `ls`, `tree` and `info` list them: the metadata, and whether the node is usable.

use std::collections::HashSet;
use std::iter::Peekable;
use std::sync::Arc;

use zarr_array::meta::codecs::rare;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::v3::Extension;
use zarr_array::meta::v3::sharding::{Sharding, inner_chunk_shapes, inner_codecs};
use zarr_array::meta::{ArrayMeta, Format, Ignore, NodeMeta};
use zarr_array::traits::{KeyEncoding, Prefix};
use zarr_array::{DataType, Limits, Registry, block_on};
use zarr_hierarchy::ChildState;
use zarr_hierarchy::blocking::Group;

use crate::args::target::{Target, registry};
use crate::exit::{Failure, say};
use crate::out::json;
use crate::out::lengths::Extent;
use crate::out::table::{dimensions, product};
use crate::visit::{NO_NODE, Source, Visit};
use crate::walk::{note_odd_paths, reason, walk_known};

/// A node, or a folder that is not a node.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The path in the store: `/`, `/a/b`.
    pub(crate) path: String,
    /// The member `node_type`: `array`, `group`, `unreadable`, or `none` for a folder that is not a node.
    pub(crate) kind: &'static str,
    pub(crate) format: Option<Format>,
    pub(crate) array: Option<Layout>,
    /// The reason why it is broken or not a node.
    pub(crate) problem: Option<String>,
    /// The attributes that can be read.
    #[cfg(feature = "page")]
    pub(crate) attributes: Object,
}

/// The metadata of an array that fits into a line.
#[derive(Debug)]
pub(crate) struct Layout {
    shape: Vec<u64>,
    chunk_grid: Extension,
    fill_value: Value,
    data_type: Extension,
    dimension_names: Option<Vec<Option<String>>>,
    /// The chunk lengths, if the grid is understood.
    chunks: Option<Vec<Extent>>,
    /// The shape of the inner chunks, if there are shards.
    pub(crate) inner_chunk_shape: Option<Vec<u64>>,
    codecs: Vec<Extension>,
    pub(crate) grid: Option<Grid>,
    /// The bytes of all elements, if they have a fixed size.
    pub(crate) uncompressed: Option<u128>,
}

/// The chunks that an array may have.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    /// The number of chunks in each dimension.
    pub(crate) counts: Vec<u64>,
    pub(crate) keys: Arc<dyn KeyEncoding>,
}

impl Grid {
    /// Returns `None` if the grid or the keys are not understood.
    pub(crate) fn of(meta: &ArrayMeta, registry: &Registry, limits: &Limits) -> Option<Self> {
        let (grid, keys) =
            (meta.chunk_grid(registry, limits).ok()?, meta.key_encoding(registry, limits).ok()?);
        let counts = meta.shape().iter().enumerate().map(|(dim, length)| grid.count(dim, *length));
        Some(Self { counts: counts.collect(), keys })
    }
}

/// The target node and the nodes below it, parents before children. They are read while they are listed, and none is kept.
pub(crate) struct Nodes<'a> {
    target: &'a Target,
    registry: Registry,
    visits: Peekable<Box<dyn Iterator<Item = Visit> + 'a>>,
    stale: Option<Stale>,
}

/// Lists the target node and the nodes below it, `levels` deep.
///
/// # Errors
/// If the target node cannot be read or listed.
pub(crate) fn list(target: &Target, source: Source, levels: usize) -> Result<Nodes<'_>, Failure> {
    list_known(target, source, levels).map(|(nodes, _)| nodes)
}

/// Like [`list`]. Notes name odd paths in consolidated metadata, and in the end the children there that the store lacks.
pub(crate) fn list_with_note(target: &Target, source: Source, levels: usize) -> Result<Nodes<'_>, Failure> {
    let (mut nodes, known) = list_known(target, source, levels)?;
    if let Some(group) = known {
        note_odd_paths(&group);
        nodes.stale = if target.lists() { Some(Stale::begin(target)?) } else { None };
    }
    Ok(nodes)
}

/// Like [`list`], and returns the group if the nodes come from its consolidated metadata.
fn list_known(target: &Target, source: Source, levels: usize) -> Result<(Nodes<'_>, Option<Group>), Failure> {
    let (mut visits, known) = walk_known(target, source, levels)?;
    let top = visits.next();
    if let Some(Visit { found: ChildState::Broken(e), .. }) = top {
        return Err(target.fail(Failure::from(e).within(format_args!("node {:?}", target.path))));
    }
    let second = visits.next();
    if let Some(Visit { found: ChildState::Unlisted(e), .. }) = second {
        return Err(target.fail(e));
    }
    let visits: Box<dyn Iterator<Item = Visit> + '_> = Box::new(top.into_iter().chain(second).chain(visits));
    Ok((Nodes { target, registry: registry(), visits: visits.peekable(), stale: None }, known))
}

impl Iterator for Nodes<'_> {
    type Item = Listed;

    fn next(&mut self) -> Option<Listed> {
        let Some(visit) = self.visits.next() else {
            self.stale.take().iter().for_each(Stale::say);
            return None;
        };
        let mut node = Listed::new(visit, &self.registry);
        // A group whose children cannot be listed is visited a second time.
        if let Some(ChildState::Unlisted(e)) = self.visits.peek().map(|next| &next.found) {
            node.problem = Some(reason(e, &node.path));
            self.visits.next();
        }
        if let Some(stale) = &mut self.stale {
            stale.look_at(&node, &self.target.path);
        }
        Some(node)
    }
}

/// The children that consolidated metadata names and the store lacks.
struct Stale {
    /// The paths of the children in the store.
    stored: HashSet<String>,
    first: Option<String>,
    more: usize,
}

impl Stale {
    fn begin(target: &Target) -> Result<Self, Failure> {
        let stored = block_on(target.storage.list_dir(&target.prefix()?)).map_err(|e| target.fail(e))?;
        let stored = stored.prefixes.iter().map(Prefix::node_path).collect();
        Ok(Self { stored, first: None, more: 0 })
    }

    fn look_at(&mut self, node: &Listed, above: &str) {
        let name = node.below(above);
        if name.is_empty() || name.contains('/') || self.stored.contains(&node.path) {
            return;
        }
        match &self.first {
            None => self.first = Some(name.to_owned()),
            Some(_) => self.more += 1,
        }
    }

    fn say(&self) {
        let Some(first) = &self.first else { return };
        let more = match self.more {
            0 => String::new(),
            1 => " and 1 more child".to_owned(),
            more => format!(" and {more} more children"),
        };
        say(&format!(
            "note: the consolidated metadata is stale, it names {first:?}{more}, absent from the store: --no-consolidated \
             reads the documents"
        ));
    }
}

impl Listed {
    fn new(Visit { prefix, found, .. }: Visit, registry: &Registry) -> Self {
        let path = prefix.node_path();
        let (kind, problem) = match &found {
            ChildState::Node(NodeMeta::Array(_)) => ("array", None),
            ChildState::Node(_) => ("group", None),
            ChildState::Broken(e) | ChildState::Unlisted(e) => ("unreadable", Some(reason(e, &path))),
            _ => ("none", Some(NO_NODE.to_owned())),
        };
        let node = if let ChildState::Node(node) = found { Some(node) } else { None };
        let format = node.as_ref().map(NodeMeta::format);
        let attributes = node.as_ref().and_then(NodeMeta::attributes_error).map(|e| format!("{e:#}"));
        #[cfg(feature = "page")]
        let readable = match &node {
            Some(NodeMeta::Array(meta)) => meta.attributes(),
            Some(NodeMeta::Group(meta)) => meta.attributes(),
            None => Object::new(),
        };
        let array = node.and_then(NodeMeta::array);
        let resolved = array.as_ref().map(|meta| meta.resolve(registry, &Limits::default(), &mut Ignore));
        let unresolved =
            resolved.as_ref().and_then(|resolved| resolved.as_ref().err()).map(|e| format!("{e:#}"));
        let data_type = resolved.and_then(Result::ok).map(|resolved| resolved.data_type);
        let array = array.map(|meta| Layout::new(&meta, data_type.as_ref(), registry));
        // Elements or attributes of the node cannot be read.
        let problem = problem.or(unresolved).or(attributes);
        Self {
            path,
            kind,
            format,
            array,
            problem,
            #[cfg(feature = "page")]
            attributes: readable,
        }
    }

    /// Whether it is a node that cannot be fully used.
    pub(crate) fn is_broken(&self) -> bool {
        self.kind != "none" && self.problem.is_some()
    }

    /// Returns the kind for people.
    pub(crate) fn kind(&self) -> &'static str {
        if self.kind == "none" { "no node" } else { self.kind }
    }

    /// Returns the path relative to the node at `above`.
    pub(crate) fn below(&self, above: &str) -> &str {
        self.path.strip_prefix(above).unwrap_or(&self.path).trim_start_matches('/')
    }

    /// Returns the number of levels below the node at `above`.
    pub(crate) fn depth(&self, above: &str) -> usize {
        self.below(above).split('/').filter(|name| !name.is_empty()).count()
    }

    pub(crate) fn to_json(&self) -> Object {
        let mut object = json::object([("path", (&self.path).into()), ("node_type", self.kind.into())]);
        if let Some(format) = self.format {
            object.set("zarr_format", format.number());
        }
        if let Some(array) = &self.array {
            object.set("shape", array.shape.clone());
            object.set("data_type", array.data_type.to_value());
            object.set("dimension_names", array.names());
            object.set("chunk_grid", array.chunk_grid.to_value());
            object.set("chunk_shape", array.chunk_shape());
            object.set("inner_chunk_shape", array.inner_chunk_shape.clone());
            object.set("codecs", array.codecs.iter().map(Extension::to_value).collect::<Value>());
            object.set("fill_value", &array.fill_value);
        }
        if let Some(problem) = &self.problem {
            object.set("unreadable_because", problem);
        }
        object
    }
}

impl Layout {
    fn new(meta: &ArrayMeta, data_type: Option<&DataType>, registry: &Registry) -> Self {
        let (document, limits) = (meta.document(), Limits::default());
        let grid = meta.chunk_grid(registry, &limits).ok();
        let shape = document.shape();
        let size = data_type.and_then(DataType::size).map(|size| size as u128);
        Self {
            grid: Grid::of(meta, registry, &limits),
            uncompressed: size.and_then(|size| product(shape)?.checked_mul(size)),
            shape: shape.to_vec(),
            chunk_grid: document.chunk_grid().clone(),
            fill_value: document.fill_value().clone(),
            data_type: document.data_type().clone(),
            dimension_names: document.dimension_names().map(<[_]>::to_vec),
            chunks: grid.map(|grid| Extent::of(&*grid, shape)),
            inner_chunk_shape: inner_chunk_shapes(document.codecs()).and_then(|mut shapes| shapes.pop()),
            codecs: document.codecs().to_vec(),
        }
    }

    /// Returns the shape of all chunks, if they have the same.
    pub(crate) fn chunk_shape(&self) -> Option<Vec<u64>> {
        self.chunks.as_ref()?.iter().map(|extent| extent.only()).collect()
    }

    /// Returns the shape of the smallest parts that are encoded alone: inner chunks, or chunks of one shape.
    pub(crate) fn smallest_chunk(&self) -> Option<Vec<u64>> {
        self.inner_chunk_shape.clone().or_else(|| self.chunk_shape())
    }

    /// Returns the bytes of an element, if all have the same and there are elements.
    pub(crate) fn element_size(&self) -> Option<u128> {
        self.uncompressed?.checked_div(product(&self.shape)?)
    }

    pub(crate) fn lengths(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the names of dimensions in format 3.
    pub(crate) fn named(&self) -> &[Option<String>] {
        self.dimension_names.as_deref().unwrap_or_default()
    }

    /// Whether a codec may make chunks smaller.
    pub(crate) fn has_compressor(&self) -> bool {
        const PLAIN: [&str; 5] = ["bytes", "crc32c", "transpose", "vlen-bytes", "vlen-utf8"];
        inner_codecs(&self.codecs).iter().any(|codec| !PLAIN.contains(&codec.name()))
    }

    /// Returns the names of the codecs that some readers lack.
    pub(crate) fn rare_codecs(&self) -> Vec<String> {
        rare(&self.codecs)
    }

    fn names(&self) -> Value {
        self.dimension_names.as_ref().map(|n| n.iter().map(Option::as_deref).collect::<Value>()).into()
    }

    pub(crate) fn data_type(&self) -> String {
        self.data_type.to_string()
    }

    pub(crate) fn shape(&self) -> String {
        dimensions(&self.shape)
    }

    /// Returns `time, -, x`; empty if there are no names or they are long.
    pub(crate) fn dimension_names(&self) -> String {
        const LONGEST: usize = 60;
        let names = self.dimension_names.iter().flatten().map(|name| name.as_deref().unwrap_or("-"));
        let names = names.collect::<Vec<_>>().join(", ");
        if names.chars().count() <= LONGEST { names } else { String::new() }
    }

    /// Returns `8 × 6`, or `2 × 3 in 8–10 × 6` for shards.
    pub(crate) fn chunks(&self) -> String {
        let outer = self.chunks.as_ref().map_or("unknown".to_owned(), |chunks| shape(chunks));
        match &self.inner_chunk_shape {
            Some(inner) => format!("{} in {outer}", shape(inner)),
            None => outer,
        }
    }

    /// Returns `bytes > zstd`.
    pub(crate) fn codecs(&self) -> String {
        short(&self.codecs)
    }
}

fn shape(lengths: &[impl ToString]) -> String {
    if lengths.is_empty() { "-".to_owned() } else { dimensions(lengths) }
}

/// Returns the names of codecs; a shard also with its inner codecs.
fn short(codecs: &[Extension]) -> String {
    let name = |codec: &Extension| match Sharding::parse(codec) {
        Ok(Some(sharding)) => format!("{}({})", codec.name(), short(&sharding.codecs)),
        _ => codec.name().to_owned(),
    };
    codecs.iter().map(name).collect::<Vec<_>>().join(" > ")
}
