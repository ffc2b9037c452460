//! The tasks with climate data in the README: each command prints what the README shows.

use crate::harness::{Folder, zarr_in};
use crate::weather::{climate, model};

/// Splits a command line at blanks outside of single quotes.
fn words(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let mut words = Vec::new();
    for (at, part) in parts {
        match at % 2 {
            1 => words.push(part.to_owned()),
            _ => words.extend(part.split_whitespace().map(str::to_owned)),
        }
    }
    words
}

#[test]
fn the_tasks_of_the_readme_print_what_it_shows() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let (_, section) = readme.split_once("\n## Ten tasks with climate data\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let folder = Folder::new();
    climate(&folder);
    model(&folder);
    let blocks: Vec<&str> =
        section.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 10);
    for block in blocks {
        let (command, wanted) = block.split_once('\n').unwrap();
        let args = words(command.strip_prefix("$ zarr ").unwrap());
        assert_eq!(zarr_in(folder.path(), args).ok().text(), wanted, "{command}");
    }
}
