//! `zarr sync` writes only what differs.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Done, Folder, zarr_in};

fn sync(folder: &Folder, arguments: &str) -> Done {
    zarr_in(folder.path(), ["sync"].into_iter().chain(arguments.split(' ')))
}

fn text(done: Done) -> String {
    String::from_utf8(done.ok().out).unwrap()
}

/// Makes a group with an array of three chunks.
fn source(folder: &Folder) {
    folder.write("numbers.raw", (0..12_u8).collect::<Vec<_>>());
    for arguments in [
        "create a.zarr --group",
        "create a.zarr/t --dtype uint8 --shape 12 --chunks 4 --codecs none --from numbers.raw --fill 255",
    ] {
        zarr_in(folder.path(), arguments.split(' ')).exits(0);
    }
}

#[test]
fn a_backup_is_made_kept_up_and_left_alone() {
    let folder = Folder::new();
    source(&folder);
    let would = text(sync(&folder, "a.zarr b.zarr --dry-run"));
    assert!(would.starts_with("would be: 5 objects new"), "{would}");
    assert!(!folder.join("b.zarr").exists());
    let first = text(sync(&folder, "a.zarr b.zarr"));
    assert!(first.starts_with("5 objects new (") && first.ends_with("; 0 objects the same\n"), "{first}");
    assert_eq!(folder.contents("a.zarr"), folder.contents("b.zarr"));
    assert_eq!(text(sync(&folder, "a.zarr b.zarr")), "nothing changed; 5 objects the same\n");

    fs::write(folder.join("a.zarr/t/c/0"), [9; 4]).unwrap();
    fs::remove_file(folder.join("a.zarr/t/c/1")).unwrap();
    folder.write("b.zarr/notes/mine.txt", "mine");
    let by_size = text(sync(&folder, "a.zarr b.zarr --size-only --dry-run"));
    assert!(by_size.contains("1 object deleted") && !by_size.contains("changed ("), "{by_size}");
    let done = sync(&folder, "a.zarr b.zarr --json").ok();
    let done: Value = serde_json::from_slice(&done.out).unwrap();
    let moved = |objects: u64, bytes: u64| json!({"objects": objects, "bytes": bytes});
    assert_eq!(
        (&done["new"], &done["changed"], &done["deleted"]),
        (&moved(0, 0), &moved(1, 4), &moved(1, 4))
    );
    assert_eq!((&done["left"], &done["dry_run"]), (&moved(1, 4), &json!(false)));
    let elements = zarr_in(folder.path(), ["cat", "b.zarr/t", "--format", "npy"]).ok().out;
    assert_eq!(elements[elements.len() - 12..], [9, 9, 9, 9, 255, 255, 255, 255, 8, 9, 10, 11]);
    let deleted = text(sync(&folder, "a.zarr b.zarr --delete"));
    assert_eq!(deleted, "1 object deleted (4 bytes); 4 objects the same\n");
    assert_eq!(folder.contents("a.zarr"), folder.contents("b.zarr"));
    assert!(text(sync(&folder, "a.zarr b.zarr -q")).is_empty());
}

#[test]
fn a_node_of_a_hierarchy_is_kept_in_step_with_its_consolidated_metadata() {
    let folder = Folder::new();
    source(&folder);
    zarr_in(folder.path(), ["create", "h.zarr", "--group"]).exits(0);
    zarr_in(folder.path(), ["consolidate", "h.zarr"]).exits(0);
    sync(&folder, "a.zarr h.zarr/x/a").ok();
    let tree = zarr_in(folder.path(), ["validate", "h.zarr"]).exits(0);
    assert!(!tree.err.contains("stale"), "{}", tree.err);
    let document = fs::read_to_string(folder.join("h.zarr/zarr.json")).unwrap();
    assert!(document.contains("x/a/t"), "{document}");
}

#[test]
fn what_would_destroy_something_is_refused() {
    let folder = Folder::new();
    source(&folder);
    folder.write("photos/summer.jpg", "mine");
    folder.write("photos/t/summer.jpg", "mine");
    for (arguments, parts) in [
        ("a.zarr a.zarr/x", ["inside of", "copy of itself"]),
        ("a.zarr a.zarr", ["a.zarr", "or the same"]),
        ("a.zarr/t a.zarr", ["inside of", "or the same"]),
        ("a.zarr photos --delete", ["no node", "summer.jpg"]),
        ("a.zarr photos", ["no node", "t/summer.jpg"]),
        ("a.zarr b.zip", ["b.zip", ""]),
    ] {
        let done = sync(&folder, arguments).exits(2);
        done.says(&parts);
    }
    assert_eq!(fs::read(folder.join("photos/t/summer.jpg")).unwrap(), b"mine");
    sync(&folder, "missing.zarr b.zarr").exits(3);
    assert!(!folder.join("b.zarr").exists());
}

/// A link to a disk that is not mounted, or content that git-annex has not fetched.
#[test]
fn what_cannot_be_seen_is_an_error_and_nothing_is_deleted() {
    let folder = Folder::new();
    source(&folder);
    sync(&folder, "a.zarr b.zarr").ok();
    let backup = folder.contents("b.zarr");
    for hidden in ["a.zarr/t/c", "a.zarr/t/c/1"] {
        fs::rename(folder.join(hidden), folder.join("disk")).unwrap();
        std::os::unix::fs::symlink("no/where", folder.join(hidden)).unwrap();
        for arguments in [
            "sync a.zarr b.zarr",
            "sync a.zarr b.zarr --delete",
            "copy a.zarr c.zarr",
            "copy a.zarr c.zarr --chunks 6",
            "checksum a.zarr",
            "checksum a.zarr --stored",
            "validate a.zarr --data",
            "doctor a.zarr",
            "cat a.zarr/t",
        ] {
            let done = zarr_in(folder.path(), arguments.split(' ')).exits(4);
            assert!(
                format!("{}{}", done.err, String::from_utf8_lossy(&done.out)).contains("leads nowhere"),
                "{arguments}"
            );
        }
        assert!(!folder.join("c.zarr").exists());
        assert_eq!(folder.contents("b.zarr"), backup, "{hidden}");
        fs::remove_file(folder.join(hidden)).unwrap();
        fs::rename(folder.join("disk"), folder.join(hidden)).unwrap();
    }
}

#[test]
fn an_empty_document_replaces_a_good_one_only_by_force() {
    let folder = Folder::new();
    source(&folder);
    sync(&folder, "a.zarr b.zarr").ok();
    fs::write(folder.join("a.zarr/t/zarr.json"), "").unwrap();
    sync(&folder, "a.zarr b.zarr").exits(1).says(&["t/zarr.json", "forced"]);
    assert!(!fs::read(folder.join("b.zarr/t/zarr.json")).unwrap().is_empty());
    sync(&folder, "a.zarr b.zarr --force").ok();
    assert!(fs::read(folder.join("b.zarr/t/zarr.json")).unwrap().is_empty());
}

#[test]
fn a_link_to_a_folder_below_the_destination_is_refused() {
    let folder = Folder::new();
    source(&folder);
    sync(&folder, "a.zarr b.zarr").ok();
    folder.write("precious/thesis.tex", "mine");
    std::os::unix::fs::symlink("../precious", folder.join("b.zarr/link")).unwrap();
    sync(&folder, "a.zarr b.zarr --delete").exits(8).says(&["link", "somebody else"]);
    assert!(folder.join("precious/thesis.tex").exists());
}

/// Documents as zarr-python 3 writes them: other members first, `storage_transformers`, and consolidated metadata.
fn spelled_otherwise(folder: &Folder) {
    let array = r#"{"shape": [4], "data_type": "float32", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
"chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": 0, "codecs": [{"name": "bytes",
"configuration": {"endian": "little"}}], "attributes": {"units":"K"}, "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#;
    let consolidated =
        format!(r#"{{"kind": "inline", "must_understand": false, "metadata": {{"t": {array}}}}}"#);
    folder.write("a.zarr/zarr.json", format!(r#"{{"attributes": {{}}, "zarr_format": 3, "consolidated_metadata": {consolidated}, "node_type": "group"}}"#));
    folder.write("a.zarr/t/zarr.json", array);
    folder.write("a.zarr/t/c/0", [0_u8; 8]);
}

#[test]
fn a_copy_keeps_documents_so_that_nothing_differs_from_the_source() {
    let nothing = |folder: &Folder| {
        zarr_in(folder.path(), ["copy", "a.zarr", "b.zarr", "-q"]).ok();
        assert_eq!(folder.contents("a.zarr"), folder.contents("b.zarr"));
        let done = text(sync(folder, "a.zarr b.zarr"));
        assert!(done.starts_with("nothing changed; "), "{done}");
        // A complete copy is known again.
        zarr_in(folder.path(), ["copy", "a.zarr", "b.zarr", "-q", "--resume"]).ok();
        // What is changed is written in the usual form.
        zarr_in(folder.path(), ["copy", "a.zarr", "c.zarr", "-q", "--chunks", "3"]).ok();
        zarr_in(folder.path(), ["consolidate", "--check", "c.zarr"]).ok();
    };
    let folder = Folder::new();
    spelled_otherwise(&folder);
    nothing(&folder);
    let folder = Folder::new();
    source(&folder);
    zarr_in(folder.path(), ["consolidate", "a.zarr"]).ok();
    nothing(&folder);
    let folder = Folder::new();
    for arguments in [
        "create old.zarr --group --zarr-format 2",
        "create old.zarr/t --dtype int16 --shape 12 --chunks 4 --attrs {\"a\":1.50}",
        "write old.zarr/t --value 3",
        "consolidate old.zarr",
        "copy old.zarr a.zarr",
    ] {
        zarr_in(folder.path(), arguments.split(' ')).exits(0);
    }
    nothing(&folder);
}

#[test]
fn a_copy_consolidates_anew_what_is_stale() {
    let folder = Folder::new();
    spelled_otherwise(&folder);
    let path = folder.join("a.zarr/t/zarr.json");
    let array = fs::read_to_string(&path).unwrap().replace(r#""units":"K""#, r#""units":"m""#);
    fs::write(&path, array).unwrap();
    zarr_in(folder.path(), ["copy", "a.zarr", "b.zarr", "-q"]).ok();
    zarr_in(folder.path(), ["consolidate", "--check", "b.zarr"]).ok();
    zarr_in(folder.path(), ["consolidate", "--check", "a.zarr"]).exits(1);
}
