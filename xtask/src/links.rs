//! Finds dead links of documents and of comments to files of the repository. Links to other sites are not followed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The address of files, followed by a branch or a tag. Pages use it that are also read outside of the repository.
pub(crate) const REPOSITORY: &str = "https://github.com/zarr-rs/zarr/blob/";

/// The branch of files as they are now.
const MAIN: &str = "main";

/// The end of files of which readers want the newest, also in the documentation of an older version.
const NEWEST: &str = "/CHANGELOG.md";

/// A link to a file or an anchor that does not exist.
pub(crate) struct Dead {
    /// The line of the link, from 0.
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// Returns the dead links of a Markdown file. `document` is its path from `root`. In the documentation of crates, links go
/// to files of `tag`, so that they fit the version that a reader looks at, and other documents to those of the main branch.
pub(crate) fn dead(root: &Path, document: &str, text: &str, tag: &str) -> Vec<Dead> {
    // `[text](name)` in the documentation of a crate is an item of Rust, which rustdoc checks.
    let is_item = |target: &str| {
        document.starts_with("crates/") && target.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let links = links(text).into_iter().filter(|(_, target)| !is_item(target));
    let mut dead = without_target(root, document, links.clone());
    dead.extend(of_other_versions(document, links, tag));
    dead.sort_by_key(|dead| dead.line);
    dead
}

/// Returns the dead links of comments of a source to files of the repository. Each comes with its line, from 0.
pub(crate) fn dead_in_comments(root: &Path, source: &str, comments: &[String], tag: &str) -> Vec<Dead> {
    let links = comments.iter().enumerate().flat_map(|(line, text)| {
        text.match_indices(REPOSITORY).map(move |(at, _)| {
            let target = text[at..].split([')', '>', ' ']).next().unwrap_or_default();
            (line, target.to_owned())
        })
    });
    let mut dead = without_target(root, "", links.clone());
    dead.extend(of_other_versions(source, links, tag));
    dead
}

/// Returns the branch or tag, and the path, of a link to a file of the repository. Pictures have `?raw=true` at the end.
fn in_repository(target: &str) -> Option<(&str, &str)> {
    target.strip_prefix(REPOSITORY)?.split('?').next()?.split_once('/')
}

/// Returns the links to another branch or tag than `document` needs, and those of a crate's documentation without one.
fn of_other_versions<'a>(
    document: &'a str,
    links: impl Iterator<Item = (usize, String)> + 'a,
    tag: &'a str,
) -> impl Iterator<Item = Dead> + 'a {
    let is_of_crate = document.starts_with("crates/");
    links.filter_map(move |(line, target)| {
        let file = target.split('#').next().unwrap_or_default();
        let message = match in_repository(file) {
            Some((version, path)) => {
                let needed = if is_of_crate && !path.ends_with(NEWEST) { tag } else { MAIN };
                (version != needed).then(|| format!("links to `{target}`, which must be of `{needed}`"))?
            }
            None if is_of_crate && !file.is_empty() => {
                format!(
                    "links to `{target}`, which is dead on the documentation host: use {REPOSITORY}{tag}/…"
                )
            }
            None => return None,
        };
        Some(Dead { line, message })
    })
}

/// Returns the links whose file or anchor does not exist.
fn without_target(root: &Path, document: &str, links: impl Iterator<Item = (usize, String)>) -> Vec<Dead> {
    let folder = root.join(document).parent().map(PathBuf::from).unwrap_or_default();
    let mut dead = Vec::new();
    for (line, target) in links {
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let path = match in_repository(file) {
            Some((_, file)) => root.join(file),
            None if file.is_empty() => root.join(document),
            None => folder.join(file),
        };
        let mut wrong = |message: String| dead.push(Dead { line, message });
        if !path.exists() {
            wrong(format!("links to `{target}`, which does not exist"));
        } else if !anchor.is_empty() && path.extension().is_some_and(|ending| ending == "md") {
            let there = std::fs::read_to_string(&path).unwrap_or_default();
            if !anchors(&there).contains(anchor) {
                wrong(format!("links to `{target}`, but the file has no such anchor"));
            }
        }
    }
    dead
}

/// Returns the lines outside of code blocks with their numbers, from 0.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// Returns the targets of links to files of the repository, with their lines.
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

/// Returns the anchors of a document: those that GitHub and mdBook make of headings, and those written as `id="…"`.
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

/// Returns the anchor of a heading: letters and digits in lower case, `-` for blanks. Tags and link targets are left out.
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
            [(0, "b/c.md#d".to_owned()), (0, "#h".to_owned()), (4, format!("{REPOSITORY}main/README.md"))];
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
        let found: Vec<_> = dead(root.path(), "docs/a.md", text, "v1")
            .into_iter()
            .map(|dead| (dead.line, dead.message))
            .collect();
        let expected = [
            (1, "links to `#there`, but the file has no such anchor".to_owned()),
            (1, "links to `b.md#not`, but the file has no such anchor".to_owned()),
            (1, "links to `c.md`, which does not exist".to_owned()),
        ];
        assert_eq!(found, expected);
        assert!(dead(root.path(), "crates/a/README.md", "[a](Store) [b](vlen_utf8)", "v1").is_empty());

        let comment = |target: &str| format!("/// The rules are in [b]({REPOSITORY}v1/docs/{target}).");
        let comments =
            [comment("b.md#is"), "[Store](store)".to_owned(), comment("b.md#not"), comment("b.md?raw=true")];
        let lines: Vec<_> = dead_in_comments(root.path(), "crates/a/src/lib.rs", &comments, "v1")
            .into_iter()
            .map(|dead| dead.line)
            .collect();
        assert_eq!(lines, [2]);
    }

    #[test]
    fn the_documentation_of_a_crate_links_to_its_tag() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["docs", "crates/a"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for file in ["docs/b.md", "crates/a/CHANGELOG.md"] {
            std::fs::write(root.path().join(file), "").unwrap();
        }
        let changelog = format!("{REPOSITORY}main/crates/a/CHANGELOG.md");
        let found = |document: &str, target: &str| {
            dead(root.path(), document, &format!("[b]({target})\n"), "v1").len()
        };
        for (document, target, expected) in [
            ("crates/a/README.md", &*format!("{REPOSITORY}v1/docs/b.md"), 0),
            ("crates/a/README.md", &format!("{REPOSITORY}v0/docs/b.md"), 1),
            ("crates/a/README.md", &format!("{REPOSITORY}main/docs/b.md"), 1),
            ("crates/a/README.md", "../../docs/b.md", 1),
            ("crates/a/README.md", &changelog, 0),
            ("docs/b.md", &format!("{REPOSITORY}main/docs/b.md"), 0),
            ("docs/b.md", &format!("{REPOSITORY}v1/docs/b.md"), 1),
            ("docs/b.md", "../crates/a/CHANGELOG.md", 0),
        ] {
            assert_eq!(found(document, target), expected, "{document} {target}");
        }
    }
}
