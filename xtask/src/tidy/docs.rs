//! Checks that documents name only files and crates that exist.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::Finding;
use super::source::Source;
use crate::workspace::{Package, Workspace};
use crate::{examples, links, version};

/// The documents of the workspace. rustdoc checks the code in those of the crates and of the guide.
const DOCUMENTS: [&str; 22] = [
    "README.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/ARCHITECTURE.md",
    "docs/COMPARE.md",
    "docs/CONFORMANCE.md",
    "docs/IMPLEMENTING.md",
    "docs/RELEASE.md",
    "docs/RELIABILITY.md",
    "docs/SERVICES.md",
    "docs/STYLE.md",
    "docs/decisions/README.md",
    "docs/specification/README.md",
    "conformance/README.md",
    "conformance/crash/README.md",
    "conformance/demo/README.md",
    "conformance/peers/README.md",
    "conformance/race/README.md",
    "conformance/schedules/README.md",
    "examples/README.md",
    "fuzz/README.md",
];

const CODE_MAP: &str = "docs/ARCHITECTURE.md";

/// The front page that lists all crates inside the documentation host, and the link to the list that the others have.
const LIST: &str = "crates/zarr-array/README.md";
const LINK_TO_LIST: &str = "(https://docs.rs/zarr-array/latest/zarr_array/#the-crates)";

/// The document with the names to reserve.
const NAMES: &str = "docs/RELEASE.md";

/// The document whose code comes from the examples, which are built and tested.
const WALKTHROUGH: &str = "docs/IMPLEMENTING.md";

/// The first line of a conflict that git leaves in a file.
const CONFLICT: &str = "<<<<<<< ";

const WORKFLOW: &str = ".github/workflows/ci.yml";

/// Returns the Markdown files of the repository, as paths from the root.
fn documents(root: &Path) -> Result<Vec<String>> {
    let mut documents: Vec<String> = DOCUMENTS.iter().map(|&document| document.to_owned()).collect();
    for folder in ["docs/decisions", "docs/specification", "docs/guide/src"] {
        documents.extend(markdown(root, folder)?);
    }
    for entry in std::fs::read_dir(root.join("crates"))? {
        documents.push(format!("crates/{}/README.md", entry?.file_name().to_string_lossy()));
    }
    documents.sort();
    documents.dedup();
    Ok(documents)
}

/// Returns the dead links of all documents, also of the crates and of the guide, and of comments in `sources`.
fn dead_links(workspace: &Workspace, root: &Path, sources: &[Source]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for document in documents(root)? {
        let text = std::fs::read_to_string(root.join(&document)).with_context(|| document.clone())?;
        let dead = links::dead(root, &document, &text, &tag(workspace, root, &document)).into_iter();
        findings.extend(
            dead.map(|dead| Finding::error(format!("{document}:{}", dead.line + 1), "links", dead.message)),
        );
    }
    for source in sources {
        let tag = tag(workspace, root, &source.path);
        let dead = links::dead_in_comments(root, &source.path, &source.comments, &tag).into_iter();
        findings.extend(dead.map(|dead| Finding::error(source.at(dead.line), "links", dead.message)));
    }
    Ok(findings)
}

/// Returns the tag of the release that `file` belongs to: that of the traits, or that of the other crates.
fn tag(workspace: &Workspace, root: &Path, file: &str) -> String {
    let is_in = |package: &&Package| {
        package.dir.strip_prefix(root).is_ok_and(|folder| Path::new(file).starts_with(folder))
    };
    let of_traits = workspace.traits().into_iter().find(is_in);
    let package = of_traits.or_else(|| workspace.find("zarr-array"));
    version::tag(package.map_or("", |package| &package.version), of_traits.is_some())
}

/// Returns the Markdown files of a folder, as paths from the root.
fn markdown(root: &Path, folder: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(folder)).with_context(|| folder.to_owned())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            found.push(format!("{folder}/{name}"));
        }
    }
    Ok(found)
}

/// All rules over the documents.
pub(crate) fn check(workspace: &Workspace, root: &Path, sources: &[Source]) -> Result<Vec<Finding>> {
    let mut findings = dead_links(workspace, root, sources)?;
    for document in DOCUMENTS {
        let Ok(text) = std::fs::read_to_string(root.join(document)) else {
            findings.push(Finding::error(document, "docs", "is missing"));
            continue;
        };
        if ["README.md", CODE_MAP, NAMES].contains(&document) {
            for package in workspace.published().filter(|p| !text.contains(&format!("`{}`", p.name))) {
                let message = format!("does not name the crate `{}`", package.name);
                findings.push(Finding::error(document, "docs", message));
            }
        }
        if document == CODE_MAP {
            for package in workspace.published() {
                findings.extend(code_map(package, &text));
            }
        }
        if document == WALKTHROUGH {
            let sources = example_sources(root)?;
            for line in strangers(&text, &sources) {
                let message = "this code is in no example, so it is not tested";
                findings.push(Finding::error(format!("{document}:{}", line + 1), "docs", message));
            }
        }
    }
    for package in workspace.published() {
        let (page, list) =
            (format!("crates/{}/README.md", package.name), std::fs::read_to_string(root.join(LIST))?);
        if !list.contains(&format!("`{}`](https://docs.rs/{0})", package.name)) && page != LIST {
            findings.push(Finding::error(
                LIST,
                "docs",
                format!("does not list the crate `{}`", package.name),
            ));
        }
        if page != LIST
            && !std::fs::read_to_string(root.join(&page)).is_ok_and(|text| text.contains(LINK_TO_LIST))
        {
            findings.push(Finding::error(
                page,
                "docs",
                format!("has no link to the list of crates: {LINK_TO_LIST}"),
            ));
        }
    }
    for document in documents(root)? {
        let text = std::fs::read_to_string(root.join(&document)).with_context(|| document.clone())?;
        let unresolved = text.lines().enumerate().filter(|(_, line)| line.starts_with(CONFLICT));
        findings.extend(unresolved.map(|(line, _)| {
            Finding::error(format!("{document}:{}", line + 1), "docs", "has an unresolved merge conflict")
        }));
    }
    let workflow = std::fs::read_to_string(root.join(WORKFLOW)).unwrap_or_default();
    for package in workspace.published().filter(|p| !workflow.contains(&format!("+{}", p.rust_version))) {
        let message =
            format!("does not check with Rust {}, which {} promises", package.rust_version, package.name);
        findings.push(Finding::error(WORKFLOW, "docs", message));
    }
    Ok(findings)
}

/// Reads the files of the examples.
fn example_sources(root: &Path) -> Result<Vec<String>> {
    let mut sources = Vec::new();
    for example in examples::folders(root)? {
        for file in ["Cargo.toml", "src/lib.rs", "tests/contract.rs"] {
            sources.push(std::fs::read_to_string(example.join(file))?);
        }
    }
    Ok(sources)
}

/// Returns the first lines of code blocks that are not in `sources`. Indentation is ignored, and `// …` stands for
/// omitted lines.
fn strangers(text: &str, sources: &[String]) -> Vec<usize> {
    let squeezed = |lines: &mut dyn Iterator<Item = &str>| -> String {
        lines.map(str::trim).filter(|line| !line.is_empty()).flat_map(|line| [line, "\n"]).collect()
    };
    let sources: Vec<String> = sources.iter().map(|source| squeezed(&mut source.lines())).collect();
    let known = |lines: &[&str]| {
        let wanted = squeezed(&mut lines.iter().copied());
        sources.iter().any(|source| source.contains(&wanted))
    };
    let (mut found, mut block) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        match (line.trim(), &mut block) {
            ("```rust" | "```toml", None) => block = Some((number, Vec::new())),
            ("```", Some((start, lines))) => {
                if !lines.split(|line: &&str| line.trim() == "// …").all(known) {
                    found.push(*start);
                }
                block = None;
            }
            (_, Some((_, lines))) => lines.push(line),
            (_, None) => {}
        }
    }
    found
}

/// Checks that the list of a crate names existing files.
fn code_map(package: &Package, text: &str) -> Vec<Finding> {
    let head = format!("### `{}`", package.name);
    let Some(line) = text.lines().position(|line| line == head) else {
        let message = format!("has no section \"{head}\"");
        return vec![Finding::error(CODE_MAP, "docs", message)];
    };
    let list: Vec<&str> = text.lines().skip(line + 1).take_while(|line| !line.starts_with('#')).collect();
    let mut findings = Vec::new();
    let place = format!("{CODE_MAP}:{}", line + 1);
    let named = modules(&list.join(" "));
    let source = package.dir.join("src");
    for module in &named {
        if !source.join(format!("{module}.rs")).exists() && !source.join(module).is_dir() {
            let message = format!("names `{module}` in {}, which does not exist", package.name);
            findings.push(Finding::error(&*place, "docs", message));
        }
    }
    findings
}

/// Returns the words in code font that are names of modules: `a`, `a/b`, and both for `a/{b,c}`.
fn modules(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    for code in list.split('`').skip(1).step_by(2) {
        match code.split_once("/{") {
            Some((folder, rest)) => {
                let files = rest.trim_end_matches('}').split(',');
                names.extend(files.map(|f| format!("{folder}/{}", f.trim())));
            }
            None => names.push(code.to_owned()),
        }
    }
    names.retain(|n| n.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_/".contains(c)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_code_that_is_in_no_example() {
        let sources = ["fn a() {\n    b();\n\n    c();\n}\n".to_owned()];
        let text = "```rust\nb();\nc();\n```\n```rust\nfn a() {\n    // …\n    c();\n```\n```rust\nd();\n```\n```text\ne\n```\n";
        assert_eq!(strangers(text, &sources), [9]);
    }

    #[test]
    fn reads_module_names() {
        assert_eq!(
            modules("- `copy` (runs), `v3/{array, group}`; `Type`, `x::y`"),
            ["copy", "v3/array", "v3/group"]
        );
    }
}
