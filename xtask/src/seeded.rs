//! `cargo xtask seeded`: whether the suites fail where they should.
//!
//! conformance/seeded.toml lists mistakes that an implementer can make. Each is made in a copy of the sources below
//! target/seeded, where the suite that must notice it then runs. That a suite passes without any is seen first.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::command::{cargo, output, root, target_dir};

/// Which defects are made.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these defects of conformance/seeded.toml
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    defect: Vec<Defect>,
}

/// A mistake: some text of a file, and what stands there instead.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Defect {
    name: String,
    file: String,
    /// Occurs in the file once.
    find: String,
    replace: String,
    /// Which suite must notice it.
    suite: Suite,
    /// The arguments of `cargo test` that run that suite; none for that of implementations.
    #[serde(default)]
    test: String,
    about: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Suite {
    Implementation,
    Codec,
    Store,
}

/// How a suite is run: that of implementations by its own command, the others by `cargo test` with these arguments.
type Runner<'a> = (Suite, &'a str);

/// A copy of the sources, and where it is built.
struct Bench {
    source: PathBuf,
    folder: PathBuf,
}

/// Reads conformance/seeded.toml.
fn load() -> Result<List> {
    let file = root().join("conformance/seeded.toml");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    toml::from_str(&text).with_context(|| file.display().to_string())
}

/// Returns the defects that can no longer be made, with the reason.
pub(crate) fn stale() -> Result<Vec<(String, anyhow::Error)>> {
    let defects = load()?.defect.into_iter();
    Ok(defects.filter_map(|defect| defect.patched().err().map(|e| (defect.name, e))).collect())
}

/// Makes the defects one by one.
pub(crate) fn run(args: &Args) -> Result<()> {
    let mut list = load()?;
    if let Some(unknown) = args.names.iter().find(|name| list.defect.iter().all(|d| d.name != **name)) {
        bail!("conformance/seeded.toml has no defect {unknown:?}");
    }
    list.defect.retain(|defect| args.names.is_empty() || args.names.contains(&defect.name));
    for defect in &list.defect {
        defect.patched().with_context(|| defect.name.clone())?;
    }
    let bench = Bench::new()?;
    let mut runners: Vec<Runner<'_>> = Vec::new();
    for defect in &list.defect {
        if !runners.contains(&defect.runner()) {
            runners.push(defect.runner());
        }
    }
    for runner in runners {
        println!("without a defect: {}", shown(runner));
        bench.build(runner)?;
        let failed = bench.failures(runner)?;
        ensure!(failed.is_empty(), "{} cases fail without a defect: {}", failed.len(), first(&failed));
    }
    let mut rows = Vec::new();
    for defect in &list.defect {
        println!("{}: {}", defect.name, defect.about);
        let caught = bench.with(defect);
        match &caught {
            Ok(failed) => println!("    {} cases: {}", failed.len(), first(failed)),
            Err(error) => println!("    error: {error:#}"),
        }
        rows.push((defect, caught));
    }
    report(&rows)
}

/// A table of what became of each.
fn report(rows: &[(&Defect, Result<Vec<String>>)]) -> Result<()> {
    println!("\n{:<30} {:<15} {:>5}  caught by", "defect", "suite", "cases");
    for (Defect { name, suite, .. }, caught) in rows {
        let suite = format!("{suite:?}").to_lowercase();
        match caught {
            Ok(failed) => println!("{name:<30} {suite:<15} {:>5}  {}", failed.len(), first(failed)),
            Err(_) => println!("{name:<30} {suite:<15} {:>5}  an error", "-"),
        }
    }
    let missed = rows.iter().filter(|(_, caught)| caught.as_ref().map_or(true, Vec::is_empty)).count();
    ensure!(missed == 0, "{missed} of {} defects were not caught", rows.len());
    Ok(())
}

impl Defect {
    fn runner(&self) -> Runner<'_> {
        (self.suite, &self.test)
    }

    /// The text of the file with the defect in it.
    fn patched(&self) -> Result<String> {
        let text = fs::read_to_string(root().join(&self.file)).with_context(|| self.file.clone())?;
        let count = text.matches(&self.find).count();
        ensure!(count == 1, "the text to be found is {count} times in {}", self.file);
        ensure!(
            self.test.is_empty() == (self.suite == Suite::Implementation),
            "`test` says how the suites of codecs and stores are run, and no other"
        );
        Ok(text.replace(&self.find, &self.replace))
    }
}

impl Bench {
    /// Copies what git knows and what it does not ignore. What is the same already is left alone, so that only what differs is
    /// built again.
    fn new() -> Result<Self> {
        let folder = target_dir().join("seeded");
        let source = folder.join("source");
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
        let listed = output(&mut git)?;
        let files: BTreeSet<PathBuf> = listed.split_terminator('\0').map(|file| source.join(file)).collect();
        remove_others(&source, &files)?;
        for file in listed.split_terminator('\0') {
            // One that was deleted is listed until that is committed.
            let Ok(bytes) = fs::read(root().join(file)) else { continue };
            write(&source.join(file), &bytes)?;
        }
        Ok(Self { source, folder })
    }

    /// What fails with a defect, which is taken out again.
    fn with(&self, defect: &Defect) -> Result<Vec<String>> {
        let file = self.source.join(&defect.file);
        write(&file, defect.patched()?.as_bytes())?;
        let built = self.build(defect.runner());
        let failed = built.and_then(|()| self.failures(defect.runner()));
        write(&file, &fs::read(root().join(&defect.file))?)?;
        failed
    }

    /// Builds what is about to run: what does not compile is no failure of the suite.
    fn build(&self, (suite, test): Runner<'_>) -> Result<()> {
        let steps = match suite {
            // As the suite does itself, and then the suite.
            Suite::Implementation => {
                vec![
                    "build --quiet --locked -p conformance-peer-zarr -p zarr-cli".to_owned(),
                    "build --quiet --locked -p xtask".to_owned(),
                ]
            }
            _ => vec![format!("test --quiet --locked --no-run {test}")],
        };
        for step in steps {
            let done = self.cargo(&step)?;
            ensure!(done.status.success(), "it does not compile:\n{}", String::from_utf8_lossy(&done.stderr));
        }
        Ok(())
    }

    /// The cases of a suite that fail, or the rules that are broken.
    fn failures(&self, (suite, test): Runner<'_>) -> Result<Vec<String>> {
        let report = self.folder.join("report.json");
        let _ = fs::remove_file(&report);
        let done = match suite {
            Suite::Implementation => self.cargo(&format!(
                "run --quiet --locked -p xtask -- conformance --peer zarr --report {}",
                self.folder.display()
            ))?,
            _ => self.cargo(&format!("test --quiet --locked {test}"))?,
        };
        let said = String::from_utf8_lossy(&done.stdout);
        let failed = match suite {
            Suite::Implementation => {
                let report =
                    fs::read(&report).with_context(|| format!("the suite made no report:\n{said}"))?;
                cases(&serde_json::from_slice(&report)?)
            }
            _ => rules(&said),
        };
        let known = done.status.success() == failed.is_empty();
        ensure!(
            known,
            "{} with {} failed cases:\n{said}{}",
            done.status,
            failed.len(),
            String::from_utf8_lossy(&done.stderr)
        );
        Ok(failed)
    }

    fn cargo(&self, arguments: &str) -> Result<Output> {
        let mut command = cargo(arguments.split(' '));
        command.current_dir(&self.source).env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.stdin(Stdio::null()).output().context("cannot start cargo")
    }
}

fn shown((suite, test): Runner<'_>) -> String {
    match suite {
        Suite::Implementation => "cargo xtask conformance --peer zarr".to_owned(),
        _ => format!("cargo test {test}"),
    }
}

/// The first of them, each once.
fn first(failed: &[String]) -> String {
    let mut some: Vec<&str> = Vec::new();
    for one in failed {
        if !some.contains(&one.as_str()) {
            some.push(one);
        }
    }
    match some.len() {
        0 => "nothing".to_owned(),
        1..=3 => some.join(", "),
        _ => format!("{}, …", some[..3].join(", ")),
    }
}

/// The cases that failed, by the suite's report, but for those that are known to.
fn cases(report: &Value) -> Vec<String> {
    let failed = |entry: &Value| entry["verdict"] == "failed" && entry.get("known").is_none();
    let of =
        |id: &str| report["results"]["zarr"][id].as_array().is_some_and(|found| found.iter().any(failed));
    let asked = report["cases"].as_array().into_iter().flatten();
    asked.filter_map(|case| case["id"].as_str()).filter(|id| of(id)).map(str::to_owned).collect()
}

/// The rules that a test says are broken: one a line, below the line that counts them.
fn rules(said: &str) -> Vec<String> {
    let mut rules = Vec::new();
    let mut lines = said.lines();
    while let Some(line) = lines.next() {
        let count = line
            .split_once(" breaks ")
            .and_then(|(_, rest)| rest.strip_suffix(" of the rules")?.parse().ok());
        let below = lines.clone().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let ids = below.filter_map(|line| Some(format!("rule {}", line.trim().split_once(": ")?.0)));
        rules.extend(ids.take(count.unwrap_or(0)));
    }
    rules
}

/// Removes from a folder what is not one of `files`.
fn remove_others(folder: &Path, files: &BTreeSet<PathBuf>) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_others(&path, files)?;
            // One that is not empty stays.
            let _ = fs::remove_dir(&path);
        } else if !files.contains(&path) {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// Writes a file, unless it is like that.
fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(file).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    fs::create_dir_all(file.parent().unwrap_or(file))?;
    fs::write(file, bytes).with_context(|| file.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_report_names_the_cases_that_failed() {
        let report = json!({
            "cases": [{ "id": "a" }, { "id": "b" }, { "id": "c" }],
            "results": { "zarr": {
                "a": [{ "verdict": "passed" }, { "verdict": "failed" }],
                "b": [{ "verdict": "failed", "known": {} }],
                "c": [{ "verdict": "passed" }],
            } },
        });
        assert_eq!(cases(&report), ["a"]);
    }

    #[test]
    fn a_test_names_the_rules_that_are_broken() {
        let said = "the codec breaks 2 of the rules\n  10: exactly\n      codec \"gzip\": no\n  E.t8: keys\n      no\nnote: x\n  y: z";
        assert_eq!(rules(said), ["rule 10", "rule E.t8"]);
        assert!(rules("test result: FAILED").is_empty());
    }
}
