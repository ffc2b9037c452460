//! `zarr create`: makes a new array or group.

use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use zarr_array::blocking::Array;
use zarr_array::meta::codecs::written;
use zarr_array::meta::json::Object;
use zarr_array::meta::path::check_new_path;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::{ArrayMeta, Format, GroupMeta, Members2, MetaError};
use zarr_array::traits::Prefix;
use zarr_array::{CreateOptions, ExistingNode, Limits, Storage, block_on, node};
use zarr_hierarchy::GroupOptions;
use zarr_hierarchy::blocking::Group;
use zarr_store::{names_of, split_node};
use zarr_store_fs::FsStore;

use crate::around::{self, hierarchy, is_node};
use crate::attrs::object_of;
use crate::copy::Codecs;
use crate::data_type;
use crate::exit::{Exit, Failure, Outcome, say};
use crate::lengths::{Lengths, cut};
use crate::scalar;
use crate::stores::{Stores, shown};
use crate::table::product;
use crate::target::{format_above, registry};

/// Create an array or a group.
///
/// Missing groups above the node are created as well. The metadata is written in the form that every implementation
/// reads.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The directory of the node: a new store, or a new node in an existing store.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Create a group.
    #[arg(long, conflicts_with_all = ["shape", "dtype", "chunks", "shards", "codecs", "fill", "dimension_names"])]
    group: bool,
    /// The length of each dimension; "" makes a scalar.
    #[arg(long, value_name = "A,B,…", required_unless_present = "group")]
    shape: Option<Shape>,
    /// The data type: a name such as `float32`, `int` or `datetime64[ns]`, a type string of NumPy such as `f4`, `>i2`
    /// or `U10`, or JSON.
    #[arg(long, value_name = "TYPE", required_unless_present = "group")]
    dtype: Option<String>,
    /// The shape of chunks; by default the array is halved until a chunk has at most 4 MiB. For chunks of different
    /// lengths give a list for the dimension: `[[31,28,31],100]`, or `[[31,[30,3]],100]` for 31 and three times 30.
    #[arg(long, value_name = "A,B,…|JSON")]
    chunks: Option<Lengths>,
    /// The shape of shards, objects that hold several chunks; a multiple of the chunk shape. Lists of lengths as in
    /// --chunks, which is needed as well.
    #[arg(long, value_name = "A,B,…|JSON")]
    shards: Option<Lengths>,
    /// The codecs of the chunks, as in `zarr copy`.
    #[arg(long, value_name = "LIST|JSON", default_value = "zstd")]
    codecs: String,
    /// The fill value, for elements that are not stored: a number, also `nan` or `-inf`, a date such as
    /// `2020-01-01T12:00`, text, or JSON; by default 0 or its equivalent.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill: Option<String>,
    /// A name for each dimension; a name may be empty.
    #[arg(long, value_name = "A,B,…")]
    dimension_names: Option<String>,
    /// The attributes: a JSON object, `@FILE` to read it from a file, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    attrs: Option<String>,
    /// The format; by default that of the group above, or 3.
    #[arg(long, value_name = "3|2", value_parser = ["3", "2"])]
    zarr_format: Option<String>,
    /// What to do if the node exists. Only Zarr nodes are ever replaced.
    #[arg(long, value_enum, default_value_t = IfExists::Fail)]
    if_exists: IfExists,
}

const EXAMPLES: &str = "\
Examples:
  zarr create --group weather.zarr
  zarr create weather.zarr/t2m --shape 8760,721,1440 --dtype float32 --chunks 24,721,1440 --fill NaN
  zarr create months.zarr --shape 90,721,1440 --dtype float32 --chunks '[[31,28,31],721,1440]'
  zarr create weather.zarr/daily/t2m --shape 365,721,1440 --dtype '<f4' --dimension-names time,lat,lon
  zarr create big.zarr --shape 100000,100000 --dtype uint8 --chunks 500,500 --shards 5000,5000 --codecs blosc:zstd:5
  zarr create old.zarr --zarr-format 2 --shape 1000 --dtype '>i2' --attrs '{\"units\": \"K\"}'";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IfExists {
    /// Fail.
    Fail,
    /// Erase the existing node first, with everything in it.
    Replace,
}

/// The lengths of the dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape(Vec<u64>);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let length = |part: &str| part.trim().parse().map_err(|_| format!("{part:?} is not a length"));
        let parts = text.split(',').filter(|_| !text.trim().is_empty());
        parts.map(length).collect::<Result<_, _>>().map(Self)
    }
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let place = Place::find(&args.store, stores)?;
    let existing = match args.if_exists {
        IfExists::Replace if place.is_node()? => ExistingNode::Replace,
        _ => ExistingNode::Fail,
    };
    let format = match (args.zarr_format.as_deref(), place.wanted) {
        (Some("2"), Some(Format::V3)) | (Some("3"), Some(Format::V2)) => {
            return Err(Failure::usage(format!(
                "--zarr-format: {:?} asks for another format",
                shown(&args.store)
            )));
        }
        (Some("2"), _) => Format::V2,
        (Some(_), _) => Format::V3,
        (None, Some(wanted)) => wanted,
        (None, None) => place.format()?.unwrap_or(Format::V3),
    };
    let attributes = args.attrs.as_deref().map(object_of).transpose()?.unwrap_or_default();
    let fail = |e: Failure| e.within(format_args!("store {:?}", place.store));
    if args.group {
        let meta = GroupMeta::new(format)?.with_attributes(attributes)?;
        let options = GroupOptions::new();
        Group::create_with(place.storage(stores)?, &place.path, meta, existing, &registry(), &options)
            .map_err(|e| fail(e.into()))?;
        return Ok(Exit::Ok);
    }
    let meta = array(args, format, attributes).map_err(|e| match e.exit() {
        // Invalid metadata comes from the command line, since nothing is stored yet.
        Exit::Invalid => Failure::usage(e.message()),
        _ => e,
    })?;
    let options = CreateOptions::new().existing(existing);
    let array = Array::create_with(place.storage(stores)?, &place.path, meta, &registry(), &options)
        .map_err(|e| fail(e.into()))?;
    array.diagnostics().iter().for_each(|note| say(&format!("note: {note}")));
    Ok(Exit::Ok)
}

/// The place of a new node.
struct Place {
    /// The name of the store in messages.
    store: PathBuf,
    /// The store, if it exists.
    url: Option<String>,
    /// The store, if it is there.
    there: Option<Storage>,
    /// The path in the store.
    path: String,
    /// The format that the URL asks for.
    wanted: Option<Format>,
}

impl Place {
    /// Finds the place for a path. If the nearest existing directory is a node, the store is the hierarchy around it;
    /// otherwise the store begins at `given`.
    fn find(given: &Path, stores: &Stores) -> Result<Self, Failure> {
        if let Some(url) = stores.destination_url(given) {
            return Self::at(&around::url(&url, stores)?.unwrap_or_else(|| url.into_owned()), stores);
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
            let message = format!("there is no directory {parent:?}; `zarr create --group` creates a group");
            return Err(Failure::new(Exit::NotFound, message));
        }
        if !is_store {
            return Ok(Self::in_directory(given.to_owned(), "/".to_owned(), stores));
        }
        path.append(&mut names);
        let path = check_new_path(&format!("/{}", path.join("/")));
        let path = path.map_err(|e: MetaError| Failure::usage(e.to_string()))?;
        Ok(Self::in_directory(store, path, stores))
    }

    fn in_directory(store: PathBuf, path: String, stores: &Stores) -> Self {
        let there = FsStore::open(&store).and_then(|opened| stores.directory(opened)).ok();
        Self { store, url: None, there, path, wanted: None }
    }

    /// Finds the place for a URL: the root of the store, or the node that the URL names.
    fn at(url: &str, stores: &Stores) -> Result<Self, Failure> {
        let (store, node, format) = split_node(url);
        let path = check_new_path(&node).map_err(|e| Failure::usage(e.to_string()))?;
        let there = stores.open_if_there(url)?.map(|located| located.storage);
        if there.is_none() && names_of(url).iter().any(|name| name.eq_ignore_ascii_case("zip")) {
            let message =
                format!("{:?}: a new archive cannot be empty; `zarr copy` writes archives", shown(url));
            return Err(Failure::unsupported(message));
        }
        let wanted = format.and_then(Format::of);
        Ok(Self { store: shown(store), url: Some(url.to_owned()), there, path, wanted })
    }

    /// Whether a node exists there.
    fn is_node(&self) -> Result<bool, Failure> {
        let Some(storage) = &self.there else { return Ok(false) };
        Ok(block_on(node::documents(storage, &Prefix::of_node(&self.path)?, None, &Limits::default()))?
            .make_node())
    }

    /// Returns the format of the nearest group above.
    fn format(&self) -> Result<Option<Format>, Failure> {
        let Some(storage) = &self.there else { return Ok(None) };
        format_above(storage, &Prefix::of_node(&self.path)?)
    }

    /// Returns the store to write to; creates it if needed.
    fn storage(&self, stores: &Stores) -> Result<Storage, Failure> {
        match (&self.there, &self.url) {
            (Some(storage), _) => Ok(storage.clone()),
            (None, Some(url)) => Ok(stores.create(url)?.storage),
            (None, None) => Ok(stores.directory(FsStore::create(&self.store)?)?),
        }
    }
}

fn not_a_name(given: &Path) -> Failure {
    Failure::usage(format!("{given:?} cannot be the path of a node"))
}

/// Makes the metadata of the array.
fn array(args: &Args, format: Format, attributes: Object) -> Result<ArrayMeta, Failure> {
    let shape = args.shape.as_ref().map(|shape| shape.0.clone()).unwrap_or_default();
    let (data_type, is_big) =
        data_type::named(args.dtype.as_deref().unwrap_or_default()).map_err(|e| e.within("--dtype"))?;
    let codecs: Codecs = args.codecs.parse().map_err(|e| Failure::usage(format!("--codecs: {e}")))?;
    let (mut list, old) = match codecs {
        Codecs::List(list) => (list, Members2::default()),
        Codecs::Old(_) if format == Format::V3 => {
            return Err(Failure::usage("--codecs: the codecs are of format 2, the array is of format 3"));
        }
        Codecs::Old(old) => (Vec::new(), old),
    };
    if is_big && !list.iter().any(|codec| codec.name() == "bytes") {
        let at = list.iter().take_while(|codec| codec.name() == "transpose").count();
        list.insert(at, Extension::new("bytes").with("endian", "big"));
    }
    let chunks = args.chunks.clone();
    if chunks.is_none() && args.shards.is_some() {
        let message = "--shards: a shard holds several chunks, give their shape with --chunks";
        return Err(Failure::usage(message));
    }
    let chunks = chunks.unwrap_or_else(|| Lengths::Shape(automatic(&shape, data_type.size().unwrap_or(16))));
    let builder = ArrayMeta::builder(shape.clone(), data_type.clone())
        .codecs(written(&list, &data_type, shape.len(), &registry()))
        .attributes(attributes);
    let mut builder = cut(builder, &chunks, args.shards.as_ref())?;
    if let Some(fill) = &args.fill {
        builder = builder.fill(scalar::value(fill, &data_type).map_err(|e| e.within("--fill"))?);
    }
    if let Some(names) = &args.dimension_names {
        builder = builder.dimension_names(names.split(',').map(|name| Some(name).filter(|n| !n.is_empty())));
    }
    if format == Format::V3 {
        return Ok(builder.build()?);
    }
    let keys = Extension::new("v2").with("separator", ".");
    let meta = builder.chunk_key_encoding(keys).build()?.to_v2()?;
    Ok(meta.with_members2(&old)?)
}

/// Returns the default chunk shape: the longest dimension is halved until a chunk is small enough.
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
}
