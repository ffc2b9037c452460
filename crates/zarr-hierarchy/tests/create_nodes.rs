//! Many nodes are created at once, or none.

use zarr_conformance::instruments::Counting;
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::zarr_array::traits::{Key, Prefix, block_on};
use zarr_hierarchy::zarr_array::{DataType, Storage, standard};
use zarr_hierarchy::{ArrayMeta, Format, GroupMeta, HierarchyErrorKind, NodeMeta};
use zarr_store::MemoryStore;

fn array() -> NodeMeta {
    ArrayMeta::builder([4], DataType::Int8).build().unwrap().into()
}

fn group(name: &str) -> NodeMeta {
    let mut meta = GroupMeta::new(Format::V3).unwrap();
    meta.edit_attributes(|attributes| {
        attributes.set("name", name);
    })
    .unwrap();
    meta.into()
}

fn keys(storage: &Storage) -> Vec<String> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    listed.iter().map(|object| object.key.to_string()).collect()
}

#[test]
fn nodes_in_any_order_are_created_with_the_groups_between() {
    let storage = Storage::from(MemoryStore::new());
    let root = Group::create(storage.clone(), "/", &standard()).unwrap();
    let nodes =
        [("b/c/x", array()), ("a", array()), ("b", group("b")), ("d/e", group("e")), ("b/y", array())];
    root.create_nodes(nodes).unwrap();
    let documents = ["a", "b/c/x", "b/c", "b/y", "b", "d/e", "d"].map(|path| format!("{path}/zarr.json"));
    assert_eq!(keys(&storage), [&documents[..], &["zarr.json".to_owned()]].concat());
    assert_eq!(root.group("b").unwrap().attributes().get("name").unwrap().to_compact(), "\"b\"");
}

#[test]
fn consolidated_metadata_is_updated_once() {
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    let mut root = Group::create(storage.clone(), "/", &standard()).unwrap();
    root.consolidate().unwrap();
    let before = counting.counts();
    root.create_nodes((0..50).map(|n| (format!("g/{n}"), array()))).unwrap();
    let cost = counting.counts() - before;
    assert_eq!(cost.puts, 50 + 1 + 1, "the arrays, their group, and the root");
    let root = Group::open(storage, "/", &standard()).unwrap();
    assert_eq!(root.check_consolidated().unwrap(), Some(vec![]));
    let before = counting.counts();
    assert_eq!(root.group("g").unwrap().children().unwrap().len(), 50);
    assert_eq!((counting.counts() - before).requests(), 0);
}

#[test]
fn other_nodes_are_looked_for_unless_the_group_is_empty() {
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    let root = Group::create(storage.clone(), "/", &standard()).unwrap();
    let before = counting.counts();
    root.create_nodes((0..50).map(|n| (format!("{n}"), array()))).unwrap();
    let cost = counting.counts() - before;
    // One listing, and one look for consolidated metadata.
    assert_eq!((cost.puts, cost.requests() - cost.puts), (50, 2), "{cost:?}");
    // A node of another format, which no put of a document meets.
    block_on(storage.put(&Key::new("x/.zgroup").unwrap(), r#"{"zarr_format":2}"#)).unwrap();
    let e = root.create_nodes([("w", array()), ("x", array())]).unwrap_err();
    assert_eq!(e.kind(), HierarchyErrorKind::Exists, "{e:#}");
}

#[test]
fn chunks_without_an_array_are_refused_before_a_node_is_created() {
    let put = |storage: &Storage, key: &str| block_on(storage.put(&Key::new(key).unwrap(), "1")).unwrap();
    // Alone, beside another array, and below a new group; in a group that is otherwise empty, and in one that is not.
    for other in ["", "other/zarr.json"] {
        for nodes in [&["a"][..], &["a", "b"], &["b", "g/a"]] {
            let storage = Storage::from(MemoryStore::new());
            let root = Group::create(storage.clone(), "/", &standard()).unwrap();
            let left = format!("{}/c/0", nodes.iter().find(|name| name.ends_with('a')).unwrap());
            for key in [&left[..], other].iter().filter(|key| !key.is_empty()) {
                put(&storage, key);
            }
            let before = keys(&storage);
            let e = root.create_nodes(nodes.iter().map(|name| (name, array()))).unwrap_err();
            assert_eq!(
                (e.kind(), format!("{e:#}").contains(&left)),
                (HierarchyErrorKind::Exists, true),
                "{e:#}"
            );
            assert_eq!(keys(&storage), before);
        }
    }
    let (storage, counting) = Counting::over(&Storage::from(MemoryStore::new()));
    let root = Group::create(storage.clone(), "/", &standard()).unwrap();
    put(&storage, "notes");
    put(&storage, "7/notes");
    let before = counting.counts();
    root.create_nodes((0..50).map(|n| (format!("{n}"), array()))).unwrap();
    // Whether the group is empty, which folders are there, and what is in one of them.
    let cost = counting.counts() - before;
    assert_eq!((cost.lists, cost.list_dirs), (2, 1), "{cost:?}");
}

#[test]
fn nodes_that_cannot_be_created_are_refused_before_any_is() {
    let old = ArrayMeta::builder_v2([4], "int8").chunks([2]).build().unwrap();
    let unknown =
        ArrayMeta::builder([4], DataType::Int8).codecs(["bytes".into(), "unknown".into()]).build().unwrap();
    let cases: [(&str, &str, NodeMeta, HierarchyErrorKind); 6] = [
        ("a", "twice", array(), HierarchyErrorKind::InvalidArgument),
        ("a/b", "below one of the arrays", array(), HierarchyErrorKind::InvalidArgument),
        ("a/b/c", "below one of the arrays", group("c"), HierarchyErrorKind::InvalidArgument),
        ("x", "another format", old.into(), HierarchyErrorKind::InvalidArgument),
        ("x", "unknown", unknown.into(), HierarchyErrorKind::UnknownExtension),
        ("/", "below the group", array(), HierarchyErrorKind::InvalidArgument),
    ];
    for (path, words, meta, kind) in cases {
        let storage = Storage::from(MemoryStore::new());
        let root = Group::create(storage.clone(), "/", &standard()).unwrap();
        let e = root.create_nodes([("a", array()), (path, meta)]).unwrap_err();
        assert_eq!((e.kind(), format!("{e:#}").contains(words)), (kind, true), "{path}: {e:#}");
        assert_eq!(keys(&storage), ["zarr.json"], "{path}");
    }
    let storage = Storage::from(MemoryStore::new());
    let root = Group::create(storage, "/", &standard()).unwrap();
    root.create_nodes([("a", array())]).unwrap();
    let e = root.create_nodes([("a", array())]).unwrap_err();
    assert_eq!(e.kind(), HierarchyErrorKind::Exists, "{e:#}");
}
