//! References and repositories of strangers over `zarr serve`: each hostile form of the table in `conformance/references` is an
//! error with a status, makes no request that is not allowed, and takes little memory.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Folder, zarr};
use crate::serve::Server;

/// The most memory of a server in KiB. A hostile form may claim gigabytes.
const MEMORY: u64 = 160 << 10;

fn table(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/references").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn rows(part: &str) -> Vec<Value> {
    table("hostile.json")[part].as_array().unwrap().clone()
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap()
}

fn bytes(digits: &str) -> Vec<u8> {
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// Returns the status of the answer for an error of a kind, and its message.
fn answer(kind: &str) -> (u16, &'static str) {
    match kind {
        "PermissionDenied" => (403, "the store denies access\n"),
        _ => (502, "the store cannot be read\n"),
    }
}

/// The exit code of an error of a kind.
fn exit(kind: &str) -> i32 {
    match kind {
        "Corrupt" => 5,
        "Unsupported" => 6,
        "Unavailable" => 7,
        "PermissionDenied" => 8,
        "LimitExceeded" | "TooLarge" => 11,
        _ => 3,
    }
}

/// Returns a folder with `data`, which `s3://bucket/data/` stands for, and the option for that.
fn folder() -> (Folder, String) {
    let folder = Folder::new();
    let content: Vec<u8> = (0..100).collect();
    for name in ["y.bin", "here/x.bin", "data/y.bin", "data-secret/y.bin"] {
        folder.write(name, &content);
    }
    folder.write("data/x y.bin", [0, 0, 0, 12]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", folder.join("data/link")).unwrap();
    let place = format!("--allow-references=s3://bucket/data/={}/", folder.join("data").display());
    (folder, place)
}

#[test]
fn a_hostile_reference_is_an_error_with_a_status() {
    let (folder, place) = folder();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let mut rows = rows("values");
    if cfg!(unix) {
        let link = json!({ "value": "[\"s3://bucket/data/link\"]", "kind": "", "said": "data/link" });
        rows.push(link);
    }
    let values = rows.iter().enumerate();
    let values =
        values.map(|(at, row)| format!("\"h{at}/0\": {}", text(row, "value").replace("PORT", &port)));
    let values: Vec<String> = values.collect();
    let group = r#"".zgroup": {"zarr_format": 2}, "fine/0": ["x.bin", 7, 1]"#;
    folder.write("here/refs.json", format!("{{{group}, {}}}", values.join(", ")));
    let refs = folder.join("here/refs.json").display().to_string() + "|kerchunk:";
    let server = Server::start([refs, place]);
    assert_eq!(server.get("/fine/0", &[]).body, [7]);
    for (at, row) in rows.iter().enumerate() {
        let reply = server.get(&format!("/h{at}/0"), &[]);
        let (status, said) = match text(row, "kind") {
            // A link that leads out of an allowed folder: whatever the store says of it, it is no missing chunk.
            "" if reply.status == 403 => answer("PermissionDenied"),
            kind => answer(kind),
        };
        assert_eq!((reply.status, &*String::from_utf8_lossy(&reply.body)), (status, said), "{row}");
    }
    assert_eq!(server.get("/fine/0", &[]).body, [7]);
    let (memory, notes) = server.end();
    assert!(memory < MEMORY, "{memory} KiB");
    for row in &rows {
        assert!(notes.contains(text(row, "said")), "{row} is not in {notes}");
    }
    assert!(!notes.contains("secret@"), "{notes}");
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn hostile_files_and_directories_of_references_are_not_served() {
    let (folder, place) = folder();
    for row in rows("files") {
        let content = row["hex"].as_str().map_or_else(|| text(&row, "text").as_bytes().to_vec(), bytes);
        folder.write("here/refs.json", content);
        let refs = folder.join("here/refs.json").display().to_string() + "|kerchunk:";
        zarr(args!["serve", "--listen", "127.0.0.1:0", refs])
            .fails(exit(text(&row, "kind")), &[text(&row, "said")]);
    }
    let array = json!({
        "zarr_format": 2, "shape": [10], "chunks": [2], "dtype": "|u1", "compressor": null, "filters": null, "fill_value": 0,
        "order": "C"
    });
    let documents =
        json!({ "metadata": { ".zgroup": { "zarr_format": 2 }, "a/.zarray": array }, "record_size": 5 });
    folder.write("here/refs.parq/.zmetadata", documents.to_string());
    for row in rows("directories") {
        folder.write("here/refs.parq/a/refs.0.parq", bytes(text(&row, "hex")));
        let refs = folder.join("here/refs.parq").display().to_string() + "|kerchunk:";
        let server = Server::start([&refs, &place]);
        let reply = server.get("/a/0", &[]);
        let expected = answer(text(&row, "kind"));
        assert_eq!((reply.status, &*String::from_utf8_lossy(&reply.body)), expected, "{row}");
        let (memory, notes) = server.end();
        assert!(memory < MEMORY && notes.contains(text(&row, "said")), "{row}: {memory} KiB, {notes}");
    }
}

#[test]
fn a_hostile_repository_is_an_error_and_never_a_fill_value() {
    let (folder, place) = folder();
    let table = table("hostile-repositories.json");
    let values = [10, 11, 12, 13, 0, 15, 0, 0];
    for row in table["cases"].as_array().unwrap() {
        let root = folder.join("repo");
        let _ = fs::remove_dir_all(&root);
        let mut files = table["files"].as_object().unwrap().clone();
        files.extend(row["files"].as_object().unwrap().clone());
        for (name, content) in &files {
            if let Some(content) = content.as_str() {
                folder.write(&format!("repo/{name}"), bytes(content));
            }
        }
        let (kind, said) = (text(row, "kind"), text(row, "said"));
        let repository = root.display().to_string() + "|icechunk:";
        let Some(server) = Server::start_if_it_can([&repository, &place]) else {
            zarr(args!["serve", "--listen", "127.0.0.1:0", &repository]).fails(exit(kind), &[said]);
            continue;
        };
        let mut statuses =
            vec![server.get("/?format=json", &[]).status, server.get("/a/?format=json", &[]).status];
        for (at, value) in values.into_iter().enumerate() {
            let reply = server.get(&format!("/a/c/{at}"), &[]);
            match reply.status {
                200 => assert_eq!(reply.body[0], value, "{said}: {at}"),
                404 => assert_eq!(value, 0, "{said}: {at}"),
                status => statuses.push(status),
            }
        }
        assert!(statuses.contains(&answer(kind).0), "{said}: {statuses:?}");
        let (memory, notes) = server.end();
        assert!(memory < MEMORY && notes.contains(said), "{said}: {memory} KiB, {notes}");
    }
}
