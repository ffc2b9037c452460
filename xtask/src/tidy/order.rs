//! The order of the crates: docs/ARCHITECTURE.md shows it as it follows from their dependencies, and has few lines on each.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::Finding;
use crate::workspace::{Kind, Workspace};

const DOCUMENT: &str = "docs/ARCHITECTURE.md";

/// The lines around the table.
const BEGIN: &str = "<!-- order of the crates: `cargo xtask tidy` checks it -->";
const END: &str = "<!-- end -->";

/// The largest number of lines on a crate. The first line of a file says the rest.
const LINES: usize = 5;

/// Checks the table of the crates, and the lengths of their sections.
pub(crate) fn check(workspace: &Workspace, root: &Path) -> Result<Vec<Finding>> {
    let text = std::fs::read_to_string(root.join(DOCUMENT)).context(DOCUMENT)?;
    let mut findings = Vec::new();
    let expected = table(workspace);
    let shown = text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    if shown.is_none_or(|(shown, _)| shown.trim() != expected.trim()) {
        let message =
            format!("the order of the crates is another one; replace it by\n{BEGIN}\n{expected}{END}");
        findings.push(Finding::error(DOCUMENT, "order", message));
    }
    for (line, name, lines) in sections(&text) {
        if lines > LINES {
            let message =
                format!("has {lines} lines on {name}, at most {LINES}: files say the rest themselves");
            findings.push(Finding::error(format!("{DOCUMENT}:{line}"), "order", message));
        }
    }
    Ok(findings)
}

/// Returns the published crates, each with the floor above all that it needs, and what it needs of them: those that it
/// names itself, with optional ones in parentheses.
fn table(workspace: &Workspace) -> String {
    let needs: BTreeMap<&str, BTreeMap<&str, bool>> = workspace
        .published()
        .map(|package| {
            let own = package.dependencies.iter().filter(|d| d.kind != Kind::Dev);
            let own = own.filter(|d| workspace.published().any(|p| p.name == d.name));
            (&*package.name, own.map(|d| (&*d.name, d.optional)).collect())
        })
        .collect();
    let mut floors: Vec<(usize, &str)> = needs.keys().map(|name| (floor(name, &needs), *name)).collect();
    floors.sort_unstable();
    let mut table =
        String::from("| floor | crate | needs (in parentheses: by a feature) |\n| --- | --- | --- |\n");
    for (floor, name) in floors {
        let mut of: Vec<String> = needs[name]
            .iter()
            .map(|(name, optional)| if *optional { format!("({name})") } else { (*name).to_owned() })
            .collect();
        of.sort_unstable_by_key(|name| name.starts_with('('));
        table.push_str(&format!("| {floor} | `{name}` | {} |\n", of.join(", ")));
    }
    table
}

fn floor(name: &str, needs: &BTreeMap<&str, BTreeMap<&str, bool>>) -> usize {
    let of = needs.get(name).into_iter().flat_map(BTreeMap::keys);
    of.map(|name| floor(name, needs) + 1).max().unwrap_or(0)
}

/// Returns the line, the name and the number of lines with text of each section on a crate.
fn sections(text: &str) -> Vec<(usize, &str, usize)> {
    let mut sections: Vec<(usize, &str, usize)> = Vec::new();
    let mut is_inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            is_inside = line.starts_with("### `zarr-");
            if is_inside {
                sections.push((number + 1, line.trim_matches(['#', ' ', '`']), 0));
            }
        } else if let Some(section) = sections.last_mut().filter(|_| is_inside && !line.trim().is_empty()) {
            section.2 += 1;
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Dependency, Package};

    #[test]
    fn a_crate_is_above_what_it_needs() {
        let package = |name: &str, needs: &[(&str, Kind, bool)]| Package {
            name: name.to_owned(),
            published: true,
            dependencies: needs
                .iter()
                .map(|(name, kind, optional)| Dependency {
                    optional: *optional,
                    ..Dependency::of(name, *kind)
                })
                .collect(),
            ..Package::default()
        };
        let packages = vec![
            package(
                "a",
                &[("b", Kind::Normal, true), ("c", Kind::Normal, false), ("serde", Kind::Normal, false)],
            ),
            package("b", &[("c", Kind::Normal, false), ("a", Kind::Dev, false)]),
            package("c", &[]),
        ];
        let table = table(&Workspace { packages, ..Workspace::default() });
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(rows, ["| 0 | `c` |  |", "| 1 | `b` | c |", "| 2 | `a` | c, (b) |"]);
    }

    #[test]
    fn lines_of_a_section_are_counted() {
        let text = "## Map\n\n### `zarr-a`\n\none\ntwo\n\n### `zarr-b`\nthree\n### Beside\nfour\n";
        assert_eq!(sections(text), [(3, "zarr-a", 2), (8, "zarr-b", 1)]);
    }
}
