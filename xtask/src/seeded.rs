//! `cargo xtask seeded`: checks that the suites fail when they should.
//!
//! conformance/seeded.toml lists mistakes that an implementer can make. Each is made in a copy of the sources below
//! target/seeded, and the suite or the exploration that must notice it runs there. First each must pass without mistakes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;
use zarr_conformance::implementation::{self, Fixtures, Options, Peer, Verdict};

use crate::command::{cargo, output, root, target_dir};

/// The selection of defects.
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

/// A mistake: a text in a file, and its replacement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Defect {
    name: String,
    file: String,
    /// The text, which must occur exactly once in the file.
    find: String,
    replace: String,
    /// The suite that must notice it.
    suite: Suite,
    /// The arguments of `cargo test` that run that suite, or the name of the exploration; empty for the suite of
    /// implementations.
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
    /// An exploration of conformance/schedules.
    Schedules,
    /// Tests of the crate itself.
    Tests,
}

/// A suite, and the arguments of `cargo test` that run it or the name of the exploration. The suite of implementations has its
/// own command.
type Runner<'a> = (Suite, &'a str);

/// The package with the adapter of this implementation.
const ADAPTER: &str = "conformance-peer-zarr";

/// The package that explores schedules, and how many it explores.
const EXPLORER: &str = "conformance-schedules";
const SCHEDULES: &str = "10000";

/// A copy of the sources, and its target folder.
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
        bail!("unknown defect {unknown:?}: it is not in conformance/seeded.toml");
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

/// Prints a table with the result of each defect.
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

    /// Returns the text of the file with the defect.
    fn patched(&self) -> Result<String> {
        let text = fs::read_to_string(root().join(&self.file)).with_context(|| self.file.clone())?;
        let count = text.matches(&self.find).count();
        ensure!(count == 1, "the text in `find` occurs {count} times in {}, expected once", self.file);
        ensure!(
            self.test.is_empty() == (self.suite == Suite::Implementation),
            "`test` is required for all suites but that of implementations"
        );
        Ok(text.replace(&self.find, &self.replace))
    }
}

impl Bench {
    /// Copies all files that git does not ignore. Equal files are not written again, so that only changes are built
    /// again.
    fn new() -> Result<Self> {
        let folder = target_dir().join("seeded");
        let source = folder.join("source");
        let mut git = Command::new("git");
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root());
        let listed = output(&mut git)?;
        let files: BTreeSet<PathBuf> = listed.split_terminator('\0').map(|file| source.join(file)).collect();
        remove_others(&source, &files)?;
        for file in listed.split_terminator('\0') {
            // git lists a deleted file until the deletion is committed.
            let Ok(bytes) = fs::read(root().join(file)) else { continue };
            write(&source.join(file), &bytes)?;
        }
        Ok(Self { source, folder })
    }

    /// Returns the failures with a defect. The defect is removed afterwards.
    fn with(&self, defect: &Defect) -> Result<Vec<String>> {
        let file = self.source.join(&defect.file);
        write(&file, defect.patched()?.as_bytes())?;
        let built = self.build(defect.runner());
        let failed = built.and_then(|()| self.failures(defect.runner()));
        write(&file, &fs::read(root().join(&defect.file))?)?;
        failed
    }

    /// Builds the suite first, so that a compile error does not count as a failure of the suite.
    fn build(&self, (suite, test): Runner<'_>) -> Result<()> {
        let done = self.cargo(&match suite {
            // The adapter, and the command that it starts.
            Suite::Implementation => format!("build --quiet --locked -p {ADAPTER} -p zarr-cli"),
            Suite::Schedules => format!("build --quiet --locked -p {EXPLORER}"),
            _ => format!("test --quiet --locked --no-run {test}"),
        })?;
        ensure!(done.status.success(), "it does not compile:\n{}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    }

    /// Returns the failing cases of a suite, or the broken rules.
    fn failures(&self, (suite, test): Runner<'_>) -> Result<Vec<String>> {
        let done = match suite {
            Suite::Implementation => return self.failed_cases(),
            Suite::Schedules => self.explored(test)?,
            _ => self.cargo(&format!("test --quiet --locked {test}"))?,
        };
        let said = String::from_utf8_lossy(&done.stdout);
        let failed = match suite {
            Suite::Schedules => schedules(&said),
            Suite::Tests => failed_tests(&said),
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

    /// Returns the cases that fail, with the suite of this program and the adapter of the copy.
    fn failed_cases(&self) -> Result<Vec<String>> {
        let peer = Peer::new("zarr", [self.program(ADAPTER)]);
        let fixtures = Fixtures::load(&root().join("conformance"))?;
        let results = implementation::run(&fixtures, &[peer], &Options::new(self.folder.join("work")))?;
        let failed = results.asked.iter().filter(|asked| {
            let entries = results.of("zarr", &asked.id);
            entries.iter().any(|entry| matches!(entry.verdict, Verdict::Failed(_)))
        });
        Ok(failed.map(|asked| asked.id.clone()).collect())
    }

    /// Runs an exploration of the copy.
    fn explored(&self, name: &str) -> Result<Output> {
        let mut explorer = Command::new(self.program(EXPLORER));
        explorer.args(["--schedules", SCHEDULES, name]).stdin(Stdio::null());
        explorer.output().context("cannot start the exploration")
    }

    /// Returns a program of the copy.
    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("target/debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
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
        Suite::Schedules => format!("cargo xtask schedules -- --schedules {SCHEDULES} {test}"),
        _ => format!("cargo test {test}"),
    }
}

/// Returns the names of the failed tests from the output of `cargo test`: the last list of failures.
fn failed_tests(said: &str) -> Vec<String> {
    let list = said.rsplit_once("\nfailures:\n").map_or("", |(_, list)| list);
    list.lines().map_while(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// Returns the first failures, without repetitions, as text.
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

/// Returns the schedules that fail in the output of an exploration.
fn schedules(said: &str) -> Vec<String> {
    let failing =
        said.lines().filter_map(|line| line.split_once(" fails in schedule ")?.1.split_once(" of "));
    failing.map(|(number, _)| format!("schedule {number}")).collect()
}

/// Returns the broken rules in the output of a test: one per line, below the line with their number.
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

/// Removes all files from a folder that are not in `files`.
fn remove_others(folder: &Path, files: &BTreeSet<PathBuf>) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_others(&path, files)?;
            // A folder that is not empty stays.
            let _ = fs::remove_dir(&path);
        } else if !files.contains(&path) {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// Writes a file, unless it has this content.
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

    #[test]
    fn a_test_names_the_broken_rules() {
        let said = "the codec breaks 2 of the rules\n  10: exactly\n      codec \"gzip\": no\n  E.t8: keys\n      no\nnote: x\n  y: z";
        assert_eq!(rules(said), ["rule 10", "rule E.t8"]);
        assert!(rules("test result: FAILED").is_empty());
    }

    #[test]
    fn an_exploration_names_the_schedule_that_fails() {
        let said = "keys: 10 schedules in 0.1 s, seed 13: x\ngate fails in schedule 17 of 10000, seed 13\n";
        assert_eq!(schedules(said), ["schedule 17"]);
    }

    #[test]
    fn a_run_names_its_failed_tests() {
        let said =
            "\nfailures:\n\n---- a::b stdout ----\nwhy\n\nfailures:\n    a::b\n    c\n\ntest result: FAILED.";
        assert_eq!(failed_tests(said), ["a::b", "c"]);
        assert!(failed_tests("test result: ok.").is_empty());
    }
}
