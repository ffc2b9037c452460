//! Arrays and groups.

use futures_util::future::{Either, select};
use js_sys::{Array as List, Promise, Uint8Array};
use std::pin::pin;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use zarr_array::meta::NodeMeta;
use zarr_array::traits::Prefix;
use zarr_array::{Array, ArrayError, OpenOptions, Registry, Storage, node, standard};
use zarr_hierarchy::{Child, ChildState, Group, HierarchyResult, Node as Opened};

use crate::elements::{self, Form, form_of, lengths};
use crate::error::{JsResult, number, object, of_array, of_hierarchy, of_store, wrong};
use crate::store::Store;

/// An array or a group.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Node(Opened);

#[wasm_bindgen]
impl Node {
    /// Opens the node at `path`. The promise is of `undefined` if there is none.
    pub fn open(store: &Store, path: &str) -> JsResult<Promise> {
        let prefix = Prefix::of_node(path).map_err(of_store)?;
        let storage = store.storage();
        Ok(future_to_promise(async move { Ok(Self::of(open(&storage, &prefix).await?)) }))
    }

    /// Opens the node at a path relative to this group. The promise is of `undefined` if there is none.
    pub fn child(&self, path: String) -> JsResult<Promise> {
        let group = self.group()?.clone();
        Ok(future_to_promise(
            async move { Ok(Self::of(group.node(&path).await.map_err(|e| of_hierarchy(&e))?)) },
        ))
    }

    /// Describes the nodes below this group: all of them, or only its children. The promise is of a list of objects with
    /// the members of [`describe`](Self::describe), or `path` and `error`.
    pub fn below(&self, all: bool) -> JsResult<Promise> {
        let group = self.group()?.clone();
        Ok(future_to_promise(async move {
            let mut walk = if all { group.walk() } else { group.walk().levels(1) };
            let nodes = List::new();
            while let Some(child) = walk.next().await {
                if !matches!(child.found(), ChildState::Undocumented) {
                    nodes.push(&listed(child)?);
                }
            }
            Ok(nodes.into())
        }))
    }

    /// Returns the members of the node that `lib` shows.
    pub fn describe(&self) -> JsResult<JsValue> {
        describe(&self.0)
    }

    /// Reads a selection. `cancelled` is a promise that is rejected when the read is to end, or `undefined`.
    pub fn read(&self, selection: &[f64], cancelled: JsValue) -> JsResult<Promise> {
        let Opened::Array(array) = &self.0 else { return Err(wrong("a group has no elements")) };
        let (array, selection) = (array.clone(), elements::selection(selection)?);
        Ok(future_to_promise(async move {
            let read = pin!(elements::read(&array, selection));
            if cancelled.is_undefined() {
                return read.await;
            }
            match select(read, JsFuture::from(Promise::resolve(&cancelled))).await {
                Either::Left((read, _)) => read,
                Either::Right((reason, _)) => reason,
            }
        }))
    }
}

impl Node {
    fn of(opened: Option<Opened>) -> JsValue {
        opened.map_or(JsValue::UNDEFINED, |opened| Self(opened).into())
    }

    fn group(&self) -> JsResult<&Group> {
        match &self.0 {
            Opened::Group(group) => Ok(group),
            _ => Err(wrong("an array has no nodes below it")),
        }
    }
}

/// Opens the node at a prefix: an array from the documents that were read, a group with its consolidated metadata.
async fn open(storage: &Storage, prefix: &Prefix) -> JsResult<Option<Opened>> {
    let registry = registry().map_err(|e| of_array(&e))?;
    let limits = zarr_array::Limits::default();
    let found = node::read(storage, prefix, None, &limits, false).await.map_err(|e| of_array(&e))?;
    match found {
        None => Ok(None),
        Some((NodeMeta::Group(_), _)) => {
            let group = Group::open(storage.clone(), &prefix.node_path(), &registry).await;
            Ok(Some(Opened::Group(group.map_err(|e| of_hierarchy(&e))?)))
        }
        Some((NodeMeta::Array(meta), notes)) => {
            let options = OpenOptions::new().limits(limits);
            let array =
                Array::from_metadata(storage.clone(), prefix.clone(), meta, notes, &registry, &options);
            Ok(Some(Opened::Array(array.map_err(|e| of_array(&e))?)))
        }
    }
}

fn listed(child: Child) -> JsResult<JsValue> {
    let path = child.path();
    let opened: HierarchyResult<Opened> = child.open();
    match opened {
        Ok(opened) => describe(&opened),
        Err(e) => Ok(object(&[("path", path.into()), ("error", of_hierarchy(&e))])),
    }
}

fn describe(node: &Opened) -> JsResult<JsValue> {
    match node {
        Opened::Array(array) => Ok(described(array)),
        Opened::Group(group) => Ok(object(&[
            ("kind", "group".into()),
            ("path", group.path().into()),
            ("format", group.format().to_string().into()),
            ("attributes", group.attributes().to_value().as_raw().into()),
            ("isConsolidated", group.is_consolidated().into()),
        ])),
        _ => Err(wrong("the node is of an unknown kind")),
    }
}

fn described(array: &Array) -> JsValue {
    let name = |name: &Option<String>| name.as_deref().map_or(JsValue::NULL, JsValue::from_str);
    let names = array.metadata().dimension_names();
    let names = names.map_or(JsValue::UNDEFINED, |names| List::from_iter(names.iter().map(name)).into());
    let first = vec![0; array.shape().len()];
    let chunk = array.chunk_shape(&first).map_or(JsValue::UNDEFINED, |chunk| lengths(&chunk));
    let form = match form_of(array.data_type()) {
        Form::Fixed => "fixed",
        Form::Text => "text",
        Form::Bytes => "bytes",
    };
    let size = array.data_type().size().map_or(JsValue::UNDEFINED, |size| number(size as u64));
    object(&[
        ("kind", "array".into()),
        ("path", array.path().into()),
        ("format", array.metadata().format().to_string().into()),
        ("attributes", array.attributes().to_value().as_raw().into()),
        ("shape", lengths(array.shape())),
        ("chunkShape", chunk),
        ("dataType", array.data_type().name().into_owned().into()),
        ("form", form.into()),
        ("elementSize", size),
        ("fill", Uint8Array::from(array.fill().bytes()).into()),
        ("dimensionNames", names),
    ])
}

/// All codecs, data types and grids that this package knows.
fn registry() -> Result<Registry, ArrayError> {
    standard().with(zarr_codecs_numcodecs::CODECS).map_err(ArrayError::from)
}
