//! `zarr consolidate`: the metadata of a hierarchy in one document.

use std::path::PathBuf;

use clap::ValueEnum;
use zarr_hierarchy::{Difference, Report, UnresolvedArrays};

use crate::exit::{Exit, Failure, Outcome, line, say};
use crate::json;
use crate::stdout::print;
use crate::stores::Stores;
use crate::table::count;
use crate::target::Target;
use crate::validate::differs;
use crate::walk::{Source, reason};

/// Write consolidated metadata of a group, check it or remove it.
///
/// It is a copy of all documents below the group: in format 3 inside of the document of the group, in format 2 beside it.
/// Readers open a hierarchy with one request by it, and trust it. The verbs of this command that change nodes keep it in
/// step.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The group.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Compare it with the documents, and exit with 1 if it differs, or if there is none.
    #[arg(long, conflicts_with_all = ["remove", "broken"])]
    check: bool,
    /// Take it away.
    #[arg(long, conflicts_with = "broken")]
    remove: bool,
    /// What becomes of nodes that are broken or unknown here; zarr-python opens no group in whose consolidated metadata is
    /// one that it does not know.
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
    /// Name the first one, and write nothing.
    Refuse,
    /// They are left out, with a note: who trusts consolidated metadata does not see them.
    LeaveOut,
    /// Those with unknown codecs or data types are included, invalid ones left out.
    Include,
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
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
        &json::object([
            ("path", (&target.path).into()),
            ("nodes", report.nodes.into()),
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
                    Difference::Changed(_) => "changed",
                };
                json::object([("path", difference.path().into()), ("difference", what.into())])
            };
            json::pretty(
                &json::object([
                    ("path", (&target.path).into()),
                    ("consolidated", checked.is_some().into()),
                    ("differences", checked.iter().flatten().map(difference).collect()),
                ])
                .into(),
            )
        }
        None => "there is no consolidated metadata\n".to_owned(),
        Some(differences) if differences.is_empty() => {
            "the consolidated metadata says what the documents say\n".to_owned()
        }
        Some(differences) => {
            differences.iter().map(|difference| line(&differs(difference)) + "\n").collect::<String>()
        }
    };
    print(&text)?;
    Ok(if same { Exit::Ok } else { Exit::Invalid })
}
