//! `zarr copy` with settings for some arrays, or by the names of dimensions.

use serde_json::{Value, json};

use crate::args;
use crate::harness::{Done, Folder, array, zarr};

/// Makes a group with the array `t` over time and lat, its coordinates, and an array without names.
fn hierarchy(folder: &Folder) {
    folder.node("h", &json!({ "zarr_format": 3, "node_type": "group" }));
    let bytes = json!([{ "name": "bytes", "configuration": { "endian": "little" } }]);
    let named = |shape: &[u64], chunks: &[u64], names: &[&str]| {
        let mut document = array(shape, "int32", chunks, &json!(0), &bytes);
        document["dimension_names"] = json!(names);
        document
    };
    folder.node("h/t", &named(&[48, 20], &[1, 20], &["time", "lat"]));
    folder.node("h/time", &named(&[48], &[1], &["time"]));
    folder.node("h/lat", &named(&[20], &[20], &["lat"]));
    folder.node("h/plain", &array(&[48, 20], "int32", &[1, 20], &json!(0), &bytes));
}

fn copy(folder: &Folder, to: &str, options: &[&str]) -> Done {
    let mut args = args!["copy", "-q", folder.join("h"), folder.join(to)].to_vec();
    args.extend(options.iter().map(Into::into));
    zarr(args)
}

fn chunks(folder: &Folder, path: &str) -> Value {
    folder.document(path)["chunk_grid"]["configuration"]["chunk_shape"].clone()
}

#[test]
fn chunks_are_given_by_the_names_of_dimensions() {
    let folder = Folder::new();
    hierarchy(&folder);
    copy(&folder, "a", &["--chunks", "time=24"]).exits(0);
    let found = ["a/t", "a/time", "a/lat", "a/plain"].map(|path| chunks(&folder, path));
    assert_eq!(found, [json!([24, 20]), json!([1]), json!([20]), json!([1, 20])]);
    copy(&folder, "b", &["--chunks", "time=24,lat=5", "--shards", "48,20"]).exits(0);
    assert_eq!(chunks(&folder, "b/t"), json!([48, 20]));
    copy(&folder, "c", &["--chunks", "time=0"]).exits(2);
}

#[test]
fn a_dimension_that_no_array_has_is_an_error() {
    let folder = Folder::new();
    hierarchy(&folder);
    for options in [
        &["--chunks", "time=24,latt=5"][..],
        &["--rule", "t:chunks=latt=5"],
        &["--chunks", "latt=5", "--dry-run"],
    ] {
        copy(&folder, "a", options)
            .fails(2, &[options[0], "no array has a dimension \"latt\": there are \"lat\", \"time\""]);
    }
    assert!(!folder.join("a").exists());
    // A dimension of one array is enough, also of a coordinate that is left alone.
    copy(&folder, "b", &["--chunks", "lat=5", "--exclude", "t"]).exits(0);
    assert_eq!(["b/lat", "b/plain"].map(|path| chunks(&folder, path)), [json!([20]), json!([1, 20])]);
}

#[test]
fn small_coordinates_are_left_alone_with_a_note() {
    let folder = Folder::new();
    hierarchy(&folder);
    copy(&folder, "a", &["--chunks", "7"]).fails(2, &["no array has that rank except small coordinates"]);
    assert!(!folder.join("a").exists());
    let done = copy(&folder, "a", &["--chunks", "24,10"]).exits(0);
    assert!(
        done.err.contains("array \"/lat\" and 1 more: a coordinate of less than 1.00 MiB"),
        "{}",
        done.err
    );
    assert_eq!(chunks(&folder, "a/time"), json!([1]));
    // A rule says otherwise, and so does a copy of the coordinate itself.
    copy(&folder, "b", &["--chunks", "24,10", "--rule", "time:chunks=48,codecs=zstd"]).exits(0);
    assert_eq!([chunks(&folder, "b/time"), chunks(&folder, "b/t")], [json!([48]), json!([24, 10])]);
    zarr(args!["copy", "-q", folder.join("h/time"), folder.join("c"), "--chunks", "7"]).exits(0);
    assert_eq!(chunks(&folder, "c"), json!([7]));
}

#[test]
fn the_first_rule_that_matches_counts() {
    let folder = Folder::new();
    hierarchy(&folder);
    let options = ["--codecs", "gzip", "--rule", "p*:chunks=lat=4,chunks=3", "--rule", "*:chunks=8,5"];
    copy(&folder, "a", &options).exits(2);
    let options =
        ["--codecs", "gzip", "--rule", "p*:chunks=2,4,codecs=none", "--rule", "{t,plain}:chunks=8,5"];
    copy(&folder, "b", &options).exits(0);
    let codecs = |path: &str| folder.document(path)["codecs"].as_array().unwrap().len();
    assert_eq!((chunks(&folder, "b/plain"), codecs("b/plain")), (json!([2, 4]), 1));
    assert_eq!((chunks(&folder, "b/t"), codecs("b/t")), (json!([8, 5]), 2));
    copy(&folder, "c", &["--rule", "a[:chunks=1"]).fails(2, &["--rule"]);
}

#[test]
fn chunks_have_a_target_size() {
    let folder = Folder::new();
    hierarchy(&folder);
    copy(&folder, "a", &["--target-chunk-size", "1kB"]).exits(0);
    // 48 × 20 × 4 bytes are halved twice.
    assert_eq!(chunks(&folder, "a/t"), json!([12, 20]));
    copy(&folder, "b", &["--target-chunk-size", "1kB", "--chunks", "1,1"]).exits(2);
}
