//! The advice of `zarr doctor`.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, array, with, zarr, zarr_in};

fn plain() -> Value {
    json!([{ "name": "bytes" }])
}

/// Makes a hierarchy with one array for each piece of advice.
fn hierarchy(folder: &Folder) {
    folder.group("d.zarr");
    let named = |document: Value, names: &[&str]| with(document, &json!({ "dimension_names": names }));
    folder
        .node("d.zarr/small", &named(array(&[1200, 2], "uint8", &[1, 2], &json!(0), &plain()), &["x", "y"]));
    for chunk in 0..1001 {
        folder.write(&format!("d.zarr/small/c/{chunk}/0"), [7; 2]);
    }
    folder.node("d.zarr/large", &named(array(&[1 << 30], "uint8", &[1 << 29], &json!(0), &plain()), &["z"]));
    folder.node("d.zarr/time", &named(array(&[4], "uint8", &[2], &json!(0), &plain()), &["time"]));
    folder.write("d.zarr/time/c/0", [0; 2]);
    folder.write("d.zarr/time/c/1", [0; 2]);
    folder.node("d.zarr/bare", &array(&[1 << 21], "uint8", &[1 << 21], &json!(0), &plain()));
    folder.write("d.zarr/bare/c/0", vec![1; 1 << 21]);
    folder.write("d.zarr/bare/c/9", [1; 3]);
}

#[test]
fn each_rule_has_its_figures_and_a_command() {
    let folder = Folder::new();
    hierarchy(&folder);
    let advice = zarr(args!["doctor", "--json", folder.join("d.zarr")]).ok().json()["advice"].clone();
    let found: Vec<[&str; 2]> = advice
        .as_array()
        .unwrap()
        .iter()
        .map(|one| [one["path"].as_str().unwrap(), one["code"].as_str().unwrap()])
        .collect();
    let wanted = [
        ["/bare", "uncompressed"],
        ["/bare", "no-dimension-names"],
        ["/bare", "stray-objects"],
        ["/large", "large-chunks"],
        ["/small", "small-objects"],
        ["/time", "split-coordinate"],
    ];
    assert_eq!(found, wanted);
    let command = |code: &str| {
        let one = advice.as_array().unwrap().iter().find(|one| one["code"] == code).unwrap();
        (one["message"].as_str().unwrap().to_owned(), one["command"].as_str().unwrap_or_default().to_owned())
    };
    let (message, mends) = command("small-objects");
    assert!(message.starts_with("1001 objects have 2 bytes on average"), "{message}");
    assert!(message.ends_with("; the command makes about 2.34 KiB in 1 object of it"), "{message}");
    // The command works as it stands.
    let named = [format!("{}/small", folder.join("d.zarr").display()), "small-copy.zarr".to_owned()];
    assert_eq!(mends, format!("zarr copy {} {} --chunks 1200,2", named[0], named[1]));
    zarr_in(folder.path(), mends.split_whitespace().skip(1).chain(["-q"])).ok();
    let advice = zarr(args!["doctor", "--json", folder.join("small-copy.zarr")]).ok().json();
    assert_eq!(advice["advice"], json!([]));
}

/// Returns the pieces of advice about a store: the codes, and the commands.
fn advice(folder: &Folder, store: &str) -> (Vec<String>, Vec<String>) {
    let advice = zarr_in(folder.path(), ["doctor", "--json", store]).ok().json()["advice"].clone();
    let member = |name: &str| -> Vec<String> {
        advice
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one[name].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    (member("code"), member("command"))
}

#[test]
fn advice_makes_no_array_larger() {
    let folder = Folder::new();
    let random: Vec<u8> = std::iter::repeat_with({
        let mut random = fastrand::Rng::with_seed(1);
        move || random.u8(..)
    })
    .take(500 * 1000 * 4)
    .collect();
    std::fs::write(folder.join("numbers.raw"), random).unwrap();
    let run = |text: &str| zarr_in(folder.path(), text.split(' ')).exits(0);
    let create = "--dimension-names y,x --from numbers.raw --dtype float32 --shape 500,1000";
    run(&format!("create many.zarr {create} --chunks 5,50 --codecs none"));
    run(&format!("create index.zarr {create} --chunks 1,10 --shards 500,1000 --codecs none"));
    let size = |store: &str| folder.contents(store).iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    for (store, code) in [("many.zarr", "small-objects"), ("index.zarr", "large-index")] {
        let (codes, commands) = advice(&folder, store);
        assert!(codes.contains(&code.to_owned()), "{store}: {codes:?}");
        let mends = &commands[codes.iter().position(|found| found == code).unwrap()];
        run(&format!("{} -q", mends.strip_prefix("zarr ").unwrap()));
        let copy = store.replace(".zarr", "-copy.zarr");
        let (before, after) = (size(store), size(&copy));
        assert!(after < before + before / 100, "{mends}: {before} bytes became {after}");
        let (codes, _) = advice(&folder, &copy);
        // Random bytes become no fewer with a compressor, so none is proposed.
        assert_eq!(codes, [""; 0], "{mends}");
    }
}

#[test]
fn consolidated_metadata_is_compared_and_codes_are_ignored() {
    let folder = Folder::new();
    folder.group("c.zarr");
    for name in 0..12 {
        folder.group(&format!("c.zarr/{name}"));
    }
    let text = |options: &[&str]| {
        zarr_in(folder.path(), [&["doctor", "c.zarr"], options].concat()).ok().text().to_owned()
    };
    assert!(text(&[]).contains("no-consolidated-metadata\n  there are 13 nodes"), "{}", text(&[]));
    assert_eq!(text(&["--ignore", "no-consolidated-metadata"]), "13 nodes, no advice\n");
    zarr_in(folder.path(), ["consolidate", "c.zarr"]).ok();
    assert_eq!(text(&[]), "13 nodes, no advice\n");
    // Consolidated metadata of format 2 is an object of its own.
    folder.group2("old.zarr");
    zarr_in(folder.path(), ["consolidate", "old.zarr"]).ok();
    assert_eq!(zarr_in(folder.path(), ["doctor", "old.zarr"]).ok().text(), "1 node, no advice\n");
    folder.group("c.zarr/new");
    assert!(text(&[]).contains("stale-consolidated-metadata"), "{}", text(&[]));
}

#[test]
fn a_group_that_xarray_does_not_open_is_no_healthy_dataset() {
    let folder = Folder::new();
    folder.group("d.zarr");
    for (name, length) in [("a", 4), ("b", 5)] {
        let node = array(&[length], "uint8", &[5], &json!(0), &plain());
        folder.node(&format!("d.zarr/{name}"), &with(node, &json!({ "dimension_names": ["x"] })));
    }
    let (codes, commands) = advice(&folder, "d.zarr");
    assert_eq!((&codes[0], &commands[0]), (&"no-dataset".to_owned(), &"zarr validate d.zarr".to_owned()));
    let text = zarr_in(folder.path(), ["doctor", "d.zarr"]).ok().text().to_owned();
    assert!(text.contains("xarray does not open the group: dimension \"x\" has length 4 in"), "{text}");
    // The levels of an image are no dataset.
    let levels = json!([{ "path": "a" }, { "path": "b" }]);
    let image = json!({ "ome": { "version": "0.5", "multiscales": [{ "datasets": levels }] } });
    let group = json!({ "zarr_format": 3, "node_type": "group", "attributes": image });
    folder.node("d.zarr", &group);
    assert_eq!(advice(&folder, "d.zarr").0, [""; 0]);
    // Nor are the tables of AnnData.
    folder.group("a.zarr/obs");
    folder.base("a.zarr/obs/n");
    assert_eq!(advice(&folder, "a.zarr/obs").0, ["no-dimension-names"]);
    let group =
        |of: &str| json!({ "zarr_format": 3, "node_type": "group", "attributes": { "encoding-type": of } });
    folder.node("a.zarr", &group("anndata"));
    folder.node("a.zarr/obs", &group("dataframe"));
    assert_eq!((advice(&folder, "a.zarr").0, advice(&folder, "a.zarr/obs").0), (vec![], vec![]));
}

#[test]
fn commands_can_be_pasted() {
    let folder = Folder::new();
    folder.group("a b.zarr");
    let time = with(array(&[4], "uint8", &[2], &json!(0), &plain()), &json!({ "dimension_names": ["it's"] }));
    folder.node("a b.zarr/it's", &time);
    for chunk in ["0", "1", "9"] {
        folder.write(&format!("a b.zarr/it's/c/{chunk}"), [0; 2]);
    }
    let url = format!("file://{}/a%20b.zarr", folder.path().display());
    for (given, commands) in [
        (
            "a b.zarr",
            ["zarr info --chunks 'a b.zarr/it'\\''s'".to_owned(), "'a b.zarr' 'a b-copy.zarr'".to_owned()],
        ),
        (&url, [format!("zarr info --chunks '{url}|zarr:it'\\''s'"), format!("{url} a%20b-copy.zarr")]),
    ] {
        let (codes, found) = advice(&folder, given);
        assert_eq!(codes, ["split-coordinate", "stray-objects"], "{given}");
        assert_eq!(found[1], commands[0]);
        assert!(found[0].starts_with("zarr copy ") && found[0].contains(&commands[1]), "{}", found[0]);
        assert!(found[0].ends_with(" --rule '**/it'\\''s:chunks=4'"), "{}", found[0]);
    }
}
