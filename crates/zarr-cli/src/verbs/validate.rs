//! `zarr validate`: reports everything that is wrong or unwise in the metadata of a hierarchy, and in its chunks.

mod conventions;
mod dangling;
mod data;
mod finding;
mod leftovers;

use std::path::PathBuf;

use zarr_array::meta::json::Value;
use zarr_array::meta::{Format, NodeMeta};
use zarr_array::{Diagnostic, Limits};
use zarr_hierarchy::blocking::Group;
use zarr_hierarchy::{ChildState, Difference, GroupOptions};

use conventions::Conventions;
use data::Checked;
use finding::{Finding, Weight};
use leftovers::Leftovers;

use crate::args::several::More;
use crate::args::stores::Stores;
use crate::args::target::{Target, registry};
use crate::colour::{Look, on_stdout};
use crate::exit::{Exit, Outcome, line};
use crate::out::json;
use crate::out::progress::Progress;
use crate::out::stdout::Stdout;
use crate::out::table::{bytes, count};
use crate::torn;
use crate::visit::{NO_NODE, Source, Visit};
use crate::walk::{odd_paths, walk};

/// Check the metadata of a node and of all nodes below it: against the format, and against the conventions that the
/// documents follow, which the last line names.
///
/// An error is a deviation from the specification (even if other verbs tolerate it, because the meaning is clear), or
/// something that this command cannot read. A warning is valid, but some implementation cannot read it or reads it
/// wrongly; a difference between consolidated metadata and the documents is a warning, and so are chunks that no array has,
/// as far as they are in a listing of 100,000 objects. Chunks are read only with `--data`. Exits with 1 if there are errors in the metadata, and with 5 if a chunk is corrupt or the object that it is in is missing or another one.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    more: More,
    /// Also read and decode all stored chunks and inner chunks, and verify their checksums. All that are corrupt are
    /// listed. Objects that cannot be chunks are a warning, missing chunks a note with their number. Objects that references
    /// name, and that are missing, changed or not allowed, are listed once for each array.
    #[arg(long)]
    data: bool,
    /// Leave out findings below this severity.
    #[arg(long, value_enum, default_value_t = Weight::Info)]
    severity: Weight,
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
  zarr validate --data weather.zarr
  zarr validate --data --severity error --json weather.zarr | jq -r '.nodes[].findings[].key'
  zarr validate --ignore ZM088 --ignore ZM087 old.zarr
  zarr validate --conventions xarray,cf weather.zarr
  zarr validate --conventions none weather.zarr
  zarr validate --conventions ome image.zarr
  zarr validate --json weather.zarr | jq '.nodes[].findings[].code'";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let one = |store, more| one(&Args { store, more, ..args.clone() }, stores);
    args.more.each("validate", &args.store, args.json, one)
}

fn one(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let mut report = Report::default();
    let (mut nodes, mut leftovers) = (Vec::new(), Leftovers::default());
    for visit in walk(&target, Source::DOCUMENTS, usize::MAX)? {
        if args.conventions.are_chosen()
            && let ChildState::Node(node) = &visit.found
        {
            nodes.push((visit.path(), node.clone()));
        }
        match &visit.found {
            ChildState::Node(node) => leftovers.add(&visit.path(), Some(node)),
            ChildState::Broken(_) => leftovers.add(&visit.path(), None),
            _ => {}
        }
        match target.lists() {
            true => report.add(&target, visit),
            false => report.add_named(&target, visit),
        }
    }
    args.conventions.check(&target, nodes, &mut report)?;
    if target.lists() {
        report.add_leftovers(&target, leftovers, args.data);
    }
    let is_shown = |finding: &Finding| {
        finding.weight >= args.severity
            && !args.ignore.iter().any(|code| code.eq_ignore_ascii_case(finding.code))
    };
    // The findings of a node are printed when its chunks are read, so that an interrupted run has shown them.
    let (mut out, mut page) = (Stdout::new(), Page::default());
    let progress = if args.data { Progress::objects() } else { Progress::new(0, true) };
    for node in &mut report.nodes {
        if args.data && node.kind == "array" {
            let checked = node.check_data(&target, &progress);
            report.checked.get_or_insert_default().add(checked);
        }
        node.findings.retain(is_shown);
        if !args.json {
            out.write_coloured(&page.of(node))?;
            out.flush()?;
        }
    }
    drop(progress);
    let end = if args.json { args.more.json(&report.to_json()) } else { report.end() };
    out.write(end.as_bytes())?;
    out.flush()?;
    Ok(report.exit())
}

#[derive(Debug, Default)]
struct Report {
    nodes: Vec<Node>,
    /// Paths of folders in groups that are not nodes.
    others: Vec<String>,
    /// The number of decoded chunks, with `--data`.
    checked: Option<Checked>,
    /// The names of the conventions that were checked.
    conventions: Vec<&'static str>,
}

#[derive(Debug)]
struct Node {
    path: String,
    kind: &'static str,
    findings: Vec<Finding>,
}

impl Node {
    /// Decodes the chunks of this array and adds the findings.
    fn check_data(&mut self, target: &Target, progress: &Progress) -> Checked {
        let (checked, found) = match target.open(&self.path) {
            Ok(array) => data::check(&array, progress),
            Err(e) => {
                let message = format!("the array cannot be opened, so its chunks are not checked: {e:#}");
                let finding = Finding::of("unreadable-chunk", String::new(), message);
                (Checked::default(), vec![finding.exits(e.kind().into())])
            }
        };
        self.findings.extend(found);
        checked
    }
}

impl Report {
    fn add(&mut self, target: &Target, visit: Visit) {
        let path = visit.path();
        let mut notes = visit.notes;
        let (kind, found): (_, Vec<Finding>) = match visit.found {
            ChildState::Node(node) => {
                let kind = if let NodeMeta::Array(_) = node { "array" } else { "group" };
                let mut found = judge(&node, &mut notes);
                if let NodeMeta::Group(group) = &node {
                    found.extend(consolidated(target, &path, group.format()));
                }
                (kind, found)
            }
            ChildState::Broken(e) => {
                let found = Finding::of_found(&e, &path);
                (if found.code == "unreadable" { "unreadable" } else { "invalid" }, vec![found])
            }
            // The unlisted group is the last node that was added.
            ChildState::Unlisted(e) => {
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

    /// Adds the objects that no node has. With `--data` those of arrays are found when the chunks are read.
    fn add_leftovers(&mut self, target: &Target, mut leftovers: Leftovers, reads_data: bool) {
        if let Err(e) = leftovers.look(target)
            && !self.nodes.iter().flat_map(|node| &node.findings).any(|finding| finding.code == "unreadable")
            && let Some(node) = self.nodes.first_mut()
        {
            let message = format!("not all objects can be listed: {}", e.message());
            node.findings.push(Finding::of("unreadable", String::new(), message));
        }
        for node in self.nodes.iter_mut().filter(|node| !(reads_data && node.kind == "array")) {
            node.findings.extend(leftovers.of(&node.path));
        }
    }

    fn count(&self, weight: Weight) -> usize {
        self.nodes.iter().flat_map(|node| &node.findings).filter(|f| f.weight == weight).count()
    }

    /// Returns how the command ends: with 5 if a chunk is corrupt, else with the code of a chunk that cannot be read,
    /// else with 1 if there is an error.
    fn exit(&self) -> Exit {
        let findings = self.nodes.iter().flat_map(|node| &node.findings);
        let codes = || findings.clone().filter(|f| f.weight == Weight::Error).map(|f| f.exit);
        let rest = codes().find(|exit| *exit != Exit::Invalid).or_else(|| codes().next());
        codes().find(|exit| *exit == Exit::Corrupt).or(rest).unwrap_or(Exit::Ok)
    }

    /// Returns the last lines of the text.
    fn end(&self) -> String {
        let mut text = String::new();
        for path in &self.others {
            text.push_str(&format!("{} (not a node)\n  note: {NO_NODE}\n", line(path)));
        }
        let [errors, warnings] = [Weight::Error, Weight::Warning].map(|weight| self.count(weight));
        let [nodes, errors, warnings] =
            [count(self.nodes.len(), "node"), count(errors, "error"), count(warnings, "warning")];
        text.push_str(&format!("{nodes}, {errors}, {warnings}\n"));
        if !self.conventions.is_empty() {
            text.push_str(&format!("checked: format, {}\n", self.conventions.join(", ")));
        }
        if let Some(checked) = &self.checked {
            let inner = match checked.inner_chunks {
                0 => String::new(),
                inner => format!(" with {}", count(inner, "inner chunk")),
            };
            let [chunks, size] = [count(checked.chunks, "chunk"), bytes(checked.bytes.into())];
            text.push_str(&format!("{chunks}{inner} read, {size}\n"));
        }
        text
    }

    fn to_json(&self) -> Value {
        let node = |node: &Node| {
            json::object([
                ("path", (&node.path).into()),
                ("node_type", node.kind.into()),
                ("findings", node.findings.iter().map(Finding::to_json).collect()),
            ])
        };
        let other = |path: &String| json::object([("path", path.into()), ("message", NO_NODE.into())]);
        let errors = self.count(Weight::Error);
        let mut document = json::document([
            ("valid", (errors == 0).into()),
            ("errors", errors.into()),
            ("warnings", self.count(Weight::Warning).into()),
            ("nodes", self.nodes.iter().map(node).collect()),
            ("not_nodes", self.others.iter().map(other).collect()),
            ("conventions", self.conventions.iter().copied().collect()),
        ]);
        if let Some(checked) = &self.checked {
            document.set("checked_chunks", checked.chunks);
            document.set("checked_inner_chunks", checked.inner_chunks);
            document.set("checked_bytes", checked.bytes);
            document.set("missing_chunks", u64::try_from(checked.missing).unwrap_or(u64::MAX));
        }
        document.into()
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

/// Returns the odd paths in the consolidated metadata of a group, if any, and its differences from the documents.
/// A store that cannot list is not compared.
fn consolidated(target: &Target, path: &str, format: Format) -> Vec<Finding> {
    let options = GroupOptions::new().format(format);
    let group = match Group::open_with(target.storage.clone(), path, &registry(), &options) {
        Ok(group) => group,
        Err(e) => return vec![Finding::of_found(&e, path)],
    };
    let mut found: Vec<Finding> = odd_paths(&group).cloned().map(Finding::from).collect();
    match torn::find(&group) {
        Ok(None) => {}
        Ok(Some(append)) => {
            found.push(Finding::of("interrupted-append", String::new(), torn::shown(&append)))
        }
        Err(e) => found.push(Finding::of("interrupted-append", String::new(), e.message().to_owned())),
    }
    if !target.lists() {
        return found;
    }
    let pointer = if format == Format::V3 { "/consolidated_metadata" } else { "" };
    match group.check_consolidated() {
        Ok(differences) => {
            let differences = differences.iter().flatten();
            found.extend(differences.map(|difference| stale(pointer.to_owned(), differs(difference))));
        }
        Err(e) => found.push(Finding::of_found(&e, path)),
    }
    found
}

/// Returns the finding that consolidated metadata is stale.
fn stale(pointer: String, message: impl Into<String>) -> Finding {
    Finding { weight: Weight::Warning, ..Finding::of("stale", pointer, message.into()) }
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
        _ => format!("{node} differs in the consolidated metadata"),
    }
}

/// The text of the report, node by node.
#[derive(Debug, Default)]
struct Page {
    /// Each explanation is printed once.
    explained: Vec<&'static str>,
}

impl Page {
    /// Returns the lines of a node, none if it has no findings.
    fn of(&mut self, node: &Node) -> String {
        if node.findings.is_empty() {
            return String::new();
        }
        let head = format!("{} ({})", line(&node.path), node.kind);
        let mut text = format!("{}\n", on_stdout(Look::Heading, &head));
        for finding in &node.findings {
            let name = on_stdout(finding.weight.look(), finding.weight.name());
            let first = format!("{}{}: {}", finding.code, finding.within(), finding.message);
            text.push_str(&format!("  {name} {}\n", line(&first)));
            if !self.explained.contains(&finding.explanation) {
                self.explained.push(finding.explanation);
                text.push_str(&wrapped(finding.title, finding.explanation));
            }
        }
        text
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
