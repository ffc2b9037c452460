//! Checks the page of the report in a browser, and takes pictures of it.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{answers, root, run, target_dir};
use crate::install::{npm, once, required};

/// Checks the page in a folder of reports, and writes pictures beside it.
pub(super) fn check(report: &Path) -> Result<()> {
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    let is_there = |program: &str| answers(Command::new(program).arg("--version"));
    let missing = [("chromium", chromium.as_str()), ("node", "node"), ("npm", "npm")];
    if let Some((name, _)) = missing.iter().find(|(_, program)| !is_there(program)) {
        let message = format!("the page was not checked in a browser: {name} is missing on this machine");
        if required() {
            bail!("{message}");
        }
        println!("SKIPPED {message}");
        return Ok(());
    }
    let source = root().join("conformance/page");
    let place = target_dir().join("peers/page");
    let pins = std::fs::read_to_string(source.join("package-lock.json"))?;
    once(&place, &pins, |folder| npm(folder, &source))?;
    let page = report.join("index.html");
    let mut test = Command::new("node");
    test.arg(source.join("test.mjs")).arg(page).arg(report.join("pictures"));
    run(test.env("NODE_PATH", place.join("node_modules")))
}
