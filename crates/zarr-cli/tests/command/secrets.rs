//! Passwords on the command line: no error and no note shows them, even in mistyped URLs.

use std::fs;

use crate::harness::{Folder, zarr_in};

/// Mistyped URLs. The password has a slash, as secret keys of AWS often do: a part of such a path may be a directory.
const MISTYPED: [&str; 8] = [
    "s3:/alice:hush/secret@bucket/x",
    "https//alice:hush/secret@127.0.0.1/x",
    "https:alice:hush/secret@127.0.0.1/x",
    "https;//alice:hush/secret@127.0.0.1/x",
    "http:\\\\alice:hush/secret@127.0.0.1/x",
    "//alice:hush/secret@127.0.0.1/x",
    "alice:hush/secret@127.0.0.1/x",
    "alice:hush?secret@127.0.0.1",
];

/// No credentials are looked for, and nothing is tried again.
const OPTIONS: [&str; 2] = ["--anon", "--retries=0"];

#[test]
fn no_message_shows_a_password_as_typed() {
    let folder = Folder::new();
    folder.base("a.zarr");
    let verbs = [
        "info URL",
        "tree URL",
        "ls URL",
        "cat URL",
        "chunks URL",
        "du URL",
        "explain URL",
        "stats URL",
        "validate URL",
        "doctor URL",
        "view URL -o a.html",
        "checksum URL",
        "diff a.zarr URL",
        "copy URL b.zarr",
        "copy a.zarr URL",
        "copy --join a.zarr URL",
        "sync URL b.zarr",
        "sync a.zarr URL",
        "create URL --group",
        "create URL --shape 3 --dtype int8",
        "append URL --from a.npy",
        "write URL --from a.npy",
        "resize URL 3",
        "attrs set URL a 1",
        "mv URL b.zarr",
        "mv a.zarr URL",
        "rm -r URL",
        "rm --unfinished URL",
        "consolidate URL",
        "migrate v3 a.zarr URL",
        "migrate v3 URL",
        "remove-metadata v2 URL",
        "sweep URL",
        "--array_path URL",
        // Options, which name files or services, and arguments that the verb has not.
        "cat a.zarr -o URL",
        "cat a.zarr --output=URL",
        "info a.zarr --trace URL",
        "info a.zarr --ca-cert URL",
        "info a.zarr --redirects URL",
        "info a.zarr --redirects to:URL",
        "checksum a.zarr --verify URL",
        "write a.zarr --from URL",
        "info s3://bucket/x --endpoint URL",
        "info s3://bucket/x --endpoint=URL",
        "info a.zarr URL",
        "info a.zarr --in-flight URL",
        "URL",
    ];
    let typed = ["https://alice:hush/secret@127.0.0.1:9/x", "foo://alice:hush/secret@h/x?sig=secret"];
    for (at, url) in typed.into_iter().chain(MISTYPED).enumerate() {
        // All mistyped URLs are refused at the same place, so one of them stands for the others.
        for verb in &verbs[..if at < 3 { verbs.len() } else { 4 }] {
            let words: Vec<String> = verb.split(' ').map(|word| word.replace("URL", url)).collect();
            let done = zarr_in(folder.path(), [OPTIONS.map(str::to_owned).to_vec(), words].concat());
            for part in ["alice", "hush", "secret"] {
                assert!(!done.err.contains(part), "{verb} {url}: {}", done.err);
            }
            assert!(!done.err.is_empty(), "{verb} {url}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is created");
}

#[test]
fn a_mistyped_url_is_refused_and_a_file_of_its_name_is_not() {
    let folder = Folder::new();
    zarr_in(folder.path(), ["info", "s3:/user:secret@bucket/x"])
        .fails(2, &["\"…@bucket/x\": a URL begins with \"scheme://\"; put \"./\" in front"]);
    folder.base("run:1@2.zarr");
    zarr_in(folder.path(), ["cat", "-f", "raw", "run:1@2.zarr"]).ok();
    zarr_in(folder.path(), ["copy", "-q", "run:1@2.zarr", "./run:2@2.zarr"]).ok();
    zarr_in(folder.path(), ["cat", "-f", "raw", "run:2@2.zarr"]).ok();
}
