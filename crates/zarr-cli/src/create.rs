//! `zarr create`: a new array or group.

use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use zarr_array::blocking::Array;
use zarr_array::meta::json::{Object, Value};
use zarr_array::meta::path::check_new_path;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::{ArrayMeta, Format, GroupMeta, Ignore, MetaError};
use zarr_array::traits::{Context, Prefix};
use zarr_array::{CreateOptions, DataType, Existing, Limits, Storage, block_on, node};
use zarr_hierarchy::GroupOptions;
use zarr_hierarchy::blocking::Group;
use zarr_store_fs::FsStore;

use crate::attrs::{given, object_of};
use crate::copy::{Codecs, Layout, Lengths, changed, written};
use crate::exit::{Exit, Failure, Outcome};
use crate::extension::spec;
use crate::table::product;
use crate::target::{hierarchy, is_node, registry};

/// Create an array or a group.
///
/// Groups above it that are not there are created as well. The metadata is in the form that every implementation reads.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The directory of the node: a new store, or a node in one that is there.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Create a group.
    #[arg(long, conflicts_with_all = ["shape", "dtype", "chunks", "shards", "codecs", "fill", "dimension_names"])]
    group: bool,
    /// The length of each dimension; "" is that of a scalar.
    #[arg(long, value_name = "A,B,…", required_unless_present = "group")]
    shape: Option<Shape>,
    /// The data type: a name of format 3 like `float32`, a type string of NumPy like `<f4`, or JSON.
    #[arg(long, value_name = "TYPE", required_unless_present = "group")]
    dtype: Option<String>,
    /// The shape of chunks; by default the array is halved until a chunk has 4 MiB or less.
    #[arg(long, value_name = "A,B,…")]
    chunks: Option<Lengths>,
    /// The shape of shards: objects that chunks are packed into, a multiple of theirs.
    #[arg(long, value_name = "A,B,…", requires = "chunks")]
    shards: Option<Lengths>,
    /// The codecs of chunks, as in `zarr copy`; by default `zstd`.
    #[arg(long, value_name = "LIST|JSON", default_value = "zstd")]
    codecs: String,
    /// What stands wherever nothing is stored, as JSON or a string; by default 0, or what is like it.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill: Option<String>,
    /// A name for each dimension; one may be empty.
    #[arg(long, value_name = "A,B,…")]
    dimension_names: Option<String>,
    /// The attributes: a JSON object; `@FILE` reads it from a file, `-` from standard input.
    #[arg(long, value_name = "JSON")]
    attrs: Option<String>,
    /// The format; by default that of the group above it, or 3.
    #[arg(long, value_name = "3|2", value_parser = ["3", "2"])]
    zarr_format: Option<String>,
    /// What to do if there is a node. Nothing but a Zarr node is ever replaced.
    #[arg(long, value_enum, default_value_t = IfExists::Fail)]
    if_exists: IfExists,
}

const EXAMPLES: &str = "\
Examples:
  zarr create --group weather.zarr
  zarr create weather.zarr/t2m --shape 8760,721,1440 --dtype float32 --chunks 24,721,1440 --fill NaN
  zarr create weather.zarr/daily/t2m --shape 365,721,1440 --dtype '<f4' --dimension-names time,lat,lon
  zarr create big.zarr --shape 100000,100000 --dtype uint8 --chunks 500,500 --shards 5000,5000 --codecs blosc:zstd:5
  zarr create old.zarr --zarr-format 2 --shape 1000 --dtype '>i2' --attrs '{\"units\": \"K\"}'";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IfExists {
    /// Stop.
    Fail,
    /// Erase it first, with all that is in it.
    Replace,
}

/// Lengths of dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape(Vec<u64>);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let length = |part: &str| part.trim().parse().map_err(|_| format!("{part:?} is no length"));
        let parts = text.split(',').filter(|_| !text.trim().is_empty());
        parts.map(length).collect::<Result<_, _>>().map(Self)
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    let place = Place::find(&args.store)?;
    let existing = match args.if_exists {
        IfExists::Replace if is_node(&args.store) => Existing::Replace,
        _ => Existing::Fail,
    };
    let format = match args.zarr_format.as_deref() {
        Some("2") => Format::V2,
        Some(_) => Format::V3,
        None => place.format()?.unwrap_or(Format::V3),
    };
    let attributes = args.attrs.as_deref().map(object_of).transpose()?.unwrap_or_default();
    let fail = |e: Failure| e.within(format_args!("store {:?}", place.store));
    if args.group {
        let meta = GroupMeta::new(format)?.with_attributes(attributes)?;
        let options = GroupOptions::new();
        Group::create_with(place.storage()?, &place.path, meta, existing, &registry(), &options)
            .map_err(|e| fail(e.into()))?;
        return Ok(Exit::Ok);
    }
    let meta = array(args, format, attributes).map_err(|e| match e.exit() {
        // Of metadata that nobody has written yet the command line is to blame.
        Exit::Invalid => Failure::usage(e.message()),
        _ => e,
    })?;
    let options = CreateOptions::new().existing(existing);
    Array::create_with(place.storage()?, &place.path, meta, &registry(), &options)
        .map_err(|e| fail(e.into()))?;
    Ok(Exit::Ok)
}

/// Where a node is to be created.
struct Place {
    store: PathBuf,
    /// The path in the store.
    path: String,
}

impl Place {
    /// The store is the hierarchy around the nearest directory that is there, if that is a node; otherwise it begins here.
    fn find(given: &Path) -> Result<Self, Failure> {
        if given.to_str().is_some_and(|text| text.contains("://")) {
            return Err(Failure::unsupported(format!("{given:?}: stores are local directories so far")));
        }
        let here = Path::new("");
        let is_there = |path: &&Path| **path == *here || path.exists();
        let above = given.ancestors().find(is_there).unwrap_or(here);
        let rest = given.strip_prefix(above).unwrap_or(here);
        let mut names = Vec::new();
        for component in rest.components() {
            match component {
                Component::Normal(name) => {
                    names.push(name.to_str().ok_or_else(|| not_a_name(given))?.to_owned())
                }
                _ => return Err(not_a_name(given)),
            }
        }
        let above = if above == here { Path::new(".") } else { above };
        let (store, mut path) = hierarchy(above);
        let is_store = names.is_empty() || is_node(above);
        if !is_store && names.len() > 1 {
            let parent = given.parent().unwrap_or(given);
            let message = format!("there is no directory {parent:?}; `zarr create --group` makes a group");
            return Err(Failure::new(Exit::NotFound, message));
        }
        if !is_store {
            return Ok(Self { store: given.to_owned(), path: "/".to_owned() });
        }
        path.append(&mut names);
        let path = check_new_path(&format!("/{}", path.join("/")));
        Ok(Self { store, path: path.map_err(|e: MetaError| Failure::usage(e.to_string()))? })
    }

    /// The format of the nearest group above.
    fn format(&self) -> Result<Option<Format>, Failure> {
        let Ok(store) = FsStore::open(&self.store) else { return Ok(None) };
        let (storage, prefix) = (Storage::from(store), Prefix::of_node(&self.path)?);
        for group in node::above(&prefix).iter().rev() {
            let documents = block_on(node::documents(&storage, group, None))?;
            if documents.make_node() {
                let three = documents.get(zarr_array::meta::DocumentName::Node).is_some();
                return Ok(Some(if three { Format::V3 } else { Format::V2 }));
            }
        }
        Ok(None)
    }

    fn storage(&self) -> Result<Storage, Failure> {
        Ok(FsStore::create(&self.store)?.into())
    }
}

fn not_a_name(given: &Path) -> Failure {
    Failure::usage(format!("{given:?} is no path that a node can have"))
}

/// The metadata of the array.
fn array(args: &Args, format: Format, attributes: Object) -> Result<ArrayMeta, Failure> {
    let shape = args.shape.as_ref().map(|shape| shape.0.clone()).unwrap_or_default();
    let (data_type, is_big) =
        data_type(args.dtype.as_deref().unwrap_or_default()).map_err(|e| e.within("--dtype"))?;
    let codecs: Codecs = args.codecs.parse().map_err(|e| Failure::usage(format!("--codecs: {e}")))?;
    let (mut list, old) = match codecs {
        Codecs::List(list) => (list, None),
        Codecs::Old(_) if format == Format::V3 => {
            return Err(Failure::usage(
                "--codecs: these are codecs of format 2, and the array is of format 3",
            ));
        }
        Codecs::Old(old) => (Vec::new(), Some(old)),
    };
    if is_big && !list.iter().any(|codec| codec.name() == "bytes") {
        let at = list.iter().take_while(|codec| codec.name() == "transpose").count();
        list.insert(at, Extension::new("bytes").with("endian", "big"));
    }
    let chunks = args.chunks.as_ref().map(|chunks| chunks.0.clone());
    let mut builder = ArrayMeta::builder(shape.clone(), data_type.clone())
        .chunks(chunks.unwrap_or_else(|| automatic(&shape, data_type.size().unwrap_or(16))))
        .codecs(written(&list, &data_type, shape.len(), &registry()))
        .attributes(attributes);
    if let Some(Lengths(shards)) = &args.shards {
        builder = builder.shards(shards.clone());
    }
    if let Some(fill) = &args.fill {
        builder = builder.fill(given(fill));
    }
    if let Some(names) = &args.dimension_names {
        builder = builder.dimension_names(names.split(',').map(|name| Some(name).filter(|n| !n.is_empty())));
    }
    if format == Format::V3 {
        return Ok(builder.build()?);
    }
    let keys = Extension::new("v2").with("separator", ".");
    let meta = builder.chunk_key_encoding(keys).build()?.to_v2()?;
    changed(&meta, &Layout { chunks: None, shards: None, codecs: Vec::new(), old }, None)
}

/// The data type that the user means, and whether its bytes are big-endian.
fn data_type(text: &str) -> Result<(DataType, bool), Failure> {
    let limits = Limits::default();
    let value = if text.starts_with(['{', '[']) { Value::parse(text)? } else { text.into() };
    if text.starts_with(['<', '>', '|', '[']) {
        let mut members = Object::new();
        let none = || Value::from(None::<bool>);
        for (name, value) in [
            ("zarr_format", 2.into()),
            ("shape", Value::from(Vec::<u64>::new())),
            ("chunks", Value::from(Vec::<u64>::new())),
            ("dtype", value),
            ("compressor", none()),
            ("filters", none()),
            ("fill_value", none()),
            ("order", "C".into()),
        ] {
            members.set(name, value);
        }
        let meta = ArrayMeta::parse_v2(members.to_value().as_raw().as_bytes(), None, &limits, &mut Ignore)?;
        let resolved = meta.resolve(&registry(), &limits, &mut Ignore)?;
        return Ok((resolved.data_type, text.starts_with('>')));
    }
    let registry = registry();
    let context = Context { registry: &registry, limits: &limits, depth: 0 };
    let data_type = registry.data_type(&spec(&Extension::parse(&value, &mut Ignore)?)?, &context);
    match data_type {
        Ok((data_type, _)) => Ok((data_type, false)),
        Err(e) => Err(Failure::usage(e.to_string())),
    }
}

/// Chunks of an array: the longest dimension is halved until they are small enough.
fn automatic(shape: &[u64], element: usize) -> Vec<u64> {
    const BYTES: u128 = 4 << 20;
    let mut chunks: Vec<u64> = shape.iter().map(|length| (*length).max(1)).collect();
    let most = BYTES / (element as u128).max(1);
    while product(&chunks).is_none_or(|elements| elements > most) {
        match chunks.iter_mut().max() {
            Some(longest) if *longest > 1 => *longest = longest.div_ceil(2),
            _ => break,
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_small_and_never_empty() {
        assert_eq!(automatic(&[1000, 1000], 4), [1000, 1000]);
        assert_eq!(automatic(&[8760, 721, 1440], 4), [69, 91, 90]);
        assert_eq!(automatic(&[0, 5], 8), [1, 5]);
        assert_eq!(automatic(&[], 8), [] as [u64; 0]);
        assert!(product(&automatic(&[u64::MAX; 4], 8)).unwrap() <= (4 << 20) / 8);
        assert_eq!(automatic(&[3], 1 << 30), [1]);
    }

    #[test]
    fn data_types_of_both_formats_are_understood() {
        for (text, name, is_big) in [
            ("float32", "float32", false),
            ("<f4", "float32", false),
            (">i2", "int16", true),
            ("|u1", "uint8", false),
            ("|b1", "bool", false),
            ("<M8[s]", "numpy.datetime64", false),
            ("string", "string", false),
            ("r16", "r16", false),
            (
                r#"{"name": "numpy.timedelta64", "configuration": {"unit": "s", "scale_factor": 1}}"#,
                "numpy.timedelta64",
                false,
            ),
        ] {
            let (data_type, big) = data_type(text).unwrap_or_else(|e| panic!("{text}: {}", e.message()));
            assert_eq!((&*data_type.name(), big), (name, is_big), "{text}");
        }
        for bad in ["", "float", "<q9", "{", "|O", "[1]"] {
            assert!(data_type(bad).is_err(), "{bad}");
        }
    }
}
