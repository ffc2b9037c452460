//! A snapshot as the references of a store.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use zarr_store::references::{Reference, References};
use zarr_store::{PathEncoding, Target, Targets, scheme_of};
use zarr_traits::lock::unpoisoned;
use zarr_traits::store::{Answer, Dir, List, ListDir, Listed, Page};
use zarr_traits::{BoxFuture, Key, Prefix, Storage, StoreError, StoreErrorKind, StoreResult, Version};

use crate::chunks::Chunks;
use crate::contents::containers;
use crate::error::{corrupt, too_much};
use crate::flat::Flat;
use crate::id::SnapshotId;
use crate::info::VirtualChunkContainer;
use crate::layout::Layout;
use crate::limits::IcechunkLimits;
use crate::manifest::Chunk;
use crate::manifests::Manifests;
use crate::repository::{Information, shown};
use crate::snapshot::{Snapshot, searched};

/// The name of the only document.
const DOCUMENT: &str = "zarr.json";
/// The scheme of locations in a virtual chunk container.
const CONTAINER: &str = "vcc";
/// The number of keys in one page of a listing.
const PAGE: usize = 10_000;

/// One snapshot of a repository, as references.
#[derive(Debug)]
pub(crate) struct Session {
    storage: Storage,
    root: Prefix,
    limits: IcechunkLimits,
    id: SnapshotId,
    snapshot: Snapshot,
    manifests: Manifests,
    /// What the caller allows. Containers of virtual chunks may be among it.
    targets: Targets,
    /// The file `repo`, if it was read.
    information: Option<Information>,
    containers: Mutex<Option<Arc<Vec<VirtualChunkContainer>>>>,
    layouts: Mutex<HashMap<usize, Arc<Layout>>>,
    items: OnceLock<Vec<Item>>,
    /// The array that was listed last. A listing has many pages.
    listed: Mutex<Option<(usize, Arc<Chunks>)>>,
}

/// A part of a listing: the document of a node, or all chunks of an array.
#[derive(Debug, Clone, Copy)]
struct Item {
    node: usize,
    is_document: bool,
}

impl Session {
    /// Opens a snapshot. `information` is the file `repo`, if it was read.
    pub(crate) async fn open(
        storage: &Storage,
        root: &Prefix,
        id: SnapshotId,
        information: Option<Information>,
        targets: Targets,
        limits: &IcechunkLimits,
    ) -> StoreResult<Self> {
        Ok(Self {
            storage: storage.clone(),
            root: root.clone(),
            limits: limits.clone(),
            id,
            snapshot: Snapshot::read(storage, root, id, limits).await?,
            manifests: Manifests::new(storage, root, limits),
            targets,
            information,
            containers: Mutex::default(),
            layouts: Mutex::default(),
            items: OnceLock::new(),
            listed: Mutex::default(),
        })
    }

    /// Returns an error of the snapshot with its file.
    fn of_snapshot(&self, e: impl Into<StoreError>) -> StoreError {
        e.into().with_key(format!("{}snapshots/{}", self.root, self.id))
    }

    fn layout(&self, index: usize) -> StoreResult<Option<Arc<Layout>>> {
        if let Some(layout) = unpoisoned(self.layouts.lock()).get(&index) {
            return Ok(Some(Arc::clone(layout)));
        }
        let node = self.snapshot.node(index)?;
        let Some(array) = node.array()? else { return Ok(None) };
        let layout = Arc::new(Layout::of(&node, &array, self.snapshot.size())?);
        Ok(Some(Arc::clone(unpoisoned(self.layouts.lock()).entry(index).or_insert(layout))))
    }

    /// Returns the array that a key of a chunk belongs to, and the rest of the key.
    fn array_of<'a>(&self, key: &'a str) -> StoreResult<Option<(Arc<Layout>, &'a str)>> {
        let ends = key.rmatch_indices('/').map(|(end, _)| (&key[..end], &key[end + 1..]));
        for (path, rest) in ends.chain([("", key)]) {
            if let Some(index) = self.snapshot.find(path)? {
                return Ok(self.layout(index)?.map(|layout| (layout, rest)));
            }
        }
        Ok(None)
    }

    async fn find(&self, key: &str) -> StoreResult<Option<Reference>> {
        let path = match key.strip_suffix(DOCUMENT) {
            Some("") => Some(""),
            Some(path) => path.strip_suffix('/'),
            None => None,
        };
        if let Some(path) = path {
            let document = || -> Flat<_> {
                let Some(index) = self.snapshot.find(path)? else { return Ok(None) };
                Ok(Some(self.snapshot.shared(self.snapshot.node(index)?.document()?)))
            };
            return Ok(document().map_err(|e| self.of_snapshot(e))?.map(Reference::Bytes));
        }
        let found = self.array_of(key).map_err(|e| self.of_snapshot(e))?;
        let Some((layout, rest)) = found else { return Ok(None) };
        let Some(index) = layout.index(rest) else { return Ok(None) };
        for (id, extent) in layout.manifests() {
            if extent.contains(&index) {
                let manifest = self.manifests.get(id).await?;
                let chunk = manifest.find(&layout.node, &index);
                let chunk = chunk.map_err(|e| self.manifests.failed(id, e))?;
                if let Some(chunk) = chunk {
                    return self.reference(chunk).await.map(Some);
                }
            }
        }
        Ok(None)
    }

    async fn reference(&self, chunk: Chunk) -> StoreResult<Reference> {
        let (location, offset, len, check) = match chunk {
            Chunk::Inline(bytes) => return Ok(Reference::Bytes(bytes)),
            Chunk::Native { id, offset, len } => (format!("chunks/{id}"), offset, len, None),
            Chunk::Virtual { location, offset, len, check } => {
                (self.url(location).await?, offset, len, check)
            }
        };
        Ok(Reference::Range { location: location.into(), offset, len, check })
    }

    /// Returns the URL of a location.
    async fn url(&self, location: String) -> StoreResult<String> {
        match scheme_of(&location) {
            Some(CONTAINER) => self.in_container(location).await,
            Some(_) => Ok(location),
            None => Err(corrupt(format!("the location {} is not a URL", shown(&location)))),
        }
    }

    /// Returns the URL of a location `vcc://NAME/path`. The caller may serve the container itself.
    async fn in_container(&self, location: String) -> StoreResult<String> {
        match self.targets.find(&Target::parse(&location, PathEncoding::Percent)?).await {
            Err(e) if e.kind() == StoreErrorKind::PermissionDenied => {}
            _ => return Ok(location),
        }
        let rest = &location[CONTAINER.len() + "://".len()..];
        let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
        let containers = self.containers().await?;
        let of_name = containers.iter().find(|container| container.name.as_deref() == Some(name));
        let prefix = of_name.map(|container| &*container.url_prefix).ok_or_else(|| {
            let message = format!(
                "the configuration has no container {}: let a storage serve \"vcc://NAME/\" for it",
                shown(name)
            );
            StoreError::new(StoreErrorKind::PermissionDenied, message)
        })?;
        let (len, most) = (prefix.len() + path.len(), self.limits.location_bytes);
        if len > most {
            return Err(too_much(format!("the location has {len} bytes, at most {most} are accepted")));
        }
        Ok(format!("{prefix}{path}"))
    }

    /// Returns the containers of virtual chunks. If the snapshot was opened by its id, the file `repo` has not been read.
    async fn containers(&self) -> StoreResult<Arc<Vec<VirtualChunkContainer>>> {
        if let Some(containers) = unpoisoned(self.containers.lock()).clone() {
            return Ok(containers);
        }
        let (storage, root, limits) = (&self.storage, &self.root, &self.limits);
        let information = match &self.information {
            Some(information) => Some(information.clone()),
            None => Information::read(storage, root, limits).await?,
        };
        let read = Arc::new(containers(storage, root, information.as_ref(), limits).await?);
        *unpoisoned(self.containers.lock()) = Some(Arc::clone(&read));
        Ok(read)
    }

    /// The parts of a listing of everything, in the order of their keys.
    fn items(&self) -> StoreResult<&[Item]> {
        if let Some(items) = self.items.get() {
            return Ok(items);
        }
        let mut items = Vec::with_capacity(self.snapshot.len());
        for node in 0..self.snapshot.len() {
            let found = self.snapshot.node(node)?;
            // No key can name a node of another path.
            if found.path.is_empty() || Key::new(found.path).is_ok() {
                items.push(Item { node, is_document: true });
                if found.array()?.is_some() {
                    items.push(Item { node, is_document: false });
                }
            }
        }
        let path = |item: &Item| self.snapshot.node(item.node).map(|node| node.path).unwrap_or_default();
        items.sort_by_cached_key(|item| item.key(path(item)));
        for (number, item) in items.iter().enumerate().filter(|(_, item)| !item.is_document) {
            let own = item.key(path(item));
            let is_below = |other: &Item| other.node != item.node && other.key(path(other)).starts_with(&own);
            if items[number + 1..].iter().take(2).any(is_below) {
                return Err(corrupt(format!("there are nodes below the array {}", shown(path(item)))));
            }
        }
        Ok(self.items.get_or_init(|| items))
    }

    /// Returns the chunks of an array in the order of their keys.
    async fn chunks(&self, node: usize, layout: &Layout) -> StoreResult<Arc<Chunks>> {
        let last = unpoisoned(self.listed.lock()).clone();
        if let Some((_, chunks)) = last.filter(|(other, _)| *other == node) {
            return Ok(chunks);
        }
        let chunks = Arc::new(Chunks::collect(layout, &self.manifests, self.limits.listed_chunks).await?);
        *unpoisoned(self.listed.lock()) = Some((node, Arc::clone(&chunks)));
        Ok(chunks)
    }

    async fn listed(&self, node: usize) -> StoreResult<Option<ListedArray>> {
        let Some(layout) = self.layout(node).map_err(|e| self.of_snapshot(e))? else { return Ok(None) };
        let folder = folder(self.snapshot.node(node)?.path);
        let chunks = self.chunks(node, &layout).await?;
        Ok(Some(ListedArray { folder, layout, chunks }))
    }

    fn document(&self, node: usize) -> StoreResult<Listed> {
        let node = self.snapshot.node(node)?;
        let key = Key::new(format!("{}{DOCUMENT}", folder(node.path)))?;
        Ok(Listed::new(key).with_size(node.document()?.len() as u64))
    }

    async fn list(&self, list: List<'_>) -> StoreResult<Page> {
        let items = self.items().map_err(|e| self.of_snapshot(e))?;
        let (prefix, after) = (list.prefix.as_str(), list.after.map(Key::as_str));
        let first = after.unwrap_or_default().max(prefix);
        let key = |item: &Item| self.snapshot.node(item.node).map(|node| item.key(node.path));
        let mut start = items.partition_point(|item| key(item).is_ok_and(|key| *key < *first));
        if let Some(before) = start.checked_sub(1) {
            // The array that the first key may belong to.
            let is_its = !items[before].is_document && first.starts_with(&*key(&items[before])?);
            start -= usize::from(is_its);
        }
        let is_listed = |key: &str| key.starts_with(prefix) && after.is_none_or(|after| key > after);
        let mut entries = Vec::new();
        for item in &items[start..] {
            let key = key(item)?;
            if entries.len() > PAGE || !(key.starts_with(prefix) || prefix.starts_with(&*key)) {
                break;
            }
            if item.is_document {
                if is_listed(&key) {
                    entries.push(self.document(item.node)?);
                }
            } else if let Some(array) = self.listed(item.node).await? {
                let from = array.position(|key| key < first || !is_listed(key) && key.starts_with(prefix));
                let wanted = (from..array.chunks.len()).map(|number| array.get(number));
                let wanted = wanted.take_while(|(key, _)| is_listed(key)).take(PAGE + 1 - entries.len());
                for (key, size) in wanted {
                    entries.push(Listed::new(Key::new(key)?).with_size(size));
                }
            }
        }
        let more = entries.len() > PAGE;
        entries.truncate(PAGE);
        Ok(Page::new(entries, more))
    }

    async fn list_dir(&self, prefix: &Prefix) -> StoreResult<Dir> {
        let path = prefix.as_str().trim_end_matches('/');
        let mut dir = Dir::default();
        let of_array = self.nearest(path).map_err(|e| self.of_snapshot(e))?;
        if let Some(node) = of_array
            && let Some(array) = self.listed(node).await?
        {
            array.list_dir(prefix, &mut dir)?;
        } else {
            dir.prefixes = self.children(prefix).map_err(|e| self.of_snapshot(e))?;
        }
        if let Some(node) = self.snapshot.find(path).map_err(|e| self.of_snapshot(e))? {
            dir.objects.push(self.document(node).map_err(|e| self.of_snapshot(e))?);
        }
        Ok(dir)
    }

    /// Returns the node at a path, or the nearest above it.
    fn nearest(&self, path: &str) -> Flat<Option<usize>> {
        let above = path.rmatch_indices('/').map(|(end, _)| &path[..end]);
        for path in std::iter::once(path).chain(above).chain([""]) {
            if let Some(node) = self.snapshot.find(path)? {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }

    /// Returns the prefixes of the nodes directly below a prefix, and of those that only have nodes below them.
    fn children(&self, prefix: &Prefix) -> Flat<Vec<Prefix>> {
        let start = prefix.as_str();
        let mut names = BTreeSet::new();
        let mut at = self.snapshot.position(|path| path < start)?;
        while at < self.snapshot.len() {
            let Some(rest) = self.snapshot.node(at)?.path.strip_prefix(start) else { break };
            at += 1;
            if let Some((name, _)) = rest.split_once('/') {
                let below = format!("{start}{name}/");
                at = self.snapshot.position(|path| path < &*below || path.starts_with(&below))?.max(at);
                names.insert(name);
            } else if !rest.is_empty() {
                names.insert(rest);
            }
        }
        let mut prefixes: Vec<_> = names.into_iter().filter_map(|name| prefix.child(name).ok()).collect();
        prefixes.sort();
        Ok(prefixes)
    }
}

impl Item {
    /// Returns the key of the document, or what all keys of the chunks begin with.
    fn key(self, path: &str) -> String {
        folder(path) + if self.is_document { DOCUMENT } else { "" }
    }
}

/// Returns what the keys of a node begin with.
fn folder(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}/") }
}

/// An array and its chunks in the order of their keys.
struct ListedArray {
    folder: String,
    layout: Arc<Layout>,
    chunks: Arc<Chunks>,
}

impl ListedArray {
    /// Returns the key and the size of a chunk.
    fn get(&self, number: usize) -> (String, u64) {
        let (index, size) = self.chunks.get(number);
        let mut key = self.folder.clone();
        self.layout.push_key(index, &mut key);
        (key, size)
    }

    /// Returns the number of chunks at the start whose keys are `before`.
    fn position(&self, before: impl Fn(&str) -> bool) -> usize {
        let order = |number| Ok(if before(&self.get(number).0) { Ordering::Less } else { Ordering::Greater });
        searched(self.chunks.len(), order).map_or(0, |found| found.unwrap_or_else(|at| at))
    }

    /// Adds the keys and prefixes directly below a prefix.
    fn list_dir(&self, prefix: &Prefix, dir: &mut Dir) -> StoreResult<()> {
        let start = prefix.as_str();
        let mut at = self.position(|key| key < start);
        while at < self.chunks.len() {
            let (key, size) = self.get(at);
            let Some(rest) = key.strip_prefix(start) else { break };
            at += 1;
            match rest.split_once('/') {
                None => dir.objects.push(Listed::new(Key::new(key)?).with_size(size)),
                Some((name, _)) => {
                    let child = prefix.child(name)?;
                    let below = child.as_str();
                    at = self.position(|key| key < below || key.starts_with(below)).max(at);
                    dir.prefixes.push(child);
                }
            }
        }
        Ok(())
    }
}

impl References for Session {
    fn find<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, StoreResult<Option<Reference>>> {
        Box::pin(async move {
            self.find(key.as_str()).await.map_err(|e| {
                StoreError::new(e.kind(), "its reference cannot be read").with_key(key).with_source(e)
            })
        })
    }

    fn list<'a>(&'a self, list: List<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move { self.list(list).await.map(Answer::List) })
    }

    fn list_dir<'a>(&'a self, list: ListDir<'a>) -> BoxFuture<'a, StoreResult<Answer>> {
        Box::pin(async move { self.list_dir(list.prefix).await.map(Answer::ListDir) })
    }

    fn version(&self) -> Option<Version> {
        Some(Version::new(&self.id.bytes()[..]))
    }

    fn paths(&self) -> PathEncoding {
        PathEncoding::Percent
    }
}
