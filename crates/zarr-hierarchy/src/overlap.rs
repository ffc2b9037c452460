//! Whether a source and a destination share objects, also where two handles do not know that they are of one store.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use zarr_array::Storage;
use zarr_array::node;
use zarr_array::traits::{Prefix, store::Listed};

use crate::error::HierarchyResult;
use crate::objects::whole;

/// Whether two handles are known to be of one store. Today these are clones of one handle, and what layers make of it, also
/// below other prefixes. False says nothing: every `FsStore::open` of a directory gives a handle of its own.
pub(crate) fn is_same_store(a: &Storage, b: &Storage) -> bool {
    /// What handles of one store share.
    #[derive(Default)]
    struct Identity;
    Arc::ptr_eq(&a.shared::<Identity>(), &b.shared::<Identity>())
}

/// Whether the node at `target` of `to` lies in the node at `source` of `from`, or the other way round, or is the same.
/// `objects` are those below `source`.
///
/// Where the names of documents allow it, an object of a random name is put into the destination and looked for in the source.
/// It is deleted again.
pub(crate) async fn overlap(
    from: &Storage,
    source: &Prefix,
    objects: &[Listed],
    to: &Storage,
    target: &Prefix,
) -> HierarchyResult<bool> {
    let there = to.list_all(target).await?;
    let (inside, outside) = (documents(source, objects), documents(target, &there));
    for place in places(&inside, &outside) {
        if shows(to, &Prefix::new(format!("{target}{place}"))?, from, source).await? {
            return Ok(true);
        }
    }
    for place in places(&outside, &inside) {
        if shows(to, target, from, &Prefix::new(format!("{source}{place}"))?).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an object that is put directly below `place` of `to` is seen below `view` of `from`.
async fn shows(to: &Storage, place: &Prefix, from: &Storage, view: &Prefix) -> HierarchyResult<bool> {
    let name = format!(".zarr-copy-{:016x}", RandomState::new().hash_one(place.as_str()));
    let (put, seen) = (place.key(&name)?, view.key(&name)?);
    to.put(&put, "").await?;
    let found = whole(from, &seen).await;
    to.delete(&put).await?;
    Ok(found?.is_some())
}

/// The keys of documents of nodes, relative to a prefix.
fn documents<'a>(prefix: &Prefix, objects: &'a [Listed]) -> HashSet<&'a str> {
    let keys = objects.iter().map(|listed| &listed.key);
    keys.filter(|key| node::is_document(key)).filter_map(|key| prefix.strip(key)).collect()
}

/// The prefixes below which `outer` has all of `inner`: where a node with the documents `inner` may lie in one with the
/// documents `outer`.
fn places<'a>(inner: &HashSet<&str>, outer: &HashSet<&'a str>) -> Vec<&'a str> {
    let Some(first) = inner.iter().min() else { return Vec::new() };
    let ends = outer.iter().filter_map(|key| key.strip_suffix(first));
    let prefixes = ends.filter(|prefix| prefix.is_empty() || prefix.ends_with('/'));
    prefixes.filter(|prefix| inner.iter().all(|key| outer.contains(&*format!("{prefix}{key}")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_may_lie_where_all_of_its_documents_are() {
        let set = |keys: &[&'static str]| keys.iter().copied().collect::<HashSet<_>>();
        let outer = set(&["zarr.json", "a/zarr.json", "a/b/zarr.json", "c/zarr.json", "xa/zarr.json"]);
        let places = |inner: &[&'static str]| {
            let mut places = places(&set(inner), &outer);
            places.sort_unstable();
            places
        };
        assert_eq!(places(&["zarr.json"]), ["", "a/", "a/b/", "c/", "xa/"]);
        assert_eq!(places(&["zarr.json", "b/zarr.json"]), ["a/"]);
        assert_eq!(places(&["zarr.json", "a/zarr.json"]), [""]);
        assert_eq!(places(&[".zgroup"]), [""; 0]);
        assert_eq!(places(&[]), [""; 0]);
    }
}
