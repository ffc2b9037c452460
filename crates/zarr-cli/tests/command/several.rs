//! Several stores for one verb.

use serde_json::Value;

use crate::harness::{Done, Folder, zarr_in};

fn run(folder: &Folder, line: &str) -> Done {
    zarr_in(folder.path(), line.split(' '))
}

fn lines(done: &Done) -> Vec<Value> {
    done.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_store_has_a_heading_or_a_line_of_json_and_the_largest_exit_code_counts() {
    let folder = Folder::new();
    let (a, b) = (folder.base("a.zarr"), folder.base("b.zarr"));
    for verb in ["info", "validate", "doctor", "du", "stats", "checksum"] {
        let pages = [&a, &b].map(|store| {
            let name = store.file_name().unwrap().to_str().unwrap().to_owned();
            (run(&folder, &format!("{verb} {name}")).ok().text().to_owned(), name)
        });
        let wanted: String = pages.iter().map(|(page, name)| format!("== {name}\n{page}")).collect();
        assert_eq!(run(&folder, &format!("{verb} a.zarr b.zarr")).ok().text(), wanted, "{verb}");
        let alone = run(&folder, &format!("{verb} --json b.zarr")).ok().json();
        let both = lines(&run(&folder, &format!("{verb} --json a.zarr b.zarr")).ok());
        assert_eq!(both.len(), 2, "{verb}");
        assert_eq!([&both[0]["store"], &both[1]["store"]], ["a.zarr", "b.zarr"], "{verb}");
        let mut last = both[1].clone();
        last.as_object_mut().unwrap().remove("store");
        assert_eq!(last, alone, "{verb}");
        // A store that is missing keeps no other one back.
        let done = run(&folder, &format!("{verb} a.zarr none.zarr b.zarr")).exits(3);
        assert!(done.text().ends_with(&format!("== none.zarr\n== b.zarr\n{}", pages[1].0)), "{verb}");
        done.says(&["there is no directory \"none.zarr\""]);
    }
    // The same name without a verb.
    assert_eq!(run(&folder, "a.zarr b.zarr").ok().out, run(&folder, "info a.zarr b.zarr").ok().out);
}

#[test]
fn the_worst_of_several_stores_is_the_exit_code() {
    let folder = Folder::new();
    folder.base("good.zarr");
    folder.base("bad.zarr");
    folder.write("bad.zarr/c/0", [1]);
    folder.write("broken.zarr/zarr.json", "{");
    run(&folder, "validate --data bad.zarr good.zarr").exits(5);
    run(&folder, "validate --data good.zarr broken.zarr bad.zarr good.zarr").exits(5);
    run(&folder, "validate broken.zarr good.zarr").exits(1);
    folder.write("sums", run(&folder, "checksum good.zarr").ok().text());
    run(&folder, "checksum --verify sums good.zarr good.zarr").ok();
    run(&folder, "checksum --verify sums good.zarr bad.zarr").exits(5);
}

#[test]
fn several_nodes_are_erased_and_one_that_is_missing_is_named() {
    let folder = Folder::new();
    folder.group("h.zarr");
    for node in ["a", "b", "c"] {
        folder.base(&format!("h.zarr/{node}"));
    }
    let done = run(&folder, "rm h.zarr/a h.zarr/none h.zarr/c").exits(3);
    assert_eq!(done.text(), "== h.zarr/a\nerased 1 node\n== h.zarr/none\n== h.zarr/c\nerased 1 node\n");
    done.says(&["there is no node \"none\""]);
    assert_eq!(run(&folder, "ls h.zarr").ok().text(), "b\n");
}
