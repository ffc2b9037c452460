//! The handle on a group.

use std::sync::Arc;

use serde_core::de::DeserializeOwned;
use zarr_array::meta::json::Object;
use zarr_array::meta::path::normalize;
use zarr_array::meta::{GroupMeta, Ignore, NodeMeta, Sink, Strict};
use zarr_array::traits::{Prefix, store::Drive};
use zarr_array::{Array, Diagnostic, Format, Located, OpenOptions, Registry, Storage, node};
use zarr_engine::Gate;
use zarr_store::Consolidated;

use crate::error::{HierarchyError, HierarchyResult, prefix_of};
use crate::handle::common_methods;
use crate::options::GroupOptions;

/// A group in a store. Opens, creates, lists, copies and erases the nodes below it, and changes its attributes. Nodes
/// that are opened through a group share its registry, limits and options.
///
/// Cheap to clone. Paths are relative to the group; a leading slash changes nothing.
/// [`blocking::Group`](crate::blocking::Group) has the same methods for programs without async.
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

/// The state that a group shares with all nodes opened through it.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The storage, with the layer of consolidated metadata if that is used.
    pub(crate) storage: Storage,
    pub(crate) layer: Option<Consolidated>,
    /// The format of all nodes, if consolidated metadata names the nodes.
    pub(crate) only: Option<Format>,
    pub(crate) registry: Registry,
    pub(crate) options: GroupOptions,
    /// The number of documents that one caller reads at once.
    pub(crate) at_once: usize,
    /// Limits the requests in flight of all callers.
    pub(crate) gate: Gate,
}

impl Group {
    common_methods!();

    /// Opens the group at `path` (`/`, `a/b`, `/a/b`), with its consolidated metadata if it has some. Harmless
    /// deviations from the specification are tolerated and listed by [`diagnostics`](Self::diagnostics).
    /// [`open_with`](Self::open_with) opens groups in other ways.
    ///
    /// ```
    /// # use zarr_hierarchy::{Group, HierarchyResult, zarr_array::{Storage, standard}};
    /// # async fn example(storage: Storage) -> HierarchyResult<()> {
    /// let root = Group::open(storage, "/", &standard()).await?;
    /// let t2m = root.array("surface/t2m").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`NotFound`](zarr_array::ArrayErrorKind::NotFound) if there is no group;
    /// [`Metadata`](zarr_array::ArrayErrorKind::Metadata) if its document is invalid; errors of the store.
    #[doc(alias = "open_group")]
    pub async fn open(storage: impl Into<Storage>, path: &str, registry: &Registry) -> HierarchyResult<Self> {
        Self::open_with(storage, path, registry, &GroupOptions::new()).await
    }

    /// Opens the group at `path` with options: strictness, limits, the format, the use of consolidated metadata.
    ///
    /// In format 3 this is one request, with consolidated metadata included. In format 2 it is one request for a
    /// `zarr.json` (unless the format is given), two at once for the documents, and one for consolidated metadata.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_with(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
        options: &GroupOptions,
    ) -> HierarchyResult<Self> {
        let storage = storage.into();
        let prefix = prefix_of(&storage, path)?;
        let implicit = options.format.unwrap_or(Format::V3);
        let opened = options.read_at(storage.clone(), &prefix, registry, options.format, implicit).await;
        opened.map_err(|e| e.at(&storage, &prefix.node_path()))
    }

    /// Opens the group that a URL names, in the format that the URL asks for, if any.
    ///
    /// ```
    /// # use zarr_hierarchy::{Group, HierarchyResult, zarr_array::Registry};
    /// # use zarr_store::Schemes;
    /// # async fn example(schemes: Schemes, registry: &Registry) -> HierarchyResult<()> {
    /// let located = schemes.open("s3://bucket/weather.zarr|zarr3:surface", &zarr_store::Access::new()).await?;
    /// let surface = Group::open_at(&located, registry).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Unsupported`](zarr_array::ArrayErrorKind::Unsupported) if this crate does not know the
    /// format.
    #[doc(alias = "open_url")]
    pub async fn open_at(located: &Located, registry: &Registry) -> HierarchyResult<Self> {
        let options = GroupOptions::new().format(node::format_at(located)?);
        Self::open_with(located.storage.clone(), &located.node, registry, &options).await
    }

    /// Returns the group at `path` without reading it, as a group of format 3 without attributes: for what needs a group
    /// around an array whose own document says enough. Makes no request.
    ///
    /// # Errors
    /// [`InvalidArgument`](zarr_array::ArrayErrorKind::InvalidArgument) if the path is invalid.
    pub fn unread(storage: impl Into<Storage>, path: &str, registry: &Registry) -> HierarchyResult<Self> {
        let storage = storage.into();
        let prefix = prefix_of(&storage, path)?;
        let shared = Shared::new(storage, registry, &GroupOptions::new());
        Ok(Self::at(&shared.into(), &prefix, GroupMeta::new(Format::V3)?, Vec::new()))
    }

    /// Returns the prefix of the node at a path relative to this group. The empty path is the group itself.
    pub(crate) fn below(&self, path: &str) -> HierarchyResult<Prefix> {
        let below = || match normalize(path)?.as_str() {
            "/" => Ok(self.prefix.clone()),
            path => HierarchyResult::Ok(self.prefix.child(&path[1..])?),
        };
        below().map_err(|e| e.at(self.storage(), &self.path()))
    }

    /// Whether there is a node at a path.
    ///
    /// # Errors
    /// Errors of the store. A node with invalid documents exists.
    pub async fn exists(&self, path: &str) -> HierarchyResult<bool> {
        let Shared { storage, only, options, .. } = &*self.shared;
        let limits = &options.writing.limits;
        Ok(node::documents(storage, &self.below(path)?, *only, limits).await?.make_node())
    }

    /// Opens the group at a path. If this group has no consolidated metadata, that of the opened group is used.
    ///
    /// # Errors
    /// [`NotFound`](zarr_array::ArrayErrorKind::NotFound) if there is no group; otherwise as [`node`](Self::node).
    pub async fn group(&self, path: &str) -> HierarchyResult<Self> {
        let prefix = self.below(path)?;
        let Shared { storage, layer, only, registry, options, .. } = &*self.shared;
        let group = async {
            if layer.is_none() {
                let (storage, format) = (storage.clone(), options.format);
                return options.read_at(storage, &prefix, registry, format, self.format()).await;
            }
            let (meta, notes) = options.find(storage, &prefix, *only, self.format()).await?;
            Ok(Self::at(&self.shared, &prefix, meta, notes))
        };
        group.await.map_err(|e| e.at(storage, &prefix.node_path()))
    }

    /// Opens the array at a path.
    ///
    /// # Errors
    /// As [`Array::open`].
    pub async fn array(&self, path: &str) -> HierarchyResult<Array> {
        let prefix = self.below(path)?;
        let Shared { storage, registry, options, only, .. } = &*self.shared;
        let how = self.shared.array_options().format(*only);
        let array = Array::open_with(storage.clone(), &prefix.node_path(), registry, &how).await?;
        Ok(array.with_consolidated(options.writing.consolidated))
    }

    /// Reads the metadata of the group again, with its consolidated metadata.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn reload(&mut self) -> HierarchyResult<()> {
        let Shared { registry, options, .. } = &*self.shared;
        let (store, format) = (self.shared.unconsolidated().clone(), self.format());
        let group = options.read_at(store, &self.prefix, registry, Some(format), format).await;
        *self = group.map_err(|e| e.at(self.storage(), &self.path()))?;
        Ok(())
    }

    fn inner(&self) -> &Self {
        self
    }

    pub(crate) fn at(shared: &Arc<Shared>, prefix: &Prefix, meta: GroupMeta, notes: Vec<Diagnostic>) -> Self {
        Self { shared: shared.clone(), prefix: prefix.clone(), meta: meta.into(), diagnostics: notes.into() }
    }
}

impl Shared {
    /// Makes the shared state without consolidated metadata.
    pub(crate) fn new(storage: Storage, registry: &Registry, options: &GroupOptions) -> Self {
        let at_once = options.at_once.unwrap_or_else(|| node::at_once(&storage));
        let most = options.at_once.unwrap_or_else(|| storage.capabilities().drive.most_in_flight());
        let (registry, options) = (registry.clone(), options.clone());
        Self { storage, layer: None, only: None, registry, options, at_once, gate: Gate::new(most, u64::MAX) }
    }

    /// Returns the storage without the layer of consolidated metadata.
    pub(crate) fn unconsolidated(&self) -> &Storage {
        self.layer.as_ref().map_or(&self.storage, Consolidated::inner)
    }

    /// Whether threads read documents at the same time: from a local store, unless the options say how many are read at
    /// once.
    pub(crate) fn is_read_by_threads(&self) -> bool {
        self.options.at_once.is_none() && matches!(self.storage.capabilities().drive, Drive::Inline)
    }

    pub(crate) fn array_options(&self) -> OpenOptions {
        self.options.array_options()
    }

    pub(crate) async fn read(
        &self,
        prefix: &Prefix,
        format: Option<Format>,
    ) -> HierarchyResult<Option<(NodeMeta, Vec<Diagnostic>)>> {
        let GroupOptions { strict, writing, .. } = &self.options;
        Ok(node::read(&self.storage, prefix, format, &writing.limits, *strict).await?)
    }

    /// Returns an error for an odd name in strict reading.
    pub(crate) fn tolerate(&self, note: &Diagnostic) -> HierarchyResult<()> {
        let sink: &mut dyn Sink = if self.options.strict { &mut Strict } else { &mut Ignore };
        Ok(sink.report(note.clone())?)
    }
}
