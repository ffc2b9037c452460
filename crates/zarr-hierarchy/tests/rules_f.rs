//! The rules F of the specification, with one test for each rule that can be tested alone.

use crate::common::hooked::failing;
use crate::common::{
    ARRAY, ARRAY2, GROUP, GROUP2, array_meta, consolidated, cost, json, key, keys, names, open, open_with,
    store, text, unlisted,
};
use zarr_hierarchy::blocking::{Group, copy, erase};
use zarr_hierarchy::zarr_array::meta::Code;
use zarr_hierarchy::zarr_array::traits::block_on;
use zarr_hierarchy::zarr_array::{ConsolidatedPolicy, CreateOptions, Limits, Located, NdVec, standard};
use zarr_hierarchy::{
    ChildState, CopyOptions, EraseOptions, ExistingNode, Formats, GroupMeta, GroupOptions,
    HierarchyErrorKind as Kind, ImplicitGroups, NodeMeta, UseConsolidated,
};

#[test]
fn f1_f3_names_that_must_not_be_created_are_refused() {
    let (storage, _) = store(&[("zarr.json", GROUP)]);
    let root = open(&storage);
    for bad in ["__x", "a/__zarr", "...", "zarr.json", "a/../b", "a//b", "", "/"] {
        assert_eq!(root.create_group(bad).unwrap_err().kind(), Kind::InvalidArgument, "{bad:?}");
        assert_eq!(
            root.create_array(bad, array_meta()).unwrap_err().kind(),
            Kind::InvalidArgument,
            "{bad:?}"
        );
    }
    assert_eq!(keys(&storage), ["zarr.json"]);
    for good in ["é", "a b", ".hidden", "c", "0", "A", "a"] {
        root.create_group(good).unwrap();
    }
    assert_eq!(root.children().unwrap().len(), 7);
}

#[test]
fn existing_nodes_with_reserved_names_are_listed_and_opened() {
    let name = "__xarray_dataarray_variable__";
    let (storage, _) = store(&[
        ("zarr.json", GROUP),
        (&format!("{name}/zarr.json"), ARRAY),
        ("__zarr_x/zarr.json", ARRAY),
        ("__empty/0", ""),
    ]);
    let root = open(&storage);
    let children = root.children().unwrap();
    assert_eq!(names(&children), ["__empty", name]);
    assert_eq!(children[1].diagnostics()[0].code, Code::ReservedName);
    assert_eq!(root.array(name).unwrap().shape(), [4]);
    let strict = open_with(&storage, GroupOptions::new().strict(true));
    assert!(strict.children().unwrap()[1].error().is_some());
}

#[test]
fn f4_paths_may_have_a_slash_at_either_end() {
    let (storage, _) = store(&[("zarr.json", GROUP), ("a/zarr.json", GROUP), ("a/x/zarr.json", ARRAY)]);
    let root = open(&storage);
    for path in ["a/x", "/a/x", "a/x/"] {
        assert_eq!(root.array(path).unwrap().path(), "/a/x");
    }
    assert_eq!(root.group("a").unwrap().array("x").unwrap().path(), "/a/x", "relative to the group");
    assert_eq!(root.group("").unwrap().path(), "/");
    assert!(root.array("a/./x").is_err());
}

#[test]
fn folders_are_not_groups_and_are_reported() {
    let objects = [
        ("zarr.json", GROUP),
        ("i/j/zarr.json", ARRAY),
        ("stray/file", ""),
        (".git/HEAD", ""),
        ("x/zarr.json", ARRAY),
    ];
    let (storage, _) = store(&objects);
    let list = |implicit| {
        let root = open_with(&storage, GroupOptions::new().implicit_groups(implicit));
        root.walk().map(|child| (child.path(), child.kind().is_some())).collect::<Vec<_>>()
    };
    let says = |all: &[(&str, bool)]| all.iter().map(|(p, n)| (p.to_string(), *n)).collect::<Vec<_>>();
    assert_eq!(list(ImplicitGroups::Report), says(&[("/i", false), ("/stray", false), ("/x", true)]));
    assert_eq!(list(ImplicitGroups::Ignore), says(&[("/x", true)]));
    let treated = says(&[("/.git", true), ("/i", true), ("/i/j", true), ("/stray", true), ("/x", true)]);
    assert_eq!(list(ImplicitGroups::Treat), treated);
    let root = open(&storage);
    assert_eq!(root.array("i/j").unwrap().shape(), [4], "a node can be opened by its path");
    let e = root.group("i").unwrap_err();
    assert_eq!(e.kind(), Kind::NotFound);
    assert!(format!("{e:#}").contains("ImplicitGroups::Treat"), "with a hint: {e:#}");
    assert!(!root.exists("i").unwrap() && root.exists("i/j").unwrap());
}

#[test]
fn f11_h40_groups_above_come_first() {
    for (group, document) in [(GROUP, "zarr.json"), (GROUP2, ".zgroup")] {
        let (storage, _) = store(&[(document, group)]);
        let root = open(&storage);
        root.create_group("a/b/c").unwrap();
        let mut wanted: Vec<String> = ["", "a/", "a/b/", "a/b/c/"].map(|p| format!("{p}{document}")).into();
        wanted.sort();
        assert_eq!(keys(&storage), wanted);
        assert_eq!(root.group("a/b").unwrap().format(), root.format());
    }
}

#[test]
fn f12_nothing_is_created_below_an_array() {
    let (storage, _) = store(&[("zarr.json", GROUP), ("x/zarr.json", ARRAY)]);
    let e = open(&storage).create_group("x/y/z").unwrap_err();
    assert_eq!(e.kind(), Kind::Exists);
    assert!(format!("{e:#}").contains("\"/x\" is an array"), "{e:#}");
    assert_eq!(keys(&storage).len(), 2);
}

#[test]
fn formats_can_be_side_by_side() {
    let objects = [
        ("zarr.json", GROUP),
        ("both/zarr.json", ARRAY),
        ("both/.zarray", ARRAY2),
        ("old/.zgroup", GROUP2),
        ("old/x/.zarray", ARRAY2),
        ("new/zarr.json", GROUP),
    ];
    let (storage, _) = store(&objects);
    let kinds = |formats| {
        let root = open_with(&storage, GroupOptions::new().formats(formats));
        root.walk().filter_map(|c| Some((c.path(), c.metadata()?.format().number()))).collect::<Vec<_>>()
    };
    let says = |all: &[(&str, u8)]| all.iter().map(|(p, n)| (p.to_string(), *n)).collect::<Vec<_>>();
    assert_eq!(kinds(Formats::Same), says(&[("/both", 3), ("/new", 3)]));
    assert_eq!(kinds(Formats::Both), says(&[("/both", 3), ("/new", 3), ("/old", 2), ("/old/x", 2)]));
    let old = open(&storage).group("old").unwrap();
    assert_eq!(names(&old.children().unwrap()), ["x"], "H41");
    // A hierarchy that is written has one format.
    let e =
        old.create_group_with("n", GroupMeta::new(zarr_hierarchy::Format::V3).unwrap(), ExistingNode::Fail);
    assert_eq!(e.unwrap_err().kind(), Kind::Exists);
    let e = open(&storage).create_group("old").unwrap_err();
    assert_eq!(e.kind(), Kind::Exists, "a node of another format exists");
}

#[test]
fn format_3_is_tried_first() {
    let (storage, counting) = store(&[(".zgroup", GROUP2), (".zattrs", r#"{"a":1}"#)]);
    let used = cost(&counting, || open(&storage));
    assert_eq!(used.requests(), 1 + 2 + 1, "one, then two at once, then consolidated metadata");
    assert_eq!(open(&storage).attributes().get("a").unwrap().as_raw(), "1");
}

#[test]
fn a_new_array_has_the_options_of_its_group_unless_they_are_set() {
    let document = consolidated("{}");
    let (storage, _) = store(&[("zarr.json", &document[..])]);
    let names = || {
        let group = Group::open(storage.clone(), "/", &standard()).unwrap();
        group.is_consolidated().then(|| group.children().unwrap().len())
    };
    let keeps = || open_with(&storage, GroupOptions::new().consolidated(ConsolidatedPolicy::Keep));
    keeps().create_array_with("a", array_meta(), &CreateOptions::new()).unwrap();
    assert_eq!(names(), Some(0), "the group keeps consolidated metadata as it is");
    let update = CreateOptions::new().consolidated(ConsolidatedPolicy::Update);
    keeps().create_array_with("b", array_meta(), &update).unwrap();
    assert_eq!(names(), Some(1));
    let mut limits = Limits::default();
    limits.metadata_bytes = 10;
    let e = open(&storage).create_array_with("c", array_meta(), &CreateOptions::new().limits(limits));
    assert_eq!(e.unwrap_err().kind(), Kind::LimitExceeded);
    let there = GroupOptions::new().existing(ExistingNode::Open);
    let create = |options| {
        let meta = GroupMeta::new(zarr_hierarchy::Format::V3).unwrap();
        Group::create_with(storage.clone(), "/", meta, &standard(), options)
    };
    assert_eq!(create(&there).unwrap().path(), "/");
    assert_eq!(create(&GroupOptions::new()).unwrap_err().kind(), Kind::Exists);
}

#[test]
fn an_existing_node_is_kept_replaced_or_an_error() {
    let (storage, _) = store(&[("zarr.json", GROUP)]);
    let root = open(&storage);
    let array = root.create_array("x", array_meta()).unwrap();
    array.write(.., &[1, 2, 3, 4]).unwrap();
    assert_eq!(root.create_array("x", array_meta()).unwrap_err().kind(), Kind::Exists);
    assert_eq!(root.create_group("x").unwrap_err().kind(), Kind::Exists);
    let again = root
        .create_array_with("x", array_meta(), &CreateOptions::new().existing(ExistingNode::Open))
        .unwrap();
    assert_eq!(again.read::<i32>(..).unwrap().as_slice(), [1, 2, 3, 4]);
    let e =
        root.create_group_with("x", GroupMeta::new(root.format()).unwrap(), ExistingNode::Open).unwrap_err();
    assert_eq!(e.kind(), Kind::Exists, "another kind of node");
    let new = root
        .create_array_with("x", array_meta(), &CreateOptions::new().existing(ExistingNode::Replace))
        .unwrap();
    assert_eq!(new.read::<i32>(..).unwrap().as_slice(), [7; 4]);
}

#[test]
fn only_folders_with_documents_are_children_and_arrays_have_none() {
    let objects = [
        ("zarr.json", GROUP),
        ("Thumbs.db", ""),
        ("x/zarr.json", ARRAY),
        ("x/c/0", "chunk"),
        ("x/deep/zarr.json", GROUP),
        ("c/zarr.json", GROUP),
        ("0/zarr.json", GROUP),
    ];
    let (storage, _) = store(&objects);
    let paths: Vec<_> = open(&storage).walk().map(|child| child.path()).collect();
    assert_eq!(paths, ["/0", "/c", "/x"]);
}

#[test]
fn f21_a_walk_finds_all_nodes_that_a_list_of_all_keys_finds() {
    for (group, array, format) in [(GROUP, ARRAY, 3), (GROUP2, ARRAY2, 2)] {
        let document = |kind: &str| {
            if format == 3 {
                "zarr.json"
            } else if kind == "a" {
                ".zarray"
            } else {
                ".zgroup"
            }
        };
        let nodes = [
            ("", "g"),
            ("a/", "g"),
            ("a/b/", "g"),
            ("a/b/x/", "a"),
            ("a/y/", "a"),
            ("a.b/", "g"),
            ("z/", "a"),
        ];
        let objects = nodes.map(|(path, kind)| {
            (format!("{path}{}", document(kind)), if kind == "a" { array } else { group })
        });
        let mut objects: Vec<(&str, &str)> = objects.iter().map(|(key, text)| (&key[..], *text)).collect();
        objects.extend([("z/c/0", "chunk"), ("z/0", "chunk"), ("a/readme.txt", "")]);
        let (storage, _) = store(&objects);
        let keys = keys(&storage);
        let listed = keys.iter().filter_map(|key| {
            let (path, name) = key.rsplit_once('/')?;
            [".zarray", ".zgroup", "zarr.json"].contains(&name).then(|| format!("/{path}"))
        });
        let mut walked: Vec<_> = open(&storage).walk().map(|child| child.path()).collect();
        walked.sort();
        let mut listed: Vec<_> = listed.collect();
        listed.sort();
        assert_eq!(walked, listed, "format {format}");
    }
}

#[test]
fn a_store_that_cannot_list_opens_nodes_by_path() {
    let (storage, _) = store(&[("zarr.json", GROUP), ("x/zarr.json", ARRAY)]);
    let root = open(&unlisted(&storage));
    let e = root.children().unwrap_err();
    assert_eq!(e.kind(), Kind::Unsupported);
    assert!(format!("{e:#}").contains("cannot list"), "{e:#}");
    assert_eq!(root.array("x").unwrap().shape(), [4]);
    let found: Vec<_> = root.walk().collect();
    assert!(matches!(found[0].found(), ChildState::Unlisted(_)) && found.len() == 1);
    open(&storage).consolidate().unwrap();
    assert_eq!(names(&open(&unlisted(&storage)).children().unwrap()), ["x"], "from consolidated metadata");
}

#[test]
fn erasing_includes_everything_below_and_the_root_only_on_request() {
    let objects = [
        ("zarr.json", GROUP),
        ("a/zarr.json", GROUP),
        ("a/x/zarr.json", ARRAY),
        ("a/x/c/0", "chunk"),
        ("ab/zarr.json", GROUP),
        ("i/0", ""),
    ];
    let (storage, _) = store(&objects);
    let root = open(&storage);
    root.erase("a").unwrap();
    assert_eq!(keys(&storage), ["ab/zarr.json", "i/0", "zarr.json"]);
    assert_eq!(root.erase("a").unwrap_err().kind(), Kind::NotFound);
    assert_eq!(root.erase("i").unwrap_err().kind(), Kind::NotFound, "no node, and nothing is erased");
    assert_eq!(root.erase("").unwrap_err().kind(), Kind::InvalidArgument);
    let e = erase(storage.clone(), "/", &EraseOptions::new()).unwrap_err();
    assert_eq!(e.kind(), Kind::InvalidArgument);
    erase(storage.clone(), "/", &EraseOptions::new().root(true)).unwrap();
    assert!(keys(&storage).is_empty());
}

/// An interruption leaves a node or none. It never leaves consolidated metadata without its group, which some readers
/// take for a group.
#[test]
fn f17_erasing_can_be_interrupted_and_run_again() {
    let objects = [(".zgroup", GROUP2), ("a/.zarray", ARRAY2), ("a/0", "chunk")];
    for left in 0..3 {
        let (storage, _) = store(&objects);
        open(&storage).consolidate().unwrap();
        let options = EraseOptions::new().root(true);
        let e = erase(failing(&storage, left), "/", &options).unwrap_err();
        assert_eq!(e.kind(), Kind::Io);
        let rest = keys(&storage);
        let has = |name: &str| rest.iter().any(|key| key == name);
        assert_eq!((has(".zmetadata"), has(".zgroup")), (left < 1, left < 2), "{left}: {rest:?}");
    }
}

#[test]
fn h41_h42_format_2_has_no_reserved_names_and_is_erased_and_moved_alike() {
    let objects = [
        (".zgroup", GROUP2),
        ("a/.zgroup", GROUP2),
        ("a/__x/.zarray", ARRAY2),
        ("a/__x/0", "chunk"),
        ("a/__zarr/.zgroup", GROUP2),
        ("a/.zattrs/strange", ""),
        ("ab/.zgroup", GROUP2),
        ("c/0", ""),
    ];
    let (storage, _) = store(&objects);
    let mut root = open(&storage);
    let children = root.group("a").unwrap().children().unwrap();
    assert_eq!(names(&children), ["__x", "__zarr"], "H41");
    assert!(children.iter().all(|child| child.diagnostics().is_empty()), "H41");
    assert_eq!(names(&root.children().unwrap()), ["a", "ab", "c"]);
    root.consolidate().unwrap();
    root.move_to("a", &root, "m/n").unwrap();
    root.erase("ab").unwrap();
    let paths: Vec<_> = open(&storage).walk().map(|child| child.path()).collect();
    assert_eq!(paths, ["/m", "/m/n", "/m/n/__x", "/m/n/__zarr"], "H42, in consolidated metadata as well");
    assert_eq!(root.check_consolidated().unwrap().unwrap(), []);
    assert_eq!(root.erase("c").unwrap_err().kind(), Kind::NotFound, "a folder is not a node");
    let kept = ["m/n/__x/0", "m/n/__x/.zarray", "m/n/.zattrs/strange", "m/.zgroup", "c/0"];
    assert!(kept.iter().all(|key| keys(&storage).contains(&key.to_string())));
    assert!(!keys(&storage).iter().any(|key| key.starts_with("a/") || key.starts_with("ab/")));
}

#[test]
fn a_read_only_store_is_not_changed() {
    let (storage, counting) = store(&[("zarr.json", GROUP), ("a/zarr.json", GROUP)]);
    let root = open(&storage.read_only());
    let used = cost(&counting, || {
        assert_eq!(root.erase("a").unwrap_err().kind(), Kind::Unsupported);
        assert_eq!(root.move_to("a", &root, "b").unwrap_err().kind(), Kind::Unsupported);
    });
    assert_eq!((used.puts, used.deletes, used.delete_prefixes), (0, 0, 0));
}

#[test]
fn moves_include_everything_below() {
    let (storage, _) = store(&[("zarr.json", GROUP), ("g/zarr.json", GROUP), ("g/extra.txt", "kept")]);
    let mut root = open(&storage);
    let x = root.create_array("g/x", array_meta()).unwrap();
    x.write(.., &[1, 2, 3, 4]).unwrap();
    root.consolidate().unwrap();
    let copied = root.move_to("g", &root, "h/i").unwrap();
    assert_eq!((copied.documents, copied.objects), (2, 3));
    let values: NdVec<i32> = root.array("h/i/x").unwrap().read(..).unwrap();
    assert_eq!(values.as_slice(), [1, 2, 3, 4]);
    assert_eq!(text(&storage, "h/i/extra.txt"), "kept");
    assert!(!root.exists("g").unwrap());
    let paths: Vec<_> = open(&storage).walk().map(|child| child.path()).collect();
    assert_eq!(paths, ["/h", "/h/i", "/h/i/x"], "in consolidated metadata as well");
    assert_eq!(root.check_consolidated().unwrap().unwrap(), []);
    assert_eq!(
        root.copy_to("h", &root, "h/j").unwrap_err().kind(),
        Kind::InvalidArgument,
        "a copy into itself"
    );
    assert_eq!(root.copy_to("h", &root, "h/i").unwrap_err().kind(), Kind::InvalidArgument);
    let (other, _) = store(&[("zarr.json", GROUP), ("here/zarr.json", GROUP)]);
    assert_eq!(root.copy_to("h", &open(&other), "here").unwrap_err().kind(), Kind::Exists);
    root.copy_to("", &open(&other), "all").unwrap();
    assert_eq!(open(&other).array("all/h/i/x").unwrap().read::<i32>(..).unwrap().as_slice(), [1, 2, 3, 4]);
}

#[test]
fn f40_f45_a28_historic_forms_are_tolerated() {
    let with =
        |member: &str| format!(r#"{{"zarr_format":3,"node_type":"group","consolidated_metadata":{member}}}"#);
    for (member, uses) in [
        ("null", false),                                        // rules F.t6 and F45
        (r#"{"kind":"other","must_understand":false}"#, false), // rule F.t5
        (r#"{"kind":"inline","metadata":{},"x":1}"#, true),     // rule F49
    ] {
        let (storage, _) = store(&[("zarr.json", &with(member)), ("x/zarr.json", ARRAY)]);
        let root = open(&storage);
        assert_eq!(root.is_consolidated(), uses, "{member}");
        assert_eq!(root.children().unwrap().len(), usize::from(!uses));
    }
    let (storage, _) = store(&[("zarr.json", &with(r#"{"kind":"other"}"#))]);
    assert_eq!(Group::open(storage, "/", &standard()).unwrap_err().kind(), Kind::UnknownExtension, "A24");
}

#[test]
fn f43_consolidated_metadata_can_be_ignored_or_required() {
    let (storage, _) = store(&[("zarr.json", GROUP), ("x/zarr.json", ARRAY)]);
    let open =
        |u| Group::open_with(storage.clone(), "/", &standard(), &GroupOptions::new().use_consolidated(u));
    assert_eq!(open(UseConsolidated::Require).unwrap_err().kind(), Kind::NotFound);
    open(UseConsolidated::IfPresent).unwrap().consolidate().unwrap();
    assert!(open(UseConsolidated::Require).unwrap().is_consolidated());
    assert!(!open(UseConsolidated::Ignore).unwrap().is_consolidated());
}

#[test]
fn empty_consolidated_members_in_entries_are_ignored() {
    let marked = GROUP.replace(
        "\"attributes\":{}",
        r#""consolidated_metadata":{"kind":"inline","must_understand":false,"metadata":{}}"#,
    );
    let map = format!(r#"{{"a":{marked},"a/b":{marked},"a/b/x":{ARRAY}}}"#);
    let (storage, counting) = store(&[("zarr.json", &consolidated(&map))]);
    let root = open(&storage);
    let used = cost(&counting, || {
        let a = root.group("a").unwrap();
        assert_eq!(names(&a.children().unwrap()), ["b"], "from the consolidated metadata above");
        assert_eq!(a.group("b").unwrap().array("x").unwrap().path(), "/a/b/x");
    });
    assert_eq!(used.requests(), 0);
}

#[test]
fn an_array_with_consolidated_metadata_opens() {
    let marked =
        ARRAY.replace("\"attributes\":{}", r#""consolidated_metadata":{"kind":"inline","metadata":{}}"#);
    let (storage, _) = store(&[("zarr.json", &consolidated(&format!(r#"{{"x":{marked}}}"#)))]);
    assert_eq!(open(&storage).array("x").unwrap().shape(), [4]);
}

/// Rules F50 to F53 and H1: one object holds a whole hierarchy of format 2.
#[test]
fn f53_an_object_of_version_2_answers_for_every_node() {
    let marked = r#"{"zarr_format":2,"consolidated_metadata":{"kind":"inline","metadata":{}}}"#; // rule F51
    let map = format!(
        r#"{{".zgroup":{GROUP2},".zattrs":{{"t":1}},"a/.zgroup":{marked},"a/x/.zarray":{ARRAY2},"a/x/.zattrs":{{"u":2}},
        "bad/.zarray":"text"}}"#
    );
    let object = format!(r#"{{"zarr_consolidated_format":1,"metadata":{map}}}"#);
    let objects = [(".zgroup", GROUP2), (".zmetadata", &object), ("unseen/.zgroup", GROUP2)];
    let (storage, counting) = store(&objects);
    let root = open(&storage);
    let used = cost(&counting, || {
        assert_eq!(names(&root.children().unwrap()), ["a", "bad"]);
        assert!(root.children().unwrap()[1].error().is_some(), "rule F50: a document is not a string");
        let a = root.group("a").unwrap();
        assert!(a.attributes().is_empty(), "rule F52");
        assert_eq!(a.array("x").unwrap().metadata().attributes().len(), 1);
        assert_eq!(root.array("unseen").unwrap_err().kind(), Kind::NotFound);
    });
    assert_eq!(used.requests(), 0);
}

#[test]
fn consolidated_metadata_of_an_inner_group_is_used_for_its_nodes() {
    let (storage, _) = store(&[
        ("zarr.json", GROUP),
        ("a/zarr.json", GROUP),
        ("a/x/zarr.json", ARRAY),
        ("b/zarr.json", GROUP),
    ]);
    open(&storage).group("a").unwrap().consolidate().unwrap();
    let a = Group::open(storage.clone(), "a", &standard()).unwrap();
    assert!(a.is_consolidated());
    assert_eq!(names(&a.children().unwrap()), ["x"]);
    assert!(!json(&storage, "zarr.json").as_object().unwrap().contains("consolidated_metadata"));
    assert_eq!(a.array("x").unwrap().path(), "/a/x");
}

#[test]
fn arrays_that_cannot_be_resolved_are_not_consolidated_silently() {
    use zarr_hierarchy::UnresolvedArrays;
    let unknown = ARRAY.replace("\"bytes\"", "\"unheard-of\"");
    let (storage, _) = store(&[
        ("zarr.json", GROUP),
        ("a/zarr.json", &unknown),
        ("b/zarr.json", ARRAY),
        ("bad/zarr.json", "{"),
    ]);
    let mut root = open(&storage);
    let e = root.consolidate().unwrap_err();
    assert_eq!((e.kind(), e.node()), (Kind::UnknownExtension, Some("/a")));
    assert_eq!(text(&storage, "zarr.json"), GROUP, "nothing was written");
    let report = root.consolidate_with(UnresolvedArrays::LeaveOut).unwrap();
    assert_eq!((report.nodes, report.left_out.len()), (1, 2));
    let report = root.consolidate_with(UnresolvedArrays::Include).unwrap();
    assert_eq!((report.nodes, &report.left_out[0].0[..]), (2, "/bad"));
    assert_eq!(names(&open(&storage).children().unwrap()), ["a", "b"]);
}

#[test]
fn a_consolidated_tree_needs_one_request() {
    let map = format!(r#"{{"a":{GROUP},"a/x":{ARRAY}}}"#);
    let (storage, counting) = store(&[("zarr.json", &consolidated(&map))]);
    let used = cost(&counting, || {
        let root = open(&storage);
        assert_eq!(names(&root.children().unwrap()), ["a"]);
        let a = root.group("a").unwrap();
        assert_eq!(names(&a.children().unwrap()), ["x"]);
        assert_eq!(a.array("x").unwrap().shape(), [4]);
        assert!(root.exists("a/x").unwrap() && !root.exists("b").unwrap());
        assert_eq!(root.walk().count(), 2);
    });
    assert_eq!(used.requests(), 1);
}

#[test]
fn an_erased_node_in_consolidated_metadata_opens_and_reads_the_fill_value() {
    let (storage, _) = store(&[("zarr.json", &consolidated(&format!(r#"{{"gone":{ARRAY}}}"#)))]);
    let gone = open(&storage).array("gone").unwrap();
    assert_eq!(gone.read::<i32>(..).unwrap().as_slice(), [7; 4]);
}

#[test]
fn a_node_missing_in_consolidated_metadata_is_not_seen() {
    let (storage, _) = store(&[("zarr.json", &consolidated("{}")), ("x/zarr.json", ARRAY)]);
    let root = open(&storage);
    assert!(root.children().unwrap().is_empty());
    assert_eq!(root.array("x").unwrap_err().kind(), Kind::NotFound);
    let real = open_with(&storage, GroupOptions::new().use_consolidated(UseConsolidated::Ignore));
    assert_eq!(names(&real.children().unwrap()), ["x"]);
    assert_eq!(root.check_consolidated().unwrap().unwrap().len(), 1);
}

#[test]
fn f_t4_slashes_around_paths_name_the_same_node() {
    let map = format!(r#"{{"/a":{GROUP},"a":{GROUP},"b/":{ARRAY}}}"#);
    let (storage, _) = store(&[("zarr.json", &consolidated(&map))]);
    let root = open(&storage);
    assert_eq!(names(&root.children().unwrap()), ["a", "b"]);
    assert_eq!(root.diagnostics().len(), 3);
    assert!(root.diagnostics().iter().all(|d| d.code == Code::ConsolidatedKey));
}

#[test]
fn another_version_of_consolidated_metadata_is_an_error() {
    let (storage, _) =
        store(&[(".zgroup", GROUP2), (".zmetadata", r#"{"zarr_consolidated_format":2,"metadata":{}}"#)]);
    assert_eq!(Group::open(storage.clone(), "/", &standard()).unwrap_err().kind(), Kind::Unsupported);
    open_with(&storage, GroupOptions::new().use_consolidated(UseConsolidated::Ignore));
}

#[test]
fn changes_update_consolidated_metadata() {
    for (group, array, group_name, array_name) in
        [(GROUP, ARRAY, "zarr.json", "zarr.json"), (GROUP2, ARRAY2, ".zgroup", ".zarray")]
    {
        let objects =
            [(group_name, group), (&format!("a/{group_name}"), group), (&format!("a/x/{array_name}"), array)];
        let (storage, _) = store(&objects);
        let mut root = open(&storage);
        root.consolidate().unwrap();
        let again = || open_with(&storage, GroupOptions::new().use_consolidated(UseConsolidated::Require));
        let fresh = || {
            let root = again();
            assert_eq!(root.check_consolidated().unwrap().unwrap(), []);
            root
        };
        // Through a handle that was opened separately, and through the group.
        let mut x =
            zarr_hierarchy::zarr_array::blocking::Array::open(storage.clone(), "a/x", &standard()).unwrap();
        x.edit_attributes(|attributes| attributes.set("units", "K")).unwrap();
        assert_eq!(
            fresh().array("a/x").unwrap().metadata().attributes().get("units").unwrap().as_raw(),
            "\"K\""
        );
        x.resize([6]).unwrap();
        assert_eq!(fresh().array("a/x").unwrap().shape(), [6]);
        x.edit_attributes(|attributes| drop(attributes.remove("units"))).unwrap();
        assert!(fresh().array("a/x").unwrap().metadata().attributes().is_empty());
        let mut a = fresh().group("a").unwrap();
        a.set_attributes(zarr_array::meta::json!({ "n": [1, 2] })).unwrap();
        a.merge_attributes(zarr_array::meta::json!({ "m": null })).unwrap();
        assert_eq!(fresh().group("a").unwrap().attributes().len(), 2);
        assert_eq!(root.group("a").unwrap().attributes().len(), 0, "another handle keeps what it has read");
        // In format 2 the consolidated metadata holds the documents of the group itself as well.
        again().set_attributes(zarr_array::meta::json!({ "title": "t" })).unwrap();
        assert_eq!(fresh().attributes().len(), 1);
        root.create_group("b/c").unwrap();
        assert_eq!(fresh().walk().count(), 4);
        assert_eq!(names(&root.children().unwrap()), ["a", "b"], "this handle has created it");
        fresh().erase("a").unwrap();
        assert_eq!(fresh().walk().map(|c| c.path()).collect::<Vec<_>>(), ["/b", "/b/c"]);
        let drops = GroupOptions::new().consolidated(zarr_hierarchy::ConsolidatedPolicy::Drop);
        open_with(&storage, drops).create_group("d").unwrap();
        assert!(!open(&storage).is_consolidated());
        open(&storage).consolidate().unwrap();
        let keeps = GroupOptions::new().consolidated(zarr_hierarchy::ConsolidatedPolicy::Keep);
        open_with(&storage, keeps).create_group("e").unwrap();
        assert_eq!(again().check_consolidated().unwrap().unwrap().len(), 1, "as requested");
        again().remove_consolidated().unwrap();
        assert!(!open(&storage).is_consolidated());
        assert_eq!(open(&storage).check_consolidated().unwrap(), None);
    }
}

#[test]
fn an_array_with_an_unknown_codec_does_not_hide_others() {
    for unknown in
        [ARRAY.replace("\"int32\"", "\"unheard-of\""), ARRAY.replace("\"bytes\"", "\"unheard-of\"")]
    {
        let map = format!(r#"{{"a":{unknown},"b":{ARRAY},"c":17}}"#);
        let objects =
            [("zarr.json", GROUP), ("a/zarr.json", &unknown), ("b/zarr.json", ARRAY), ("c/zarr.json", "17")];
        for root in [open(&store(&[("zarr.json", &consolidated(&map))]).0), open(&store(&objects).0)] {
            let children = root.children().unwrap();
            assert_eq!(names(&children), ["a", "b", "c"]);
            assert_eq!(children[0].metadata().unwrap().attributes().len(), 0, "its attributes are readable");
            assert_eq!(children[2].error().unwrap().kind(), Kind::Metadata);
            let mut children = children.into_iter();
            assert_eq!(children.next().unwrap().open().unwrap_err().kind(), Kind::UnknownExtension);
            let b =
                zarr_hierarchy::zarr_array::blocking::Array::from(children.next().unwrap().array().unwrap());
            assert_eq!(b.read::<i32>(..).unwrap().as_slice(), [7; 4]);
        }
    }
}

#[test]
fn f_t10_a_group_missing_in_between_is_implicit() {
    let (storage, _) = store(&[("zarr.json", &consolidated(&format!(r#"{{"a/b":{ARRAY}}}"#)))]);
    let root = open(&storage);
    assert_eq!(root.diagnostics()[0].code, Code::ImplicitGroup);
    let children = root.children().unwrap();
    assert!(matches!(children[0].found(), ChildState::Undocumented) && children[0].name() == "a");
    assert_eq!(root.array("a/b").unwrap().shape(), [4]);
    let treat = open_with(&storage, GroupOptions::new().implicit_groups(ImplicitGroups::Treat));
    assert_eq!(treat.walk().map(|c| c.path()).collect::<Vec<_>>(), ["/a", "/a/b"]);
}

#[test]
fn a_child_whose_document_vanishes_is_not_listed() {
    let (storage, _) = store(&[("zarr.json", GROUP), ("x/c/0", "chunk of an array that is being erased")]);
    let root = open(&storage);
    assert!(matches!(root.children().unwrap()[0].found(), ChildState::Undocumented));
    block_on(storage.delete(&key("x/c/0"))).unwrap();
    assert!(root.children().unwrap().is_empty());
}

/// Rules F13 and F14: nodes in an implicit group are found in a hierarchy of any format.
#[test]
fn an_implicit_group_gets_the_format_of_the_group_above() {
    let (storage, _) = store(&[(".zgroup", GROUP2), ("i/x/.zarray", ARRAY2)]);
    let root = open_with(&storage, GroupOptions::new().implicit_groups(ImplicitGroups::Treat));
    let implicit = root.group("i").unwrap();
    assert_eq!(implicit.format(), root.format());
    assert_eq!(implicit.array("x").unwrap().shape(), [4]);
    let children = implicit.children().unwrap();
    assert!(matches!(children[0].found(), ChildState::Node(NodeMeta::Array(_))), "{children:?}");
}

/// Rule F32: consolidated metadata, which some readers take for a group, is written after the group.
#[test]
fn f32_an_interrupted_copy_leaves_no_consolidated_metadata_without_its_group() {
    let (storage, _) = store(&[(".zgroup", GROUP2), ("a/.zgroup", GROUP2), ("a/x/.zarray", ARRAY2)]);
    Group::open(storage.clone(), "a", &standard()).unwrap().consolidate().unwrap();
    for left in 0..3 {
        let (to, _) = store(&[]);
        let copied = copy(storage.clone(), "a", failing(&to, left), "b", &CopyOptions::new());
        // The group above, the array, the group, its consolidated metadata.
        assert_eq!(copied.unwrap_err().kind(), Kind::Io);
        assert!(!keys(&to).contains(&"b/.zmetadata".to_owned()), "{left}: {:?}", keys(&to));
    }
    let (to, _) = store(&[]);
    copy(storage.clone(), "a", to.clone(), "b", &CopyOptions::new()).unwrap();
    assert_eq!(keys(&to), [".zgroup", "b/.zgroup", "b/.zmetadata", "b/x/.zarray"]);
}

/// Rule F44: consolidated metadata never becomes stale silently.
#[test]
fn stale_consolidated_metadata_is_reported_as_an_error() {
    let unknown = r#"{"zarr_consolidated_format":2,"metadata":{}}"#;
    let (storage, _) = store(&[(".zgroup", GROUP2), (".zmetadata", unknown), ("a/.zgroup", GROUP2)]);
    let mut a = Group::open(storage.clone(), "a", &standard()).unwrap();
    let e = a.edit_attributes(|attributes| attributes.set("n", 1)).unwrap_err();
    assert!(format!("{e:#}").contains("\".zmetadata\" is stale"), "{e:#}");
    assert!(text(&storage, "a/.zattrs").contains("\"n\""), "the change itself was applied");
    assert_eq!(text(&storage, ".zmetadata"), unknown);
}

#[test]
fn a_url_names_the_format_of_the_group_that_is_opened() {
    let (storage, _) = store(&[("g/zarr.json", GROUP), ("g/.zgroup", GROUP2), ("h/.zgroup", GROUP2)]);
    let open = |path: &str, format| Group::open_at(&Located::new(storage.clone(), path, format), &standard());
    let format = |format| open("/g", format).unwrap().format().number();
    assert_eq!([None, Some(3), Some(2)].map(format), [3, 3, 2]);
    assert_eq!(open("/h", Some(3)).unwrap_err().kind(), Kind::NotFound);
    assert_eq!(open("/h", Some(7)).unwrap_err().kind(), Kind::Unsupported);
}
