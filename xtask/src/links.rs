//! Links of Markdown files to files of the repository, and to places in them. Links to other sites are not followed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A file on the main branch of the repository, as a page links to it that is also read elsewhere.
const REPOSITORY: &str = "https://github.com/zarr-rs/zarr/blob/main/";

/// A link that leads nowhere.
pub(crate) struct Dead {
    /// Counted from 0.
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// Returns the links of `document`, a path from `root`, to files or anchors that do not exist.
pub(crate) fn dead(root: &Path, document: &str, text: &str) -> Vec<Dead> {
    let folder = root.join(document).parent().map(PathBuf::from).unwrap_or_default();
    let mut dead = Vec::new();
    for (line, target) in links(text) {
        // `[text](name)` in the documentation of a crate is an item of Rust, which rustdoc checks.
        if document.starts_with("crates/") && target.chars().all(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let path = match file.strip_prefix(REPOSITORY) {
            Some(file) => root.join(file),
            None if file.is_empty() => root.join(document),
            None => folder.join(file),
        };
        let mut wrong = |message: String| dead.push(Dead { line, message });
        if !path.exists() {
            wrong(format!("links to `{target}`, which is not there"));
        } else if !anchor.is_empty() && path.extension().is_some_and(|ending| ending == "md") {
            let there = std::fs::read_to_string(&path).unwrap_or_default();
            if !anchors(&there).contains(anchor) {
                wrong(format!("links to `{target}`, a file without this anchor"));
            }
        }
    }
    dead
}

/// The lines of a document that are not inside of a block of code, numbered from 0.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The targets of links to files of the repository, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for (_, rest) in line.match_indices("](").map(|(at, link)| line.split_at(at + link.len())) {
            let Some((target, _)) = rest.split_once(')') else { continue };
            let elsewhere = target.contains(':') && !target.starts_with(REPOSITORY);
            if !elsewhere && !target.is_empty() {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// The anchors of a document: those of its headings, as GitHub and mdBook make them, and those written as `id="…"`.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in prose(text) {
        found.extend(line.split("id=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug = slug(title);
        let count = seen.entry(slug.clone()).or_default();
        found.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    found
}

/// The anchor of a heading: letters and digits in lower case, `-` for blanks. Tags and targets of links do not count.
fn slug(title: &str) -> String {
    let title = title.split_once('<').map_or(title, |(title, _)| title).trim();
    let mut shown = String::new();
    for (number, part) in title.split("](").enumerate() {
        shown += if number == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) };
    }
    let kept = shown.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_to_files() {
        let text = "[a](b/c.md#d) [e](https://f) [g](#h) [t](zarr_store::Schemes)\n\
                    ```\n[i](j)\n```\n[k](https://github.com/zarr-rs/zarr/blob/main/README.md)\n";
        let expected =
            [(0, "b/c.md#d".to_owned()), (0, "#h".to_owned()), (4, format!("{REPOSITORY}README.md"))];
        assert_eq!(links(text), expected);
    }

    #[test]
    fn finds_anchors() {
        let text = "# A `zarr` [page](x.md), or two\n## E.1. Keys <a id=\"e.1\"></a>\n## Same\n```sh\n# no\n```\n## Same\n#no\n";
        let expected = ["a-zarr-page-or-two", "e.1", "e1-keys", "same", "same-1"];
        assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_link_is_dead_without_its_file_or_its_anchor() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        let text = "# Here\n[a](#here) [b](#there) [c](b.md#is) [d](b.md#not) [e](c.md) [f](../docs)\n";
        std::fs::write(root.path().join("docs/a.md"), text).unwrap();
        std::fs::write(root.path().join("docs/b.md"), "## Is\n").unwrap();
        let found: Vec<_> =
            dead(root.path(), "docs/a.md", text).into_iter().map(|dead| (dead.line, dead.message)).collect();
        let expected = [
            (1, "links to `#there`, a file without this anchor".to_owned()),
            (1, "links to `b.md#not`, a file without this anchor".to_owned()),
            (1, "links to `c.md`, which is not there".to_owned()),
        ];
        assert_eq!(found, expected);
        assert!(dead(root.path(), "crates/a/README.md", "[a](Store) [b](vlen_utf8)").is_empty());
    }
}
