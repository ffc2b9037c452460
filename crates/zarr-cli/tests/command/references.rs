//! References of kerchunk and Icechunk repositories: what they hold, in archives, over HTTP, damaged, and copied.

use crate::archives::unpacked;
use crate::args;
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
