//! Migration from format 2 to 3 by metadata: the order of writes, and what an interruption leaves.

use crate::common::hooked::{failing, unconditional};
use serde_json::{Value, json};
use zarr_array::traits::{Bytes, Key, Prefix};
use zarr_array::{Storage, block_on};
use zarr_conformance::instruments::Counting;
use zarr_hierarchy::migrate::{MigrateOptions, MigrationPlan, MigrationState, RemoveOptions, Step};
use zarr_hierarchy::{Format, HierarchyErrorKind, zarr_array};
use zarr_store::MemoryStore;

fn put(storage: &Storage, key: &str, text: impl ToString) {
    block_on(storage.put(&Key::new(key).unwrap(), text.to_string())).unwrap();
}

fn get(storage: &Storage, key: &str) -> Value {
    let bytes = block_on(storage.get(&Key::new(key).unwrap(), u64::MAX)).unwrap();
    bytes.map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap())
}

/// Returns all stored objects, ordered by key.
fn all(storage: &Storage) -> Vec<(String, Bytes)> {
    let listed = block_on(storage.list_all(&Prefix::root())).unwrap();
    let value = |key: &Key| block_on(storage.get(key, u64::MAX)).unwrap().unwrap();
    listed.iter().map(|object| (object.key.to_string(), value(&object.key))).collect()
}

fn array() -> Value {
    json!({
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "compressor": { "id": "zlib", "level": 1 },
        "filters": null, "order": "C", "fill_value": "NaN"
    })
}

/// An array of objects, whose codec has no equivalent in format 3.
fn pickled() -> Value {
    let mut array = array();
    array["dtype"] = "|O".into();
    array["fill_value"] = Value::Null;
    array["filters"] = json!([{ "id": "pickle" }]);
    array
}

/// Makes the groups `/` and `/g` and the arrays `/a` and `/g/b`, all consolidated.
fn hierarchy() -> Storage {
    let storage = Storage::from(MemoryStore::new());
    put(&storage, ".zgroup", json!({ "zarr_format": 2 }));
    put(&storage, ".zattrs", json!({ "title": "x" }));
    put(&storage, ".zmetadata", json!({ "zarr_consolidated_format": 1, "metadata": {} }));
    put(&storage, "a/.zarray", array());
    put(&storage, "a/.zattrs", json!({ "_ARRAY_DIMENSIONS": ["x"], "units": "K" }));
    put(&storage, "a/0", "chunk");
    put(&storage, "g/.zgroup", json!({ "zarr_format": 2 }));
    put(&storage, "g/b/.zarray", array());
    storage
}

fn plan(storage: &Storage, options: &MigrateOptions) -> MigrationPlan {
    block_on(options.plan(storage.clone(), "/")).unwrap()
}

fn run(plan: &MigrationPlan) -> Result<(), HierarchyErrorKind> {
    block_on(plan.run(&|_| {})).map_err(|e| e.kind())
}

fn keys(plan: &MigrationPlan) -> Vec<String> {
    plan.steps()
        .map(|step| match step {
            Step::Write(key, _) => format!("+{}", key.as_str()),
            Step::Replace(key, _) => format!("={}", key.as_str()),
            Step::Delete(key) => format!("-{}", key.as_str()),
            _ => unreachable!(),
        })
        .collect()
}

fn states(plan: &MigrationPlan) -> Vec<(&str, MigrationState)> {
    plan.nodes().iter().map(|node| (node.path.as_str(), node.state)).collect()
}

#[test]
fn children_come_before_parents_and_the_root_comes_last() {
    let storage = hierarchy();
    let before = all(&storage);
    let options = MigrateOptions::new().remove_old(true);
    let plan = plan(&storage, &options);
    assert_eq!(all(&storage), before, "planning changes nothing");
    let wanted = [
        "+g/b/zarr.json",
        "+a/zarr.json",
        "+g/zarr.json",
        "+zarr.json",
        "-g/b/.zarray",
        "-a/.zarray",
        "-g/.zgroup",
        "-a/.zattrs",
        "-.zgroup",
        "-.zattrs",
        "-.zmetadata",
    ];
    assert_eq!(keys(&plan), wanted);
    run(&plan).unwrap();
    let left: Vec<_> = all(&storage).into_iter().map(|(key, _)| key).collect();
    assert_eq!(left, ["a/0", "a/zarr.json", "g/b/zarr.json", "g/zarr.json", "zarr.json"]);
}

/// Reads four documents of each of four nodes at once; lists two groups and checks whether they are consolidated.
#[test]
fn a_plan_costs_requests_for_nodes_but_not_for_chunks() {
    let (storage, counting) = Counting::over(&hierarchy());
    let planned = plan(&storage, &MigrateOptions::new());
    let before = counting.counts();
    assert_eq!(before.requests(), 4 * 4 + 2 * 2);
    run(&planned).unwrap();
    assert_eq!((counting.counts() - before).requests(), 4 + 1, "a put for each node, and one sync");
}

/// The content of the new documents (rules J2, J3 and F41).
#[test]
fn converted_documents_keep_their_meaning() {
    let storage = hierarchy();
    run(&plan(&storage, &MigrateOptions::new())).unwrap();
    let a = get(&storage, "a/zarr.json");
    assert_eq!(a["attributes"], json!({ "units": "K", "_FillValue": "AAAAAAAA+H8=" }));
    assert_eq!(a["dimension_names"], json!(["x"]));
    assert_eq!(a["chunk_key_encoding"], json!({ "name": "v2", "configuration": { "separator": "." } }));
    let root = get(&storage, "zarr.json");
    assert_eq!(root["attributes"], json!({ "title": "x" }));
    let metadata = &root["consolidated_metadata"]["metadata"];
    assert_eq!(metadata["a"], a);
    assert_eq!(metadata["g/b"], get(&storage, "g/b/zarr.json"));
    assert_eq!(metadata.as_object().unwrap().len(), 3);
    // g/b has no dimension names, so it is not an array of xarray.
    assert_eq!(get(&storage, "g/b/zarr.json")["attributes"], json!({}));
    assert!(get(&storage, "g/zarr.json").get("consolidated_metadata").is_none(), "it had none");

    let storage = hierarchy();
    run(&plan(&storage, &MigrateOptions::new().keep_dimensions(true).fill_attribute(false))).unwrap();
    assert_eq!(
        get(&storage, "a/zarr.json")["attributes"],
        json!({ "_ARRAY_DIMENSIONS": ["x"], "units": "K" })
    );
}

/// A migration that is killed at any point can be run again, with the same result.
#[test]
fn an_interrupted_migration_can_be_run_again() {
    let options = MigrateOptions::new().remove_old(true);
    let whole = hierarchy();
    let planned = plan(&whole, &options);
    let steps = planned.steps().count();
    run(&planned).unwrap();
    for left in 0..steps {
        let storage = hierarchy();
        let interrupted = failing(&storage, left as i64);
        assert_eq!(run(&plan(&interrupted, &options)), Err(HierarchyErrorKind::Io));
        if left < 4 {
            assert!(get(&storage, "zarr.json").is_null(), "{left}: it is still one of format 2");
        }
        if left < 8 {
            assert!(!get(&storage, ".zgroup").is_null(), "{left}: a reader of format 2 finds its root");
        }
        run(&plan(&storage, &options)).unwrap();
        let again = plan(&storage, &options);
        assert_eq!(keys(&again), Vec::<String>::new(), "{left}");
        assert_eq!(all(&storage), all(&whole), "{left}");
    }
}

/// Even if the store has no conditional puts.
#[test]
fn a_document_of_another_writer_is_kept() {
    for weak in [false, true] {
        let storage = hierarchy();
        let seen = if weak { unconditional(&storage) } else { storage.clone() };
        let planned = plan(&seen, &MigrateOptions::new());
        put(&storage, "a/zarr.json", "{}");
        assert_eq!(run(&planned), Err(HierarchyErrorKind::Conflict), "{weak}");
        assert_eq!(get(&storage, "a/zarr.json"), json!({}), "{weak}");
    }
}

/// Each case: the obstacle, and the kind of the error.
#[test]
fn nothing_is_written_if_a_node_cannot_be_converted() {
    type Case = (&'static str, fn(&Storage), &'static str, HierarchyErrorKind);
    let cases: [Case; 7] = [
        ("pickle", |s| put(s, "g/b/.zarray", pickled()), "/g/b", HierarchyErrorKind::Unsupported),
        ("invalid", |s| put(s, "a/.zarray", "{"), "/a", HierarchyErrorKind::Metadata),
        ("attributes", |s| put(s, "a/.zattrs", "["), "/a", HierarchyErrorKind::Metadata),
        ("group", |s| put(s, "g/.zattrs", "["), "/g", HierarchyErrorKind::Metadata),
        ("name", |s| put(s, "__zarr_x/.zarray", array()), "/__zarr_x", HierarchyErrorKind::Unsupported),
        ("existing document", |s| put(s, "a/zarr.json", "{}"), "/a", HierarchyErrorKind::Exists),
        (
            "existing document of a group",
            |s| {
                put(
                    s,
                    "zarr.json",
                    json!({ "zarr_format": 3, "node_type": "group", "attributes": { "other": 1 } }),
                )
            },
            "/",
            HierarchyErrorKind::Exists,
        ),
    ];
    for (what, spoil, node, kind) in cases {
        let storage = hierarchy();
        spoil(&storage);
        let before = all(&storage);
        let plan = plan(&storage, &MigrateOptions::new());
        let error = block_on(plan.run(&|_| {})).unwrap_err();
        assert_eq!((error.node(), error.kind()), (Some(node), kind), "{what}: {error:#}");
        assert_eq!(all(&storage), before, "{what}");
    }
}

/// Rule F10: groups above a node of format 3 have format 3.
#[test]
fn convertible_nodes_are_converted_with_keep_going() {
    let options = MigrateOptions::new().keep_going(true).remove_old(true);
    let storage = hierarchy();
    put(&storage, "g/b/.zarray", pickled());
    let planned = plan(&storage, &options);
    assert_eq!(
        states(&planned),
        [
            ("/", MigrationState::Changes),
            ("/a", MigrationState::Changes),
            ("/g", MigrationState::Changes),
            ("/g/b", MigrationState::Blocked)
        ]
    );
    run(&planned).unwrap();
    assert_eq!(get(&storage, "zarr.json")["consolidated_metadata"]["metadata"].as_object().unwrap().len(), 2);
    assert!(get(&storage, "a/.zarray").is_null());
    for needed in [".zgroup", "g/.zgroup", "g/b/.zarray"] {
        assert!(!get(&storage, needed).is_null(), "{needed}: g/b is of format 2 only");
    }

    let storage = hierarchy();
    put(&storage, "g/.zattrs", "[");
    let planned = plan(&storage, &options);
    assert_eq!(
        states(&planned),
        [
            ("/", MigrationState::Changes),
            ("/a", MigrationState::Changes),
            ("/g", MigrationState::Blocked),
            ("/g/b", MigrationState::Blocked)
        ]
    );
}

/// Like `--overwrite` and `--force` of zarr-python.
#[test]
fn existing_documents_are_overwritten_on_request() {
    let storage = hierarchy();
    run(&plan(&storage, &MigrateOptions::new())).unwrap();
    let wanted = all(&storage);
    put(&storage, "a/zarr.json", "{}");
    put(
        &storage,
        "zarr.json",
        json!({ "zarr_format": 3, "node_type": "group", "attributes": { "other": 1 } }),
    );
    let options = MigrateOptions::new().overwrite(true);
    let planned = plan(&storage, &options);
    assert_eq!(keys(&planned), ["-zarr.json", "-a/zarr.json", "+a/zarr.json", "+zarr.json"]);
    run(&planned).unwrap();
    assert_eq!(all(&storage), wanted);

    put(&storage, "n/zarr.json", json!({ "zarr_format": 3, "node_type": "group" }));
    assert_eq!(
        run(&plan(&storage, &options)),
        Err(HierarchyErrorKind::Exists),
        "n would lose its only metadata"
    );
    run(&plan(&storage, &options.force(true))).unwrap();
    assert_eq!(all(&storage), wanted);
}

/// Rule F44: a node that is added later is in the consolidated metadata.
#[test]
fn existing_consolidated_metadata_gets_later_nodes() {
    let storage = hierarchy();
    run(&plan(&storage, &MigrateOptions::new().remove_old(true))).unwrap();
    put(&storage, "c/.zarray", array());
    let planned = plan(&storage, &MigrateOptions::new());
    assert_eq!(keys(&planned), ["+c/zarr.json", "=zarr.json"]);
    run(&planned).unwrap();
    assert_eq!(
        get(&storage, "zarr.json")["consolidated_metadata"]["metadata"]["c"],
        get(&storage, "c/zarr.json")
    );
}

#[test]
fn metadata_can_go_somewhere_else() {
    let (storage, to) = (hierarchy(), Storage::from(MemoryStore::new()));
    let before = all(&storage);
    let options = MigrateOptions::new().remove_old(true);
    let into = |to: &Storage| block_on(options.plan_into(storage.clone(), "/g", to.clone(), "/copy"));
    assert_eq!(run(&into(&failing(&to, 1)).unwrap()), Err(HierarchyErrorKind::Io));
    let planned = into(&to).unwrap();
    assert_eq!(keys(&planned), ["+copy/zarr.json"], "the other document exists");
    run(&planned).unwrap();
    let written: Vec<_> = all(&to).into_iter().map(|(key, _)| key).collect();
    assert_eq!(written, ["copy/b/zarr.json", "copy/zarr.json"]);
    assert_eq!(all(&storage), before, "only metadata at the destination is removed, and there was none");

    put(&to, "copy/other/file", "");
    assert_eq!(into(&to).unwrap_err().kind(), HierarchyErrorKind::Exists);
}

/// Rules F10 and F11: a part of a hierarchy cannot have another format.
#[test]
fn a_part_is_migrated_only_in_migrated_groups() {
    let storage = hierarchy();
    let part = || block_on(MigrateOptions::new().plan(storage.clone(), "/g"));
    assert_eq!(part().unwrap_err().kind(), HierarchyErrorKind::InvalidArgument);
    put(&storage, "zarr.json", json!({ "zarr_format": 3, "node_type": "group" }));
    assert_eq!(keys(&part().unwrap()), ["+g/b/zarr.json", "+g/zarr.json"]);
    let nowhere = block_on(MigrateOptions::new().plan(storage.clone(), "/nowhere"));
    assert_eq!(nowhere.unwrap_err().kind(), HierarchyErrorKind::NotFound);
}

/// Rules I6 and I8: zarr-python 1 declared order F for chunks that it had written in order C.
#[test]
fn an_array_of_format_1_is_converted_as_it_was_written() {
    for (compression, transposed) in [("zlib", false), ("blosc", true)] {
        let storage = Storage::from(MemoryStore::new());
        let options = if compression == "zlib" {
            json!(1)
        } else {
            json!({ "cname": "lz4", "clevel": 5, "shuffle": 1 })
        };
        let meta = json!({
            "zarr_format": 1, "shape": [4, 6], "chunks": [2, 3], "dtype": "<i4", "compression": compression,
            "compression_opts": options, "fill_value": 7, "order": "F"
        });
        put(&storage, "meta", meta);
        put(&storage, "attrs", json!({ "a": 1 }));
        put(&storage, "0.0", "chunk");
        let options = MigrateOptions::new().format(Format::V1).remove_old(true);
        let planned = plan(&storage, &options);
        assert_eq!(keys(&planned), ["+zarr.json", "-meta", "-attrs"]);
        run(&planned).unwrap();
        let array = get(&storage, "zarr.json");
        assert_eq!((&array["attributes"], &array["fill_value"]), (&json!({ "a": 1 }), &json!(7)));
        assert_eq!(array["codecs"][0]["name"] == "transpose", transposed, "{compression}");
    }
}

#[test]
fn metadata_is_removed_where_there_is_other_metadata() {
    let storage = hierarchy();
    let remove = |format, force| {
        let options = RemoveOptions::new().force(force);
        block_on(options.plan(storage.clone(), "/", format)).unwrap()
    };
    let old = all(&storage);
    assert_eq!(
        run(&remove(Format::V2, false)),
        Err(HierarchyErrorKind::NotFound),
        "no other metadata is left"
    );
    run(&plan(&storage, &MigrateOptions::new())).unwrap();
    let both = all(&storage);
    put(&storage, "a/zarr.json", "{");
    assert_eq!(
        run(&remove(Format::V2, false)),
        Err(HierarchyErrorKind::Metadata),
        "no other valid metadata is left"
    );
    run(&remove(Format::V3, false)).unwrap();
    assert_eq!(all(&storage), old);
    run(&plan(&storage, &MigrateOptions::new())).unwrap();
    assert_eq!(all(&storage), both);
    let planned = remove(Format::V2, false);
    assert_eq!(keys(&planned).last().unwrap(), "-.zmetadata");
    run(&planned).unwrap();
    assert_eq!(keys(&remove(Format::V2, false)), Vec::<String>::new());
    assert_eq!(run(&remove(Format::V3, false)), Err(HierarchyErrorKind::NotFound));
    assert_eq!(
        keys(&remove(Format::V3, true)),
        ["-g/b/zarr.json", "-a/zarr.json", "-g/zarr.json", "-zarr.json"]
    );
    run(&remove(Format::V3, true)).unwrap();
    assert_eq!(all(&storage).len(), 1, "the chunk stays");
}
