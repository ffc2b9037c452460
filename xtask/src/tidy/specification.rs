//! Checks `docs/specification`: every rule names tests or says why it has none, and every rule that is cited exists.
//!
//! Tests and documents cite a rule by the word "rule" and its id. Other code cites no ids, which its readers do not know.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::Finding;
use super::source::Source;

const PAGES: &str = "docs/specification";
const MANIFEST: &str = "conformance/manifest.json";
const CHECK: &str = "specification";
const TESTS: &str = "- **Tests**: ";

/// A page of rules.
struct Page {
    /// The path from the root of the workspace.
    path: String,
    blocks: Vec<Block>,
    /// The anchors of its rules, cases and sections.
    anchors: BTreeSet<String>,
}

/// A heading and the text up to the next heading.
struct Block {
    /// The line of the heading, from 0.
    line: usize,
    /// The number of `#` of the heading.
    level: usize,
    /// The anchors of the heading.
    ids: Vec<String>,
    /// The anchors of rows of tables: cases, and rules of one line.
    rows: Vec<String>,
    /// The text of the point "Tests", in one line.
    tests: Option<String>,
}

/// Checks the specification and all citations.
pub(crate) fn check(root: &Path, sources: &[Source]) -> Result<Vec<Finding>> {
    let manifest = std::fs::read_to_string(root.join(MANIFEST)).context(MANIFEST)?;
    let pages = pages(root)?;
    let mut findings = repeated(&pages);
    for page in &pages {
        findings.extend(untested(page, |file, name| is_test(file, name, sources, &manifest)));
    }
    for file in citing(root)? {
        let text = std::fs::read_to_string(root.join(&file)).with_context(|| file.clone())?;
        findings.extend(unknown(&file, &text, &pages));
    }
    findings.extend(sources.iter().flat_map(outside_tests));
    Ok(findings)
}

fn pages(root: &Path) -> Result<Vec<Page>> {
    let mut files = files(root, PAGES, &["md"])?;
    files.sort();
    let page = |path: String| {
        let text = std::fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
        Ok(Page::new(path, &text))
    };
    files.into_iter().map(page).collect()
}

impl Page {
    fn new(path: String, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let is_heading = |line: &usize| lines[*line].starts_with('#');
        let starts: Vec<usize> = (0..lines.len()).filter(is_heading).collect();
        let ends = starts.iter().skip(1).copied().chain([lines.len()]);
        let blocks: Vec<Block> =
            starts.iter().zip(ends).map(|(start, end)| Block::new(*start, &lines[*start..end])).collect();
        let ids = blocks.iter().flat_map(|block| block.ids.iter().chain(&block.rows).cloned());
        let anchors = ids.collect();
        Self { path, blocks, anchors }
    }

    fn at(&self, block: &Block) -> String {
        format!("{}:{}", self.path, block.line + 1)
    }
}

impl Block {
    /// Reads a block from its lines. The first is the heading.
    fn new(line: usize, lines: &[&str]) -> Self {
        let heading = lines.first().copied().unwrap_or_default();
        let rows = lines.iter().filter(|line| line.starts_with('|'));
        Self {
            line,
            level: heading.bytes().take_while(|b| *b == b'#').count(),
            ids: anchors(heading),
            rows: rows.flat_map(|row| anchors(row)).collect(),
            tests: tests(lines),
        }
    }
}

/// Returns the point "Tests" of a block with its continuation lines.
fn tests(lines: &[&str]) -> Option<String> {
    let mut rest = lines.iter().skip_while(|line| !line.starts_with(TESTS));
    let first = rest.next()?.strip_prefix(TESTS)?;
    let more = rest.map_while(|line| line.strip_prefix("  "));
    Some([first].into_iter().chain(more).collect::<Vec<_>>().join(" "))
}

/// Returns the ids of `<a id="…"></a>` in a line.
fn anchors(line: &str) -> Vec<String> {
    let ids = line.split("<a id=\"").skip(1);
    ids.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())).collect()
}

/// Finds anchors that two rules have, on any pages.
fn repeated(pages: &[Page]) -> Vec<Finding> {
    let (mut seen, mut findings) = (BTreeSet::new(), Vec::new());
    for page in pages {
        for block in &page.blocks {
            for id in block.ids.iter().chain(&block.rows).filter(|id| !seen.insert(*id)) {
                let message = format!("the anchor `{id}` occurs twice: an id means one rule");
                findings.push(Finding::error(page.at(block), CHECK, message));
            }
        }
    }
    findings
}

/// Finds rules without existing tests and without a reason. The point "Tests" of a section holds for its rules.
fn untested(page: &Page, exists: impl Fn(&str, &str) -> bool) -> Vec<Finding> {
    let (mut section, mut findings) = (None, Vec::new());
    for block in &page.blocks {
        if block.level <= 2 {
            section = block.tests.as_ref();
        }
        let rules = if block.level <= 2 { &block.rows } else { &block.ids };
        let Some(rule) = rules.first().or(block.rows.first()) else { continue };
        let problems = match block.tests.as_ref().or(section) {
            None => vec![format!("`{rule}` has neither tests nor a reason, \"- **Tests**: none: …\"")],
            Some(tests) => missing(tests, &exists),
        };
        findings.extend(problems.into_iter().map(|said| Finding::error(page.at(block), CHECK, said)));
    }
    findings
}

/// Returns what is wrong with a list such as "`path` (`test`, `test`), `path` (`test`)", or "none: reason".
fn missing(tests: &str, exists: impl Fn(&str, &str) -> bool) -> Vec<String> {
    if let Some(reason) = tests.strip_prefix("none") {
        let given = reason.strip_prefix(':').is_some_and(|reason| !reason.trim().is_empty());
        return if given {
            Vec::new()
        } else {
            vec!["no tests, and no reason why: \"none: …\"".to_owned()]
        };
    }
    let mut problems = Vec::new();
    let mut named = 0;
    for part in tests.split(')') {
        let Some((file, names)) = part.split_once('(') else { continue };
        let Some(file) = file.split('`').nth(1) else { continue };
        for name in names.split('`').skip(1).step_by(2) {
            named += 1;
            if !exists(file, name) {
                problems.push(format!("there is no test `{name}` in `{file}`"));
            }
        }
    }
    if named == 0 {
        problems.push("names no test, as in \"`path` (`test`)\"".to_owned());
    }
    problems
}

/// Whether a Rust file has a test or a suite macro of this name, or the manifest a fixture.
fn is_test(file: &str, name: &str, sources: &[Source], manifest: &str) -> bool {
    if file == MANIFEST {
        return manifest.contains(&format!("\"id\": \"{name}\""));
    }
    let source = sources.iter().find(|source| source.path == file);
    source.is_some_and(|source| {
        let function = source.find(&["]", "fn", name]).any(|line| source.is_test(line));
        function || source.find(&["!", "(", name, ","]).next().is_some()
    })
}

/// Returns the files that may cite rules, as paths from the root.
fn citing(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for folder in ["bench", "conformance", "crates", "docs", "examples", "xtask"] {
        found.extend(files(root, folder, &["md", "rs", "py", "toml"])?);
    }
    found.extend(["README.md", "CONTRIBUTING.md", MANIFEST].map(str::to_owned));
    Ok(found)
}

/// Returns the files below a folder with one of these endings, as paths from the root, with `/`.
fn files(root: &Path, folder: &str, endings: &[&str]) -> Result<Vec<String>> {
    let (mut found, mut folders) = (Vec::new(), vec![root.join(folder)]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if kind.is_dir() && entry.file_name() != "target" && entry.file_name() != "node_modules" {
                folders.push(path);
            } else if kind.is_file() && endings.contains(&ending) {
                let path = path.strip_prefix(root).unwrap_or(&path);
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    Ok(found)
}

/// Finds citations of rules that no page has.
fn unknown(file: &str, text: &str, pages: &[Page]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, text) in text.lines().enumerate() {
        let mut ids = cited(text);
        if file == MANIFEST {
            ids.extend(text.split("\"rule\": \"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)));
        }
        let known = |id: &str| pages.iter().any(|page| page.anchors.contains(&id.to_ascii_lowercase()));
        let message = |id| format!("cites the rule {id}, which {PAGES} does not have");
        let wrong = ids.into_iter().filter(|id| !known(id)).map(message);
        findings.extend(wrong.map(|wrong| Finding::error(format!("{file}:{}", line + 1), CHECK, wrong)));
    }
    findings
}

/// Finds citations in code that is not a test.
fn outside_tests(source: &Source) -> Vec<Finding> {
    let comments = source.comments.iter().enumerate().filter(|(line, _)| !source.is_test(*line));
    let cited = comments.flat_map(|(line, text)| cited(text).into_iter().map(move |id| (line, id)));
    let message = |id| format!("cites the rule {id} outside tests: say the rule, or link to its section");
    cited.map(|(line, id)| Finding::error(source.at(line), CHECK, message(id))).collect()
}

/// Returns the ids after the word "rule" or "rules", including further ids in a list.
fn cited(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices("rule").chain(line.match_indices("Rule")) {
        let begins = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = &line[at + "rule".len()..];
        let mut next = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(' ').filter(|_| begins);
        while let Some(rest) = next {
            let (id, rest) = leading_id(rest);
            found.extend(id);
            let joined = |word: &&str| rest.starts_with(word);
            let join = [", and ", ", ", " and ", " or ", " to "].into_iter().find(joined);
            next = join.filter(|_| id.is_some()).map(|join| &rest[join.len()..]);
        }
    }
    found
}

/// Splits a text into its leading id (a capital letter, an optional point, a number or a case) and the rest.
fn leading_id(text: &str) -> (Option<&str>, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(text.len());
    let id = text[..end].trim_end_matches('.');
    let rest =
        id.strip_prefix(|c: char| c.is_ascii_uppercase()).map(|rest| rest.trim_start_matches(['.', 't']));
    let is_id = rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (Some(id).filter(|_| is_id), &text[id.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        Page::new(format!("{PAGES}/a.md"), text)
    }

    fn messages(findings: Vec<Finding>) -> Vec<(String, String)> {
        findings.into_iter().map(|finding| (finding.place, finding.message)).collect()
    }

    #[test]
    fn citations_are_found() {
        // Not written as "rule A3", so that these lines cite nothing themselves.
        let say = |text: &str| text.replace('*', "rule");
        for (text, ids) in [
            ("// see * A3.", &["A3"][..]),
            ("* D7.11, and nothing else", &["D7.11"]),
            ("(*s D3.t5 to D3.t7, F2a and X100, or B.t24)", &["D3.t5", "D3.t7", "F2a", "X100"]),
            ("* 10, a *r A3, *s of B2, * B", &[]),
            ("Each * Q9 is unknown", &["Q9"]),
        ] {
            assert_eq!(cited(&say(text)), ids, "{text}");
        }
    }

    #[test]
    fn citations_of_unknown_rules_are_found() {
        let pages = [page("### A3. One <a id=\"a3\"></a>\n")];
        let text = format!("//! {} A3\n\n// {}s A3 and A4\n", "rule", "rule");
        let found = messages(unknown("x.rs", &text, &pages));
        let message = format!("cites the {} A4, which {PAGES} does not have", "rule");
        assert_eq!(found, [("x.rs:3".to_owned(), message)]);
        assert_eq!(unknown(MANIFEST, r#"{"rule": "A3"} {"rule": "B1"}"#, &pages).len(), 1);
    }

    #[test]
    fn only_tests_cite_rules() {
        let text =
            format!("/// As {0} A3.\nfn f() {{}}\n#[cfg(test)]\nmod tests {{\n    // {0} A4\n}}\n", "rule");
        let found = messages(outside_tests(&Source::new("crates/x/src/a.rs".to_owned(), &text)));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "crates/x/src/a.rs:1");
        assert!(outside_tests(&Source::new("crates/x/tests/a.rs".to_owned(), &text)).is_empty());
    }

    #[test]
    fn rules_without_tests_are_found() {
        let exists = |file: &str, name: &str| file == "t.rs" && name == "one";
        let rule = |id: &str, tests: &str| format!("### R <a id=\"{id}\"></a>\n\n- **Tests**: {tests}\n\n");
        let text = [
            rule("a1", "`t.rs` (`one`)."),
            rule("a2", "`t.rs`\n  (`one`, `two`), `u.rs` (`one`)."),
            rule("a3", "none: it is not built"),
            rule("a4", "none"),
            rule("a5", "everything"),
            "### R <a id=\"a6\"></a>\n\ntext\n".to_owned(),
        ];
        let found = messages(untested(&page(&text.concat()), exists));
        let said: Vec<&str> = found.iter().map(|(_, message)| message.as_str()).collect();
        assert_eq!(
            said,
            [
                "there is no test `two` in `t.rs`",
                "there is no test `one` in `u.rs`",
                "no tests, and no reason why: \"none: …\"",
                "names no test, as in \"`path` (`test`)\"",
                "`a6` has neither tests nor a reason, \"- **Tests**: none: …\"",
            ]
        );
    }

    #[test]
    fn the_tests_of_a_section_hold_for_its_rules() {
        let exists = |_: &str, _: &str| false;
        let section = "## S <a id=\"a.1\"></a>\n- **Tests**: none: later\n### R <a id=\"a1\"></a>\n";
        assert!(untested(&page(section), exists).is_empty());
        let next = format!("{section}## T\n### R <a id=\"a2\"></a>\n");
        assert_eq!(untested(&page(&next), exists).len(), 1);
        let cases = "## S <a id=\"a.1\"></a>\n| <a id=\"a.t1\"></a>A.t1 | x |\n";
        assert_eq!(untested(&page(cases), exists).len(), 1, "a case needs tests, its section does not");
    }

    #[test]
    fn an_id_means_one_rule() {
        let twice = "### R <a id=\"a1\"></a>\n### S <a id=\"a1\"></a>\n";
        assert_eq!(messages(repeated(&[page(twice)]))[0].0, format!("{PAGES}/a.md:2"));
    }

    #[test]
    fn tests_suites_and_fixtures_are_known() {
        let text = "#[test]\nfn one() {}\nfn helper() {}\nstore_suite!(\n    suite,\n    f()\n);\n";
        let sources = [Source::new("crates/x/tests/t.rs".to_owned(), text)];
        let exists = |file: &str, name: &str| is_test(file, name, &sources, r#"{"id": "v3.a"}"#);
        assert!(exists("crates/x/tests/t.rs", "one") && exists("crates/x/tests/t.rs", "suite"));
        assert!(!exists("crates/x/tests/t.rs", "helper") && !exists("crates/x/tests/u.rs", "one"));
        assert!(exists(MANIFEST, "v3.a") && !exists(MANIFEST, "v3.b"));
    }
}
