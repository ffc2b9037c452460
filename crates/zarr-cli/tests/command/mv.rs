//! Nodes that get another path, and arrays that get another shape.

use std::fs;

use serde_json::json;

use crate::args;
use crate::harness::{Done, Folder, base2, zarr, zarr_in};

fn run(folder: &Folder, line: &str) -> Done {
    zarr_in(folder.path(), line.split(' '))
}

/// Makes `h.zarr` of format 3 and `i.zarr` of format 2, each consolidated, with an array and a group that holds an
/// array.
fn stores(folder: &Folder) {
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/b");
    folder.group2("i.zarr");
    folder.array2("i.zarr/a", &base2());
    folder.group2("i.zarr/g");
    folder.array2("i.zarr/g/b", &base2());
    for store in ["h.zarr", "i.zarr"] {
        zarr(args!["consolidate", folder.join(store)]).ok();
    }
}

#[test]
fn a_node_moves_with_everything_below_it() {
    for is_url in [false, true] {
        let folder = Folder::new();
        stores(&folder);
        let name = |path: &str| match path.split_once('/') {
            Some((store, path)) if is_url => format!("file://{}|zarr:{path}", folder.join(store).display()),
            _ => path.to_owned(),
        };
        for store in ["h.zarr", "i.zarr"] {
            let [g, n, a] = ["g", "n/m/g", "a"].map(|path| name(&format!("{store}/{path}")));
            folder.write(&format!("{store}/g/notes.txt"), "kept");
            let before = folder.contents(&format!("{store}/g"));
            assert_eq!(run(&folder, &format!("mv {g} {n}")).ok().text(), "moved 2 nodes\n");
            assert_eq!(folder.contents(&format!("{store}/n/m/g")), before);
            assert!(!folder.join(store).join("g").exists());
            zarr(args!["consolidate", "--check", folder.join(store)]).ok();
            let listed = zarr(args!["ls", "-R", folder.join(store)]).ok();
            assert_eq!(listed.text(), "a\nn\nn/m\nn/m/g\nn/m/g/b\n");
            let told = run(&folder, &format!("mv --json {a} {}", name(&format!("{store}/z")))).ok().json();
            assert_eq!(
                told,
                json!({ "schema_version": 1, "path": "/z", "old_path": "/a", "nodes": [{ "path": "/z" }] })
            );
            zarr(args!["consolidate", "--check", folder.join(store)]).ok();
            assert_eq!(
                zarr(args!["cat", "-f", "json", folder.join(store).join("z")]).ok().text(),
                "[1,2,7,7]\n"
            );
        }
    }
}

#[test]
fn a_node_that_cannot_move_stays() {
    let folder = Folder::new();
    stores(&folder);
    folder.base("single.zarr");
    let before = folder.contents("");
    for (line, code, parts) in [
        ("h.zarr/g h.zarr/g/c", 2, ["\"/g\"", "one contains the other"]),
        ("h.zarr/g/b h.zarr/g", 2, ["\"/g/b\"", "one contains the other"]),
        ("h.zarr/g h.zarr/g", 2, ["\"/g\"", "one contains the other"]),
        ("h.zarr/a h.zarr/g/b", 2, ["\"/a\"", "there is a node already at \"/g/b\""]),
        ("h.zarr/g h.zarr/a/g", 2, ["\"/a\"", "array"]),
        ("h.zarr/a i.zarr/c", 2, ["not in the same store", "zarr copy"]),
        ("h.zarr/a new.zarr", 2, ["not in the same store", "zarr copy"]),
        ("single.zarr h.zarr/c", 2, ["not in the same store", "zarr copy"]),
        ("h.zarr/none h.zarr/c", 3, ["h.zarr", "there is no node \"none\""]),
        ("h.zarr/a h.zarr/__c", 2, ["reserved", "__c"]),
    ] {
        run(&folder, &format!("mv {line}")).fails(code, &parts);
        assert_eq!(folder.contents(""), before, "{line}");
    }
}

#[test]
fn a_folder_in_the_way_is_kept() {
    let folder = Folder::new();
    stores(&folder);
    // Chunks of an erased array would be among those of the moved one.
    folder.write("h.zarr/files/c/1", "kept");
    let before = folder.contents("");
    run(&folder, "mv h.zarr/a h.zarr/files").fails(2, &["files/c/1", "must be empty"]);
    assert_eq!(folder.contents(""), before);
    fs::remove_file(folder.join("h.zarr/files/c/1")).unwrap();
    run(&folder, "mv h.zarr/a h.zarr/files").ok();
    assert_eq!(folder.files("h.zarr/files"), ["c/0", "zarr.json"]);
    assert!(!folder.join("h.zarr/a").exists());
    zarr(args!["consolidate", "--check", folder.join("h.zarr")]).ok();
}

#[cfg(unix)]
#[test]
fn a_link_is_not_moved() {
    let folder = Folder::new();
    stores(&folder);
    std::os::unix::fs::symlink(folder.join("i.zarr/a"), folder.join("h.zarr/g/link")).unwrap();
    run(&folder, "mv h.zarr/g/link h.zarr/c").fails(2, &["is a link"]);
    assert_eq!(fs::read_link(folder.join("h.zarr/g/link")).unwrap(), folder.join("i.zarr/a"));
}

#[test]
fn an_array_gets_another_shape() {
    let folder = Folder::new();
    stores(&folder);
    for store in ["h.zarr", "i.zarr"] {
        let resize = |line: &str| run(&folder, &format!("resize {store}/a {line}"));
        assert_eq!(resize("6").ok().text(), "resized 4 to 6\n");
        assert_eq!(
            zarr(args!["cat", "-f", "json", folder.join(store).join("a")]).ok().text(),
            "[1,2,7,7,7,7]\n"
        );
        zarr(args!["consolidate", "--check", folder.join(store)]).ok();
        let chunk = if store == "h.zarr" { "a/c/0" } else { "a/0" };
        // No stored chunk is lost.
        resize("3").ok();
        assert_eq!(resize("--dry-run 1").ok().text(), format!("cut  {chunk}\n"));
        resize("1").fails(2, &["\"/a\"", "0 stored chunks would be erased and 1 cut; --force does so"]);
        resize("0").fails(2, &["1 stored chunk would be erased and 0 cut; --force does so"]);
        let told = resize("--json --dry-run 0").ok().json();
        let wanted = json!({
            "schema_version": 1, "dry_run": true, "path": "/a", "old_shape": [3], "shape": [0], "erased": [chunk], "cut": []
        });
        assert_eq!(told, wanted);
        resize("-y 1").ok();
        resize("2").ok();
        assert_eq!(zarr(args!["cat", "-f", "json", folder.join(store).join("a")]).ok().text(), "[1,7]\n");
        // What a resize that was killed has left does not come back.
        folder.write(&format!("{store}/{}", chunk.replace('0', "1")), "left");
        resize("4").fails(2, &["earlier shape", "erases them"]);
        resize("2").fails(2, &["1 stored chunk would be erased and 0 cut; --force does so"]);
        resize("-y 2").ok();
        resize("4").ok();
        resize("-y 0").ok();
        assert!(!folder.join(store).join(chunk).exists());
        resize("1,1").fails(2, &["1 dimension, not 2"]);
        zarr(args!["consolidate", "--check", folder.join(store)]).ok();
    }
}
