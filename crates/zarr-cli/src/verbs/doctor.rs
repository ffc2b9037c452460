//! `zarr doctor`: advice about the layout of a hierarchy, with figures.

mod advice;
mod estimate;

use std::path::PathBuf;

use zarr_array::meta::json::Object;
use zarr_array::meta::multiscale::MultiscaleDocument;
use zarr_hierarchy::blocking::Group;
use zarr_xarray::XarrayErrorKind;
use zarr_xarray::blocking::Dataset;

use crate::args::several::More;
use crate::args::stores::Stores;
use crate::args::target::{Children, Target};
use crate::exit::{Exit, Failure, Outcome, line, say};
use crate::listed::{Listed, list};
use crate::out::json;
use crate::out::stdout::print;
use crate::out::table::count;
use crate::torn;
use crate::usage::{Usage, measure};
use crate::visit::Source;
use advice::Advice;

/// Show what makes a hierarchy slow or hard to read, and what would mend it.
///
/// Looks at the metadata documents and lists the store once. Advice is about cost, and not about errors: `zarr validate`
/// finds those. Each piece has a code, the figures behind it, and a command, if one helps. A command that changes chunks or
/// codecs is proposed only if it makes nothing larger: at most 32 MiB of the array are copied into memory with the same
/// options, and the figures are those of the copy.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    #[command(flatten)]
    more: More,
    /// Leave out advice with this code, such as `no-shards`. May be repeated.
    #[arg(long, value_name = "CODE")]
    ignore: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr doctor weather.zarr
  zarr doctor --ignore no-consolidated-metadata s3://bucket/image.zarr
  zarr doctor --json weather.zarr | jq -r '.advice[].command'

Codes:
  small-objects             many stored objects that are smaller than what a request costs
  large-index               shards whose index takes much of them, because inner chunks are very small
  large-chunks              chunks that take much memory to read one element
  split-coordinate          a coordinate in several objects
  uncompressed              large arrays without a compressor
  rare-codecs               codecs that some readers lack
  no-dimension-names        arrays of format 3 without names, which xarray does not open
  no-dataset                arrays with named dimensions that xarray does not open
  no-consolidated-metadata  a hierarchy whose readers open each node
  stale-consolidated-metadata
  interrupted-append        an append whose writer died while it stored the new lengths
  stray-objects             objects that no reader sees";

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let one = |store, more| one(&Args { store, more, ..args.clone() }, stores);
    args.more.each("doctor", &args.store, args.json, one)
}

fn one(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::find(&args.store, stores)?;
    let nodes: Vec<Listed> = list(&target, Source::DOCUMENTS, usize::MAX)?.collect();
    let usage = if target.lists() {
        measure(&target, &nodes.iter().collect::<Vec<_>>())?
    } else {
        say("note: the sizes of objects are not known, so the advice is about documents only");
        vec![Usage::default(); nodes.len()]
    };
    let (mut all, is_anndata) = of_group(&target, nodes.len())?;
    let is_given = |advice: &Advice| args.ignore.iter().any(|code| code.eq_ignore_ascii_case(advice.code));
    // AnnData is not for xarray.
    let is_ignored = |advice: &Advice| is_given(advice) || is_anndata && advice.code == "no-dimension-names";
    all.retain(|advice| !is_ignored(advice));
    let mut left = estimate::MOST;
    for (node, usage) in nodes.iter().zip(&usage) {
        let found = advice::of(node, usage).into_iter().filter(|advice| !is_ignored(advice));
        all.extend(
            found.filter_map(|advice| estimate::with_figures(advice, &target, node, usage, &mut left)),
        );
    }
    let all: Vec<_> = all
        .into_iter()
        .map(|advice| {
            let command = advice.command(&target, &args.store);
            (advice, command)
        })
        .collect();
    let text = if args.json {
        args.more.json(&to_json(&all, nodes.len()).into())
    } else {
        to_text(&all, nodes.len())
    };
    print(&text)?;
    Ok(Exit::Ok)
}

/// Returns advice about the group: whether it opens as a dataset, and its consolidated metadata. Also returns whether AnnData
/// has written it.
fn of_group(target: &Target, nodes: usize) -> Result<(Vec<Advice>, bool), Failure> {
    let (group, origin) = match target.find_group(Source::default()) {
        Ok(Some(found)) => found,
        // An array has no nodes below it.
        Ok(None) | Err(_) if nodes == 1 => return Ok((Vec::new(), false)),
        Ok(None) => return Err(target.unlisted(Source::default())),
        Err(e) => return Err(e),
    };
    let mut all: Vec<Advice> = unopened(target, &group).into_iter().collect();
    // What a store without a listing has in its documents is all that readers see.
    if origin == Children::Listed || target.lists() {
        all.extend(consolidated(target, &group, nodes)?);
    }
    Ok((all, group.attributes().contains("encoding-type")))
}

/// Returns advice about a group of named dimensions that is not a dataset.
fn unopened(target: &Target, group: &Group) -> Option<Advice> {
    // The levels of an image have the names of dimensions, but not the lengths.
    let is_image = !matches!(MultiscaleDocument::read(&group.attributes(), group.format()), Ok(None));
    let reason = if is_image { None } else { Dataset::open(group.clone()).err() }?;
    (reason.kind() == XarrayErrorKind::Invalid).then(|| Advice {
        code: "no-dataset",
        path: target.path.clone(),
        message: format!("xarray does not open the group: {reason:#}; the command names all errors"),
        verb: Some("validate STORE".to_owned()),
    })
}

/// Returns advice about the consolidated metadata of the root.
fn consolidated(target: &Target, group: &Group, nodes: usize) -> Result<Vec<Advice>, Failure> {
    if let Some(append) = torn::find(group).map_err(|e| target.fail(e))? {
        return Ok(vec![Advice {
            code: "interrupted-append",
            path: target.path.clone(),
            message: format!(
                "an append was interrupted while lengths were stored, {}: the next append finishes it, and the command \
                 undoes it",
                torn::shown(&append)
            ),
            verb: Some("rm --unfinished STORE".to_owned()),
        }]);
    }
    let found = group.check_consolidated().map_err(|e| target.fail(e))?;
    let path = target.path.clone();
    let verb = Some("consolidate STORE".to_owned());
    Ok(match found {
        None if nodes > advice::FEW_NODES => vec![Advice {
            code: "no-consolidated-metadata",
            path,
            message: format!(
                "there are {nodes} nodes and no consolidated metadata: to open all of them takes {nodes} requests or more, \
                 instead of 1"
            ),
            verb,
        }],
        Some(differences) if !differences.is_empty() => vec![Advice {
            code: "stale-consolidated-metadata",
            path,
            message: format!(
                "the consolidated metadata differs from the documents of {}: readers that trust it see old nodes",
                count(differences.len(), "node")
            ),
            verb,
        }],
        _ => Vec::new(),
    })
}

/// Advice with the command that mends it.
type Given = (Advice, Option<String>);

fn to_text(all: &[Given], nodes: usize) -> String {
    let mut text = String::new();
    for (Advice { code, path, message, .. }, command) in all {
        text.push_str(&format!("{}  {code}\n  {}\n", line(path), line(message)));
        if let Some(command) = command {
            text.push_str(&format!("  > {}\n", line(command)));
        }
    }
    let end = if all.is_empty() {
        "no advice".to_owned()
    } else {
        format!("{} of advice", count(all.len(), "piece"))
    };
    text + &format!("{}, {end}\n", count(nodes, "node"))
}

fn to_json(all: &[Given], nodes: usize) -> Object {
    let entry = |(advice, command): &Given| {
        json::object([
            ("code", advice.code.into()),
            ("path", (&advice.path).into()),
            ("message", (&advice.message).into()),
            ("command", command.as_deref().into()),
        ])
    };
    json::document([("nodes", nodes.into()), ("advice", all.iter().map(entry).collect())])
}
