//! `zarr consolidate`: collects the metadata of a hierarchy in one document.

use std::path::PathBuf;

use clap::ValueEnum;
use zarr_hierarchy::{Difference, Report, UnresolvedArrays};

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome, line, say};
use crate::out::json;
use crate::out::stdout::print;
use crate::out::table::count;
use crate::verbs::validate::differs;
use crate::visit::Source;
use crate::walk::reason;

/// Write, check or remove the consolidated metadata of a group.
///
/// Consolidated metadata is a copy of all metadata documents below the group: in format 3 a member of the group's
/// document, in format 2 a document beside it. Readers trust it and open the hierarchy with one request. The verbs that
/// change nodes update it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The group.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Compare it with the documents; exit with 1 if it differs or does not exist.
    #[arg(long, conflicts_with_all = ["remove", "broken"])]
    check: bool,
    /// Remove it.
    #[arg(long, conflicts_with = "broken")]
    remove: bool,
    /// The action for nodes that are broken or unknown to this command. zarr-python opens no group whose consolidated
    /// metadata has a node that it does not know.
    #[arg(long, value_enum, default_value_t = Broken::Refuse)]
    broken: Broken,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr consolidate weather.zarr
  zarr consolidate --check weather.zarr || zarr consolidate weather.zarr
  zarr consolidate --remove weather.zarr";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Broken {
    /// Report the first one, and write nothing.
    Refuse,
    /// Leave them out, with a note. Readers that trust consolidated metadata do not see them.
    LeaveOut,
    /// Include nodes with unknown codecs or data types; leave out invalid ones.
    Include,
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = match args.check {
        true => Target::find(&args.store, stores)?,
        false => Target::to_change(&args.store, stores)?,
    };
    let mut group = target.group(Source::DOCUMENTS)?;
    let fail = |e| target.fail(Failure::from(e));
    if args.check {
        return check(&target, args.json, group.check_consolidated().map_err(fail)?);
    }
    target.check_writable()?;
    if args.remove {
        group.remove_consolidated().map_err(fail)?;
        return Ok(Exit::Ok);
    }
    let unresolved = match args.broken {
        Broken::Refuse => UnresolvedArrays::Refuse,
        Broken::LeaveOut => UnresolvedArrays::LeaveOut,
        Broken::Include => UnresolvedArrays::Include,
    };
    let report = group.consolidate_with(unresolved).map_err(fail)?;
    for (path, e) in report.left_out.iter().filter(|_| !args.json) {
        say(&format!("note: {path:?} is left out: {}", reason(e, path)));
    }
    print(&if args.json {
        written(&target, &report)
    } else {
        format!("consolidated {}\n", count(report.nodes, "node"))
    })?;
    Ok(Exit::Ok)
}

fn written(target: &Target, report: &Report) -> String {
    let left_out =
        |(path, e): &(String, _)| json::object([("path", path.into()), ("because", reason(e, path).into())]);
    json::pretty(
        &json::document([
            ("path", (&target.path).into()),
            ("consolidated_nodes", report.nodes.into()),
            ("left_out", report.left_out.iter().map(left_out).collect()),
        ])
        .into(),
    )
}

fn check(target: &Target, as_json: bool, checked: Option<Vec<Difference>>) -> Outcome {
    let same = checked.as_ref().is_some_and(Vec::is_empty);
    let text = match checked {
        checked if as_json => {
            let difference = |difference: &Difference| {
                let what = match difference {
                    Difference::Missing(_) => "missing",
                    Difference::Gone(_) => "gone",
                    _ => "changed",
                };
                json::object([("path", difference.path().into()), ("difference", what.into())])
            };
            json::pretty(
                &json::document([
                    ("path", (&target.path).into()),
                    ("consolidated", checked.is_some().into()),
                    ("differences", checked.iter().flatten().map(difference).collect()),
                ])
                .into(),
            )
        }
        None => "there is no consolidated metadata\n".to_owned(),
        Some(differences) if differences.is_empty() => {
            "the consolidated metadata and the documents are the same\n".to_owned()
        }
        Some(differences) => {
            differences.iter().map(|difference| line(&differs(difference)) + "\n").collect::<String>()
        }
    };
    print(&text)?;
    Ok(if same { Exit::Ok } else { Exit::Invalid })
}
