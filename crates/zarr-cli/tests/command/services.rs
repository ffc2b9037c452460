//! Stores of a service with a listing, and of a web server without one: requests, and what is printed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::args;
use crate::bucket::Bucket;
use crate::harness::{Folder, array, zarr};
use crate::weather::weather;

/// Makes an array with this number of chunks of one byte.
fn tiny(bucket: &Bucket, key: &str, chunks: u64) {
    let document = array(&[chunks], "uint8", &[1], &json!(0), &json!([{ "name": "bytes" }]));
    bucket.put(&format!("{key}/zarr.json"), document.to_string());
    let content = |chunk| [7_u8, 7].into_iter().take([0, 1, 2][chunk % 3]).collect::<Vec<u8>>();
    for (chunk, index) in (0..chunks).enumerate() {
        bucket.put(&format!("{key}/c/{index}"), content(chunk));
    }
}

#[test]
fn sizes_come_from_listings() {
    const CHUNKS: u64 = 2_997;
    let bucket = Bucket::new();
    tiny(&bucket, "tiny.zarr", CHUNKS);
    for args in [
        &["tree", "--sizes", "--json", "s3://bucket/tiny.zarr"][..],
        &["du", "--json", "s3://bucket/tiny.zarr"],
        &["chunks", "--json", "s3://bucket/tiny.zarr"],
        &["info", "--count", "--json", "s3://bucket/tiny.zarr"],
    ] {
        let (done, requests) = bucket.zarr(args);
        let done = done.ok();
        // The document, and three pages of 1,000 names.
        assert!(requests.len() <= 5, "{args:?}: {} requests: {:?}", requests.len(), &requests);
        assert!(requests.iter().all(|(method, _)| method == "GET"), "{args:?}");
        match args[0] {
            "tree" => assert_eq!(done.json()["nodes"][0]["stored_bytes"], json!(CHUNKS)),
            "du" => assert_eq!(done.json()["nodes"][0]["chunk_bytes"], json!(CHUNKS)),
            "chunks" => {
                let lines = done.text().lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                assert_eq!(lines.map(|chunk| chunk["bytes"].as_u64().unwrap()).sum::<u64>(), CHUNKS);
            }
            _ => assert_eq!(done.json()["stored_chunks"], json!(CHUNKS)),
        }
    }
}

/// Makes a hierarchy with consolidated metadata on a web server: `/a`, `/g`, `/g/b`.
fn web() -> (Bucket, String) {
    let (folder, bucket) = (Folder::new(), Bucket::new());
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    folder.group("h.zarr/g");
    folder.base("h.zarr/g/b");
    zarr(args!["consolidate", folder.join("h.zarr")]).ok();
    bucket.upload(&folder.join("h.zarr"), "h.zarr");
    let url = bucket.web("h.zarr");
    (bucket, url)
}

#[test]
fn a_good_store_on_a_web_server_is_valid() {
    let (bucket, url) = web();
    let done = zarr(["validate", &url]).ok_with_notes();
    assert_eq!(done.text(), "4 nodes, 0 errors, 0 warnings\n");
    done.says(&["the store cannot list its objects", "nodes that it does not name are not looked for"]);
    let told = zarr(["validate", "--json", &url]).ok_with_notes().json();
    assert_eq!((&told["valid"], &told["errors"]), (&json!(true), &json!(0)));
    // The documents are read, and compared with the consolidated metadata.
    bucket.put("h.zarr/a/zarr.json", "{");
    let text = zarr(["validate", &url]).exits(1).text().to_owned();
    assert!(text.contains("/a (invalid)\n  error syntax"), "{text}");
}

#[test]
fn a_web_server_lists_no_chunks_and_prints_no_table() {
    let (_bucket, url) = web();
    zarr(["chunks", &format!("{url}/a")]).fails(6, &["cannot list"]);
}

#[test]
fn the_stores_in_a_bucket_are_listed() {
    let bucket = Bucket::new();
    tiny(&bucket, "b.zarr", 3);
    tiny(&bucket, "deep/a.zarr", 3);
    bucket.put("notes/file", "x");
    let (done, requests) = bucket.zarr(["ls", "s3://bucket"]);
    assert_eq!(done.ok().text(), "b.zarr\n");
    assert!(requests.len() < 20, "{requests:?}");
    assert_eq!(bucket.zarr(["ls", "s3://bucket/deep"]).0.ok().text(), "a.zarr\n");
    let missing = bucket.zarr(["info", "s3://bucket|zarr:B.zarr"]).0;
    missing.fails(3, &["there is no node at \"/B.zarr\"; did you mean \"b.zarr\"?"]);
}

#[test]
fn a_page_in_place_of_a_document_is_recognised() {
    let bucket = Bucket::new();
    bucket.put("page.zarr/zarr.json", "\n<!doctype html><title>Welcome</title>");
    for verb in ["info", "ls", "validate"] {
        zarr([verb, &bucket.web("page.zarr")])
            .fails(6, &["/page.zarr", "answers \"zarr.json\" with a web page"]);
    }
}

#[test]
fn data_is_checked_and_compared_with_a_request_for_each_object() {
    const CHUNKS: u64 = 300;
    let (folder, bucket) = (Folder::new(), Bucket::new());
    folder.node("a.zarr", &array(&[CHUNKS], "uint8", &[1], &json!(0), &json!([{ "name": "bytes" }])));
    for chunk in 0..CHUNKS {
        folder.write(&format!("a.zarr/c/{chunk}"), [7]);
    }
    bucket.upload(&folder.join("a.zarr"), "a.zarr");
    let (here, there) = (folder.join("a.zarr"), "s3://bucket/a.zarr");
    let sums = zarr(args!["checksum", "--stored", &here]).ok().text().to_owned();
    folder.write("sums", &sums);
    for (args, wanted) in [
        (
            args!["validate", "--data", there].to_vec(),
            "1 node, 0 errors, 0 warnings\n300 chunks read, 300 bytes\n",
        ),
        (args!["diff", &here, there].to_vec(), "1 node, no difference\n"),
        (
            args!["checksum", "--verify", folder.join("sums"), there].to_vec(),
            "301 objects in the file, no difference\n",
        ),
    ] {
        let (done, requests) = bucket.zarr(args.clone());
        assert_eq!(done.ok().text(), wanted);
        assert!(requests.len() <= 310, "{args:?}: {} requests", requests.len());
        assert!(requests.iter().all(|(method, _)| method == "GET"), "{args:?}");
    }
}

#[test]
fn data_on_a_web_server_is_looked_for_at_each_key() {
    let (bucket, url) = web();
    let done = zarr(["validate", "--data", &url]).ok_with_notes();
    assert!(
        done.text().ends_with("4 nodes, 0 errors, 0 warnings\n2 chunks read, 16 bytes\n"),
        "{}",
        done.text()
    );
    assert_eq!(done.text().matches("info missing-chunks: 1 chunk not stored").count(), 2);
    assert_eq!(zarr(["diff", &url, &url]).ok_with_notes().text(), "4 nodes, no difference\n");
    zarr(["checksum", "--stored", &url]).fails(6, &["cannot list"]);
    bucket.put("h.zarr/a/c/1", [1]);
    let report = zarr(["validate", "--data", "--json", &url]).exits(5).json();
    assert_eq!((&report["errors"], &report["missing_chunks"]), (&json!(1), &json!(1)));
}

#[test]
fn a_group_is_described_with_one_read_of_each_object() {
    for is_consolidated in [true, false] {
        let (folder, bucket) = (Folder::new(), Bucket::new());
        let path = weather(&folder);
        if !is_consolidated {
            zarr(args!["consolidate", "--remove", &path]).ok();
        }
        bucket.upload(&path, "weather.zarr");
        for args in [&["info"][..], &["info", "--json"], &["info", "--no-consolidated"], &["info", "--cdl"]] {
            let (done, requests) = bucket.zarr(args.iter().chain(&["s3://bucket/weather.zarr"]));
            done.ok();
            let mut seen: BTreeMap<_, usize> = BTreeMap::new();
            for (_, target) in requests.iter().filter(|(_, target)| !target.contains("list-type=")) {
                *seen.entry(target).or_default() += 1;
            }
            seen.retain(|_, times| *times > 1);
            assert!(seen.is_empty(), "{args:?}: {seen:?} of {}", requests.len());
        }
    }
}

#[test]
fn a_sync_reads_no_chunk_whose_tag_tells_that_it_is_equal() {
    let (folder, bucket) = (Folder::new(), Bucket::new());
    folder.group("h.zarr");
    folder.base("h.zarr/a");
    let source = folder.join("h.zarr");
    let sync = || {
        let (done, requests) = bucket.zarr(args!["sync", &source, "s3://bucket/h.zarr"]);
        let bodies =
            requests.iter().filter(|(method, target)| method == "GET" && target.contains("/c/")).count();
        (done.ok().text().to_owned(), bodies)
    };
    let first = sync().0;
    assert!(first.starts_with("3 objects new"), "{first}");
    let (text, bodies) = sync();
    assert!(text.starts_with("nothing changed; 3 objects the same"), "{text}");
    assert_eq!(bodies, 0);
    // Another chunk of the same size.
    folder.write("h.zarr/a/c/0", [9_u8; 8]);
    let (text, bodies) = sync();
    assert!(text.starts_with("1 object changed (8 bytes)"), "{text}");
    assert!(bodies <= 1, "{bodies}");
    assert_eq!(sync(), ("nothing changed; 3 objects the same\n".to_owned(), 0));
}
