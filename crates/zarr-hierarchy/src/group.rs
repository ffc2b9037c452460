//! The handle on a group.

use std::sync::Arc;

use zarr_array::meta::consolidated::{self, Index};
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::path::normalize;
use zarr_array::meta::{DocumentName, GroupMeta, Ignore, NodeMeta};
use zarr_array::traits::{Bytes, Key, Prefix};
use zarr_array::{Array, Diagnostic, Format, OpenOptions, Registry, Storage, node};
use zarr_store::Consolidated;

use crate::child::Node;
use crate::error::{HierarchyError, HierarchyResult};
use crate::options::{GroupOptions, ImplicitGroups, UseConsolidated};

/// A group in a store, open: its metadata, and the way to the nodes below it. Whatever is opened through it has its registry,
/// limits and options.
///
/// Cheap to clone. Paths are relative to the group; a slash in front changes nothing. The blocking twin, with the same
/// names, is [`blocking::Group`](crate::blocking::Group).
///
/// ```
/// # use zarr_hierarchy::{Group, HierarchyResult, zarr_array::{Registry, Storage}};
/// # async fn example(storage: Storage, registry: &Registry) -> HierarchyResult<()> {
/// let root = Group::open(storage, "/", registry).await?;
/// for child in root.children().await? {
///     println!("{}: {:?}", child.path(), child.kind());
/// }
/// let t2m = root.array("climate/t2m").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Group {
    pub(crate) shared: Arc<Shared>,
    pub(crate) prefix: Prefix,
    pub(crate) meta: Arc<GroupMeta>,
    pub(crate) diagnostics: Arc<[Diagnostic]>,
}

/// What a group and all that is opened through it remember.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The storage, behind the layer of consolidated metadata when that is used.
    pub(crate) storage: Storage,
    pub(crate) layer: Option<Consolidated>,
    /// The format of all nodes, where consolidated metadata says which nodes there are.
    pub(crate) only: Option<Format>,
    pub(crate) registry: Registry,
    pub(crate) options: GroupOptions,
}

impl GroupOptions {
    /// Opens the group at `path`.
    ///
    /// In format 3 that is one request, with consolidated metadata as well. In format 2 it is one for a `zarr.json`, unless
    /// the format was named, three at once for the documents, and one for consolidated metadata.
    ///
    /// # Errors
    /// As [`Group::open`].
    pub async fn open(
        &self,
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
    ) -> HierarchyResult<Group> {
        let (storage, prefix) = (storage.into(), Prefix::of_node(path)?);
        let opened = self.open_at(storage, &prefix, registry).await;
        opened.map_err(|e| e.at(&prefix.node_path()))
    }

    async fn open_at(
        &self,
        storage: Storage,
        prefix: &Prefix,
        registry: &Registry,
    ) -> HierarchyResult<Group> {
        let limits = &self.writing.limits;
        let found = node::read(&storage, prefix, self.format, limits, self.strict).await?;
        let (meta, mut diagnostics) = match found {
            Some((NodeMeta::Group(meta), diagnostics)) => (meta, diagnostics),
            Some((NodeMeta::Array(_), _)) => {
                return Err(HierarchyError::not_found("there is an array, not a group"));
            }
            None => match self.absent(&storage, prefix).await? {
                Some(meta) => (meta, Vec::new()),
                None => return Err(HierarchyError::not_found("there is no group")),
            },
        };
        let known = self.known(&storage, prefix, &meta, &mut diagnostics).await?;
        let (storage, layer) = match known {
            None if self.use_consolidated == UseConsolidated::Require => {
                return Err(HierarchyError::not_found("the group has no consolidated metadata"));
            }
            None => (storage, None),
            Some(known) => {
                let covers = match meta.format() {
                    Format::V3 => |key: &Key| DocumentName::of(key.name()) == Some(DocumentName::Node),
                    _ => |key: &Key| {
                        DocumentName::of(key.name()).is_some_and(|name| name.format() == Format::V2)
                    },
                };
                let (storage, layer) = Consolidated::over(&storage, prefix.clone(), known, covers);
                (storage, Some(layer))
            }
        };
        let only = layer.is_some().then(|| meta.format());
        let shared = Shared { storage, layer, only, registry: registry.clone(), options: self.clone() };
        let (meta, diagnostics) = (Arc::new(meta), diagnostics.into());
        Ok(Group { shared: Arc::new(shared), prefix: prefix.clone(), meta, diagnostics })
    }

    /// What to make of a path without a document (checklist F13).
    async fn absent(&self, storage: &Storage, prefix: &Prefix) -> HierarchyResult<Option<GroupMeta>> {
        let Ok(lister) = storage.lister() else { return Ok(None) };
        if lister.list_dir(prefix).await?.prefixes.is_empty() {
            return Ok(None);
        }
        if self.implicit == ImplicitGroups::Treat {
            return Ok(Some(GroupMeta::new(self.format.unwrap_or(Format::V3))?));
        }
        let message = "there is no group: nothing but folders is here, and without a document they make no group; \
                       `ImplicitGroups::Treat` takes them for one, nodes below open by their paths";
        Err(HierarchyError::not_found(message))
    }

    /// The documents that the consolidated metadata of a group holds, and those of the group itself.
    async fn known(
        &self,
        storage: &Storage,
        prefix: &Prefix,
        meta: &GroupMeta,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> HierarchyResult<Option<Vec<(Key, Bytes)>>> {
        if self.use_consolidated == UseConsolidated::Ignore {
            return Ok(None);
        }
        let index = match meta.format() {
            Format::V3 => match meta.consolidated() {
                Some(metadata) => Index::inline(&metadata, diagnostics)?,
                None => return Ok(None),
            },
            _ => match storage.get(&prefix.key(consolidated::OBJECT2)?).await? {
                Some(bytes) => Index::parse(&bytes, &self.writing.limits, diagnostics)?,
                None => return Ok(None),
            },
        };
        // What is no legal key cannot be in the store either.
        let keys = index.documents().filter_map(|(key, document)| {
            Some((prefix.key(key).ok()?, Bytes::copy_from_slice(document.as_raw().as_bytes())))
        });
        let own = meta.documents().into_iter().filter_map(|(name, text)| Some((name, text?)));
        let own = own.map(|(name, text)| Ok((prefix.key(name.as_str())?, Bytes::from(text))));
        let own: Vec<_> = own.collect::<HierarchyResult<_>>()?;
        Ok(Some(keys.chain(own).collect()))
    }
}

impl Group {
    /// Opens the group at `path` (`/`, `a/b`, `/a/b`), tolerantly, with its consolidated metadata where it has some; see
    /// [`GroupOptions`] for more.
    ///
    /// # Errors
    /// [`NotFound`](zarr_array::ArrayErrorKind::NotFound) when there is no group;
    /// [`Metadata`](zarr_array::ArrayErrorKind::Metadata) when its document is invalid; those of the store.
    pub async fn open(storage: impl Into<Storage>, path: &str, registry: &Registry) -> HierarchyResult<Self> {
        GroupOptions::new().open(storage, path, registry).await
    }

    /// The path in the store: `/`, `/a/b`.
    pub fn path(&self) -> String {
        self.prefix.node_path()
    }

    /// The prefix of the group in the store.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The version of the format.
    pub fn format(&self) -> Format {
        self.meta.format()
    }

    /// The metadata: the documents as they are stored.
    pub fn metadata(&self) -> &GroupMeta {
        &self.meta
    }

    /// The attributes; empty when there are none.
    pub fn attributes(&self) -> Object {
        self.meta.attributes()
    }

    /// What deviated from the specification when the group was opened, and was tolerated.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The storage; where consolidated metadata is used, behind it.
    pub fn storage(&self) -> &Storage {
        &self.shared.storage
    }

    /// The storage itself, whatever consolidated metadata says.
    pub fn store(&self) -> &Storage {
        self.shared.store()
    }

    /// The registry that arrays are opened with.
    pub fn registry(&self) -> &Registry {
        &self.shared.registry
    }

    /// The options that it was opened with.
    pub fn options(&self) -> &GroupOptions {
        &self.shared.options
    }

    /// Whether nodes below are found in consolidated metadata, and not by asking the store.
    pub fn is_consolidated(&self) -> bool {
        self.shared.layer.is_some()
    }

    /// The prefix of a node at a path relative to this group; the empty path is the group itself.
    pub(crate) fn below(&self, path: &str) -> HierarchyResult<Prefix> {
        match normalize(path)?.as_str() {
            "/" => Ok(self.prefix.clone()),
            path => Ok(self.prefix.child(&path[1..])?),
        }
    }

    /// The node at a path: nothing when there is none. One request, none with consolidated metadata.
    ///
    /// # Errors
    /// When its documents are invalid, or the array uses what the registry does not know; those of the store.
    pub async fn node(&self, path: &str) -> HierarchyResult<Option<Node>> {
        let prefix = self.below(path)?;
        let found = self.shared.read(&prefix, self.shared.only).await;
        let node = found.and_then(|found| {
            let opened = found.map(|(meta, notes)| Node::open(&self.shared, &prefix, meta, notes));
            opened.transpose()
        });
        node.map_err(|e| e.at(&prefix.node_path()))
    }

    /// Whether there is a node at a path.
    ///
    /// # Errors
    /// Those of the store. A node whose documents are invalid exists.
    pub async fn exists(&self, path: &str) -> HierarchyResult<bool> {
        let Shared { storage, only, .. } = &*self.shared;
        Ok(node::documents(storage, &self.below(path)?, *only).await?.make_node())
    }

    /// Opens the group at a path.
    ///
    /// # Errors
    /// [`NotFound`](zarr_array::ArrayErrorKind::NotFound) when there is no group, and as [`node`](Self::node).
    pub async fn group(&self, path: &str) -> HierarchyResult<Self> {
        let prefix = self.below(path)?;
        let group = async {
            match self.shared.read(&prefix, self.shared.only).await? {
                Some((NodeMeta::Group(meta), notes)) => Ok(Self::at(&self.shared, &prefix, meta, notes)),
                Some(_) => Err(HierarchyError::not_found("there is an array, not a group")),
                None => match self.shared.options.absent(&self.shared.storage, &prefix).await? {
                    Some(meta) => Ok(Self::at(&self.shared, &prefix, meta, Vec::new())),
                    None => Err(HierarchyError::not_found("there is no group")),
                },
            }
        };
        group.await.map_err(|e| e.at(&prefix.node_path()))
    }

    /// Opens the array at a path.
    ///
    /// # Errors
    /// As [`Array::open`].
    pub async fn array(&self, path: &str) -> HierarchyResult<Array> {
        let prefix = self.below(path)?;
        let Shared { storage, registry, options, only, .. } = &*self.shared;
        let array = self.shared.array_options().format(*only);
        let array = array.open(storage.clone(), &prefix.node_path(), registry).await?;
        Ok(array.with_consolidated(options.writing.consolidated))
    }

    /// Reads the group again, with the consolidated metadata that it has by now.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn reload(&mut self) -> HierarchyResult<()> {
        let (shared, store) = (&self.shared, self.shared.store().clone());
        let options = shared.options.clone().format(self.format());
        let mut group = options.open(store, &self.path(), &shared.registry).await?;
        if let Some(reloaded) = Arc::get_mut(&mut group.shared) {
            reloaded.options.format = shared.options.format;
        }
        *self = group;
        Ok(())
    }

    /// Changes the attributes, as they are in the store by now. `change` may be called again when somebody else was
    /// faster; what it does not touch keeps its bytes. Consolidated metadata is kept in step, as the options say.
    ///
    /// # Errors
    /// [`Conflict`](zarr_array::ArrayErrorKind::Conflict) when others keep changing it, or there is no group any more;
    /// [`Unsupported`](zarr_array::ArrayErrorKind::Unsupported) in a store without conditional puts; those of the store.
    pub async fn edit_attributes(&mut self, change: impl Fn(&mut Object)) -> HierarchyResult<()> {
        self.edit(|meta| Ok(meta.edit_attributes(&change)?)).await
    }

    /// Gives the group these attributes, an object, in place of those that it has.
    ///
    /// # Errors
    /// As [`edit_attributes`](Self::edit_attributes), and when `attributes` is no object or holds what JSON cannot.
    pub async fn set_attributes(&mut self, attributes: impl Into<Value>) -> HierarchyResult<()> {
        let attributes = attributes.into();
        self.edit(|meta| Ok(meta.set_attributes(attributes.clone())?)).await
    }

    /// Sets some attributes, the members of an object, and leaves the others as they are.
    ///
    /// # Errors
    /// As [`set_attributes`](Self::set_attributes).
    pub async fn merge_attributes(&mut self, attributes: impl Into<Value>) -> HierarchyResult<()> {
        let attributes = attributes.into();
        let Some(members) = attributes.as_object() else {
            return Err(HierarchyError::invalid("attributes are an object").at(&self.path()));
        };
        let change = |attributes: &mut Object| {
            for member in members.members() {
                attributes.set(&member.name_lossy(), member.value());
            }
        };
        self.edit_attributes(change).await
    }

    pub(crate) async fn edit(
        &mut self,
        change: impl Fn(&mut NodeMeta) -> Result<(), zarr_array::ArrayError>,
    ) -> HierarchyResult<()> {
        let Shared { storage, options, .. } = &*self.shared;
        let edited = node::edit(storage, &self.prefix, self.format(), &options.writing, change).await;
        match edited.map_err(|e| HierarchyError::from(e).at(&self.path()))? {
            (NodeMeta::Group(meta), ()) => self.meta = Arc::new(meta),
            (NodeMeta::Array(_), ()) => {
                return Err(HierarchyError::not_found("there is an array, not a group").at(&self.path()));
            }
        }
        Ok(())
    }

    pub(crate) fn at(shared: &Arc<Shared>, prefix: &Prefix, meta: GroupMeta, notes: Vec<Diagnostic>) -> Self {
        Self { shared: shared.clone(), prefix: prefix.clone(), meta: meta.into(), diagnostics: notes.into() }
    }
}

impl Shared {
    /// The storage below the layer of consolidated metadata.
    pub(crate) fn store(&self) -> &Storage {
        self.layer.as_ref().map_or(&self.storage, Consolidated::inner)
    }

    /// How many documents are asked for at once.
    pub(crate) fn at_once(&self) -> usize {
        self.options.at_once.unwrap_or_else(|| node::at_once(&self.storage))
    }

    pub(crate) fn array_options(&self) -> OpenOptions {
        OpenOptions::new().strict(self.options.strict).limits(self.options.writing.limits.clone())
    }

    pub(crate) async fn read(
        &self,
        prefix: &Prefix,
        format: Option<Format>,
    ) -> HierarchyResult<Option<(NodeMeta, Vec<Diagnostic>)>> {
        let GroupOptions { strict, writing, .. } = &self.options;
        Ok(node::read(&self.storage, prefix, format, &writing.limits, *strict).await?)
    }

    /// An error of strict reading, or nothing: for what is odd about a name.
    pub(crate) fn tolerate(&self, note: &Diagnostic) -> HierarchyResult<()> {
        use zarr_array::meta::Sink;
        let sink: &mut dyn Sink =
            if self.options.strict { &mut zarr_array::meta::Strict } else { &mut Ignore };
        Ok(sink.report(note.clone())?)
    }
}
