//! The document of an array (checklist A.1 to A.6).

use zarr_traits::Limits;

use super::node::{self, Node, NodeType, required};
use super::{Extension, lint};
use crate::diagnostic::{Below, Capped, Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaResult};
use crate::json::{Document, Kind, Object, Value, pointer};

const KNOWN: &[&str] = &[
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "dimension_names",
    "storage_transformers",
];

/// The `zarr.json` of an array: complete and well-formed, its extensions and fill value not yet understood.
#[derive(Debug, Clone)]
pub struct ArrayDocument {
    node: Node,
    shape: Vec<u64>,
    data_type: Extension,
    chunk_grid: Extension,
    chunk_key_encoding: Extension,
    fill_value: Value,
    codecs: Vec<Extension>,
    storage_transformers: Vec<Extension>,
    dimension_names: Option<Vec<Option<String>>>,
}

impl ArrayDocument {
    /// Reads a `zarr.json`, tolerantly; what was tolerated is reported to `sink`.
    ///
    /// # Errors
    /// When it is no valid document of an array, exceeds `limits`, or `sink` says so.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let document = Document::parse(bytes, limits, sink)?;
        Self::read(Node::read_only(document, NodeType::Array, sink)?, limits, sink)
    }

    /// A document that was made here, laid out for people.
    pub(crate) fn new(root: &Value, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        Self::read(Node::new(root), limits, sink)
    }

    pub(super) fn read(node: Node, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let sink: &mut dyn Sink = &mut Capped::new(sink);
        let members = &node.members;
        let mut extension = |place: &str, beside| {
            let value = required(members, place)?;
            Extension::parse_with(&value, beside, &mut Below::member(place, &mut *sink))
                .map_err(|e| e.at(place))
        };
        let data_type = extension("/data_type", None)?;
        let chunk_grid = extension("/chunk_grid", None)?;
        let chunk_key_encoding = extension("/chunk_key_encoding", Some("separator"))?;
        let fill_value = required(members, "/fill_value")?;
        let codecs = extensions(&required(members, "/codecs")?, "/codecs", limits, sink)?;
        let storage_transformers = match members.get("storage_transformers") {
            None => Vec::new(),
            Some(v) if v.is_null() => {
                let message = "expected an array, found null, read as []";
                sink.report(Diagnostic::new(Code::NullTransformers, "/storage_transformers", message))?;
                Vec::new()
            }
            Some(v) => extensions(&v, "/storage_transformers", limits, sink)?,
        };
        let shape = node::lengths(&required(members, "/shape")?, "/shape", limits.rank, sink)?;
        let dimension_names = dimension_names(members.get("dimension_names"), shape.len(), sink)?;
        node.check_unknown(KNOWN, sink)?;
        Ok(Self {
            node,
            shape,
            data_type,
            chunk_grid,
            chunk_key_encoding,
            fill_value,
            codecs,
            storage_transformers,
            dimension_names,
        })
    }

    /// The length of each dimension, in elements; none for a scalar.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The data type.
    pub fn data_type(&self) -> &Extension {
        &self.data_type
    }

    /// The chunk grid.
    pub fn chunk_grid(&self) -> &Extension {
        &self.chunk_grid
    }

    /// The chunk key encoding.
    pub fn chunk_key_encoding(&self) -> &Extension {
        &self.chunk_key_encoding
    }

    /// The fill value; what it means depends on the data type.
    pub fn fill_value(&self) -> &Value {
        &self.fill_value
    }

    /// The codecs, in the order of encoding.
    pub fn codecs(&self) -> &[Extension] {
        &self.codecs
    }

    /// The storage transformers; none when the member is absent (checklist A23).
    pub fn storage_transformers(&self) -> &[Extension] {
        &self.storage_transformers
    }

    /// The name of each dimension; `None` when there are no names. An empty string is a name (checklist A11).
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.dimension_names.as_deref()
    }

    /// The attributes; empty when there are none.
    pub fn attributes(&self) -> Object {
        self.node.attributes()
    }

    /// The members that the specification does not define: waived by `must_understand: false`, or null. They are kept
    /// (checklist A29).
    pub fn additional(&self) -> impl Iterator<Item = (String, Value)> {
        self.node.additional(KNOWN)
    }

    /// Gives the array other attributes, an object.
    ///
    /// # Errors
    /// When `attributes` is no object, or holds what JSON cannot: a bare `NaN`, a lone surrogate (checklist L86).
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        self.node.set_attributes(&attributes.into())
    }

    /// Changes the attributes; what the change does not touch keeps its bytes.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> R {
        self.node.edit_attributes(change)
    }

    /// Gives the array another shape, and nothing else; see [`ArrayMeta::resize`](crate::ArrayMeta::resize) for grids that
    /// end with it.
    ///
    /// # Errors
    /// When the number of dimensions is another one.
    pub fn set_shape(&mut self, shape: &[u64]) -> MetaResult<()> {
        if shape.len() != self.shape.len() {
            let (rank, got) = (self.shape.len(), shape.len());
            return Err(MetaError::argument(format!("the array has {rank} dimensions, the new shape {got}")));
        }
        self.shape = shape.to_vec();
        self.node.members.set("shape", shape.iter().copied().collect::<Value>());
        Ok(())
    }

    /// Names the dimensions; the member is omitted when none has a name (checklist A51).
    ///
    /// # Errors
    /// When there are not as many names as dimensions.
    pub fn set_dimension_names(&mut self, names: &[Option<String>]) -> MetaResult<()> {
        if names.len() != self.shape.len() {
            let (rank, got) = (self.shape.len(), names.len());
            return Err(MetaError::argument(format!(
                "the array has {rank} dimensions, but {got} names are given"
            )));
        }
        if names.iter().any(Option::is_some) {
            self.node.members.set("dimension_names", names.iter().map(Option::as_deref).collect::<Value>());
            self.dimension_names = Some(names.to_vec());
        } else {
            self.node.members.remove("dimension_names");
            self.dimension_names = None;
        }
        Ok(())
    }

    /// Gives the array another chunk grid.
    pub(crate) fn set_chunk_grid(&mut self, grid: Extension) {
        self.node.members.set("chunk_grid", &grid);
        self.chunk_grid = grid;
    }

    /// Gives the chunks other keys, for a model of an older document.
    pub(crate) fn set_chunk_key_encoding(&mut self, encoding: Extension) {
        self.node.members.set("chunk_key_encoding", &encoding);
        self.chunk_key_encoding = encoding;
    }

    /// The text of the document; every byte that was not edited is as it was read.
    pub fn to_text(&self) -> String {
        self.node.to_text()
    }

    /// The document as a JSON value.
    pub fn to_value(&self) -> Value {
        self.node.members.to_value()
    }

    /// Reports what is valid, but unwise (checklist L.2): advice of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// What `sink` answers.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        lint::array(self, sink)
    }
}

/// A list of extensions; what is no string and no object is refused (checklist L75).
pub(super) fn extensions(
    value: &Value,
    place: &str,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> MetaResult<Vec<Extension>> {
    let elements = value.elements().ok_or_else(|| value.expected("an array").at(place))?;
    let mut extensions = Vec::new();
    for (i, element) in elements.enumerate() {
        if i >= limits.chain_length {
            return Err(
                MetaError::limit(format!("expected at most {} elements", limits.chain_length)).at(place)
            );
        }
        let extension = Extension::parse(&element, &mut Below::element(place, i, &mut *sink));
        extensions.push(extension.map_err(|e| e.at(&pointer::element(place, i)))?);
    }
    Ok(extensions)
}

/// Checklist A.3.
fn dimension_names(
    value: Option<Value>,
    rank: usize,
    sink: &mut dyn Sink,
) -> MetaResult<Option<Vec<Option<String>>>> {
    const PLACE: &str = "/dimension_names";
    let Some(value) = value else { return Ok(None) };
    if value.is_null() {
        let message = "expected an array, found null, read as if it were absent";
        sink.report(Diagnostic::new(Code::NullDimensionNames, PLACE, message))?;
        return Ok(None);
    }
    let elements = value.elements().ok_or_else(|| value.expected("an array").at(PLACE))?;
    let count = elements.clone().count();
    if count != rank {
        let message = format!("expected one name for each of {rank} dimensions, found {count}");
        return Err(MetaError::invalid(message).at(PLACE));
    }
    let name = |(i, element): (usize, Value)| match element.kind() {
        Kind::Null => Ok(None),
        Kind::String => {
            element.to_text().map(|t| Some(t.into_owned())).map_err(|e| e.at(&pointer::element(PLACE, i)))
        }
        _ => Err(element.expected("a string or null").at(&pointer::element(PLACE, i))),
    };
    elements.enumerate().map(name).collect::<MetaResult<_>>().map(Some)
}
