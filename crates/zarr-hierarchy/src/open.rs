//! Opens a group with its consolidated metadata.

use zarr_array::meta::consolidated::{ConsolidatedForm, ConsolidatedIndex};
use zarr_array::meta::{Code, DocumentName, GroupMeta, NodeMeta, Sink, Strict};
use zarr_array::traits::{Bytes, Key, Prefix};
use zarr_array::{Array, Diagnostic, Format, OpenOptions, Registry, Storage, node};
use zarr_store::{Consolidated, KnownDocuments};

use crate::child::Node;
use crate::error::{HierarchyError, HierarchyResult, prefix_of};
use crate::group::{Group, Shared};
use crate::options::{GroupOptions, ImplicitGroups, UseConsolidated};

impl Node {
    /// Opens the array or the group at `path`, whose kind is not known: its documents are read once.
    ///
    /// ```
    /// # use zarr_hierarchy::{GroupOptions, HierarchyResult, Node, zarr_array::{Registry, Storage}};
    /// # async fn example(storage: Storage, registry: &Registry) -> HierarchyResult<()> {
    /// match Node::open_with(storage, "/t2m", registry, &GroupOptions::new()).await? {
    ///     Node::Array(array) => println!("an array of shape {:?}", array.shape()),
    ///     Node::Group(group) => println!("a group: {:?}", group.attributes()),
    ///     _ => println!("a node of a later version"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Group::open`] and [`Array::open`]; [`NotFound`](zarr_array::ArrayErrorKind::NotFound) if there is no node.
    pub async fn open_with(
        storage: impl Into<Storage>,
        path: &str,
        registry: &Registry,
        options: &GroupOptions,
    ) -> HierarchyResult<Self> {
        let storage = storage.into();
        let prefix = prefix_of(&storage, path)?;
        let opened = options.read_node(storage.clone(), &prefix, registry).await;
        opened.map_err(|e| e.at(&storage, &prefix.node_path()))
    }
}

impl GroupOptions {
    /// Opens a group of `format`, or of any format if it is `None`. An implicit group gets the format `implicit`.
    pub(crate) async fn read_at(
        &self,
        storage: Storage,
        prefix: &Prefix,
        registry: &Registry,
        format: Option<Format>,
        implicit: Format,
    ) -> HierarchyResult<Group> {
        let (meta, diagnostics) = self.find(&storage, prefix, format, implicit).await?;
        self.group(storage, prefix, registry, meta, diagnostics).await
    }

    /// Opens the array or the group at a prefix.
    async fn read_node(
        &self,
        storage: Storage,
        prefix: &Prefix,
        registry: &Registry,
    ) -> HierarchyResult<Node> {
        let (meta, diagnostics) = match self.look(&storage, prefix, self.format).await? {
            Some((NodeMeta::Array(meta), diagnostics)) => {
                let options = self.array_options();
                let array =
                    Array::from_metadata(storage, prefix.clone(), meta, diagnostics, registry, &options)?;
                return Ok(Node::Array(array.with_consolidated(self.writing.consolidated)));
            }
            Some((NodeMeta::Group(meta), diagnostics)) => (meta, diagnostics),
            None => {
                let implicit = self.format.unwrap_or(Format::V3);
                (self.absent(&storage, prefix, implicit).await?, Vec::new())
            }
        };
        Ok(Node::Group(self.group(storage, prefix, registry, meta, diagnostics).await?))
    }

    /// The options of the arrays in a group with these options.
    pub(crate) fn array_options(&self) -> OpenOptions {
        OpenOptions::new().strict(self.strict).limits(self.writing.limits.clone())
    }

    /// Opens a group whose metadata was read.
    async fn group(
        &self,
        storage: Storage,
        prefix: &Prefix,
        registry: &Registry,
        meta: GroupMeta,
        mut diagnostics: Vec<Diagnostic>,
    ) -> HierarchyResult<Group> {
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
                let known = KnownDocuments::new(prefix.clone(), known, covers);
                let (storage, layer) = Consolidated::over(&storage, known);
                (storage, Some(layer))
            }
        };
        let only = layer.is_some().then(|| meta.format());
        let shared = Shared { layer, only, ..Shared::new(storage, registry, self) };
        Ok(Group::at(&shared.into(), prefix, meta, diagnostics))
    }

    /// Reads the metadata of the group at a prefix, with the tolerated deviations.
    pub(crate) async fn find(
        &self,
        storage: &Storage,
        prefix: &Prefix,
        format: Option<Format>,
        implicit: Format,
    ) -> HierarchyResult<(GroupMeta, Vec<Diagnostic>)> {
        match self.look(storage, prefix, format).await? {
            Some((NodeMeta::Group(meta), diagnostics)) => Ok((meta, diagnostics)),
            Some((NodeMeta::Array(_), _)) => Err(HierarchyError::not_found("there is an array, not a group")),
            None => Ok((self.absent(storage, prefix, implicit).await?, Vec::new())),
        }
    }

    /// Reads the metadata of the node at a prefix, which is probably a group.
    async fn look(
        &self,
        storage: &Storage,
        prefix: &Prefix,
        format: Option<Format>,
    ) -> HierarchyResult<Option<(NodeMeta, Vec<Diagnostic>)>> {
        let (limits, expected) = (&self.writing.limits, DocumentName::Group2);
        Ok(node::read_expected(storage, prefix, format, expected, limits, self.strict).await?)
    }

    /// Returns the metadata for a path without a document, if it may be an implicit group.
    async fn absent(
        &self,
        storage: &Storage,
        prefix: &Prefix,
        implicit: Format,
    ) -> HierarchyResult<GroupMeta> {
        let no_group = || HierarchyError::not_found("there is no group");
        if !storage.capabilities().list || storage.list_dir(prefix).await?.prefixes.is_empty() {
            return Err(no_group());
        }
        if self.implicit == ImplicitGroups::Treat {
            return Ok(GroupMeta::new(implicit)?);
        }
        let message = "there is no group: the folders here have no document that makes them a group; \
                       `ImplicitGroups::Treat` accepts them as groups, and nodes below can be opened by their paths";
        Err(HierarchyError::not_found(message))
    }

    /// Returns the documents in the consolidated metadata of a group, and those of the group itself.
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
        let object = match meta.format() {
            Format::V3 => None,
            _ => {
                storage
                    .get(&prefix.key(ConsolidatedForm::Object.holder())?, self.writing.limits.metadata_bytes)
                    .await?
            }
        };
        let sink: &mut dyn Sink = if self.strict { &mut Strict } else { diagnostics };
        let index = match (object, meta.consolidated()) {
            (Some(object), _) => ConsolidatedIndex::parse(&object, &self.writing.limits, sink)?,
            (None, Some(metadata)) => ConsolidatedIndex::inline(&metadata, sink)?,
            (None, None) => return Ok(None),
        };
        let mut known = Vec::new();
        for (key, document) in index.documents() {
            match prefix.key(key) {
                Ok(key) => known.push((key, Bytes::from_owner(document.clone()))),
                Err(e) => {
                    sink.report(Diagnostic::new(Code::ConsolidatedKey, "", format!("{e:#}, ignored")))?
                }
            }
        }
        for (name, text) in meta.documents() {
            if let Some(text) = text {
                known.push((prefix.key(name.as_str())?, text.into()));
            }
        }
        Ok(Some(known))
    }
}
