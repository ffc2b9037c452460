//! Every program runs in an empty folder and prints what `expected` says.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::path::Path;
use std::process::Command;

/// The programs and their arguments. `{demo}` is the store of the guide.
const PROGRAMS: [(&str, &str, &[&str]); 12] = [
    ("chunks", env!("CARGO_BIN_EXE_chunks"), &[]),
    ("convert", env!("CARGO_BIN_EXE_convert"), &[]),
    ("edit", env!("CARGO_BIN_EXE_edit"), &[]),
    ("errors", env!("CARGO_BIN_EXE_errors"), &[]),
    ("labels", env!("CARGO_BIN_EXE_labels"), &[]),
    ("metadata", env!("CARGO_BIN_EXE_metadata"), &["{demo}"]),
    ("parallel", env!("CARGO_BIN_EXE_parallel"), &[]),
    ("pyramid", env!("CARGO_BIN_EXE_pyramid"), &[]),
    ("region", env!("CARGO_BIN_EXE_region"), &["{demo}"]),
    ("simulation", env!("CARGO_BIN_EXE_simulation"), &[]),
    ("tiles", env!("CARGO_BIN_EXE_tiles"), &[]),
    ("types", env!("CARGO_BIN_EXE_types"), &[]),
];

#[test]
fn programs_print_what_is_expected() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let demo = here.join("../../conformance/demo/weather.zarr");
    for (name, program, arguments) in PROGRAMS {
        let folder = tempfile::tempdir().unwrap();
        let arguments = arguments.iter().map(|argument| argument.replace("{demo}", demo.to_str().unwrap()));
        let output = Command::new(program).args(arguments).current_dir(&folder).output().unwrap();
        let (text, errors) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{name}: {errors}");
        let expected =
            std::fs::read_to_string(here.join("expected").join(format!("{name}.txt"))).unwrap_or_default();
        assert_eq!(text, expected, "{name}");
    }
}
