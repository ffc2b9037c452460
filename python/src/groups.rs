//! Groups of the package's own API, and functions that open and create nodes.

use std::sync::Mutex;

use pyo3::prelude::*;
use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::{
    ArrayBuilder, ArrayMeta, Format, GroupMeta, Ignore, Members2, MetaResult, codecs::written,
    data_type_of_dtype,
};
use zarr_array::traits::BoxFuture;
use zarr_array::traits::extension::Context;
use zarr_array::{ArrayError, ArrayResult, CreateOptions, DataType};
use zarr_hierarchy::{
    Child, ChildState, EraseOptions, ExistingNode, Group, GroupOptions, HierarchyResult, Node, NodeKind,
    UseConsolidated,
};
use zarr_traits::lock::unpoisoned;

use crate::arrays::{ArrayHandle, format_number, notes};
use crate::error::{raised, raised_in_group};
use crate::interrupt::wait;
use crate::json::{Changes, parse};
use crate::known::{limits, registry};
use crate::storage::Storage;

/// An open group. Documents pass as JSON text.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct GroupHandle(Mutex<Group>);

/// A node below a group: its name or path, its kind (`array`, `group`) or `None` for a broken node, and the shape and
/// metadata of an array, or the reason why a node is broken.
type Listed = (String, Option<&'static str>, Option<Vec<u64>>, Option<String>);

/// A child of a group, whose metadata was read with those of its siblings.
#[pyclass(frozen, module = "zarr_rs._native")]
pub(crate) struct ChildHandle {
    storage: zarr_traits::Storage,
    #[pyo3(get)]
    name: String,
    child: Mutex<Option<Child>>,
}

#[pymethods]
impl ChildHandle {
    /// Opens the child with the metadata that was read. Returns `None` if it was opened before: then the metadata may be old.
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(child) = unpoisoned(self.child.lock()).take() else { return Ok(None) };
        let node = child.open().map_err(|e| raised_in_group(py, &self.storage, &e))?;
        handle(py, node).map(Some)
    }
}

#[pymethods]
impl GroupHandle {
    #[getter]
    fn path(&self) -> String {
        self.get().path()
    }

    #[getter]
    fn zarr_format(&self) -> u8 {
        format_number(self.get().format())
    }

    #[getter]
    fn attributes(&self) -> String {
        self.get().attributes().to_value().to_compact()
    }

    #[getter]
    fn is_consolidated(&self) -> bool {
        self.get().is_consolidated()
    }

    #[getter]
    fn diagnostics(&self) -> Vec<(String, String, String)> {
        notes(self.get().diagnostics())
    }

    /// Lists the children whose documents can be read, by name.
    fn children(&self, py: Python<'_>) -> PyResult<Vec<ChildHandle>> {
        let group = self.get();
        let children = group_result(py, group.storage(), group.children())?;
        let nodes = children.into_iter().filter(|child| child.kind().is_some());
        let handles = nodes.map(|child| ChildHandle {
            storage: group.storage().clone(),
            name: child.name().to_owned(),
            child: Mutex::new(Some(child)),
        });
        Ok(handles.collect())
    }

    /// Opens the children, by name. In place of one that cannot be opened is the exception.
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let group = self.get();
        let children = group_result(py, group.storage(), group.children())?;
        let nodes = children.into_iter().filter(|child| !matches!(child.found(), ChildState::Undocumented));
        nodes
            .map(|child| {
                let name = child.name().to_owned();
                let node = match child.open() {
                    Ok(node) => handle(py, node)?,
                    Err(e) => {
                        raised_in_group(py, group.storage(), &e).into_value(py).into_bound(py).into_any()
                    }
                };
                Ok((name, node))
            })
            .collect()
    }

    /// Lists all nodes below the group by path. `levels` limits the depth.
    fn walk(&self, py: Python<'_>, levels: Option<usize>) -> PyResult<Vec<Listed>> {
        let mut walk = self.get().walk().levels(levels.unwrap_or(usize::MAX));
        let mut all = Vec::new();
        while let Some(child) = wait(py, walk.next())? {
            // A local store answers without a wait.
            py.check_signals()?;
            all.push(listed(&child, child.path()));
        }
        Ok(all)
    }

    /// Opens the node at a path below the group. Returns `None` if there is none.
    fn node<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let group = self.get();
        let node = group_result(py, group.storage(), group.node(path))?;
        node.map(|node| handle(py, node)).transpose()
    }

    /// Whether there is a node at a path below the group.
    fn exists(&self, py: Python<'_>, path: &str) -> PyResult<bool> {
        let group = self.get();
        group_result(py, group.storage(), group.exists(path))
    }

    /// Changes attributes.
    fn edit_attributes(&self, py: Python<'_>, changes: Changes) -> PyResult<()> {
        self.change(py, |group| Box::pin(group.edit_attributes(move |attributes| changes.apply(attributes))))
    }

    /// Reads the metadata again.
    fn reload(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |group| Box::pin(group.reload()))
    }

    /// Consolidates the metadata. Returns the number of nodes in it, and the nodes that are not, with the reasons.
    fn consolidate(&self, py: Python<'_>) -> PyResult<(usize, Vec<(String, String)>)> {
        let report = self.change(py, |group| Box::pin(group.consolidate()))?;
        let left_out = report.left_out.into_iter().map(|(path, e)| (path, format!("{e:#}")));
        Ok((report.nodes, left_out.collect()))
    }

    /// Removes consolidated metadata.
    fn remove_consolidated(&self, py: Python<'_>) -> PyResult<()> {
        self.change(py, |group| Box::pin(group.remove_consolidated()))
    }
}

impl GroupHandle {
    pub(crate) fn get(&self) -> Group {
        unpoisoned(self.0.lock()).clone()
    }

    fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl for<'a> FnOnce(&'a mut Group) -> BoxFuture<'a, HierarchyResult<T>>,
    ) -> PyResult<T> {
        let mut group = self.get();
        let storage = group.storage().clone();
        let changed = group_result(py, &storage, change(&mut group))?;
        *unpoisoned(self.0.lock()) = group;
        Ok(changed)
    }
}

/// Opens the array or the group at a path.
#[pyfunction]
#[pyo3(signature = (storage, path, *, zarr_format=None, use_consolidated=None))]
pub(crate) fn open_node<'py>(
    py: Python<'py>,
    storage: &Storage,
    path: &str,
    zarr_format: Option<u8>,
    use_consolidated: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let format = zarr_format.map(format_of);
    let consolidated = match use_consolidated {
        None => UseConsolidated::IfPresent,
        Some(true) => UseConsolidated::Require,
        Some(false) => UseConsolidated::Ignore,
    };
    let options = group_options().format(format).use_consolidated(consolidated);
    let storage = &storage.0;
    let node = group_result(py, storage, async {
        Node::open_with(storage.clone(), path, registry()?, &options).await
    })?;
    handle(py, node)
}

/// Creates a group at a path, with attributes as JSON text.
#[pyfunction]
pub(crate) fn create_group<'py>(
    py: Python<'py>,
    storage: &Storage,
    path: &str,
    attributes: &str,
    zarr_format: u8,
    overwrite: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let storage = &storage.0;
    let group = group_result(py, storage, async {
        let meta = GroupMeta::new(format_of(zarr_format))?.with_attributes(parse(attributes)?)?;
        let options = group_options().existing(existing(overwrite));
        Group::create_with(storage.clone(), path, meta, registry()?, &options).await
    })?;
    handle(py, Node::Group(group))
}

/// What a new array is, as JSON text where it is not plain.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct NewArray {
    shape: Vec<u64>,
    /// A type string or a list of fields as NumPy has it, or a data type of format 3.
    data_type: String,
    /// Whether `data_type` is that of NumPy.
    is_dtype: bool,
    chunks: Option<Vec<u64>>,
    /// A chunk grid that is not regular, in place of `chunks`.
    grid: Option<String>,
    shards: Option<Vec<u64>>,
    codecs: Option<Vec<String>>,
    /// Of format 2, in place of `codecs`: a list of filters, or null, and a compressor, or null.
    filters: Option<String>,
    compressor: Option<String>,
    /// Of format 2: the order of the elements in a chunk.
    order: Option<String>,
    key_encoding: Option<String>,
    fill: Option<String>,
    dimension_names: Option<Vec<Option<String>>>,
    attributes: String,
    zarr_format: u8,
}

/// Creates an array at a path.
#[pyfunction]
pub(crate) fn create_array<'py>(
    py: Python<'py>,
    storage: &Storage,
    path: &str,
    new: NewArray,
    overwrite: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let storage = &storage.0;
    let created = wait(py, async {
        let options = CreateOptions::new().existing(existing(overwrite)).limits(limits());
        zarr_array::Array::create_with(storage.clone(), path, new.metadata()?, registry()?, &options).await
    })?;
    handle(py, Node::Array(created.map_err(|e| raised(py, storage, &e))?))
}

/// Erases the node at a path, with everything below it.
#[pyfunction]
pub(crate) fn erase(py: Python<'_>, storage: &Storage, path: &str) -> PyResult<()> {
    let storage = &storage.0;
    group_result(py, storage, zarr_hierarchy::erase(storage.clone(), path, &EraseOptions::new()))
}

impl NewArray {
    fn metadata(self) -> ArrayResult<ArrayMeta> {
        let registry = registry()?;
        let data_type = self.data_type()?;
        let (rank, has_shards) = (self.shape.len(), self.shards.is_some());
        let mut builder =
            ArrayMeta::builder(self.shape, data_type.clone()).attributes(parse(&self.attributes)?);
        if let Some(codecs) = self.codecs {
            let codecs = codecs.iter().map(|codec| Extension::parse(&parse(codec)?, &mut Ignore));
            let codecs: Vec<Extension> = codecs.collect::<MetaResult<_>>()?;
            builder = builder.codecs(written(&codecs, &data_type, rank, registry));
        }
        if let Some(chunks) = self.chunks {
            builder = builder.chunks(chunks);
        }
        if let Some(grid) = &self.grid {
            builder = builder.chunk_grid(Extension::parse(&parse(grid)?, &mut Ignore)?);
        }
        if let Some(shards) = self.shards {
            builder = builder.shards(shards);
        }
        if let Some(fill) = &self.fill {
            builder = builder.fill(parse(fill)?);
        }
        if let Some(names) = self.dimension_names {
            builder = builder.dimension_names(names);
        }
        let keys = self.key_encoding.map(|keys| Extension::parse(&parse(&keys)?, &mut Ignore)).transpose()?;
        if self.zarr_format != 2 {
            return Ok(keys.into_iter().fold(builder, ArrayBuilder::chunk_key_encoding).build()?);
        }
        let keys = keys.unwrap_or_else(|| Extension::new("v2").with("separator", "."));
        let builder = builder.chunk_key_encoding(keys);
        let mut meta = builder.clone().build()?;
        // Format 2 has no shards, which the builder chooses for large arrays: only their chunks.
        if !has_shards && let Some(chunks) = chunks_of_shards(&meta) {
            meta = builder.chunks(chunks).build()?;
        }
        let meta = meta.to_v2()?;
        let member = |text: Option<String>| text.as_deref().map(parse).transpose();
        let mut members = Members2::default();
        members.order = self.order.map(Value::from);
        members.filters = member(self.filters)?;
        members.compressor = member(self.compressor)?;
        Ok(if members == Members2::default() { meta } else { meta.with_members2(&members)? })
    }

    fn data_type(&self) -> ArrayResult<DataType> {
        let (limits, registry, value) = (limits(), registry()?, parse(&self.data_type)?);
        let extension =
            if self.is_dtype { of_dtype(&value)? } else { Extension::parse(&value, &mut Ignore)? };
        let found = registry.data_type(&extension.to_spec(), &Context::new(registry, &limits));
        Ok(found.map_err(ArrayError::from)?.0)
    }
}

/// Returns the shape of the chunks in the shards of an array.
fn chunks_of_shards(meta: &ArrayMeta) -> Option<Vec<u64>> {
    let shards = meta.document().codecs().first().filter(|codec| codec.name() == "sharding_indexed")?;
    shards.configuration().get("chunk_shape")?.elements()?.map(|length| length.as_u64()).collect()
}

/// Returns the data type of a dtype of NumPy. The byte order in memory is not that of the chunks.
fn of_dtype(dtype: &Value) -> MetaResult<Extension> {
    data_type_of_dtype(dtype, &limits()).map(|(extension, _)| extension)
}

/// Returns the format with a number.
pub(crate) fn format_of(number: u8) -> Format {
    if number == 2 { Format::V2 } else { Format::V3 }
}

fn group_options() -> GroupOptions {
    GroupOptions::new().limits(limits())
}

fn existing(overwrite: bool) -> ExistingNode {
    if overwrite { ExistingNode::Replace } else { ExistingNode::Fail }
}

fn listed(child: &Child, name: String) -> Listed {
    match (child.kind(), child.metadata().and_then(|meta| meta.clone().array())) {
        (Some(NodeKind::Array), Some(meta)) => {
            (name, Some("array"), Some(meta.shape().to_vec()), Some(meta.document().to_text()))
        }
        (Some(NodeKind::Group), _) => (name, Some("group"), None, None),
        _ => {
            let reason =
                child.error().map_or_else(|| "no metadata document".to_owned(), |e| format!("{e:#}"));
            (name, None, None, Some(reason))
        }
    }
}

/// Returns the Python handle of a node.
fn handle(py: Python<'_>, node: Node) -> PyResult<Bound<'_, PyAny>> {
    match node {
        Node::Array(array) => Ok(Bound::new(py, ArrayHandle::from(Array::from(array)))?.into_any()),
        Node::Group(group) => Ok(Bound::new(py, GroupHandle(Mutex::new(group)))?.into_any()),
        _ => Err(pyo3::exceptions::PyNotImplementedError::new_err("a node of another kind")),
    }
}

fn group_result<T: Send>(
    py: Python<'_>,
    storage: &zarr_traits::Storage,
    work: impl Future<Output = HierarchyResult<T>> + Send,
) -> PyResult<T> {
    wait(py, work)?.map_err(|e| raised_in_group(py, storage, &e))
}
