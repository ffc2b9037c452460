//! `zarr validate`: reports everything that is wrong or unwise in the metadata of a hierarchy.

mod conventions;

use std::error::Error;
use std::iter;
use std::path::PathBuf;

use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::{Format, MetaError, MetaErrorKind, NodeMeta, Severity};
use zarr_array::{Diagnostic, Limits};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{Difference, Found, GroupOptions, HierarchyError, UseConsolidated};

use conventions::Conventions;

use crate::colour::{Look, on_stdout};
use crate::exit::{Exit, Outcome, line};
use crate::json;
use crate::stdout::print;
use crate::stores::Stores;
use crate::table::count;
use crate::target::{Target, registry};
use crate::walk::{NO_NODE, Source, Visit, reason, walk};

/// Check the metadata of a node and of all nodes below it.
///
/// An error is a deviation from the specification (even if other verbs tolerate it, because the meaning is clear), or
/// something that this command cannot read. A warning is valid, but some implementation cannot read it or reads it
/// wrongly; a difference between consolidated metadata and the documents is a warning. Chunks are not read. Exits with
/// 1 if there are errors.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Leave out findings with this code, such as `ZM088` or `stale`. May be repeated.
    #[arg(long, value_name = "CODE")]
    ignore: Vec<String>,
    #[command(flatten)]
    conventions: Conventions,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr validate weather.zarr
  zarr validate --ignore ZM088 --ignore ZM087 old.zarr
  zarr validate --conventions xarray,cf weather.zarr
  zarr validate --conventions ome image.zarr
  zarr validate --json weather.zarr | jq '.nodes[].findings[].code'";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let mut report = Report::default();
    let mut nodes = Vec::new();
    for visit in walk(&target, Source::DOCUMENTS, usize::MAX)? {
        if args.conventions.are_chosen()
            && let Found::Node(node) = &visit.found
        {
            nodes.push((visit.path(), node.clone()));
        }
        match target.lists() {
            true => report.add(&target, visit),
            false => report.add_named(&target, visit),
        }
    }
    args.conventions.check(&target, nodes, &mut report)?;
    report.leave_out(&args.ignore);
    let text = if args.json { json::pretty(&report.to_json()) } else { report.to_text() };
    print(&text)?;
    Ok(if report.count(Severity::Error) == 0 { Exit::Ok } else { Exit::Invalid })
}

#[derive(Debug, Default)]
struct Report {
    nodes: Vec<Node>,
    /// Paths of folders in groups that are not nodes.
    others: Vec<String>,
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
    fn add(&mut self, target: &Target, visit: Visit) {
        let path = visit.path();
        let mut notes = visit.notes;
        let (kind, found): (_, Vec<Finding>) = match visit.found {
            Found::Node(node) => {
                let kind = if let NodeMeta::Array(_) = node { "array" } else { "group" };
                let mut found = judge(&node, &mut notes);
                if let NodeMeta::Group(group) = &node {
                    found.extend(consolidated(target, &path, group.format()));
                }
                (kind, found)
            }
            Found::Broken(e) => {
                let found = Finding::of_found(&e, &path);
                (if found.code == "unreadable" { "unreadable" } else { "invalid" }, vec![found])
            }
            // The unlisted group is the last node that was added.
            Found::Unlisted(e) => {
                let found = Finding::of_found(&e, &path);
                if let Some(node) = self.nodes.last_mut() {
                    node.findings.push(found);
                }
                return;
            }
            _ => return self.others.push(path),
        };
        let findings = notes.into_iter().map(Finding::from).chain(found).collect();
        self.nodes.push(Node { path, kind, findings });
    }

    /// Adds a node of a store that cannot list, which consolidated metadata names. Its documents are read.
    fn add_named(&mut self, target: &Target, named: Visit) {
        let path = named.path();
        match target.at_path(&path).look() {
            Ok(visit) => self.add(target, visit),
            Err(e) if e.exit() == Exit::NotFound => {
                let gone =
                    stale(String::new(), "the node is in the consolidated metadata, and not in the store");
                self.nodes.push(Node { path, kind: "none", findings: vec![gone] });
            }
            Err(_) => self.add(target, named),
        }
    }

    /// Removes the findings with these codes.
    fn leave_out(&mut self, codes: &[String]) {
        let is_ignored = |finding: &Finding| codes.iter().any(|code| code.eq_ignore_ascii_case(finding.code));
        self.nodes.iter_mut().for_each(|node| node.findings.retain(|finding| !is_ignored(finding)));
    }

    fn count(&self, severity: Severity) -> usize {
        self.nodes.iter().flat_map(|node| &node.findings).filter(|f| f.severity == severity).count()
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        let mut explained: Vec<&str> = Vec::new();
        for node in self.nodes.iter().filter(|node| !node.findings.is_empty()) {
            let head = format!("{} ({})", line(&node.path), node.kind);
            text.push_str(&format!("{}\n", on_stdout(Look::Heading, &head)));
            for finding in &node.findings {
                let place = if finding.pointer.is_empty() {
                    String::new()
                } else {
                    format!(" at {}", finding.pointer)
                };
                let name = on_stdout(look(finding.severity), severity(finding.severity));
                let first = format!("{}{place}: {}", finding.code, finding.message);
                text.push_str(&format!("  {name} {}\n", line(&first)));
                // Print each explanation once.
                if !explained.contains(&finding.explanation) {
                    explained.push(finding.explanation);
                    text.push_str(&wrapped(finding.title, finding.explanation));
                }
            }
        }
        for path in &self.others {
            text.push_str(&format!("{} (not a node)\n  note: {NO_NODE}\n", line(path)));
        }
        let [errors, warnings] = [Severity::Error, Severity::Warning].map(|s| self.count(s));
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
        let other = |path: &String| json::object([("path", path.into()), ("message", NO_NODE.into())]);
        let errors = self.count(Severity::Error);
        json::document([
            ("valid", (errors == 0).into()),
            ("errors", errors.into()),
            ("warnings", self.count(Severity::Warning).into()),
            ("nodes", self.nodes.iter().map(node).collect()),
            ("not_nodes", self.others.iter().map(other).collect()),
        ])
        .into()
    }
}

/// Returns the errors that keep metadata from being used, and adds notes about unwise metadata.
fn judge(node: &NodeMeta, notes: &mut Vec<Diagnostic>) -> Vec<Finding> {
    // Collecting notes cannot fail.
    let _ = node.lint(notes);
    let broken = node.attributes_error().map(|e| Finding::of_error(e, None));
    let unresolved = match node {
        NodeMeta::Array(meta) => meta.resolve(&registry(), &Limits::default(), notes).err(),
        NodeMeta::Group(_) => None,
    };
    broken.into_iter().chain(unresolved.map(|e| Finding::of_error(&e, None))).collect()
}

/// Returns the differences between the consolidated metadata of a group, if any, and the documents.
/// A store that cannot list is not compared.
fn consolidated(target: &Target, path: &str, format: Format) -> Vec<Finding> {
    if !target.lists() {
        return Vec::new();
    }
    let options = GroupOptions::new().use_consolidated(UseConsolidated::Ignore).format(format);
    let group = Group::open_with(target.storage.clone(), path, &registry(), &options);
    let pointer = if format == Format::V3 { "/consolidated_metadata" } else { "" };
    match group.and_then(|group| group.check_consolidated()) {
        Ok(differences) => {
            let differences = differences.iter().flatten();
            differences.map(|difference| stale(pointer.to_owned(), differs(difference))).collect()
        }
        Err(e) => vec![Finding::of_found(&e, path)],
    }
}

/// Returns the finding that consolidated metadata is stale.
fn stale(pointer: String, message: impl Into<String>) -> Finding {
    Finding { severity: Severity::Warning, ..Finding::of("stale", pointer, message.into()) }
}

/// Returns a difference in words.
pub(crate) fn differs(difference: &Difference) -> String {
    let node = match difference.path() {
        "" => "the group itself".to_owned(),
        path => format!("the node {path:?}"),
    };
    match difference {
        Difference::Missing(_) => format!("{node} is missing in the consolidated metadata"),
        Difference::Gone(_) => format!("{node} is in the consolidated metadata, and not in the store"),
        Difference::Changed(_) => format!("{node} differs in the consolidated metadata"),
    }
}

impl Finding {
    fn of(code: &'static str, pointer: String, message: String) -> Self {
        let (title, explanation) = match code {
            "syntax" => ("not JSON", "The document cannot be parsed. No reader opens this node."),
            "unsupported" => (
                "not supported",
                "The document has another version, or needs a feature that is not implemented here.",
            ),
            "unknown-extension" => (
                "unknown extension",
                "The document uses an extension that is unknown here. The node can be listed and described, but its \
                 elements cannot be read.",
            ),
            "limit" => ("limit exceeded", "The document is larger than the limits allow."),
            "unreadable" => (
                "cannot be read",
                "The store returned an error instead of the document or the list of children.",
            ),
            "stale" => (
                "stale consolidated metadata",
                "Readers that trust the consolidated metadata do not see the node, or see old metadata. `zarr \
                 consolidate` writes it again.",
            ),
            _ => (
                "invalid metadata",
                "The document breaks a rule of the specification, and its meaning is not certain.",
            ),
        };
        Self { severity: Severity::Error, code, title, pointer, message, explanation }
    }

    /// Returns the finding for an error of a node.
    fn of_found(e: &HierarchyError, path: &str) -> Self {
        let mut causes = iter::successors(Some(e as &(dyn Error + 'static)), |e| (*e).source());
        match causes.find_map(|e| e.downcast_ref::<MetaError>()) {
            Some(e) => Self::of_error(e, Some(path)),
            None => Self::of("unreadable", String::new(), reason(e, path)),
        }
    }

    fn of_error(e: &MetaError, path: Option<&str>) -> Self {
        let code = match e.kind() {
            MetaErrorKind::Syntax => "syntax",
            MetaErrorKind::Unsupported => "unsupported",
            MetaErrorKind::UnknownExtension => "unknown-extension",
            MetaErrorKind::LimitExceeded => "limit",
            _ => "invalid",
        };
        // The report shows node and pointer beside the message.
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

fn look(severity: Severity) -> Look {
    match severity {
        Severity::Error => Look::Error,
        Severity::Warning => Look::Warning,
    }
}

/// Wraps a title and its explanation into indented lines.
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
