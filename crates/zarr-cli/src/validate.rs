//! `zarr validate`: everything that is wrong or unwise in the metadata of a hierarchy.

use std::path::PathBuf;

use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{MetaError, MetaErrorKind, NodeMeta, Severity};
use zarr_array::{Diagnostic, Limits};

use crate::exit::{Exit, Outcome, line};
use crate::json;
use crate::stdout::print;
use crate::target::{Target, registry};
use crate::walk::{Found, Visit, walk};

/// Check the metadata of a node and of all nodes below it.
///
/// An error is what a strict reader refuses: a deviation from the specification (also where its meaning is certain and
/// other verbs tolerate it), and what nobody here can read. A warning is valid, but read wrongly or not at all by some
/// implementation. Exits with 1 if there is an error. Chunks are not read.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a zarr.json.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr validate weather.zarr
  zarr validate --json weather.zarr | jq '.nodes[].findings[].code'";

pub(crate) fn run(args: &Args) -> Outcome {
    let target = Target::find(&args.store)?;
    let mut report = Report::default();
    walk(&target.storage, target.prefix()?, target.format, &mut |visit| {
        report.add(visit);
        Ok(())
    })?;
    let text = if args.json { json::pretty(&report.to_json()) } else { report.to_text() };
    print(&text)?;
    Ok(if report.count(Severity::Error) == 0 { Exit::Ok } else { Exit::Invalid })
}

#[derive(Debug, Default)]
struct Report {
    nodes: Vec<Node>,
    /// Directories of groups that are no nodes.
    others: Vec<(String, &'static str)>,
}

#[derive(Debug)]
struct Node {
    path: String,
    kind: &'static str,
    findings: Vec<Finding>,
}

#[derive(Debug)]
struct Finding {
    severity: Severity,
    /// The code of a diagnostic (`ZM012`), or the kind of an error (`invalid`).
    code: &'static str,
    title: &'static str,
    pointer: String,
    message: String,
    explanation: &'static str,
}

impl Report {
    fn add(&mut self, visit: Visit) {
        let path = visit.path();
        let mut findings: Vec<Finding> = Vec::new();
        let mut notes = visit.notes;
        let kind = match visit.found {
            Found::NoNode(why) => return self.others.push((path, why)),
            Found::Node(node) => {
                let kind = if let NodeMeta::Array(_) = node { "array" } else { "group" };
                findings.extend(judge(&node, &mut notes));
                kind
            }
            Found::Invalid(e) => {
                findings.push(Finding::of_error(&e, Some(&path)));
                "invalid"
            }
            Found::Unreadable(e) => {
                findings.push(Finding::of("unreadable", String::new(), e.to_string()));
                "unreadable"
            }
        };
        findings.splice(0..0, notes.into_iter().map(Finding::from));
        // A group whose children cannot be listed is visited once more.
        match self.nodes.last_mut().filter(|node| node.path == path) {
            Some(node) => node.findings.append(&mut findings),
            None => self.nodes.push(Node { path, kind, findings }),
        }
    }

    fn count(&self, severity: Severity) -> usize {
        self.nodes.iter().flat_map(|node| &node.findings).filter(|f| f.severity == severity).count()
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        let mut explained: Vec<&str> = Vec::new();
        for node in self.nodes.iter().filter(|node| !node.findings.is_empty()) {
            text.push_str(&format!("{} ({})\n", line(&node.path), node.kind));
            for finding in &node.findings {
                let place = if finding.pointer.is_empty() {
                    String::new()
                } else {
                    format!(" at {}", finding.pointer)
                };
                let name = severity(finding.severity);
                let first = format!("{name} {}{place}: {}", finding.code, finding.message);
                text.push_str(&format!("  {}\n", line(&first)));
                // Once is enough for people.
                if !explained.contains(&finding.explanation) {
                    explained.push(finding.explanation);
                    text.push_str(&wrapped(finding.title, finding.explanation));
                }
            }
        }
        for (path, why) in &self.others {
            text.push_str(&format!("{} (no node)\n  note: {why}\n", line(path)));
        }
        let [errors, warnings] = [Severity::Error, Severity::Warning].map(|s| self.count(s));
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let [nodes, errors, warnings] =
            [count(self.nodes.len(), "node"), count(errors, "error"), count(warnings, "warning")];
        text + &format!("{nodes}, {errors}, {warnings}\n")
    }

    fn to_json(&self) -> Value {
        let finding = |f: &Finding| -> Object {
            json::object([
                ("severity", severity(f.severity).into()),
                ("code", f.code.into()),
                ("title", f.title.into()),
                ("pointer", (&f.pointer).into()),
                ("message", (&f.message).into()),
                ("explanation", f.explanation.into()),
            ])
        };
        let node = |node: &Node| {
            json::object([
                ("path", (&node.path).into()),
                ("node_type", node.kind.into()),
                ("findings", node.findings.iter().map(finding).collect()),
            ])
        };
        let other =
            |(path, why): &(String, &str)| json::object([("path", path.into()), ("message", (*why).into())]);
        let errors = self.count(Severity::Error);
        json::object([
            ("valid", (errors == 0).into()),
            ("errors", errors.into()),
            ("warnings", self.count(Severity::Warning).into()),
            ("nodes", self.nodes.iter().map(node).collect()),
            ("not_nodes", self.others.iter().map(other).collect()),
        ])
        .into()
    }
}

/// What metadata mean, and what is unwise in them: more notes, and the errors that keep them from being read.
fn judge(node: &NodeMeta, notes: &mut Vec<Diagnostic>) -> Vec<Finding> {
    // A list of notes takes everything.
    let _ = node.lint(notes);
    let broken = node.attributes_error().map(|e| Finding::of_error(e, None));
    let unresolved = match node {
        NodeMeta::Array(meta) => meta.resolve(&registry(), &Limits::default(), notes).err(),
        NodeMeta::Group(_) => None,
    };
    broken.into_iter().chain(unresolved.map(|e| Finding::of_error(&e, None))).collect()
}

impl Finding {
    fn of(code: &'static str, pointer: String, message: String) -> Self {
        let (title, explanation) = match code {
            "syntax" => ("not JSON", "The document cannot be parsed. No reader opens this node."),
            "unsupported" => (
                "not supported",
                "The document is of another version, or asks for what is not implemented here.",
            ),
            "unknown-extension" => (
                "unknown extension",
                "The document uses something that is not known here. The node can be listed and described, but its \
                 elements cannot be read.",
            ),
            "limit" => ("limit exceeded", "The document is larger than what is accepted from strangers."),
            "unreadable" => (
                "cannot be read",
                "The store gave an error instead of the document or of a list of children.",
            ),
            _ => (
                "invalid metadata",
                "The document breaks a rule of the specification, and what it means is not certain.",
            ),
        };
        Self { severity: Severity::Error, code, title, pointer, message, explanation }
    }

    fn of_error(e: &MetaError, path: Option<&str>) -> Self {
        let code = match e.kind() {
            MetaErrorKind::Syntax => "syntax",
            MetaErrorKind::Unsupported => "unsupported",
            MetaErrorKind::UnknownExtension => "unknown-extension",
            MetaErrorKind::LimitExceeded => "limit",
            _ => "invalid",
        };
        // Node and pointer stand beside the message.
        let mut message = e.to_string();
        for known in
            [path.map(|path| format!("node {path:?}: ")), Some(format!("member {:?}: ", e.pointer()))]
        {
            message = known.map_or(message.clone(), |known| message.replacen(&known, "", 1));
        }
        Self::of(code, e.pointer().to_owned(), message)
    }
}

impl From<Diagnostic> for Finding {
    fn from(d: Diagnostic) -> Self {
        let Diagnostic { code, pointer, message } = d;
        let (severity, title, explanation) = (code.severity(), code.title(), code.explanation());
        Self { severity, code: code.id(), title, pointer, message, explanation }
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// An explanation in lines of a readable length.
fn wrapped(title: &str, explanation: &str) -> String {
    const WIDTH: usize = 92;
    let mut text = String::new();
    let mut row = format!("{title}.");
    for word in explanation.split_whitespace() {
        if row.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&format!("      {row}\n"));
            row.clear();
        } else {
            row.push(' ');
        }
        row.push_str(word);
    }
    text + &format!("      {row}\n")
}
