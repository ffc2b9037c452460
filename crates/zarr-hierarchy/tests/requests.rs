//! The numbers of requests, which are the same on every machine.

use std::sync::atomic::Ordering;
use std::thread;

use crate::common::hooked::{meeting, slow};
use crate::common::{ARRAY, ARRAY2, GROUP, GROUP2, array_meta, cost, key, open, open_with, store};
use zarr_hierarchy::blocking::Node;
use zarr_hierarchy::zarr_array::traits::block_on;
use zarr_hierarchy::zarr_array::{Registry, Storage, blocking::Array, standard};
use zarr_hierarchy::{Formats, Group, GroupOptions, HierarchyErrorKind, UseConsolidated};

/// Makes a root with `k` arrays, with a counter of requests.
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
    assert_eq!(cost(&counting, || open(&storage)).requests(), 1, "including everything below");
}

#[test]
fn opening_a_node_of_any_kind_reads_its_documents_once() {
    let registry = standard();
    let node = |storage: &Storage, path: &str| {
        Node::open_with(storage.clone(), path, &registry, &GroupOptions::new())
    };
    for (group, array, requests) in [
        (("zarr.json", GROUP), ("zarr.json", ARRAY), [1, 1]),
        ((".zgroup", GROUP2), (".zarray", ARRAY2), [4, 4]),
    ] {
        let (storage, counting) = flat(1, group, array);
        let is_group = || assert!(matches!(node(&storage, "/").unwrap(), Node::Group(_)));
        let is_array = || assert!(matches!(node(&storage, "x0").unwrap(), Node::Array(_)));
        let used = [cost(&counting, is_group).requests(), cost(&counting, is_array).requests()];
        assert_eq!(used, requests, "{}", group.0);
        let absent = node(&storage, "none").unwrap_err();
        assert_eq!((absent.kind(), absent.node()), (HierarchyErrorKind::NotFound, Some("/none")));
    }
}

#[test]
fn listing_k_children_costs_k_plus_one_requests() {
    let (storage, counting) = flat(K, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    let root = open(&storage);
    let used = cost(&counting, || root.children().unwrap());
    assert_eq!((used.list_dirs, used.reads, used.requests()), (1, K, K + 1));
    let opened =
        cost(&counting, || root.children().unwrap().into_iter().for_each(|c| drop(c.array().unwrap())));
    assert_eq!(opened.requests(), K + 1, "opening listed nodes costs nothing");
    let both = open_with(&storage, GroupOptions::new().formats(Formats::Both));
    assert_eq!(cost(&counting, || both.children().unwrap()).requests(), K + 1, "all nodes have format 3");

    open(&storage).consolidate().unwrap();
    let root = open(&storage);
    assert_eq!(cost(&counting, || root.children().unwrap()).requests(), 0);
    assert_eq!(cost(&counting, || root.array("x7").unwrap()).requests(), 0);
    assert_eq!(cost(&counting, || root.array("none").unwrap_err()).requests(), 0);
    let ignoring = open_with(&storage, GroupOptions::new().use_consolidated(UseConsolidated::Ignore));
    assert_eq!(cost(&counting, || ignoring.children().unwrap()).requests(), K + 1);
}

#[test]
fn an_array_of_format_2_costs_two_requests() {
    let (storage, counting) = flat(K, (".zgroup", GROUP2), (".zarray", ARRAY2));
    let root = open(&storage);
    assert_eq!(cost(&counting, || root.children().unwrap()).requests(), 2 * K + 1);
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
    assert_eq!((used.reads, used.puts), (1, 1), "no group is above the root");
    let used = cost(&counting, || root.edit_attributes(|a| a.set("n", 1)).unwrap());
    assert_eq!((used.reads, used.puts), (1, 0), "an unchanged document is not put");
    root.create_group("a/b").unwrap();
    let used = cost(&counting, || root.create_array("a/b/x", array_meta()).unwrap());
    assert_eq!((used.reads, used.puts), (3 + 3 + 3, 1), "three groups, three documents here, three groups");
    let mut x = root.array("a/b/x").unwrap();
    let used = cost(&counting, || x.edit_attributes(|a| a.set("n", 1)).unwrap());
    assert_eq!((used.reads, used.puts), (1 + 3, 1), "the document, and the three groups above");
    let mut alone = root.array("a/b/x").unwrap().with_consolidated(zarr_hierarchy::ConsolidatedPolicy::Keep);
    let used = cost(&counting, || alone.edit_attributes(|a| a.set("n", 2)).unwrap());
    assert_eq!((used.reads, used.puts), (1, 1));
    root.consolidate().unwrap();
    let used = cost(&counting, || x.edit_attributes(|a| a.set("n", 3)).unwrap());
    assert_eq!((used.reads, used.puts), (1 + 3 + 2, 2), "as before, with consolidated metadata in one group");
    let used = cost(&counting, || root.erase("a").unwrap());
    assert_eq!((used.reads, used.deletes, used.delete_prefixes, used.puts), (3 + 1 + 2, 1, 1, 1));
}

#[test]
fn documents_are_read_at_once_within_the_limit() {
    let (storage, _) = flat(K, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    for (options, most) in [(GroupOptions::new(), 8), (GroupOptions::new().at_once(3), 3)] {
        let (slow, waited) = slow(&storage);
        assert_eq!(open_with(&slow, options).children().unwrap().len() as u64, K);
        assert_eq!(waited.load(Ordering::SeqCst), most);
    }
}

/// A local store works on the thread of its caller, which need not wait for the reads of another thread.
#[test]
fn threads_that_share_a_group_read_a_local_store_at_once() {
    let (storage, _) = flat(1, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    let (local, most) = meeting(&storage, 1);
    let root = &open(&local);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(root.children().unwrap().len(), 1));
        }
    });
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

/// One caller, who lists the children of a group or walks over groups.
#[test]
fn threads_share_the_documents_of_a_local_store() {
    let (arrays, _) = flat(K, ("zarr.json", GROUP), ("zarr.json", ARRAY));
    let (local, most) = meeting(&arrays, 2);
    assert_eq!(open(&local).children().unwrap().len() as u64, K);
    assert!(most.load(Ordering::SeqCst) >= 2, "documents");
    let (groups, _) = flat(K, ("zarr.json", GROUP), ("zarr.json", GROUP));
    // The documents of the groups need not meet.
    let (local, most) = meeting(&groups, 22);
    let mut walk = open(&local).walk();
    assert!(walk.next().is_some());
    most.store(0, Ordering::SeqCst);
    assert_eq!(walk.count() as u64, K - 1);
    assert!(most.load(Ordering::SeqCst) >= 2, "listings of groups");
}

/// A tree of many small groups is not listed one group after the other.
#[test]
fn a_walk_reads_ahead_and_reads_nothing_twice() {
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
    assert_eq!(paths, names, "in walk order");
    assert_eq!((used.list_dirs, used.reads), (1 + 4 + 8, 4 + 8));
    assert_eq!(waited.load(Ordering::SeqCst), 8, "within the limit of the store");
    assert_eq!(root.walk().levels(1).count(), 4);
    assert_eq!(cost(&counting, || root.walk().levels(1).count()).requests(), 1 + 4);
}

/// The futures can run on executors with threads.
#[test]
fn futures_are_send() {
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

/// Two writers that change different nodes at once keep each other's changes in the consolidated metadata.
#[test]
fn concurrent_changes_all_reach_consolidated_metadata() {
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
