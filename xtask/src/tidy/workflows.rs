//! Checks the workflows and actions of the hosted CI: nothing runs there that this repository does not name exactly.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::Finding;

const FOLDERS: [&str; 2] = [".github/workflows", "conformance/action"];

/// All rules over the workflows and actions.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(root.join(folder)).context(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "yml" || e == "yaml") {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                let text = std::fs::read_to_string(&path).with_context(|| name.clone())?;
                findings.extend(rules(&name, &text));
            }
        }
    }
    Ok(findings)
}

fn rules(name: &str, text: &str) -> Vec<Finding> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut findings = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let mut error = |rule, message| {
            findings.push(Finding::error(format!("{name}:{}", index + 1), rule, message));
        };
        if line.contains("|| true") {
            error("ignored", "`|| true` hides a failure: say in a condition when a command may be left out");
        }
        let Some(action) = line.trim_start_matches("- ").strip_prefix("uses:").map(str::trim) else {
            continue;
        };
        let version = action.split_once('@').map_or("", |(_, version)| version);
        let commit = version.split(' ').next().unwrap_or_default();
        let pinned = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
        if !pinned && !action.starts_with("./") {
            error(
                "pinned",
                "an action is named by its commit, 40 hexadecimal digits, with the tag as a comment: a tag can be moved",
            );
        }
        let mut rest = lines[index + 1..].iter().take_while(|line| !line.starts_with("- "));
        if action.starts_with("actions/checkout@") && !rest.any(|l| *l == "persist-credentials: false") {
            error(
                "credentials",
                "a checkout without `persist-credentials: false` leaves a token on the disk",
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(&'static str, String)> {
        rules("ci.yml", text).into_iter().map(|f| (f.rule, f.place)).collect()
    }

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn actions_that_are_not_pinned_are_found() {
        for action in ["a/b@v4", "a/b", "a/b@0123456", "docker://a:1", &format!("a/b@x{}", &COMMIT[1..])] {
            assert_eq!(
                names(&format!("steps:\n  - uses: {action}\n")),
                [("pinned", "ci.yml:2".into())],
                "{action}"
            );
        }
        assert!(names(&format!("- uses: a/b@{COMMIT} # v4.1.0\n- if: x\n  uses: a/b@{COMMIT}\n")).is_empty());
        assert!(names("- uses: ./conformance/action\n# uses: a/b@v4\n").is_empty());
    }

    #[test]
    fn checkouts_that_keep_their_token_are_found() {
        let checkout = format!("- uses: actions/checkout@{COMMIT} # v4\n");
        let with = "  with:\n    fetch-depth: 0\n    persist-credentials: false\n";
        assert!(names(&format!("{checkout}{with}- run: a\n")).is_empty());
        assert_eq!(
            names(&format!("{checkout}- uses: a/b@{COMMIT}\n{with}")),
            [("credentials", "ci.yml:1".into())]
        );
        assert_eq!(names(&format!("{checkout}{}", with.replace("false", "true"))).len(), 1);
    }

    #[test]
    fn failures_that_are_hidden_are_found() {
        assert_eq!(names("- run: |\n    a\n    b || true\n"), [("ignored", "ci.yml:3".into())]);
        assert!(names("- run: a || b # truly\n").is_empty());
    }
}
