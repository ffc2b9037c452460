//! Tests of the command over services: every verb, and killed copies.

#[allow(dead_code, unused_macros, reason = "the tests of the command need more of it")]
#[path = "../../../../crates/zarr-cli/tests/command/harness.rs"]
mod harness;
pub(crate) mod program;

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use zarr_services::{Fault, HttpRequest, Moto, Nginx, Server, When, or_skip};

use harness::{Done, Folder, le, zarr};

/// Returns the command with credentials for the bucket.
fn s3_command(server: &Server, args: &[&str]) -> Command {
    let mut command = harness::command();
    command.args(args).envs(Moto::variables(&server.url("")));
    command
}

fn s3(server: &Server, args: &[&str]) -> Done {
    s3_command(server, args).output().unwrap().into()
}

/// Creates a consolidated hierarchy `h.zarr` of groups with five arrays of four different chunks.
fn hierarchy(groups: i32) -> Folder {
    let folder = Folder::new();
    folder.group("h.zarr");
    for group in 0..groups {
        folder.group(&format!("h.zarr/g{group}"));
        for name in 0..5 {
            let path = format!("h.zarr/g{group}/a{name}");
            sevens(&folder, &path);
            for chunk in 0..4 {
                let first = 100 * (5 * group + name) + 2 * chunk + 1;
                folder.write(&format!("{path}/c/{chunk}"), le(&[first, first + 1]));
            }
        }
    }
    zarr(["consolidate", &text(&folder, "h.zarr")]).ok();
    folder
}

/// Creates an array of eight elements with fill value 7, in chunks of two.
fn sevens(folder: &Folder, path: &str) {
    // Members in the order in which a copy writes them.
    let document = r#"{"zarr_format": 3, "node_type": "array", "shape": [8], "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 7, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {}}"#;
    folder.write(&format!("{path}/zarr.json"), document);
}

/// Returns a path in the folder, as an argument.
fn text(folder: &Folder, path: &str) -> String {
    folder.join(path).to_str().unwrap().to_owned()
}

/// Checks that the copy has the same nodes, metadata, elements and consolidated metadata.
#[track_caller]
fn assert_same(server: &Server, folder: &Folder, url: &str) {
    let (root, tree) = (text(folder, "h.zarr"), ["tree", "--json", "--no-consolidated"]);
    let listed = zarr([&tree[..], &[&root]].concat()).ok();
    assert_eq!(s3(server, &[&tree[..], &[url]].concat()).ok().text(), listed.text());
    s3(server, &["consolidate", "--check", url]).ok();
    for chunk in folder.files("h.zarr").iter().filter(|file| file.ends_with("/c/0")) {
        let node = chunk.trim_end_matches("/c/0");
        let wanted = zarr(["cat", "-f", "raw", &format!("{root}/{node}")]).ok().out;
        assert_eq!(
            s3(server, &["cat", "-f", "raw", &format!("{url}|zarr:{node}")]).ok().out,
            wanted,
            "{node}"
        );
    }
}

#[test]
fn a_hierarchy_lives_in_a_bucket() {
    let (server, folder) = (Server::s3(), hierarchy(2));
    let root = text(&folder, "h.zarr");
    s3(&server, &["copy", "-q", "--verify", &root, "s3://b/h.zarr"]).ok();
    assert_same(&server, &folder, "s3://b/h.zarr");
    for verb in [
        &["info"][..],
        &["tree", "--sizes"],
        &["ls", "-l", "-R"],
        &["validate"],
        &["rm", "-r", "-f", "--dry-run"],
    ] {
        let by_path = zarr([verb, &[&root]].concat()).ok().text().replace(&root, "s3://b/h.zarr");
        assert_eq!(s3(&server, &[verb, &["s3://b/h.zarr"]].concat()).ok().text(), by_path, "{verb:?}");
    }
    // The endpoint and the region may be options as well.
    let mut by_options = s3_command(&server, &["info", "s3://b/h.zarr", "--endpoint", &server.url("")]);
    by_options.env_remove("AWS_ENDPOINT_URL").env_remove("AWS_REGION").args(["--region", Moto::REGION]);
    Done::from(by_options.output().unwrap()).ok();
    // From bucket to bucket, and into an existing hierarchy.
    s3(&server, &["copy", "-q", "s3://b/h.zarr", "s3://c/y/z"]).ok();
    assert_same(&server, &folder, "s3://c/y/z");
    s3(&server, &["copy", "-q", "s3://b/h.zarr|zarr:g0", "s3://c/y/z|zarr:new/g"]).ok();
    s3(&server, &["consolidate", "--check", "s3://c/y/z"]).ok();
    s3(&server, &["rm", "-r", "s3://c/y/z|zarr:new"]).ok();
    assert_same(&server, &folder, "s3://c/y/z");
    // `rm` leaves a node whose name has the same beginning.
    s3(&server, &["copy", "-q", "s3://b/h.zarr|zarr:g0/a0", "s3://b/h.zarr2"]).ok();
    s3(&server, &["rm", "-r", "s3://b/h.zarr"]).fails(2, &["s3://b/h.zarr", "--force"]);
    s3(&server, &["rm", "-r", "--force", "s3://b/h.zarr"]).ok();
    s3(&server, &["info", "s3://b/h.zarr"]).fails(3, &["s3://b/h.zarr", "there is no node at \"/\""]);
    assert!(server.paths().iter().all(|path| !path.starts_with("/b/h.zarr/")));
    s3(&server, &["info", "s3://b/h.zarr2"]).ok();
}

/// Returns the puts of the server in their order.
fn stored(server: &Server) -> Vec<HttpRequest> {
    server.requests().into_iter().filter(|r| r.method == "PUT" && r.status == Some(200)).collect()
}

/// Kills a run after this many puts, unless it ends before. Returns whether it was killed.
fn kill_after(mut run: Child, server: &Server, puts: usize) -> bool {
    while stored(server).len() < puts {
        if let Some(ended) = run.try_wait().unwrap() {
            assert!(ended.success(), "{ended}");
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    run.kill().unwrap();
    let ended = run.wait().unwrap();
    // Requests in flight still arrive.
    while server.requests().iter().any(|r| r.status.is_none()) {
        thread::sleep(Duration::from_millis(1));
    }
    !ended.success()
}

#[test]
fn a_copy_that_is_killed_is_resumed_and_puts_nothing_twice() {
    killed_and_resumed(1);
}

#[test]
#[ignore = "large: cargo xtask full"]
fn large_a_copy_that_is_killed_is_resumed_and_puts_nothing_twice() {
    killed_and_resumed(3);
}

/// A killed copy loses only its requests in flight. Each of the `seeds` kills at other moments.
fn killed_and_resumed(seeds: usize) {
    let folder = hierarchy(3);
    let [root, trace] = ["h.zarr", "trace.jsonl"].map(|name| text(&folder, name));
    let options = ["copy", "-q", "--resume", &root, "s3://b/x", "--trace", &trace];
    // Including the documents of groups.
    let (chunks, documents) = (60, 19);
    for seed in 0..seeds {
        let server = Server::s3();
        server.script(When::on("PUT", ""), Fault::Delay(Duration::from_millis(4)));
        // From the marker, which is put first, to the last documents.
        let moments = (0..6).map(|part| 1 + (part * 7 + seed * 5) * (chunks + documents) / 48);
        let mut kills = 0;
        for puts in moments.chain([usize::MAX]) {
            let before = stored(&server).len();
            // A run may be killed before it makes its trace.
            fs::write(&trace, "").unwrap();
            let run = s3_command(&server, &options).stderr(Stdio::null()).spawn().unwrap();
            let killed = kill_after(run, &server, puts);
            // The trace has only real requests, and all of them unless answers were in flight.
            let lines = fs::read_to_string(&trace).unwrap();
            let put =
                |line: &&str| line.contains(r#""method": "PUT""#) && line.contains(r#""status": "200""#);
            let told = lines.lines().filter(put).count();
            let done = stored(&server).len() - before;
            assert!(told == done || killed && told < done, "{told} of {done}");
            if !killed {
                break;
            }
            kills += 1;
        }
        assert!(kills >= 4, "{kills}");
        assert_same(&server, &folder, "s3://b/x");

        let mut seen = BTreeSet::new();
        let all = stored(&server);
        let twice: BTreeSet<&str> =
            all.iter().filter(|r| !seen.insert(&r.path)).map(|r| r.path.as_str()).collect();
        // Consolidated metadata is added to this document later.
        assert_eq!(twice, BTreeSet::from(["/b/x/zarr.json"]), "{kills} kills");
        assert_eq!(seen.len(), chunks + documents + 1);
        assert_eq!(server.paths().len(), chunks + documents, "the marker is deleted");
    }
}

/// The copy is complete when the consolidated metadata above it names it. Until then it can be resumed or erased.
#[test]
fn a_copy_is_resumed_if_consolidated_metadata_above_does_not_name_it() {
    let (server, folder) = (Server::s3(), hierarchy(1));
    let root = text(&folder, "h.zarr");
    let run = |args: &[&str]| s3(&server, args);
    run(&["copy", "-q", &root, "s3://b/x"]).ok();
    let denied = |r: &HttpRequest| r.method == "PUT" && r.path == "/b/x/zarr.json";
    let marker = |r: &HttpRequest| r.method == "POST" && r.body.windows(9).any(|part| part == b".zarr-cop");
    let ends: [fn(&HttpRequest) -> bool; 2] = [denied, marker];
    for end in ends {
        for then in [&["copy", "-q", "--resume", &root][..], &["rm", "--unfinished"]] {
            server.script(When::matching(end), Fault::status(403));
            let place = "s3://b/x|zarr:in/h";
            run(&["copy", "-q", &root, place]).fails(8, &["`--resume` continues"]);
            server.heal();
            run(&[then, &[place]].concat()).ok();
            run(&["consolidate", "--check", "s3://b/x"]).ok();
            let is_copied = server.paths().iter().any(|path| path.starts_with("/b/x/in/h/"));
            assert_eq!(is_copied, then[0] == "copy");
            if is_copied {
                run(&["rm", "-r", place]).ok();
            }
        }
    }
}

#[test]
fn what_is_left_of_an_abandoned_copy_is_erased() {
    let (server, folder) = (Server::s3(), hierarchy(1));
    let root = text(&folder, "h.zarr");
    s3(&server, &["create", "--group", "s3://b/x"]).ok();
    for (url, place) in [("s3://b/y", "/b/y/"), ("s3://b/x|zarr:in/h", "/b/x/in/h/")] {
        let run = |args: &[&str]| s3(&server, &[args, &[url]].concat());
        run(&["rm", "--unfinished"]).fails(3, &["there is no unfinished copy at"]);
        // All elements are there, and documents of some arrays.
        server.script(When::on("PUT", "a0/zarr.json"), Fault::status(403));
        run(&["copy", "-q", &root]).fails(8, &[]);
        server.heal();
        let of = format!("an unfinished copy of {root:?}");
        for verb in ["info", "rm"] {
            run(&[verb]).fails(3, &["there is no node", &of, "--resume", "`zarr rm --unfinished`"]);
        }
        let there = server.paths();
        assert!(run(&["rm", "--unfinished", "--dry-run"]).ok().text().contains("g0 (not a node)\n"));
        // An interrupted `rm` can be repeated.
        server.script(When::on("POST", "delete").first(1), Fault::status(403));
        run(&["rm", "--unfinished"]).fails(8, &[]);
        assert!(server.get(&format!("{place}.zarr-copy.json")).is_some());
        assert_eq!(server.paths(), there);
        assert_eq!(run(&["rm", "--unfinished"]).ok().text(), format!("erased {of}\n"));
        assert!(server.paths().iter().all(|path| !path.starts_with(place)), "{:?}", server.paths());
        run(&["copy", "-q", &root]).ok();
        run(&["rm", "--unfinished"]).fails(3, &["there is no unfinished copy at"]);
    }
}

#[test]
fn a_web_server_is_read_by_consolidated_metadata() {
    let folder = hierarchy(1);
    let Some(nginx) = or_skip(Nginx::start()) else { return };
    let server = Server::http();
    let root = text(&folder, "h.zarr");
    let zip = text(&folder, "x.zip");
    zarr(["copy", "-q", &root, &format!("{zip}|zip:h.zarr")]).ok();
    // No consolidated metadata.
    folder.group("plain");
    sevens(&folder, "plain/a");
    for (file, bytes) in folder.contents(".") {
        let served = nginx.root().join(&file);
        fs::create_dir_all(served.parent().unwrap()).unwrap();
        fs::write(served, &bytes).unwrap();
        server.insert(&format!("/{file}"), bytes);
    }

    let wanted = zarr(["cat", "-f", "raw", &format!("{root}/g0/a1")]).ok().out;
    for host in [format!("http://{}", nginx.address()), server.url("")] {
        for store in [format!("{host}/h.zarr"), format!("{host}/x.zip|zip:h.zarr")] {
            for verb in [&["info"][..], &["tree", "--json"], &["ls", "-l", "-R"]] {
                let run = |place: &str| zarr([verb, &[place]].concat()).ok().text().replace(place, "");
                let wanted = match store.contains("|zip:") {
                    true => run(&root),
                    // It has the children from consolidated metadata, and says so.
                    false => run(&root).replace("the same children", "the store cannot be listed"),
                };
                assert_eq!(run(&store), wanted, "{verb:?} {store}");
            }
            assert_eq!(
                zarr(["cat", "-f", "raw", &format!("{store}|zarr:g0/a1")]).ok().out,
                wanted,
                "{store}"
            );
            zarr(["info", &format!("{store}|zarr:no")]).fails(3, &["there is no node at \"/no\""]);
        }
        // Without it only nodes with a known path can be opened.
        let plain = format!("{host}/plain");
        zarr(["tree", &plain]).fails(6, &[&plain, "cannot list", "`zarr consolidate`", "URL|zarr:path"]);
        // A group that cannot be listed is described as far as it is known.
        assert!(zarr(["info", &plain]).ok().text().contains("the store cannot list"));
        assert_eq!(
            zarr(["cat", "-f", "raw", &format!("{plain}|zarr:a")]).ok().out,
            7_i32.to_le_bytes().repeat(8)
        );
        zarr(["info", &format!("{host}/none")]).fails(3, &["there is no node"]);
        zarr(["copy", "-q", &root, &format!("{host}/new")]).fails(6, &["/new", "read-only"]);
    }
}
