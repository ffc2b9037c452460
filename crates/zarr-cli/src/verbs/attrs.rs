//! `zarr attrs`: prints or changes the attributes of a node.

mod place;

use std::path::PathBuf;

use clap::Subcommand;
use zarr_array::block_on;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::{Object, Value};
use zarr_array::node::{self, Writing};

use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::args::value::{given, object_of};
use crate::exit::{Exit, Failure, Outcome, say};
use crate::out::json;
use crate::out::stdout::print;

/// Print or change the attributes of an array or a group.
///
/// Other members of the metadata document keep their bytes, and a change by another writer is never overwritten.
/// Consolidated metadata in groups above is updated. Works also for a node with an unknown codec or data type.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Args {
    /// Print the attributes of this node, as `get` does.
    #[arg(value_name = "STORE[/PATH]")]
    store: Option<PathBuf>,
    /// The name of an attribute, or a JSON pointer, which begins with a slash.
    name: Option<String>,
    #[command(subcommand)]
    action: Option<Action>,
}

const EXAMPLES: &str = "\
Examples:
  zarr attrs get weather.zarr/t2m
  zarr attrs get weather.zarr/t2m units
  zarr attrs get weather.zarr /history/0/date
  zarr attrs set weather.zarr/t2m units K scale_factor 0.1 valid_range '[200, 330]'
  zarr attrs set weather.zarr /history/0/date 2026-11-20
  zarr attrs merge weather.zarr '{\"title\": \"ERA5\", \"version\": 2}'
  zarr attrs merge weather.zarr @attributes.json
  zarr attrs rm weather.zarr/t2m scale_factor";

#[derive(Debug, Subcommand)]
enum Action {
    /// Print all attributes as JSON, or one of them.
    Get {
        #[arg(value_name = "STORE[/PATH]")]
        store: PathBuf,
        /// The name of an attribute, or a JSON pointer, which begins with a slash.
        name: Option<String>,
    },
    /// Set attributes.
    Set {
        #[arg(value_name = "STORE[/PATH]")]
        store: PathBuf,
        /// Names and values in turn. A name that begins with a slash is a JSON pointer, unless an attribute has it. A
        /// value that is not JSON is taken as a string.
        #[arg(value_name = "NAME VALUE", num_args = 1.., required = true, allow_negative_numbers = true)]
        pairs: Vec<String>,
    },
    /// Set the attributes in a JSON object and keep the others.
    Merge {
        #[arg(value_name = "STORE[/PATH]")]
        store: PathBuf,
        /// A JSON object, `@FILE` to read it from a file, or `-` for standard input.
        #[arg(value_name = "JSON|-|@FILE")]
        object: String,
    },
    /// Remove attributes.
    Rm {
        #[arg(value_name = "STORE[/PATH]")]
        store: PathBuf,
        /// Names, or JSON pointers, which begin with a slash.
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let Some(action) = &args.action else {
        let store = args.store.as_deref().ok_or_else(|| Failure::usage("a store is missing"))?;
        return get(&Target::find(store, stores)?, args.name.as_deref());
    };
    match action {
        Action::Get { store, name } => get(&Target::find(store, stores)?, name.as_deref()),
        Action::Set { store, pairs } => {
            let changes = changes(pairs)?;
            change(&Target::to_change(store, stores)?, &changes)
        }
        Action::Merge { store, object } => {
            let members = object_of(object)?;
            let change_of = |(place, value)| Change { place, is_name: true, value: Some(value) };
            let members = members.members().map(|m| (m.name_lossy().into_owned(), m.value()));
            let changes: Vec<_> = members.map(change_of).collect();
            change(&Target::to_change(store, stores)?, &changes)
        }
        Action::Rm { store, names } => {
            let removed = |name: &String| Change { place: name.clone(), is_name: false, value: None };
            let changes: Vec<_> = names.iter().map(removed).collect();
            change(&Target::to_change(store, stores)?, &changes)
        }
    }
}

/// Returns the changes that names and values in turn mean, or only words of the form `NAME=VALUE`.
fn changes(words: &[String]) -> Result<Vec<Change>, Failure> {
    let equations: Option<Vec<_>> = words.iter().map(|word| word.split_once('=')).collect();
    let change = |name: &str, value: &str| {
        let parsed = given(value);
        if value.starts_with(|c: char| c.is_ascii_digit() || "-[{".contains(c)) && parsed.as_text().is_some()
        {
            say(&format!("note: {name:?} is stored as a text, because {value} is not JSON"));
        }
        Change { place: name.to_owned(), is_name: false, value: Some(parsed) }
    };
    match (words, equations) {
        ([object], _) if object.starts_with('{') => Err(Failure::usage(
            "a name and a value are needed; `zarr attrs merge` sets the members of an object",
        )),
        (_, Some(equations)) => Ok(equations.into_iter().map(|(name, value)| change(name, value)).collect()),
        (words, None) => words
            .chunks(2)
            .map(|pair| match pair {
                [name, value] => Ok(change(name, value)),
                _ => Err(Failure::usage(format!("the attribute {:?} has no value", pair.concat()))),
            })
            .collect(),
    }
}

fn get(target: &Target, name: Option<&str>) -> Outcome {
    let (node, _) = target.node()?;
    let in_node = |e: Failure| target.fail(e.within(format_args!("node {:?}", target.path)));
    if let Some(e) = node.attributes_error() {
        return Err(in_node(e.clone().into()));
    }
    let attributes = node.attributes();
    let value = match name {
        None => Some(attributes.to_value()),
        Some(name) => place::get(&attributes, name),
    };
    match (value, name) {
        (Some(value), _) => print(&json::pretty(&value))?,
        (None, name) => {
            let message = format!("there is no attribute {:?}", name.unwrap_or_default());
            return Err(in_node(Failure::new(Exit::NotFound, message)));
        }
    }
    Ok(Exit::Ok)
}

/// The members of metadata documents that people take for attributes, and the command that changes them.
const MEMBERS: [(&str, &str); 9] = [
    ("dimension_names", "`zarr set --dimension-names` names dimensions"),
    ("fill_value", "`zarr set --fill` sets it"),
    ("shape", "`zarr resize` changes it"),
    ("chunks", "`zarr copy --chunks` makes a copy with other chunks"),
    ("chunk_grid", "`zarr copy --chunks` makes a copy with other chunks"),
    ("codecs", "`zarr copy --codecs` makes a copy with other codecs"),
    ("compressor", "`zarr copy --codecs` makes a copy with other codecs"),
    ("data_type", "it cannot be changed"),
    ("dtype", "it cannot be changed"),
];

/// Fails for a name that no attribute of an array has, but a member of its document.
pub(super) fn check_member(node: &NodeMeta, name: &str) -> Result<(), Failure> {
    let known = MEMBERS.iter().find(|(member, _)| *member == name);
    let Some((_, hint)) =
        known.filter(|_| matches!(node, NodeMeta::Array(_)) && !node.attributes().contains(name))
    else {
        return Ok(());
    };
    let message = format!(
        "{name:?} is a member of the metadata, not an attribute: {hint} (as an attribute: \"/{name}\")"
    );
    Err(Failure::usage(message))
}

/// A change of attributes.
#[derive(Debug)]
pub(super) struct Change {
    /// A name, or a JSON pointer unless `is_name`.
    pub(super) place: String,
    pub(super) is_name: bool,
    /// The new value; `None` removes the old one.
    pub(super) value: Option<Value>,
}

impl Change {
    /// Makes all changes, or none. Returns the place that is not there.
    pub(super) fn apply_all(changes: &[Self], attributes: &mut Object) -> Option<String> {
        let before = attributes.clone();
        let absent = changes.iter().find(|change| change.apply(attributes).is_none())?;
        *attributes = before;
        Some(absent.place.clone())
    }

    /// Changes the attributes. Returns `None` if they have no such place.
    fn apply(&self, attributes: &mut Object) -> Option<()> {
        match &self.value {
            Some(value) if self.is_name => {
                attributes.set(&self.place, value);
                Some(())
            }
            value => place::set(attributes, &self.place, value.as_ref()),
        }
    }
}

/// Makes all changes or none.
fn change(target: &Target, changes: &[Change]) -> Outcome {
    target.check_writable()?;
    let (storage, prefix) = (&target.storage, target.prefix()?);
    let in_node = |e: Failure| target.fail(e.within(format_args!("node {:?}", target.path)));
    let node = target.node()?.0;
    for change in changes.iter().filter(|change| change.value.is_some()) {
        check_member(&node, &change.place).map_err(in_node)?;
    }
    let format = node.format();
    let edit = |attributes: &mut Object| Change::apply_all(changes, attributes);
    let how = Writing::default();
    let edited = node::edit(storage, &prefix, format, &how, |node| Ok(node.edit_attributes(edit)?));
    match block_on(edited).map_err(|e| in_node(e.into()))?.1 {
        None => Ok(Exit::Ok),
        Some(name) => {
            let message = format!("there is no attribute {name:?}; nothing was changed");
            Err(in_node(Failure::new(Exit::NotFound, message)))
        }
    }
}
