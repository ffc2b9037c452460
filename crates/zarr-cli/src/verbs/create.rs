//! `zarr create`: makes a new array or group.

mod fill;
mod like;
mod new;

use std::path::PathBuf;

use clap::ValueEnum;
use zarr_array::blocking::Array;
use zarr_array::meta::codecs::written;
use zarr_array::meta::json::Object;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::{ArrayBuilder, ArrayMeta, Format, GroupMeta, Members2, MetaResult};
use zarr_array::traits::Prefix;
use zarr_array::{CreateOptions, DataType, ExistingNode, OpenOptions};
use zarr_copy::{ChunkChoice, Codecs, Lengths};
use zarr_hierarchy::GroupOptions;
use zarr_hierarchy::blocking::Group;
use zarr_store::MemoryStore;

use crate::args::data_type;
use crate::args::decode::{Decode, Shown};
use crate::args::dimension::no_dimension;
use crate::args::from::{self, Wanted};
use crate::args::labels::{Around, Chosen};
use crate::args::scalar;
use crate::args::shape::Shape;
use crate::args::stores::{Stores, shown};
use crate::args::target::registry;
use crate::args::value::object_of;
use crate::exit::{Exit, Failure, Outcome, say};
use crate::out::table::product;
use like::Like;
use new::New;

/// Create an array or a group.
///
/// Missing groups above the node are created as well. The metadata is written in the form that every implementation
/// reads. Elements from tables, text and JSON are encoded as --attrs says, as `zarr cat` prints them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_arg("stored", |arg| arg.hide_short_help(true)))]
pub(crate) struct Args {
    /// The directory of the node: a new store, or a new node in an existing store.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// Create a group.
    #[arg(long, conflicts_with_all = ["shape", "dtype", "chunks", "shards", "codecs", "fill", "dimension_names", "from", "like"])]
    group: bool,
    /// Make an array like this one: with its shape, data type, chunks, shards, codecs, fill value, dimension names and
    /// attributes, but without its elements. Each option below replaces what it names.
    #[arg(long, value_name = "STORE[/PATH]")]
    like: Option<PathBuf>,
    /// The length of each dimension; "" makes a scalar. With --from by default the shape of the input.
    #[arg(long, value_name = "A,B,…", required_unless_present_any = ["group", "from", "like"])]
    shape: Option<Shape>,
    /// The data type: a name such as `float32`, `int` or `datetime64[ns]`, a type string of NumPy such as `f4`, `>i2`
    /// or `U10`, or JSON. With --from by default the type of a NumPy file, or float64 for text.
    #[arg(long, value_name = "TYPE", required_unless_present_any = ["group", "from", "like"])]
    dtype: Option<String>,
    #[command(flatten)]
    input: from::Options,
    #[command(flatten)]
    decode: Decode,
    /// The shape of chunks; by default the array is halved until a chunk has at most 4 MiB. For chunks of different
    /// lengths give a list for the dimension: `[[31,28,31],100]`, or `[[31,[30,3]],100]` for 31 and three times 30. Or lengths
    /// by the names of --dimension-names: `time=24,lat=100`; chunks are as long as the array in other dimensions.
    #[arg(long, value_name = "A,B,…|JSON|NAME=A,…")]
    chunks: Option<ChunkChoice>,
    /// The shape of shards, objects that hold several chunks; a multiple of the chunk shape. Lists of lengths as in
    /// --chunks, which is needed as well.
    #[arg(long, value_name = "A,B,…|JSON")]
    shards: Option<Lengths>,
    /// The codecs of the chunks, as in `zarr copy`; by default `zstd`.
    #[arg(long, value_name = "LIST|JSON")]
    codecs: Option<String>,
    /// The fill value, for elements that are not stored: a number, also `nan` or `-inf`, a date such as
    /// `2020-01-01T12:00`, text, or JSON; by default 0 or its equivalent.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    fill: Option<String>,
    /// A name for each dimension; a name may be empty.
    #[arg(long, value_name = "A,B,…")]
    dimension_names: Option<String>,
    /// The attributes: a JSON object, `@FILE` to read it from a file, or `-` for standard input.
    #[arg(long, value_name = "JSON", hide_short_help = true)]
    attrs: Option<String>,
    /// The format; by default that of the group above, or 3.
    #[arg(long, value_name = "3|2", value_parser = ["3", "2"])]
    zarr_format: Option<String>,
    /// The action if the node exists. Only Zarr nodes are ever replaced.
    #[arg(long, value_enum, default_value_t = IfExists::Fail, hide_short_help = true)]
    if_exists: IfExists,
}

const EXAMPLES: &str = "\
Examples:
  zarr create --group weather.zarr
  zarr create weather.zarr/t2m --shape 8760,721,1440 --dtype float32 --chunks 24,721,1440 --fill NaN
  zarr create months.zarr --shape 90,721,1440 --dtype float32 --chunks '[[31,28,31],721,1440]'
  zarr create weather.zarr/daily/t2m --shape 365,721,1440 --dtype '<f4' --dimension-names time,lat,lon --chunks time=31
  zarr create big.zarr --shape 100000,100000 --dtype uint8 --chunks 500,500 --shards 5000,5000 --codecs blosc:zstd:5
  zarr create grid.zarr --from grid.npy --chunks 100,100 --codecs blosc:zstd:5
  zarr create weather.zarr/anomaly --like weather.zarr/t2m --dtype float32 --fill nan
  sensor | zarr create run.zarr/7 --from - --shape 1000,64 --dtype i2
  zarr create old.zarr --zarr-format 2 --shape 1000 --dtype '>i2' --attrs '{\"units\": \"K\"}'";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IfExists {
    /// Fail.
    Fail,
    /// Erase the existing node first, with everything in it.
    Replace,
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let new = New::find(&args.store, stores)?;
    let place = &new.place;
    let existing = match args.if_exists {
        IfExists::Replace if new.is_node()? => ExistingNode::Replace,
        _ => ExistingNode::Fail,
    };
    let format = match (args.zarr_format.as_deref(), place.format) {
        (Some("2"), Some(Format::V3)) | (Some("3"), Some(Format::V2)) => {
            return Err(Failure::usage(format!(
                "--zarr-format: {:?} asks for another format",
                shown(&args.store)
            )));
        }
        (Some("2"), _) => Format::V2,
        (Some(_), _) => Format::V3,
        (None, _) => new.format()?.unwrap_or(Format::V3),
    };
    let attributes = args.attrs.as_deref().map(object_of).transpose()?;
    let fail = |e: Failure| place.fail(e);
    if args.group {
        let meta = GroupMeta::new(format)?.with_attributes(attributes.unwrap_or_default())?;
        let options = GroupOptions::new().existing(existing);
        Group::create_with(new.storage(stores)?, &place.path, meta, &registry(), &options)
            .map_err(|e| fail(e.into()))?;
        return Ok(Exit::Ok);
    }
    let like = args.like.as_deref().map(|like| Like::find(like, stores)).transpose()?;
    let given = args.dtype.as_deref().map(data_type::named).transpose().map_err(|e| e.within("--dtype"))?;
    let given = given.or_else(|| like.as_ref().map(|like| (like.data_type(), false)));
    let shape = args.shape.as_ref().map(|shape| shape.0.clone()).or_else(|| like.as_ref().map(Like::shape));
    if args.input.is_given() {
        if existing != ExistingNode::Fail {
            let message =
                "--from replaces nothing; create the array in another place, then `zarr rm` and `zarr mv`";
            return Err(Failure::usage(message));
        }
        let around = match args.input.is_decoded(args.decode) {
            true => {
                encoded_by(args, like.as_ref(), given.as_ref(), shape.as_ref(), format, attributes.as_ref())?
            }
            false => None,
        };
        let variable = around.as_ref().map(Around::variable).transpose()?;
        let (data_type, is_big) = given.as_ref().map(|(data_type, is_big)| (data_type, *is_big)).unzip();
        let wanted = Wanted {
            data_type,
            is_big: is_big.unwrap_or(false),
            variable: variable.as_ref(),
            ..Wanted::default()
        };
        let input = args.input.open(&wanted)?;
        let is_given = shape.is_some();
        let Some(shape) = shape.or_else(|| input.own_shape()) else {
            return Err(Failure::usage("raw bytes have no shape, give it with --shape"));
        };
        let (data_type, is_big) = given.unwrap_or_else(|| (input.data_type.clone(), false));
        let reader = input.reader(&data_type, &shape, is_given)?;
        let meta = array(args, like.as_ref(), shape, (&data_type, is_big), format, attributes)
            .map_err(from_arguments)?;
        fill::run(&new, stores, meta, &reader).map_err(fail)?;
        return Ok(Exit::Ok);
    }
    let shape = shape.unwrap_or_default();
    // The options demand a data type here.
    let (data_type, is_big) = given.unwrap_or((DataType::Float64, false));
    let meta = array(args, like.as_ref(), shape, (&data_type, is_big), format, attributes)
        .map_err(from_arguments)?;
    let options = CreateOptions::new().existing(existing);
    let array = Array::create_with(new.storage(stores)?, &place.path, meta, &registry(), &options)
        .map_err(|e| fail(e.into()))?;
    array.diagnostics().iter().for_each(|note| say(&format!("note: {note}")));
    Ok(Exit::Ok)
}

/// Invalid metadata comes from the command line, since nothing is stored yet.
fn from_arguments(e: Failure) -> Failure {
    if e.exit() == Exit::Invalid { Failure::usage(e.message()) } else { e }
}

/// Returns the new array as a variable, if its attributes say how elements are encoded. Its shape does not matter, and is
/// known beforehand only if it is given or that of another array.
fn encoded_by(
    args: &Args,
    like: Option<&Like>,
    given: Option<&(DataType, bool)>,
    shape: Option<&Vec<u64>>,
    format: Format,
    attributes: Option<&Object>,
) -> Result<Option<Around>, Failure> {
    let (data_type, is_big) = given.cloned().unwrap_or((DataType::Float64, false));
    let meta = match shape {
        Some(shape) => array(args, like, shape.clone(), (&data_type, is_big), format, attributes.cloned()),
        None => {
            let mut builder = ArrayMeta::builder([1], data_type.clone());
            if let Some(attributes) = attributes {
                builder = builder.attributes(attributes);
            }
            if let Some(fill) = &args.fill {
                builder = builder.fill(scalar::value(fill, &data_type).map_err(|e| e.within("--fill"))?);
            }
            built(builder, format).map_err(Failure::from)
        }
    };
    let meta = meta.map_err(from_arguments)?;
    let (root, options) = (Prefix::root(), OpenOptions::new());
    let array = Array::from_metadata(MemoryStore::new(), root, meta, Vec::new(), &registry(), &options)?;
    let all = Chosen::default();
    let no_group = || Err(Failure::usage("the array is not stored yet"));
    args.decode.around(&array, Shown::Elements(&all), no_group).map_err(|e| e.within("--attrs"))
}

/// Makes the metadata of the array.
fn array(
    args: &Args,
    like: Option<&Like>,
    shape: Vec<u64>,
    (data_type, is_big): (&DataType, bool),
    format: Format,
    attributes: Option<Object>,
) -> Result<ArrayMeta, Failure> {
    let codecs = args.codecs.as_deref().or(if like.is_none() { Some("zstd") } else { None });
    let codecs = codecs.map(str::parse::<Codecs>).transpose();
    let (list, mut old) = match codecs.map_err(|e| Failure::usage(format!("--codecs: {e}")))? {
        None if is_big => {
            let message =
                "--dtype: the byte order is that of the codecs: give them with --codecs, as `bytes:big,zstd`";
            return Err(Failure::usage(message));
        }
        None => (None, Members2::default()),
        Some(Codecs::List(list)) => (Some(list), Members2::default()),
        Some(Codecs::Old(_)) if format == Format::V3 => {
            return Err(Failure::usage("--codecs: the codecs are of format 2, the array is of format 3"));
        }
        Some(Codecs::Old(old)) => (Some(Vec::new()), old),
        Some(other) => {
            return Err(Failure::usage(format!("--codecs: an array cannot be created with {other:?}")));
        }
    };
    let (mut builder, fill2) = match like {
        Some(like) => like.builder(data_type, format),
        None => (ArrayMeta::builder([], data_type.clone()), None),
    };
    builder = builder.shape(shape.clone());
    if let Some(mut list) = list {
        if is_big && !list.iter().any(|codec| codec.name() == "bytes") {
            let at = list.iter().take_while(|codec| codec.name() == "transpose").count();
            list.insert(at, Extension::new("bytes").with("endian", "big"));
        }
        builder = builder.codecs(written(&list, data_type, shape.len(), &registry()));
    }
    if let Some(attributes) = &attributes {
        builder = builder.attributes(attributes);
    }
    let names: Option<Vec<String>> =
        args.dimension_names.as_ref().map(|names| names.split(',').map(str::to_owned).collect());
    if let Some(names) = &names {
        let names = names.iter().map(|name| Some(name.as_str()).filter(|name| !name.is_empty()));
        builder = builder.dimension_names(names);
    }
    let names = names.or_else(|| like?.names()).unwrap_or_default();
    if let Some(chunks) = chunks(args, like, &names, &shape, data_type)? {
        builder = chunks.cut(builder, args.shards.as_ref())?;
    }
    match &args.fill {
        Some(fill) => {
            builder = builder.fill(scalar::value(fill, data_type).map_err(|e| e.within("--fill"))?);
        }
        None => old.fill_value = fill2,
    }
    let meta = built(builder, format)?;
    Ok(if format == Format::V3 { meta } else { meta.with_members2(&old)? })
}

/// Builds metadata in this format.
fn built(builder: ArrayBuilder, format: Format) -> MetaResult<ArrayMeta> {
    if format == Format::V3 {
        return builder.build();
    }
    let keys = Extension::new("v2").with("separator", ".");
    builder.chunk_key_encoding(keys).build()?.to_v2()
}

/// Returns the lengths of chunks; `None` keeps those of the array that the new one is like.
fn chunks(
    args: &Args,
    like: Option<&Like>,
    names: &[String],
    shape: &[u64],
    data_type: &DataType,
) -> Result<Option<Lengths>, Failure> {
    let own = like.and_then(Like::chunk_shape).filter(|own| own.len() == shape.len());
    let lengths = match (&args.chunks, &args.shards) {
        (Some(ChunkChoice::Lengths(lengths)), _) => lengths.clone(),
        (Some(ChunkChoice::Named(named)), _) => {
            let whole = || shape.iter().map(|length| (*length).max(1)).collect();
            let chunks = of_names(named, names, own.unwrap_or_else(whole));
            Lengths::Shape(chunks.map_err(|e| e.within("--chunks"))?)
        }
        (_, Some(_)) => match own {
            Some(own) => Lengths::Shape(own),
            None => {
                let message = "--shards: a shard holds several chunks, give their shape with --chunks";
                return Err(Failure::usage(message));
            }
        },
        _ if like.is_some() => return Ok(None),
        _ => Lengths::Shape(automatic(shape, data_type.size().unwrap_or(16))),
    };
    Ok(Some(lengths))
}

/// Returns `chunks` with other lengths for dimensions of some names.
fn of_names(named: &[(String, u64)], names: &[String], mut chunks: Vec<u64>) -> Result<Vec<u64>, Failure> {
    for (name, length) in named {
        let at = names.iter().position(|own| own == name);
        let chunk = at.and_then(|at| chunks.get_mut(at));
        *chunk.ok_or_else(|| Failure::usage(no_dimension(name, names)))? = *length;
    }
    Ok(chunks)
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
