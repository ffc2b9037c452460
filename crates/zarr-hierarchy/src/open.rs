//! Opening a group, with its consolidated metadata.

use zarr_array::meta::consolidated::{self, Index};
use zarr_array::meta::{Code, DocumentName, GroupMeta, NodeMeta, Sink, Strict};
use zarr_array::traits::{Bytes, Key, Prefix};
use zarr_array::{Diagnostic, Format, Registry, Storage, node};
use zarr_store::Consolidated;

use crate::error::{HierarchyError, HierarchyResult};
use crate::group::{Group, Shared};
use crate::options::{GroupOptions, ImplicitGroups, UseConsolidated};

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

    pub(crate) async fn open_at(
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
        let shared = Shared { layer, only, ..Shared::new(storage, registry, self) };
        Ok(Group::at(&shared.into(), prefix, meta, diagnostics))
    }

    /// What to make of a path without a document (checklist F13).
    pub(crate) async fn absent(
        &self,
        storage: &Storage,
        prefix: &Prefix,
    ) -> HierarchyResult<Option<GroupMeta>> {
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
        let object = match meta.format() {
            Format::V3 => None,
            _ => storage.get(&prefix.key(consolidated::OBJECT2)?).await?,
        };
        let sink: &mut dyn Sink = if self.strict { &mut Strict } else { diagnostics };
        let index = match (object, meta.consolidated()) {
            (Some(object), _) => Index::parse(&object, &self.writing.limits, sink)?,
            (None, Some(metadata)) => Index::inline(&metadata, sink)?,
            (None, None) => return Ok(None),
        };
        let mut known = Vec::new();
        for (key, document) in index.documents() {
            match prefix.key(key) {
                Ok(key) => known.push((key, Bytes::copy_from_slice(document.as_raw().as_bytes()))),
                Err(e) => sink.report(Diagnostic::new(Code::ConsolidatedKey, "", format!("{e}, ignored")))?,
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
