//! Finds the documents of a hierarchy by place and format.

use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use zarr_array::meta::consolidated::OBJECT2;
use zarr_array::meta::{DocumentName, Documents, MetaResult, NodeMeta};
use zarr_array::traits::{Key, Prefix};
use zarr_array::{Diagnostic, Format, Limits, Storage};

use crate::error::HierarchyResult;

/// A place in a hierarchy with its documents of format 3 and of an older format.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) prefix: Prefix,
    pub(super) old: Format,
    documents: Documents,
    /// Whether it has consolidated metadata of format 2.
    pub(super) consolidated: bool,
}

impl Place {
    /// Reads the documents at a prefix, all at once, and checks for consolidated metadata if it may be a group.
    pub(super) async fn look(
        storage: &Storage,
        prefix: Prefix,
        old: Format,
        limits: &Limits,
    ) -> HierarchyResult<Self> {
        let most = limits.metadata_bytes;
        let mut place = Self { prefix, old, documents: Documents::new(), consolidated: false };
        let names = [names(Format::V3), names(old)].concat();
        let gets = names.iter().map(async |name| storage.get(&place.prefix.key(name.as_str())?, most).await);
        for (name, bytes) in names.iter().zip(try_join_all(gets).await?) {
            if let Some(bytes) = bytes {
                place.documents.insert(*name, bytes);
            }
        }
        if old == Format::V2 && place.has_documents() && !place.has(DocumentName::Array2) {
            let key = place.prefix.key(OBJECT2)?;
            place.consolidated = storage.exists(&key).await?;
        }
        Ok(place)
    }

    fn has(&self, name: DocumentName) -> bool {
        self.documents.get(name).is_some()
    }

    fn has_documents(&self) -> bool {
        names(Format::V3).into_iter().chain(names(self.old)).any(|name| self.has(name))
    }

    /// Whether a document of this format would make a node, valid or not.
    pub(super) fn has_node(&self, format: Format) -> bool {
        names(format).into_iter().any(|name| name.makes_node() && self.has(name))
    }

    /// Returns the node of one format, with the tolerated deviations.
    ///
    /// # Errors
    /// If the documents are invalid.
    pub(super) fn node(
        &self,
        format: Format,
        limits: &Limits,
    ) -> MetaResult<Option<(NodeMeta, Vec<Diagnostic>)>> {
        let (mut documents, mut notes) = (Documents::new(), Vec::new());
        for name in names(format) {
            if let Some(bytes) = self.documents.get(name) {
                documents.insert(name, bytes.clone());
            }
        }
        let node = NodeMeta::parse(&documents, limits, &mut notes)?;
        Ok(node.map(|node| (node, notes)))
    }

    /// Returns the document of format 3.
    pub(super) fn document(&self) -> Option<&[u8]> {
        self.documents.get(DocumentName::Node).map(|bytes| &**bytes)
    }

    /// Returns the keys of one format: first the documents that make the node, then those that depend on them.
    pub(super) fn keys(&self, format: Format) -> HierarchyResult<[Vec<Key>; 2]> {
        let there = names(format).into_iter().filter(|name| self.has(*name));
        let (makers, rest): (Vec<_>, Vec<_>) = there.partition(|name| name.makes_node());
        let consolidated = (self.consolidated && format == Format::V2).then_some(OBJECT2);
        let key = |name: &str| Ok(self.prefix.key(name)?);
        let makers = makers.iter().map(|name| key(name.as_str())).collect::<HierarchyResult<_>>()?;
        let rest = rest.iter().map(|name| name.as_str()).chain(consolidated).map(key);
        Ok([makers, rest.collect::<HierarchyResult<_>>()?])
    }

    /// Whether nodes may be below. If both formats are valid, the older one decides.
    fn is_group(&self, limits: &Limits) -> bool {
        let mut nodes =
            [self.old, Format::V3].into_iter().filter_map(|format| self.node(format, limits).ok()?);
        nodes.next().is_some_and(|(node, _)| matches!(node, NodeMeta::Group(_)))
    }
}

fn names(format: Format) -> Vec<DocumentName> {
    Documents::steps(Some(format)).concat()
}

/// Finds all places with documents from `start` on, level by level. Enters groups of either format, but not arrays.
pub(super) async fn survey(
    storage: &Storage,
    start: &Prefix,
    old: Format,
    limits: &Limits,
    at_once: usize,
) -> HierarchyResult<Vec<Vec<Place>>> {
    let mut levels = Vec::new();
    let mut prefixes = vec![start.clone()];
    while !prefixes.is_empty() {
        let looks = prefixes.into_iter().map(|prefix| Place::look(storage, prefix, old, limits));
        let mut places: Vec<Place> = stream::iter(looks).buffered(at_once).try_collect().await?;
        places.retain(Place::has_documents);
        let groups = places.iter().filter(|place| place.is_group(limits));
        let lists = groups.map(async |group| storage.list_dir(&group.prefix).await);
        let dirs: Vec<_> = stream::iter(lists).buffered(at_once).try_collect().await?;
        prefixes = dirs.into_iter().flat_map(|dir| dir.prefixes).collect();
        levels.push(places);
    }
    Ok(levels)
}
