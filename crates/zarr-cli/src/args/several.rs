//! Several stores for one verb.

use std::path::{Path, PathBuf};

use zarr_array::meta::json::Value;

use crate::args::first::is_place;
use crate::args::stores::shown;
use crate::colour::{Look, on_stdout};
use crate::exit::{Exit, Failure, Outcome, line, say};
use crate::out::json;
use crate::out::stdout::Stdout;

/// The stores behind the first one.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct More {
    /// More nodes. Each has a heading, or with --json a document on a line, and the exit code is the largest.
    #[arg(value_name = "STORE[/PATH]")]
    more: Vec<PathBuf>,
    /// The name of the store that is looked at, if it is one of several.
    #[arg(skip)]
    name: Option<String>,
}

impl More {
    /// Runs a verb for the first store and for each other one. A store that fails keeps no other one back.
    pub(crate) fn each(
        &self,
        verb: &str,
        first: &Path,
        has_json: bool,
        mut run: impl FnMut(PathBuf, Self) -> Outcome,
    ) -> Outcome {
        if self.more.is_empty() {
            return run(first.to_owned(), self.clone());
        }
        if let Some(name) = self.more.iter().filter_map(|name| name.to_str()).find(|name| !is_place(name)) {
            let store = shown(first).display().to_string();
            return Err(Failure::usage(format!(
                "a node is named behind its store: `zarr {verb} {}/{name}`",
                store.trim_end_matches('/')
            )));
        }
        let mut worst = Exit::Ok;
        for store in [first].into_iter().chain(self.more.iter().map(PathBuf::as_path)) {
            let name = shown(store).display().to_string();
            if !has_json {
                let mut out = Stdout::new();
                let heading = on_stdout(Look::Heading, &format!("== {}", line(&name)));
                out.write_coloured(&format!("{heading}\n"))?;
                out.flush()?;
            }
            let exit = match run(store.to_owned(), Self { more: Vec::new(), name: Some(name) }) {
                Ok(exit) => exit,
                // Nobody reads the output.
                Err(e) if e.exit() == Exit::Ok => return Err(e),
                Err(e) => {
                    if !e.message().is_empty() {
                        say(e.message());
                    }
                    e.exit()
                }
            };
            worst = if exit as u8 > worst as u8 { exit } else { worst };
        }
        Ok(worst)
    }

    /// Fails if there are several stores, for an option that is for one.
    pub(crate) fn refuse(&self, option: &str) -> Result<(), Failure> {
        match self.more.is_empty() {
            true => Ok(()),
            false => Err(Failure::usage(format!("{option} is for one store"))),
        }
    }

    /// Returns a document as JSON: on one line, with the name of the store, if it is one of several.
    pub(crate) fn json(&self, document: &Value) -> String {
        match (&self.name, document.as_object()) {
            (Some(name), Some(mut object)) => {
                object.set("store", name);
                json::line(&object.into())
            }
            _ => json::pretty(document),
        }
    }
}
