//! Runs the program and compares what it prints.

use std::process::Command;

const EXPECTED: &str = "\
+---------+------+------+
| station | days | mean |
+---------+------+------+
| Oslo    | 2    | 12.0 |
| Quito   | 1    | 21.0 |
+---------+------+------+
";

#[test]
fn the_means_are_those_of_the_selected_days() {
    let output = Command::new(env!("CARGO_BIN_EXE_example-datafusion")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), EXPECTED);
}
