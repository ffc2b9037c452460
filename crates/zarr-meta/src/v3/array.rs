//! The document of an array.

use zarr_traits::Limits;

use super::extension::{Extension, extensions};
use super::members::{lengths, required};
use super::node::{Node, NodeType};
use crate::diagnostic::{Below, Capped, Code, Diagnostic, Sink};
use crate::documents::DocumentName;
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value, ValueKind, pointer};
use crate::text::parse_json;

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

/// The `zarr.json` of an array: complete and well-formed, but extensions and fill value not yet interpreted.
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
    /// Reads a `zarr.json`. Tolerated deviations are reported to `sink`.
    ///
    /// # Errors
    /// If it is not a valid document of an array or exceeds `limits`; and those of `sink`.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        let document = parse_json(bytes, limits, sink);
        document
            .and_then(|document| Self::read(Node::read_only(document, NodeType::Array, sink)?, limits, sink))
            .map_err(|e| e.in_document(DocumentName::Node.as_str()))
    }

    /// Returns a new document, indented for readability.
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
        let shape = lengths(&required(members, "/shape")?, "/shape", limits.rank, sink)?;
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

    /// Returns the length of each dimension in elements; empty for a scalar.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Returns the data type.
    pub fn data_type(&self) -> &Extension {
        &self.data_type
    }

    /// Returns the chunk grid.
    pub fn chunk_grid(&self) -> &Extension {
        &self.chunk_grid
    }

    /// Returns the chunk key encoding.
    pub fn chunk_key_encoding(&self) -> &Extension {
        &self.chunk_key_encoding
    }

    /// Returns the fill value. Its meaning depends on the data type.
    pub fn fill_value(&self) -> &Value {
        &self.fill_value
    }

    /// Returns the codecs in the order of encoding.
    pub fn codecs(&self) -> &[Extension] {
        &self.codecs
    }

    /// Returns the storage transformers; empty if the member is absent.
    pub fn storage_transformers(&self) -> &[Extension] {
        &self.storage_transformers
    }

    /// Returns the name of each dimension, or `None` if there are no names. An empty string is a name.
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.dimension_names.as_deref()
    }

    /// Returns the attributes; empty if there are none.
    pub fn attributes(&self) -> Object {
        self.node.attributes()
    }

    /// Iterates over the members that the specification does not define, with `must_understand: false` or null. They
    /// are kept on writing.
    pub fn additional(&self) -> impl Iterator<Item = (String, Value)> {
        self.node.additional(KNOWN)
    }

    /// Replaces the attributes. `attributes` must be an object.
    ///
    /// # Errors
    /// If `attributes` is not an object, or has a value that JSON cannot represent: a bare `NaN`, a lone surrogate.
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        self.node.set_attributes(&attributes.into())
    }

    /// Replaces the attributes by those of a stored node, with the spelling of their values.
    pub(crate) fn keep_attributes(&mut self, attributes: &Object) {
        self.node.members.set("attributes", attributes);
    }

    /// Changes the attributes. Members that are not changed keep their bytes.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> R {
        self.node.edit_attributes(change)
    }

    /// Changes the shape only. See [`ArrayMeta::resize`](crate::ArrayMeta::resize) for chunk grids that end with the
    /// array.
    ///
    /// # Errors
    /// If the number of dimensions differs.
    pub fn set_shape(&mut self, shape: &[u64]) -> MetaResult<()> {
        if shape.len() != self.shape.len() {
            let (rank, got) = (self.shape.len(), shape.len());
            return Err(MetaError::argument(format!("the array has {rank} dimensions, the new shape {got}")));
        }
        self.shape = shape.to_vec();
        self.node.members.set("shape", shape.iter().copied().collect::<Value>());
        Ok(())
    }

    /// Sets the names of the dimensions. If all are `None` the member is removed.
    ///
    /// # Errors
    /// If the number of names is not the number of dimensions.
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

    /// Replaces the fill value.
    pub(crate) fn set_fill_value(&mut self, value: Value) {
        self.node.members.set("fill_value", &value);
        self.fill_value = value;
    }

    /// Replaces the chunk grid.
    pub(crate) fn set_chunk_grid(&mut self, grid: Extension) {
        self.node.members.set("chunk_grid", &grid);
        self.chunk_grid = grid;
    }

    /// Replaces the chunk key encoding in a model of an older document.
    pub(crate) fn set_chunk_key_encoding(&mut self, encoding: Extension) {
        self.node.members.set("chunk_key_encoding", &encoding);
        self.chunk_key_encoding = encoding;
    }

    /// Returns the text of the document. Every byte that was not edited is as it was read.
    pub fn to_text(&self) -> String {
        self.node.to_text()
    }

    /// Returns the document as a JSON value.
    pub fn to_value(&self) -> Value {
        self.node.members.to_value()
    }
}

/// Reads `dimension_names`.
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
        ValueKind::Null => Ok(None),
        ValueKind::String => {
            Ok(Some(element.to_text().map_err(|e| e.at(&pointer::element(PLACE, i)))?.into_owned()))
        }
        _ => Err(element.expected("a string or null").at(&pointer::element(PLACE, i)).into()),
    };
    elements.enumerate().map(name).collect::<MetaResult<_>>().map(Some)
}
