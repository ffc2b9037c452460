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
        ("migrate v2 h.zarr", "the format to convert to can only be v3: `zarr migrate h.zarr`"),
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

/// Mistakes that users made with stores of the weather: what was typed, the exit code, and what helps in the answer.
const MISTAKES: &[(&str, i32, &str)] = &[
    // Words and options of other tools.
    ("plot w.zarr", 2, "zarr view STORE, or zarr info STORE"),
    ("rename a b", 2, "zarr mv STORE/PATH STORE/NEW"),
    ("rechunk w.zarr x.zarr", 2, "zarr copy SRC DST --chunks"),
    ("describe w.zarr", 2, "zarr stats STORE/PATH"),
    ("infos w.zarr", 2, "a similar subcommand exists: 'info'"),
    ("sumarize w.zarr", 2, "this does it: zarr stats STORE/PATH"),
    ("tree --level 1 w.zarr", 2, "`tree` has no option --level: -d N shows N levels"),
    ("du -s w.zarr", 2, "`du` has no option -s: -d 0 shows the sum only"),
    ("ls -a w.zarr", 2, "`ls` has no option -a: all children are listed"),
    ("copy -r w.zarr x.zarr", 2, "everything in a group is copied"),
    ("info w.zarr t2m", 2, "a node is named behind its store: `zarr info w.zarr/t2m`"),
    ("cat w.zarr/t2m 0 0 0", 2, "elements are selected with -s: `zarr cat w.zarr/t2m -s 0,0,0`"),
    ("tree w.zarr ./other.zarr", 2, "`tree` takes one store"),
    ("stats w.zarr/lat --mean lat -o x.zarr w.zarr/t2m", 2, "--mean is for one store"),
    ("info --cdl w.zarr w.zarr", 2, "--cdl is for one store"),
    // Places.
    ("info none.zarr", 3, "there is no directory \"none.zarr\""),
    ("info w.zarr/T2M", 3, "did you mean \"t2m\"?"),
    ("info s3:/bucket/x", 3, "did you mean \"s3://bucket/x\"?"),
    ("info s4://bucket/x", 2, "did you mean \"s3\"?"),
    ("info w.zarr/0", 3, "there is no node \"0\"; it holds \"flag\", \"lat\""),
    ("create none/x.zarr --shape 1 --dtype i1", 3, "`zarr create --group none` creates a group there"),
    ("info htpp://example.org/x.zarr", 2, "did you mean \"http\"?"),
    ("cat w.zarr", 3, "there is a group, not an array; it holds \"flag\", \"lat\""),
    ("rm w.zarr", 2, "add -r"),
    ("rm w.zarr lat", 2, "a node is named behind its store: `zarr rm w.zarr/lat`"),
    ("rm w.zarr/nope", 3, "there is no node \"nope\""),
    ("mv w.zarr/t2m w.zarr/lat", 2, "there is a node already at \"/lat\""),
    ("copy w.zarr w.zarr/x", 2, "cannot hold a copy of itself"),
    ("copy w.zarr x.nc", 2, "this command writes Zarr only"),
    // Selections.
    ("cat w.zarr/t2m -s Time=2020-01-01", 3, "the dimensions are lat, station, time; did you mean \"time\"?"),
    ("cat w.zarr/t2m -s lat=48N", 2, "the label \"48N\" is not a number; labels have signs"),
    ("cat w.zarr/t2m -s lat=10..20", 2, "is not a number; a range is 10:20"),
    ("cat w.zarr/t2m -s lat=10-20", 2, "is not a number; a range is 10:20"),
    ("cat w.zarr/t2m -s lat", 2, "\"lat\" is not an integer; labels are NAME=LABEL, as lat=48: from 48 on"),
    ("cat w.zarr/t2m -s lat>48", 2, "a range of labels has a colon, as lat=48: from 48 on"),
    ("cat w.zarr/t2m -s lat==50", 2, "is not a number; one `=` selects"),
    ("cat w.zarr/t2m -s time=last", 2, "; positions are time@-1 and time@0"),
    ("cat w.zarr/t2m -s time=0,lat=60", 2, "; positions are time@0"),
    ("cat w.zarr/t2m -s time=01/02/2020", 2, "a time begins with its date, as in 2020-01-31T06:00"),
    ("cat w.zarr/t2m -s lat=48", 3, "its neighbours are 50.5 and 40"),
    ("cat w.zarr/t2m -o a.jpg", 2, "no extension of a known format, such as .csv"),
    ("stats --by tme w.zarr/t2m", 2, "its dimensions are time, lat, station"),
    // Shapes, types and codecs.
    ("create new/x --shape 3 --dtype u1", 3, "`zarr create --group new` creates a group there"),
    ("create --group new/dir/x", 3, "there is no directory \"new/dir\"; `mkdir -p new/dir` makes it"),
    ("create c.zarr --dtype float33 --shape 10,10", 2, "did you mean \"float\"?"),
    ("copy w.zarr x.zarr --chunks latt=5", 2, "no array has a dimension \"latt\""),
    (
        "copy w.zarr/t2m x.zarr --codecs zst:3",
        2,
        "\"zst\" has no short form; there are bytes, transpose, blosc, gzip, zstd",
    ),
    ("copy w.zarr/t2m x.zarr --codecs lz4", 2, "`blosc:lz4` compresses with it"),
    (
        "copy w.zarr x.zarr --exclude flag --exclude place --chunks 256",
        2,
        "no array has that rank except small coordinates",
    ),
    ("copy w.zarr x.zarr --max-memory 1", 2, "1 byte is less than any verb needs; with a unit, at least 1kB"),
    ("pyramid w.zarr x.zarr --max-memory 512", 2, "512 bytes is less than any verb needs"),
    (
        "append w.zarr/t2m --along x w.zarr/t2m",
        2,
        "there is no dimension \"x\"; its dimensions are time, lat, station",
    ),
    (
        "validate --conventions cf-1.8 w.zarr",
        2,
        "[possible values: auto, none, xarray, cf, nz, geozarr, ome]",
    ),
    ("migrate v2 w.zarr", 2, "`zarr migrate w.zarr`"),
    ("migrate v3", 2, "INPUT is missing"),
    ("migrate --remove v2 w.zarr x.zarr", 2, "--remove takes INPUT only"),
    ("copy w.zarr x.zarr --include none", 2, "--include: no node matches"),
    // Elements and attributes.
    (
        "append w.zarr/t2m --from w.zarr/t2m",
        2,
        "this is a directory, and --from reads files: name a store as SRC",
    ),
    ("write w.zarr/t2m --from w.zarr/zarr.json", 2, "element 0: {\\n  \"zarr_format\": 3"),
    ("write w.zarr/t2m --from w.zarr/lat/zarr.json --from-format csv", 2, "\"w.zarr/lat/zarr.json\""),
    ("write w.zarr/lat/zarr.json --from w.zarr/lat/c/0", 3, "zarr.json"),
    ("write w.zarr/t2m -s 0,0 --from w.zarr/lat/c/0", 2, "--from-format names another format"),
    ("write w.zarr/time --value soon", 2, "soon"),
    ("write w.zarr/t2m --value 1 --stored --decode", 2, "cannot be used with"),
    ("attrs set w.zarr/t2m {\"a\":1}", 2, "`zarr attrs merge` sets the members of an object"),
    ("attrs set w.zarr/t2m units", 2, "the attribute \"units\" has no value"),
    ("attrs set w.zarr/t2m dimension_names [\"a\"]", 2, "`zarr set --dimension-names` names dimensions"),
    ("create x.zarr --dtype datetime64 --shape 10", 2, "readers need one, such as datetime64[ns]"),
    ("create x.zarr --like w.zarr", 3, "there is a group, not an array"),
    ("create x.zarr --like w.zarr/t2m --shape 10", 2, "the array has 1 dimensions, the chunk shape 3"),
    ("create x.zarr --like w.zarr/t2m --chunks x=5", 2, "there is no dimension \"x\""),
    ("create x.zarr --like w.zarr/t2m --dtype >i2", 2, "give them with --codecs, as `bytes:big,zstd`"),
    ("stats w.zarr/t2m --bins -1", 2, "'--bins <NUMBER>': a whole number from 0 on is expected"),
    ("serve w.zarr --listen here", 2, "neither a port nor an address and a port, such as 9000"),
    ("-v info w.zarr", 2, "`--trace -` prints each request"),
];

#[test]
fn mistakes_have_their_exit_code_and_an_answer_that_helps() {
    let folder = Folder::new();
    crate::weather::weather(&folder);
    let before = folder.contents("w.zarr");
    for (command, exit, part) in MISTAKES {
        let done = zarr_in(folder.path(), command.split(' ')).exits(*exit);
        assert!(done.err.contains(part), "{command}: {}", done.err);
        assert!(done.out.is_empty(), "{command}");
    }
    assert_eq!(folder.contents("w.zarr"), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
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
