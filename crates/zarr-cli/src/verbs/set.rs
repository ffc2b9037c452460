//! `zarr set`: changes attributes, the names of dimensions and the fill value of a node.

use std::path::PathBuf;

use zarr_array::blocking::Array;
use zarr_array::meta::json::Value;
use zarr_array::meta::{ArrayMeta, MetaResult, NodeMeta, Strict};
use zarr_array::node::{self, Writing};
use zarr_array::{Limits, block_on};
use zarr_xarray::dimensions;

use crate::args::dimension::no_dimension;
use crate::args::scalar;
use crate::args::stores::Stores;
use crate::args::target::{Target, registry};
use crate::args::value::given;
use crate::exit::{Exit, Failure, Outcome, line};
use crate::out::json;
use crate::out::stdout::print;
use crate::out::table::product;
use crate::stored::Stored;
use crate::verbs::attrs::{Change, check_member};

/// Set attributes, names of dimensions, and the fill value.
///
/// All of it is stored by one write, or nothing. Other members of the metadata document keep their bytes, and a change by
/// another writer is never overwritten. Consolidated metadata in groups above is updated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("changes").required(true).multiple(true).args(["attributes", "dimension_names", "fill"])))]
pub(crate) struct Args {
    /// The array or the group.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Attributes. A name that begins with a slash is a JSON pointer, unless an attribute has it. A value that is not JSON is
    /// taken as a string.
    #[arg(value_name = "NAME=VALUE", value_parser = attribute)]
    attributes: Vec<(String, Value)>,
    /// A name for each dimension, which may be empty; or new names for some of them.
    #[arg(long, value_name = "A,B,…|OLD=NEW,…")]
    dimension_names: Option<String>,
    /// The fill value, as `zarr create --fill` takes it. Elements of chunks that are not stored have this value then.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill: Option<String>,
    /// Set the fill value even if chunks are not stored, whose elements change with it.
    #[arg(short = 'y', short_alias = 'f', long)]
    force: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  zarr set weather.zarr/t2m units=K valid_range='[200, 330]'
  zarr set weather.zarr/t2m --dimension-names time,lat,lon
  zarr set weather.zarr/t2m --dimension-names lat=latitude
  zarr set weather.zarr/t2m --fill nan
  zarr set weather.zarr title='ERA5' /history/0/date=2026-11-20

`zarr attrs` prints and removes attributes.";

fn attribute(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), given(value)))
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let target = Target::to_change(&args.store, stores)?;
    target.check_writable()?;
    let in_node = |e: Failure| target.fail(e.within(format_args!("node {:?}", target.path)));
    let node = target.node()?.0;
    let mut changes = Vec::new();
    for (name, value) in &args.attributes {
        check_member(&node, name).map_err(in_node)?;
        changes.push(Change { place: name.clone(), is_name: false, value: Some(value.clone()) });
    }
    let names =
        args.dimension_names.as_deref().map(|text| names(&node, text)).transpose().map_err(in_node)?;
    let fill = args.fill.as_deref().map(|text| fill(args, &target, text)).transpose().map_err(in_node)?;
    let edit = |node: &mut NodeMeta| -> MetaResult<Option<String>> {
        if let Some(absent) = node.edit_attributes(|attributes| Change::apply_all(&changes, attributes))? {
            return Ok(Some(absent));
        }
        if let NodeMeta::Array(array) = node {
            if let Some(names) = &names {
                array.set_dimension_names(names)?;
            }
            if let Some(fill) = &fill {
                set_fill(array, fill)?;
            }
        }
        Ok(None)
    };
    let (storage, prefix, how) = (&target.storage, target.prefix()?, Writing::default());
    let edited = block_on(node::edit(storage, &prefix, node.format(), &how, |node| Ok(edit(node)?)));
    if let Some(name) = edited.map_err(|e| in_node(e.into()))?.1 {
        let message = format!("there is no attribute {name:?}; nothing was changed");
        return Err(in_node(Failure::new(Exit::NotFound, message)));
    }
    let shown = |name: &Option<String>| name.clone().unwrap_or_default();
    let names = names.map(|names| names.iter().map(shown).collect::<Vec<_>>());
    print(&match args.json {
        true => {
            let attributes = args.attributes.iter().map(|(name, value)| (name.as_str(), value.clone()));
            let mut members =
                vec![("path", (&target.path).into()), ("attributes", json::object(attributes).into())];
            members.extend(names.map(|names| ("dimension_names", names.iter().collect())));
            members.extend(fill.map(|fill| ("fill_value", fill)));
            json::pretty(&json::document(members).into())
        }
        false => {
            let attributes =
                args.attributes.iter().map(|(name, value)| format!("{name} = {}", value.to_compact()));
            let names = names.map(|names| format!("dimensions {}", names.join(", ")));
            let fill = fill.map(|fill| format!("fill value {}", fill.to_compact()));
            let parts: Vec<String> = attributes.chain(names).chain(fill).collect();
            format!("set {}\n", line(&parts.join("; ")))
        }
    })?;
    Ok(Exit::Ok)
}

fn array(node: &NodeMeta) -> Result<&ArrayMeta, Failure> {
    match node {
        NodeMeta::Array(array) => Ok(array),
        NodeMeta::Group(_) => {
            Err(Failure::usage("this is a group: dimensions and a fill value are those of an array"))
        }
    }
}

/// Returns the new names of all dimensions.
fn names(node: &NodeMeta, text: &str) -> Result<Vec<Option<String>>, Failure> {
    let array = array(node)?;
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|_| !text.is_empty()).collect();
    let named = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
    if parts.is_empty() || !parts.iter().all(|part| part.contains('=')) {
        let (rank, given) = (array.shape().len(), parts.len());
        if rank != given {
            let message =
                format!("--dimension-names: the array has {rank} dimensions, {given} names are given");
            return Err(Failure::usage(message));
        }
        return Ok(parts.into_iter().map(named).collect());
    }
    let mut names = dimensions(array).map(|dimensions| dimensions.names).unwrap_or_default();
    for (old, new) in parts.iter().filter_map(|part| part.split_once('=')) {
        let at = names.iter().position(|name| name == old.trim());
        let at =
            at.ok_or_else(|| Failure::usage(no_dimension(old.trim(), &names)).within("--dimension-names"))?;
        new.trim().clone_into(&mut names[at]);
    }
    Ok(names.iter().map(|name| named(name)).collect())
}

/// Returns the new fill value. Fails if chunks are not stored, unless they may change.
fn fill(args: &Args, target: &Target, text: &str) -> Result<Value, Failure> {
    array(&target.node()?.0)?;
    let array = target.array()?;
    let value = scalar::value(text, array.data_type()).map_err(|e| e.within("--fill"))?;
    let mut new = array.metadata().clone();
    set_fill(&mut new, &value).map_err(|e| {
        Failure::usage(format!("{text:?} is no fill value of data type {}: {e:#}", array.data_type()))
    })?;
    if !args.force {
        check_stored(&array)?;
    }
    Ok(value)
}

fn set_fill(array: &mut ArrayMeta, value: &Value) -> MetaResult<()> {
    let limits = Limits::default();
    array.set_fill_value(value, &limits)?;
    array.resolve(&registry(), &limits, &mut Strict).map(drop)
}

/// Checks that all chunks are stored.
fn check_stored(array: &Array) -> Result<(), Failure> {
    let all = product(&array.chunk_counts()).unwrap_or(u128::MAX);
    if all == 0 {
        return Ok(());
    }
    let changed = match array.storage().capabilities().list {
        true => {
            let mut stored = 0_u128;
            for object in Stored::of(array)? {
                stored += u128::from(object?.chunk.is_ok());
            }
            if stored >= all {
                return Ok(());
            }
            format!("{} of {all} chunks are not stored, so their elements would change", all - stored)
        }
        false => {
            "elements of chunks that are not stored would change, and the store cannot list them".to_owned()
        }
    };
    Err(Failure::usage(format!("--fill: {changed}; --force sets it")))
}
