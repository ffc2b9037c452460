//! The messages for mistakes that many users make.

use std::fs;

use crate::harness::{Folder, zarr_in};

#[test]
fn a_mistake_is_answered_with_what_helps() {
    let folder = Folder::new();
    folder.group("h.zarr");
    for array in ["air", "lat"] {
        folder.write(
            &format!("h.zarr/{array}/zarr.json"),
            r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"int16","chunk_grid":{"name":"regular",
            "configuration":{"chunk_shape":[2]}},"chunk_key_encoding":{"name":"default"},"fill_value":0,
            "codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"attributes":{"units":"K"}}"#,
        );
    }
    for (command, exit, parts) in [
        ("info h.zarr/Air", 3, &["there is no node \"Air\"", "did you mean \"air\"?"][..]),
        ("info h.zarr/air/zarr.json", 3, &["\"h.zarr/air/zarr.json\" is a file of the node \"h.zarr/air\""]),
        ("cat h.zarr", 3, &["there is a group, not an array; it holds \"air\", \"lat\""]),
        ("info s3:/bucket/x", 3, &["there is no directory", "did you mean \"s3://bucket/x\"?"]),
        (
            "copy h.zarr b.zarr --include air,lat",
            2,
            &["--include: no node", "each pattern by its own --include"],
        ),
        ("copy h.zarr b.zarr --include none", 2, &["--include: no node matches\n"]),
    ] {
        zarr_in(folder.path(), command.split(' ')).fails(exit, parts);
    }
    // The parser of the command line has lines of its own.
    for (command, part) in [
        (
            "copy h.zarr/air b.zarr --chunks 10x10",
            "\"10x10\" is not a length above 0; commas separate lengths",
        ),
        (
            "migrate h.zarr",
            "the format to convert to comes first, and can only be v3: `zarr migrate v3 h.zarr`",
        ),
    ] {
        zarr_in(folder.path(), command.split(' ')).exits(2).says(&[part]);
    }
    assert!(!folder.path().join("b.zarr").exists());
    // `attrs` of a node prints its attributes.
    let wanted = zarr_in(folder.path(), "attrs get h.zarr/air".split(' ')).ok();
    assert_eq!(zarr_in(folder.path(), "attrs h.zarr/air".split(' ')).ok().out, wanted.out);
    assert_eq!(zarr_in(folder.path(), "attrs h.zarr/air units".split(' ')).ok().text(), "\"K\"\n");
    zarr_in(folder.path(), ["attrs"]).exits(2);
}

/// The file system of the kernel holds no new directories.
#[test]
fn a_directory_that_cannot_be_written_is_named() {
    if !cfg!(target_os = "linux") || fs::metadata("/proc/self").is_err() {
        return;
    }
    let folder = Folder::new();
    folder.group("h.zarr");
    zarr_in(folder.path(), "copy h.zarr /proc/x.zarr".split(' '))
        .fails(4, &["cannot create a directory in \"/proc\""]);
}
