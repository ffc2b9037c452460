//! Levels of optimisation have figures beside them: each costs every build, or what is built, and few are worth it.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::Finding;

/// The manifests whose profiles decide what a build of the tests costs.
const MANIFESTS: [&str; 3] = ["Cargo.toml", "fuzz/Cargo.toml", "python/Cargo.toml"];

/// Overrides the manifests above and those of python, npm and fuzz.
const SETTINGS: &str = ".cargo/config.toml";

/// Checks the manifests with levels, and that no other file has some.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let read = |file: &str| std::fs::read_to_string(root.join(file)).with_context(|| file.to_owned());
    let mut findings = Vec::new();
    for file in MANIFESTS {
        findings.extend(without_figures(file, &read(file)?));
    }
    if read(SETTINGS)?.lines().any(|line| line.trim().starts_with("[profile")) {
        findings.push(Finding::error(
            SETTINGS,
            "profile",
            "has a profile, which overrides those of all manifests: write it into Cargo.toml",
        ));
    }
    Ok(findings)
}

/// Finds levels without two figures in the comment of their line: those of packages, CPU seconds without the level and with
/// it, and those of whole profiles for size, bytes without the level and with it.
///
/// In a profile for size, packages at another level are those that the level would slow down. All of them share the figures
/// of the profile: they are exceptions to one decision, and only together they have an effect that can be measured.
fn without_figures(file: &str, manifest: &str) -> Vec<Finding> {
    let mut table = "";
    // The profiles for size, as their tables begin.
    let mut for_size: Vec<String> = Vec::new();
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(manifest.lines()) {
        if line.starts_with('[') {
            table = line;
        }
        let (setting, comment) = line.split_once('#').unwrap_or((line, ""));
        if !table.starts_with("[profile.") || !setting.contains("opt-level") {
            continue;
        }
        let of_packages = table.contains(".package");
        let is_for_size = !of_packages && ["\"s\"", "\"z\""].iter().any(|level| setting.contains(level));
        if is_for_size {
            for_size.extend(table.split(']').next().map(|name| format!("{name}.")));
        }
        let shares = for_size.iter().any(|profile| table.starts_with(profile.as_str()));
        if ((of_packages && !shares) || is_for_size) && figures(comment) < 2 {
            findings.push(Finding::error(
                format!("{file}:{number}"),
                "profile",
                "a level without two figures: write what it costs a build and what it saves",
            ));
        }
    }
    findings
}

/// Returns how many words of a text begin with a digit.
fn figures(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_levels_without_figures() {
        for (line, is_found) in [
            ("pco.opt-level = 1 # build 5 -> 12 s", false),
            ("pco.opt-level = 1 # 12 s", true),
            ("pco.opt-level = 1", true),
            ("pco.debug = false", false),
        ] {
            for table in ["[profile.dev.package]", "[profile.release.package]"] {
                let findings = without_figures("Cargo.toml", &format!("{table}\n{line}\n"));
                assert_eq!(!findings.is_empty(), is_found, "{table} {line}");
            }
            assert!(without_figures("Cargo.toml", &format!("[profile.release]\n{line}\n")).is_empty());
        }
        for (profile, is_found) in [
            ("opt-level = \"s\" # 33 -> 28 MB", false),
            ("opt-level = \"s\"", true),
            ("opt-level = \"z\" # 28 MB", true),
        ] {
            let manifest =
                format!("[profile.release]\n{profile}\n[profile.release.package]\npco.opt-level = 3\n");
            let places: Vec<_> =
                without_figures("Cargo.toml", &manifest).into_iter().map(|f| f.place).collect();
            assert_eq!(places, if is_found { vec!["Cargo.toml:2"] } else { vec![] }, "{profile}");
            let other = manifest.replace("release.package", "dev.package");
            assert!(
                without_figures("Cargo.toml", &other).iter().any(|f| f.place == "Cargo.toml:4"),
                "{profile}"
            );
        }
        let named = "[profile.dev.package.pco]\nopt-level = 1\n";
        assert_eq!(without_figures("Cargo.toml", named)[0].place, "Cargo.toml:2");
    }
}
