//! The stored bytes of all nodes of a hierarchy, from one listing.
//!
//! An object belongs to the deepest node whose path is above its key. The listing begins as one; if it is long, the rest
//! is cut where nodes begin, and several parts are listed at a time.

use std::collections::HashMap;
use std::sync::Mutex;

use zarr_array::meta::{Format, is_document};
use zarr_array::traits::lock::unpoisoned;
use zarr_array::traits::store::{Drive, Listed as Object};
use zarr_array::traits::{Key, Prefix, StoreResult};
use zarr_array::{Storage, block_on};

use crate::args::target::Target;
use crate::crew;
use crate::exit::Failure;
use crate::listed::{Grid, Listed};
use crate::out::progress::Progress;
use crate::stored::{Size, chunk, is_document_of, size};

/// The number of pages that are listed one after the other before the rest is cut.
const FIRST_PAGES: usize = 8;

/// The largest number of parts of a listing. Each costs a request.
const PARTS: usize = 64;

/// The objects of a node, without those of nodes below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Chunks or shards.
    pub(crate) chunks: Size,
    /// Metadata documents.
    pub(crate) documents: Size,
    /// Objects that are neither, and all objects of a node that cannot be read.
    pub(crate) other: Size,
}

impl Usage {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            chunks: self.chunks.plus(other.chunks),
            documents: self.documents.plus(other.documents),
            other: self.other.plus(other.other),
        }
    }

    /// Returns everything.
    pub(crate) fn all(self) -> Size {
        self.chunks.plus(self.documents).plus(self.other)
    }
}

/// Lists the objects below the target once and returns the usage of each node.
pub(crate) fn measure(target: &Target, nodes: &[&Listed]) -> Result<Vec<Usage>, Failure> {
    if !target.lists() {
        let message = "the store cannot list its objects, so the stored bytes are not known";
        return Err(target.fail(Failure::unsupported(message)));
    }
    let progress = Progress::objects();
    let owners: Vec<Owner<'_>> = nodes.iter().map(|node| Owner::of(node)).collect();
    list(&target.storage, &target.prefix()?, &owners, &progress).map_err(|e| target.fail(e))
}

/// Like [`measure`] without documents, if one page of a listing has all objects, or a few pages of a local store.
pub(crate) fn measure_quickly(target: &Target, nodes: &[&Listed]) -> Option<Vec<Usage>> {
    if !target.lists() {
        return None;
    }
    let is_local = matches!(target.storage.capabilities().drive, Drive::Inline);
    let owners: Vec<Owner<'_>> = nodes.iter().map(|node| Owner::of(node)).collect();
    let owners = Owners::new(&owners);
    let mut sums = vec![Usage::default(); nodes.len()];
    let span = Span { after: None, until: None, pages: if is_local { FIRST_PAGES } else { 1 } };
    // Of nodes that are not among these, too, documents are not counted.
    let mut add = |object: Object| match is_document(object.key.name()) {
        true => Ok(()),
        false => owners.add(&target.storage, &object, &mut sums),
    };
    let rest = span.list(&target.storage, &target.prefix().ok()?, &Progress::new(0, true), &mut add);
    rest.ok()?.is_none().then_some(sums)
}

/// Returns the sum of each node and the nodes below it. `depths` are their levels, parents before children.
pub(crate) fn with_below<T: Copy + Default>(own: &[T], depths: &[usize], plus: fn(T, T) -> T) -> Vec<T> {
    // For each depth, the sum of the nodes whose group has not been seen. Goes backwards: children follow their group.
    let mut sums: Vec<T> = Vec::new();
    let mut all = Vec::with_capacity(own.len());
    for (own, depth) in own.iter().zip(depths).rev() {
        sums.resize(sums.len().max(depth + 2), T::default());
        let sum = sums.drain(depth + 1..).fold(*own, plus);
        sums[*depth] = plus(sums[*depth], sum);
        all.push(sum);
    }
    all.reverse();
    all
}

fn list(
    storage: &Storage,
    root: &Prefix,
    nodes: &[Owner<'_>],
    progress: &Progress,
) -> Result<Vec<Usage>, Failure> {
    let owners = Owners::new(nodes);
    let mut sums = vec![Usage::default(); nodes.len()];
    let first = Span { after: None, until: None, pages: FIRST_PAGES };
    let last = first.list(storage, root, progress, &mut |object| owners.add(storage, &object, &mut sums))?;
    let Some(last) = last else { return Ok(sums) };
    let all = Mutex::new(sums);
    let job = |part: Span| {
        let mut sums = vec![Usage::default(); nodes.len()];
        part.list(storage, root, progress, &mut |object| owners.add(storage, &object, &mut sums))?;
        let mut all = unpoisoned(all.lock());
        all.iter_mut().zip(sums).for_each(|(all, more)| *all = all.plus(more));
        Ok(())
    };
    crew::each(crew::width(storage), parts(nodes, last).into_iter().map(Ok), |_| 1, job)?;
    Ok(unpoisoned(all.into_inner()))
}

/// A part of a listing: the keys after one key, up to and including another one.
#[derive(Debug, PartialEq)]
struct Span {
    after: Option<Key>,
    until: Option<Key>,
    pages: usize,
}

impl Span {
    /// Calls `each` for the objects. Returns the last key if there are more pages.
    fn list(
        &self,
        storage: &Storage,
        root: &Prefix,
        progress: &Progress,
        each: &mut dyn FnMut(Object) -> StoreResult<()>,
    ) -> StoreResult<Option<Key>> {
        let mut last = self.after.clone();
        for _ in 0..self.pages {
            let page = block_on(storage.list(root, last.as_ref()))?;
            let end = page.entries.last().map(|listed| listed.key.clone());
            let is_inside = |object: &Object| self.until.as_ref().is_none_or(|until| object.key <= *until);
            for object in page.entries.into_iter().take_while(is_inside) {
                progress.add(1);
                each(object)?;
            }
            let is_over =
                end.as_ref().is_none_or(|end| self.until.as_ref().is_some_and(|until| end >= until));
            // A page that does not advance would be listed for ever.
            if !page.more || is_over || end <= last {
                return Ok(None);
            }
            last = end;
        }
        Ok(last)
    }
}

/// Cuts the keys after `last` where nodes begin.
fn parts(nodes: &[Owner<'_>], last: Key) -> Vec<Span> {
    let keys = nodes.iter().filter_map(|node| Key::new(node.path.trim_matches('/')).ok());
    let mut cuts: Vec<Key> = keys.filter(|key| *key > last).collect();
    cuts.sort_unstable();
    let step = cuts.len().div_ceil(PARTS).max(1);
    let mut parts = Vec::new();
    let mut after = last;
    for cut in cuts.into_iter().skip(step - 1).step_by(step) {
        parts.push(Span { after: Some(after), until: Some(cut.clone()), pages: usize::MAX });
        after = cut;
    }
    parts.push(Span { after: Some(after), until: None, pages: usize::MAX });
    parts
}

/// A node that objects may belong to.
struct Owner<'a> {
    path: &'a str,
    format: Option<Format>,
    grid: Option<&'a Grid>,
}

impl<'a> Owner<'a> {
    fn of(node: &'a Listed) -> Self {
        let grid = node.array.as_ref().and_then(|array| array.grid.as_ref());
        Self { path: &node.path, format: node.format, grid }
    }
}

/// The nodes by the prefixes of their keys.
struct Owners<'a>(HashMap<String, (usize, &'a Owner<'a>)>);

impl<'a> Owners<'a> {
    fn new(nodes: &'a [Owner<'a>]) -> Self {
        let owner = |(at, node): (usize, &'a Owner<'a>)| {
            let path = node.path.trim_matches('/');
            (if path.is_empty() { String::new() } else { format!("{path}/") }, (at, node))
        };
        Self(nodes.iter().enumerate().map(owner).collect())
    }

    /// Counts an object. One that is deleted meanwhile does not count.
    fn add(&self, storage: &Storage, object: &Object, sums: &mut [Usage]) -> StoreResult<()> {
        let key = object.key.as_str();
        let mut ends = key.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
        let owner = ends.find_map(|end| Some((&key[end..], self.0.get(&key[..end])?)));
        let Some((name, (at, node))) = owner else { return Ok(()) };
        let Some(bytes) = size(storage, object)? else { return Ok(()) };
        let is_chunk = |grid: &Grid| chunk(name, &*grid.keys, &grid.counts).is_ok();
        let sum = &mut sums[*at];
        let kind = match node.grid {
            _ if is_document_of(name, node.format) => &mut sum.documents,
            Some(grid) if is_chunk(grid) => &mut sum.chunks,
            _ => &mut sum.other,
        };
        *kind = kind.plus(Size { bytes: bytes.into(), objects: 1 });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarr_array::meta::ArrayMeta;
    use zarr_array::{DataType, Limits};
    use zarr_store_fs::FsStore;

    use super::*;
    use crate::args::target::registry;

    /// Pages of three objects make a long listing of few objects.
    #[test]
    fn a_long_listing_is_cut_and_each_object_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::from(FsStore::create(folder.path()).unwrap().with_page(3));
        let meta = ArrayMeta::builder([5], DataType::UInt8).chunks([1]).build().unwrap();
        let keys = meta.key_encoding(&registry(), &Limits::default()).unwrap();
        let grid = Grid { counts: vec![5], keys };
        let paths = ["/g", "/g/a", "/g/a-b", "/g/a.c", "/g/b", "/g/c/d/e", "/g/z"];
        let put = |key: String, bytes: usize| {
            block_on(storage.put(&Key::new(key).unwrap(), vec![0; bytes])).unwrap();
        };
        for path in &paths[1..] {
            let path = path.trim_start_matches('/');
            put(format!("{path}/zarr.json"), 7);
            (0..5).for_each(|chunk| put(format!("{path}/c/{chunk}"), 10));
            put(format!("{path}/c/5"), 1);
        }
        put("g/notes".to_owned(), 3);
        put("elsewhere/c/0".to_owned(), 100);
        let owner = |path| Owner { path, format: Some(Format::V3), grid: (path != "/g").then_some(&grid) };
        let nodes = paths.map(owner);
        let root = Prefix::of_node("/g").unwrap();
        let found = list(&storage, &root, &nodes, &Progress::objects()).unwrap();
        let size = |objects, bytes| Size { objects, bytes };
        let array = Usage { chunks: size(5, 50), documents: size(1, 7), other: size(1, 1) };
        let group = Usage { other: size(1, 3), ..Usage::default() };
        assert_eq!(found, [&[group][..], &[array; 6]].concat());
        assert!(parts(&nodes, Key::new("g/a/c/4").unwrap()).len() > 3);
        let all = with_below(&found, &[0, 1, 1, 1, 1, 1, 1], Usage::plus)[0].all();
        assert_eq!(all, size(43, 6 * 58 + 3));
    }
}
