//! How many requests everything costs: properties that no machine changes.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use std::sync::atomic::Ordering;

use common::hooked::slow;
use common::{ARRAY, ARRAY2, GROUP, GROUP2, array_meta, cost, key, open, open_with, store};
use zarr_hierarchy::zarr_array::traits::block_on;
use zarr_hierarchy::zarr_array::{Registry, Storage, blocking::Array, standard};
use zarr_hierarchy::{Formats, Group, GroupOptions, UseConsolidated};

/// A root with `k` arrays, in a store, with the counter.
fn flat(
    k: u64,
    group: (&str, &str),
    array: (&str, &str),
) -> (Storage, zarr_conformance::instruments::Counting) {
    let names: Vec<String> = (0..k).map(|i| format!("x{i}/{}", array.0)).collect();
    let mut objects: Vec<(&str, &str)> = names.iter().map(|name| (&name[..], array.1)).collect();
    objects.push(group);
    store(&objects)
}

const K: u64 = 20;

#[test]
fn opening_is_one_request() {
    let (storage, counting) = flat(2, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    assert_eq!(cost(&counting, || open(&storage)).requests(), 1);
    open(&storage).consolidate().unwrap();
    assert_eq!(cost(&counting, || open(&storage)).requests(), 1, "with all that is below");
}

#[test]
fn k_children_are_k_and_one_requests() {
    let (storage, counting) = flat(K, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    let root = open(&storage);
    let used = cost(&counting, || root.children().unwrap());
    assert_eq!((used.list_dirs, used.reads, used.requests()), (1, K, K + 1));
    let opened =
        cost(&counting, || root.children().unwrap().into_iter().for_each(|c| drop(c.array().unwrap())));
    assert_eq!(opened.requests(), K + 1, "opening what was listed costs no more");
    let both = open_with(&storage, GroupOptions::new().formats(Formats::Both));
    assert_eq!(cost(&counting, || both.children().unwrap()).requests(), K + 1, "where all is of version 3");

    open(&storage).consolidate().unwrap();
    let root = open(&storage);
    assert_eq!(cost(&counting, || root.children().unwrap()).requests(), 0);
    assert_eq!(cost(&counting, || root.array("x7").unwrap()).requests(), 0);
    assert_eq!(cost(&counting, || root.array("none").unwrap_err()).requests(), 0);
    let ignoring = open_with(&storage, GroupOptions::new().use_consolidated(UseConsolidated::Ignore));
    assert_eq!(cost(&counting, || ignoring.children().unwrap()).requests(), K + 1);
}

#[test]
fn version_2_has_three_documents_to_a_node() {
    let (storage, counting) = flat(K, (".zgroup", GROUP2), (".zarray", ARRAY2));
    let root = open(&storage);
    assert_eq!(cost(&counting, || root.children().unwrap()).requests(), 3 * K + 1);
    open(&storage).consolidate().unwrap();
    let root = open(&storage);
    assert_eq!(cost(&counting, || root.children().unwrap()).requests(), 0);
    assert_eq!(cost(&counting, || root.array("x7").unwrap()).requests(), 0);
}

#[test]
fn changes_cost_what_is_documented() {
    let (storage, counting) = flat(2, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    let mut root = open(&storage);
    let used = cost(&counting, || root.edit_attributes(|a| a.set("n", 1)).unwrap());
    assert_eq!((used.reads, used.puts), (1, 1), "the root lies in no other group");
    let used = cost(&counting, || root.edit_attributes(|a| a.set("n", 1)).unwrap());
    assert_eq!((used.reads, used.puts), (1, 0), "what is the same already is not put");
    root.create_group("a/b").unwrap();
    let used = cost(&counting, || root.create_array("a/b/x", array_meta()).unwrap());
    assert_eq!((used.reads, used.puts), (3 + 3 + 3, 1), "three groups, three names here, three groups");
    let mut x = root.array("a/b/x").unwrap();
    let used = cost(&counting, || x.edit_attributes(|a| a.set("n", 1)).unwrap());
    assert_eq!((used.reads, used.puts), (1 + 3, 1), "and a look at the three groups above");
    let mut alone = root.array("a/b/x").unwrap().with_consolidated(zarr_hierarchy::Consolidated::Keep);
    let used = cost(&counting, || alone.edit_attributes(|a| a.set("n", 2)).unwrap());
    assert_eq!((used.reads, used.puts), (1, 1));
    root.consolidate().unwrap();
    let used = cost(&counting, || x.edit_attributes(|a| a.set("n", 3)).unwrap());
    assert_eq!((used.reads, used.puts), (1 + 3 + 2, 2), "one of which has consolidated metadata");
    let used = cost(&counting, || root.erase("a").unwrap());
    assert_eq!((used.reads, used.deletes, used.delete_prefixes, used.puts), (3 + 1 + 2, 1, 1, 1));
}

#[test]
fn documents_are_asked_for_many_at_once_and_not_more() {
    let (storage, _) = flat(K, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    for (options, most) in [(GroupOptions::new(), 8), (GroupOptions::new().at_once(3), 3)] {
        let (slow, waited) = slow(&storage);
        assert_eq!(open_with(&slow, options).children().unwrap().len() as u64, K);
        assert_eq!(waited.load(Ordering::SeqCst), most);
    }
}

/// A tree of many small groups is not walked one group after the other.
#[test]
fn a_walk_looks_ahead_and_asks_for_nothing_twice() {
    let names: Vec<String> =
        (0..4).flat_map(|g| [format!("g{g}"), format!("g{g}/a"), format!("g{g}/b")]).collect();
    let keys: Vec<String> = names.iter().map(|name| format!("{name}/zarr.json")).collect();
    let mut objects: Vec<(&str, &str)> = keys.iter().map(|key| (&key[..], GROUP)).collect();
    objects.push(("zarr.json", GROUP));
    let (storage, counting) = store(&objects);
    let (slow, waited) = slow(&storage);
    let root = open_with(&slow, GroupOptions::new());
    let mut paths = Vec::new();
    let used = cost(&counting, || paths.extend(root.walk().map(|child| child.path()[1..].to_owned())));
    assert_eq!(paths, names, "in the order of a walk");
    assert_eq!((used.list_dirs, used.reads), (1 + 4 + 8, 4 + 8));
    assert_eq!(waited.load(Ordering::SeqCst), 8, "and not more than the store wants at once");
    assert_eq!(root.walk().levels(1).count(), 4);
    assert_eq!(cost(&counting, || root.walk().levels(1).count()).requests(), 1 + 4);
}

/// An executor with threads takes these futures.
#[test]
fn futures_can_be_sent() {
    fn sent<T: Send>(future: T) {
        drop(future);
    }
    fn check(storage: Storage, registry: &Registry, mut group: Group) {
        sent(Group::open(storage.clone(), "/", registry));
        sent(group.children());
        sent(async { group.walk().next().await });
        sent(group.create_array("x", array_meta()));
        sent(group.erase("x"));
        sent(group.copy_to("x", &group, "y"));
        sent(group.check_consolidated());
        sent(group.merge_attributes(1));
        sent(group.consolidate());
    }
    let (storage, _) = store(&[("zarr.json", GROUP)]);
    let group = block_on(Group::open(storage.clone(), "/", &standard())).unwrap();
    check(storage, &standard(), group);
}

/// Two who change different nodes at once lose nothing of each other in the map.
#[test]
fn consolidated_metadata_is_kept_in_step_by_many_at_once() {
    let (storage, _) = flat(4, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    open(&storage).consolidate().unwrap();
    std::thread::scope(|scope| {
        for i in 0..4 {
            let storage = storage.clone();
            scope.spawn(move || {
                // The last two share an array.
                let path = format!("x{}", i.min(2));
                let mut x = Array::open(storage, &path, &standard()).unwrap();
                for n in 0..25 {
                    x.edit_attributes(|a| a.set(&format!("{i}"), n)).unwrap();
                }
            });
        }
    });
    let root = open(&storage);
    assert_eq!(root.check_consolidated().unwrap().unwrap(), []);
    assert_eq!(root.array("x2").unwrap().metadata().attributes().len(), 2);
    assert!(block_on(storage.get(&key("zarr.json"), u64::MAX)).unwrap().is_some());
}
