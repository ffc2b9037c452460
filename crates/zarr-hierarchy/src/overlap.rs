//! Finds out whether a source and a destination share objects, even through unrelated handles of one store.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use zarr_array::Storage;
use zarr_array::meta::DocumentName;
use zarr_array::traits::{Prefix, store::Listed};

use crate::error::HierarchyResult;
use crate::objects::whole;

/// Whether two handles are known to belong to one store: clones of one handle, and layers over it, also with other
/// prefixes. `false` proves nothing: each `FsStore::open` of a directory makes an unrelated handle.
pub(crate) fn is_same_store(a: &Storage, b: &Storage) -> bool {
    /// Marks the state that handles of one store share.
    #[derive(Default)]
    struct Identity;
    Arc::ptr_eq(&a.shared::<Identity>(), &b.shared::<Identity>())
}

/// Whether the node at `target` of `to` is inside of the node at `source` of `from`, around it, or the same. `objects` are
/// those below `source`.
///
/// Where the names of documents allow an overlap, an object with a random name is put into the destination, looked up
/// in the source, and deleted.
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

/// Whether an object put directly below `place` of `to` is visible below `view` of `from`.
async fn shows(to: &Storage, place: &Prefix, from: &Storage, view: &Prefix) -> HierarchyResult<bool> {
    let name = format!(".zarr-copy-{:016x}", RandomState::new().hash_one(place.as_str()));
    let (put, seen) = (place.key(&name)?, view.key(&name)?);
    to.put(&put, "").await?;
    let found = whole(from, &seen).await;
    to.delete(&put).await?;
    Ok(found?.is_some())
}

/// Returns the keys of the documents of nodes, relative to a prefix.
fn documents<'a>(prefix: &Prefix, objects: &'a [Listed]) -> HashSet<&'a str> {
    let keys = objects.iter().map(|listed| &listed.key);
    keys.filter(|key| DocumentName::of(key.name()).is_some()).filter_map(|key| prefix.strip(key)).collect()
}

/// Returns the prefixes below which `outer` has all keys of `inner`: a node with the documents `inner` may be at these
/// places of a node with the documents `outer`.
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
