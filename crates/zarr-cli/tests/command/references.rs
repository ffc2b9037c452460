//! References of kerchunk and Icechunk repositories: what they hold, in archives, over HTTP, damaged, and copied.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::archives::unpacked;
use crate::args;
#[cfg(all(feature = "s3", feature = "http"))]
use crate::bucket::Bucket;
use crate::harness::{Done, Folder, zarr};

/// A folder with parts of the fixtures, and the files that they refer to.
fn fixtures(prefixes: &[&str]) -> Folder {
    let folder = Folder::new();
    for prefix in prefixes.iter().chain(&["data/"]) {
        unpacked(&folder, prefix);
    }
    folder
}

/// The option that allows the places of the fixtures.
fn allowed(folder: &Folder) -> String {
    format!("--allow-references=file:///zarr-references/data/={}/", folder.join("data").display())
}

fn url(folder: &Folder, place: &str) -> String {
    folder.join(place).to_str().unwrap().to_owned()
}

fn archive() -> String {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/references/references.zip");
    fixtures.to_owned()
}

/// The digest of a node.
fn digest(done: Done) -> String {
    let done = done.ok();
    done.text().split_whitespace().next().unwrap().to_owned()
}

#[test]
fn info_shows_the_repository_of_a_node() {
    let folder = fixtures(&["icechunk/v2-history/", "icechunk/v1-virtual/", "icechunk/v2-virtual-named/"]);
    let history = |end: &str| url(&folder, "icechunk/v2-history") + "|icechunk:" + end;
    let info = zarr(args!["info", "--json", history("")]).ok().json();
    let repository = &info["repository"];
    assert_eq!((&repository["format"], &repository["spec_version"]), (&json!("icechunk"), &json!(2)));
    assert_eq!(repository["ref"], "branch.main");
    let snapshot = &repository["snapshot"];
    assert_eq!((&snapshot["message"], &snapshot["id"]), (&json!("tip"), &repository["branches"]["main"]));
    let time = snapshot["time"].as_str().unwrap();
    assert!(time.starts_with("20") && time.ends_with('Z') && time.contains('T'), "{time}");
    let names = |of: &str| repository[of].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        (names("branches").join(","), names("tags")),
        ("main,reset,side".to_owned(), vec!["keep".to_owned()])
    );
    assert_eq!(repository["virtual_chunk_containers"], json!([]));

    let done = zarr(args!["info", history("@tag.keep/x")]).ok();
    let text = done.text();
    let id = repository["tags"]["keep"].as_str().unwrap();
    let (start, end) = text.split_once("repository, Icechunk specification 2\n").unwrap();
    assert!(start.starts_with("array ") && start.contains(", Zarr 3\n"), "{text}");
    let lines: Vec<_> = end.lines().collect();
    assert!(lines[0].starts_with(&format!("  snapshot  {id}  20")) && lines[0].ends_with("c2"), "{text}");
    assert!(lines[1].starts_with("  branch    ") && lines[1].ends_with("  main"), "{text}");
    assert!(
        lines[4].starts_with(&format!("  tag       {id}  keep")) && lines[4].ends_with("(read)"),
        "{text}"
    );
    assert_eq!(lines.len(), 5, "{text}");

    // Containers of virtual chunks, in both specifications.
    let prefix = "file:///zarr-references/data/";
    for (name, container) in [("v1-virtual", json!(null)), ("v2-virtual-named", json!("files"))] {
        let url = url(&folder, &format!("icechunk/{name}")) + "|icechunk:";
        let containers = |option: &str| {
            let info = zarr(args!["info", "--json", &url, "--allow-references", option]).ok().json();
            info["repository"]["virtual_chunk_containers"].clone()
        };
        for (option, allowed) in [
            ("file:///zarr-references/", "all"),
            ("file:///zarr-references/data/raw.bin", "part"),
            ("s3://bucket/", "nothing"),
        ] {
            let expected = json!([{ "name": container, "url_prefix": prefix, "allowed": allowed }]);
            assert_eq!(containers(option), expected, "{name} {option}");
        }
        let text = zarr(args!["info", &url]).ok().text().to_owned();
        assert!(text.contains(&format!("virtual chunks\n  {prefix}  ")), "{text}");
        assert!(text.ends_with("not allowed: `--allow-references` allows it\n"), "{text}");
    }

    // What cannot be read has the reason in its place.
    folder.write("icechunk/v1-virtual/config.yaml", "virtual_chunk_containers: [a]");
    let url = url(&folder, "icechunk/v1-virtual") + "|icechunk:";
    let info = zarr(args!["info", "--json", &url]).ok().json();
    let why = info["repository"]["virtual_chunk_containers_unknown_because"].as_str().unwrap();
    assert!(why.contains("config.yaml") && why.contains("line 1"), "{why}");
    let text = zarr(args!["info", &url]).ok().text().to_owned();
    assert!(text.contains("virtual chunks\n  unknown: key \"config.yaml\""), "{text}");
    // A snapshot is read by its id, also if the file of the repository is damaged.
    folder.write("icechunk/v2-history/repo", "x");
    let done = zarr(args!["info", history(&format!("@{id}"))]).ok_with_notes();
    done.says(&["note: the repository is not described", "this is not a file of Icechunk"]);
    zarr(args!["info", history("")]).exits(5);
    // Without the adapter the error says how it is read.
    let failed = folder.join("icechunk/v1-virtual");
    zarr(args!["info", &failed])
        .fails(6, &["an Icechunk repository (put \"|icechunk:\" behind its name to read it)"]);
    // Another store has no repository.
    folder.base("a.zarr");
    assert_eq!(zarr(args!["info", "--json", folder.join("a.zarr")]).ok().json().get("repository"), None);
}

#[test]
fn info_shows_a_repository_without_nodes() {
    let folder = fixtures(&["icechunk/v2-empty/", "icechunk/v1-empty/"]);
    for (name, version) in [("v1-empty", 1), ("v2-empty", 2)] {
        for at in ["", "@branch.main", "@1CECHNKREP0F1RSTCMT0"] {
            let url = url(&folder, &format!("icechunk/{name}")) + "|icechunk:" + at;
            let text = zarr(args!["info", &url]).ok().text().to_owned();
            let said =
                format!("repository, Icechunk specification {version}\n  snapshot  1CECHNKREP0F1RSTCMT0  20");
            assert!(
                text.starts_with("no node     ") && text.contains(": the snapshot has no nodes\n"),
                "{text}"
            );
            assert!(
                text.contains(&said) && text.contains("  branch    1CECHNKREP0F1RSTCMT0  main"),
                "{text}"
            );
            let info = zarr(args!["info", "--json", &url]).ok().json();
            assert_eq!((&info["path"], &info["node_type"]), (&json!("/"), &json!("none")));
            let repository = &info["repository"];
            assert_eq!(repository["snapshot"]["parent"], json!(null));
            assert_eq!(repository["branches"], json!({ "main": "1CECHNKREP0F1RSTCMT0" }));
            assert_eq!(
                (&repository["tags"], &repository["virtual_chunk_containers"]),
                (&json!({}), &json!([]))
            );
        }
    }
    // A node that is named is missing.
    let url = url(&folder, "icechunk/v2-empty") + "|icechunk:";
    zarr(args!["info", format!("{url}|zarr:a")]).fails(3, &["there is no node at \"/a\""]);
    zarr(args!["info", format!("{url}a|zarr:")]).exits(3);
    zarr(args!["info", "--cdl", &url]).exits(3);
}

#[test]
fn a_path_behind_the_adapter_of_references_names_a_node() {
    let folder = fixtures(&["icechunk/v2-virtualizarr/", "kerchunk/weather.parq/"]);
    unpacked(&folder, "kerchunk/");
    let repository = url(&folder, "icechunk/v2-virtualizarr");
    for (store, array) in [
        (url(&folder, "kerchunk/weather.json") + "|kerchunk:", "t2m"),
        (url(&folder, "kerchunk/weather.parq") + "|kerchunk:", "t2m"),
        (format!("{}|zip:kerchunk/weather.json|kerchunk:", archive()), "t2m"),
        (format!("{repository}|icechunk:"), "t2m"),
        (format!("{repository}|icechunk:@branch.main/"), "t2m"),
    ] {
        let run = |node: String, verb: &[&str]| {
            let all = args![verb[0], node, allowed(&folder)].into_iter();
            zarr(all.chain(verb[1..].iter().map(Into::into))).ok().out
        };
        for verb in [
            &["info", "--json"][..],
            &["cat", "-f", "csv", "-s", "time=2000-01-04,lat@0,lon@1"],
            &["cat", "-f", "json", "-s", "time=2000-01-04,lat@0"],
            &["stats", "--json"],
            &["explain", "--json", "-s", "time=2000-01-04"],
        ] {
            let named = run(format!("{}|zarr:{array}", store.trim_end_matches('/')), verb);
            assert!(!named.is_empty());
            for node in [format!("{store}{array}"), format!("{store}/{array}"), format!("{store}{array}/")] {
                let own = run(node.clone(), verb);
                assert_eq!(String::from_utf8(own), String::from_utf8(named.clone()), "{node} {verb:?}");
            }
        }
    }
    let missing = url(&folder, "kerchunk/weather.json") + "|kerchunk:/t2";
    zarr(args!["info", missing]).fails(3, &["there is no node at \"/t2\"", "did you mean \"t2m\""]);
}

#[test]
fn an_archive_holds_references_and_repositories() {
    let folder = fixtures(&["icechunk/v2-history/", "kerchunk/weather.parq/"]);
    unpacked(&folder, "kerchunk/");
    for (inner, outer) in [
        ("icechunk/v2-history", "icechunk:@branch.side"),
        ("icechunk/v2-history", "icechunk:@tag.keep/x"),
        ("kerchunk/inline.json", "kerchunk:lat"),
        ("kerchunk/weather.parq", "kerchunk:lat"),
    ] {
        let of = |place: String| zarr(args!["checksum", format!("{place}|{outer}"), allowed(&folder)]);
        let in_archive = digest(of(format!("{}|zip:{inner}", archive())));
        assert_eq!(in_archive, digest(of(url(&folder, inner))), "{inner} {outer}");
    }
    // A relative location leads anywhere in the archive, and not out of it.
    let relative = format!("{}|zip:kerchunk/relative.json|kerchunk:a", archive());
    let own = url(&folder, "kerchunk/relative.json") + "|kerchunk:a";
    let beside = format!("--allow-references={}/", folder.join("data").display());
    assert_eq!(digest(zarr(args!["checksum", relative])), digest(zarr(args!["checksum", own, beside])));
    let repository = format!("{}|zip:icechunk/v2-history|icechunk:", archive());
    let info = zarr(args!["info", "--json", repository]).ok().json();
    assert_eq!(info["repository"]["snapshot"]["message"], "tip");
    // References may name what an archive holds.
    let place = format!("--allow-references=file:///zarr-references/data/={}|zip:data/", archive());
    let node = url(&folder, "kerchunk/weather.json") + "|kerchunk:lat";
    assert_eq!(
        digest(zarr(args!["checksum", &node, place])),
        digest(zarr(args!["checksum", &node, allowed(&folder)]))
    );
    zarr(args!["info", format!("{}|zip:|kerchunk:", archive())]).exits(3);
    zarr(args!["info", format!("{}|zip:no|icechunk:", archive())])
        .fails(2, &["the archive has nothing below \"no/\""]);
}

/// The findings with a code, with the paths of their nodes.
fn dangling(report: &Value) -> Vec<(&str, &Value)> {
    let nodes = report["nodes"].as_array().unwrap().iter();
    let all = nodes.flat_map(|node| {
        let findings = node["findings"].as_array().unwrap().iter();
        findings.map(|finding| (node["path"].as_str().unwrap(), finding))
    });
    all.filter(|(_, finding)| finding["code"] == "dangling-reference").collect()
}

#[test]
fn validate_names_each_target_that_dangles_once() {
    let folder = fixtures(&["icechunk/v2-virtual/"]);
    let store = url(&folder, "icechunk/v2-virtual") + "|icechunk:";
    let place = |file: &str| {
        let to = folder.join("data").join(file);
        format!("--allow-references=file:///zarr-references/data/{file}={}", to.display())
    };
    zarr(args!["validate", "--data", &store, allowed(&folder)]).ok();
    // One file is not allowed.
    let report = |code| {
        let options = args![place("raw.bin"), place("grid.h5")];
        zarr(args!["validate", "--data", "--json", &store].into_iter().chain(options)).exits(code).json()
    };
    let forbidden = report(8);
    let found = dangling(&forbidden);
    assert_eq!(found.len(), 1, "{found:?}");
    let (path, finding) = found[0];
    let whole = "file:///zarr-references/data/whole.bin";
    assert_eq!((path, &finding["key"], &finding["index"]), ("/inl", &json!("inl/c/2"), &json!([2])));
    assert_eq!(
        (&finding["target"], &finding["reason"], &finding["chunks"]),
        (&json!(whole), &json!("not allowed"), &json!(1))
    );
    let said = format!(
        "\"{whole}\" is not allowed: allow it, or a folder above it, with `--allow-references`; 1 chunk refers to it"
    );
    assert_eq!(finding["message"], said);
    // One is missing, and one was changed after some of the references were made.
    fs::remove_file(folder.join("data/raw.bin")).unwrap();
    let grid = fs::File::options().write(true).open(folder.join("data/grid.h5")).unwrap();
    grid.set_modified(UNIX_EPOCH + Duration::from_secs(1_800_000_000)).unwrap();
    let damaged = report(5);
    let found = dangling(&damaged);
    let what = |path: &str| {
        let (_, finding) = found.iter().find(|(of, _)| *of == path).unwrap();
        let chunks = finding["chunks"].as_u64().unwrap();
        let target = finding["target"].as_str().unwrap().rsplit('/').next().unwrap();
        (target, finding["reason"].as_str().unwrap(), chunks, finding["key"].as_str().unwrap())
    };
    assert_eq!(found.len(), 3, "{found:?}");
    let (target, reason, chunks, key) = what("/raw");
    assert_eq!((target, reason, key), ("raw.bin", "missing", "raw/c/0/0"));
    assert!(chunks > 1);
    assert_eq!(what("/inl"), ("whole.bin", "not allowed", 1, "inl/c/2"));
    let (target, reason, chunks, key) = what("/h5");
    assert_eq!((target, reason, key), ("grid.h5", "changed", "h5/c/0/0"));
    assert!(chunks > 1);
    // As text.
    let done = zarr(args!["validate", "--data", &store, place("raw.bin"), place("grid.h5")]).exits(5);
    let line = "error dangling-reference in chunk [0, 0] (key \"h5/c/0/0\"): \"file:///zarr-references/data/grid.h5\" has changed since";
    assert!(done.text().contains(line), "{}", done.text());
    // A file that became shorter.
    let raw = fs::File::create(folder.join("data/raw.bin")).unwrap();
    raw.set_len(100).unwrap();
    let damaged = report(5);
    assert!(dangling(&damaged).iter().any(|(path, of)| *path == "/raw" && of["reason"] == "too short"));
}

#[test]
fn validate_names_the_targets_of_references_of_kerchunk() {
    let folder = fixtures(&["kerchunk/"]);
    fs::remove_file(folder.join("data/classic.nc")).unwrap();
    let store = url(&folder, "kerchunk/classic.json") + "|kerchunk:";
    let report = zarr(args!["validate", "--data", "--json", &store, allowed(&folder)]).exits(5).json();
    let found = dangling(&report);
    assert!(found.len() > 1, "{report}");
    for (_, finding) in found {
        assert_eq!(
            (&finding["target"], &finding["reason"]),
            (&json!("/zarr-references/data/classic.nc"), &json!("missing"))
        );
    }
}

#[test]
fn a_copy_of_references_is_resumed_and_verified() {
    let folder = fixtures(&["kerchunk/"]);
    let store = url(&folder, "kerchunk/by-hand.json") + "|kerchunk:";
    let copy = |options: &[&str]| {
        let all = args!["copy", "-q", &store, folder.join("out.zarr"), allowed(&folder), "--verify"];
        zarr(all.into_iter().chain(options.iter().map(Into::into)))
    };
    // One file of two is missing at first.
    fs::rename(folder.join("data/raw.bin"), folder.join("raw.bin")).unwrap();
    let failed = copy(&[]).exits(4);
    failed.says(&["/data/raw.bin", "does not exist", "nothing was copied"]);
    let failed = copy(&["--resume"]).exits(4);
    failed.says(&["/data/raw.bin", "does not exist", "is not complete; `--resume` continues it"]);
    let written = |path: &std::path::Path| fs::metadata(path).unwrap().modified().unwrap();
    let files = folder.files("");
    let copied =
        files.iter().find(|file| !file.starts_with("kerchunk/") && file.ends_with("g/h/x/0")).unwrap();
    let before = written(&folder.join(copied));
    fs::rename(folder.join("raw.bin"), folder.join("data/raw.bin")).unwrap();
    copy(&["--resume"]).ok();
    assert_eq!(written(&folder.join("out.zarr/g/h/x/0")), before);
    let done = zarr(args!["diff", &store, folder.join("out.zarr"), allowed(&folder)]);
    done.ok();
    // The copy needs the files no more.
    let before = digest(zarr(args!["checksum", &store, allowed(&folder)]));
    fs::remove_dir_all(folder.join("data")).unwrap();
    assert_eq!(digest(zarr(args!["checksum", folder.join("out.zarr")])), before);
}

#[cfg(all(feature = "s3", feature = "http"))]
#[test]
fn info_reads_each_file_of_a_repository_once() {
    let folder = fixtures(&["icechunk/v2-history/", "icechunk/v2-empty/"]);
    let server = Bucket::new();
    server.upload(folder.path(), "x");
    for (repository, end, expected) in [
        ("v2-history", "", &["repo", "snapshots/"][..]),
        ("v2-history", "@tag.keep|zarr:x", &["repo", "snapshots/", "manifests/"]),
        ("v2-history", "@tag.keep/x", &["repo", "snapshots/", "manifests/"]),
        ("v2-empty", "", &["repo", "snapshots/"]),
    ] {
        let url = server.web(&format!("x/icechunk/{repository}")) + "|icechunk:" + end;
        let (done, asked) = server.zarr(args!["info", "--json", "--no-values", url]);
        assert_eq!(done.ok().json()["repository"]["spec_version"], 2);
        assert_eq!(asked.len(), expected.len(), "{repository} {end}: {asked:?}");
        for ((method, target), part) in asked.iter().zip(expected) {
            assert!(
                method == "GET" && target.contains(part),
                "{repository} {end}: {part} is not in {target}"
            );
        }
    }
}

#[cfg(all(feature = "s3", feature = "http"))]
#[test]
fn verbs_that_read_all_chunks_join_the_requests_of_neighbours() {
    let (folder, server) = (Folder::new(), Bucket::new());
    let values: Vec<u8> = (0..250).collect();
    let mut refs = json!({
        ".zgroup": { "zarr_format": 2 },
        "a/.zarray": {
            "zarr_format": 2, "shape": [250], "chunks": [1], "dtype": "|u1", "compressor": null, "filters": null,
            "fill_value": 0, "order": "C"
        },
    });
    for chunk in 0..250 {
        refs[format!("a/{chunk}")] = json!([server.web("data/all.bin"), chunk, 1]);
    }
    folder.write("refs.json", json!({ "version": 1, "refs": refs }).to_string());
    server.put("data/all.bin", values);
    let store = url(&folder, "refs.json") + "|kerchunk:";
    let place = format!("--allow-references={}", server.web("data/"));
    zarr(args!["copy", "-q", &store, folder.join("copy.zarr"), &place]).ok();
    let copy = folder.join("copy.zarr");
    for (verb, most) in [
        // The engine reads 64 chunks at once.
        (args!["checksum", &store].to_vec(), 4),
        (args!["checksum", "--stored", &store].to_vec(), 2),
        (args!["validate", "--data", &store].to_vec(), 2),
        (args!["diff", &store, &copy].to_vec(), 2),
        (args!["diff", &copy, &store].to_vec(), 2),
        (args!["stats", format!("{store}|zarr:a")].to_vec(), 4),
    ] {
        let (done, asked) = server.zarr(verb.iter().cloned().chain([place.clone().into()]));
        done.ok();
        assert!((1..=most).contains(&asked.len()), "{verb:?}: {} requests", asked.len());
    }
}

#[cfg(all(feature = "s3", feature = "http"))]
#[test]
fn references_on_a_web_server_cost_few_requests() {
    let folder =
        fixtures(&["kerchunk/", "icechunk/v2-virtual/", "icechunk/v1-virtual/", "icechunk/v2-split/"]);
    let server = Bucket::new();
    server.upload(folder.path(), "x");
    let place = format!("--allow-references=file:///zarr-references/data/={}", server.web("x/data/"));
    // The fewest requests: all chunks of these arrays lie together in their file.
    let least: [(&str, &str, &[&str]); 6] = [
        ("kerchunk/weather.json", "kerchunk:lat", &["weather.json", "weather.nc"]),
        ("kerchunk/subchunk.json", "kerchunk:big", &["subchunk.json", "grid.h5"]),
        ("kerchunk/weather.parq", "kerchunk:lat", &[".zmetadata", "refs.0.parq", "weather.nc"]),
        ("icechunk/v2-virtual", "icechunk:raw", &["repo", "snapshots/", "manifests/", "raw.bin"]),
        // There is no file `repo`.
        (
            "icechunk/v1-virtual",
            "icechunk:raw",
            &["repo", "refs/branch.main/ref.json", "snapshots/", "manifests/", "raw.bin"],
        ),
        // Each of six chunks is an object.
        (
            "icechunk/v2-split",
            "icechunk:b",
            &["repo", "snapshots/", "manifests/", "", "", "", "", "", "chunks/"],
        ),
    ];
    for (inner, adapter, expected) in least {
        let of =
            |place: String, option: &str| args!["cat", "-f", "raw", format!("{place}|{adapter}"), option];
        let own = zarr(of(url(&folder, inner), &allowed(&folder))).ok().out;
        let (done, asked) = server.zarr(of(server.web(&format!("x/{inner}")), &place));
        assert_eq!(done.ok().out, own, "{inner}");
        assert_eq!(asked.len(), expected.len(), "{inner}: {asked:?}");
        for ((method, target), part) in asked.iter().zip(expected) {
            assert!(method == "GET" && target.contains(part), "{inner}: {part} is not in {target}");
        }
    }
}
