//! Converts filters and compressors of format 2 to codecs of format 3.
//!
//! Filters and compressors of format 2 turn a buffer into a buffer. The first filters see numbers, and become array →
//! array codecs as long as each uses the numbers as they are. After the first that does not, all work on bytes: a
//! filter of numbers then interprets the bytes as its own dtype. Format 3 has no codec for that, so it gets a private
//! name.

use zarr_traits::Limits;

use super::array::{Array, Codec, Order};
use super::complete::{blosc_of_numcodecs, complete, gzip_of_numcodecs, zstd_of_numcodecs};
use super::dtype::{ByteOrder, Dtype, Kind, Scalar};
use super::tolerated;
use crate::diagnostic::{Ignore, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value, pointer};
use crate::names::{Role, role};
use crate::v3::Extension;

/// The codecs of an array of format 2, converted to format 3.
#[derive(Debug, Default)]
pub(crate) struct Codecs {
    /// The codecs in the order of encoding.
    pub(crate) list: Vec<Extension>,
    /// The origin of each codec.
    pub(crate) origins: Vec<Origin>,
    /// The kind of the objects, if the array has objects. Their codec determines it.
    pub(crate) objects: Option<Objects>,
    /// The features that documents of format 3 cannot represent.
    pub(crate) obstacles: Vec<String>,
}

/// The member of an older document that a codec of the model comes from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The place of the member, a JSON pointer.
    pub(crate) place: String,
    /// The id, for a filter or compressor.
    pub(crate) id: Option<String>,
}

/// The kind of objects, determined by the codec that turns them into bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objects {
    Text,
    Bytes,
    /// Any Python object.
    Any,
}

/// The input of the next codec.
enum Stage {
    /// An array with elements of this dtype.
    Array(Dtype),
    /// A buffer with items of this size in bytes.
    Buffer(u64),
}

struct Chain<'a> {
    codecs: Codecs,
    stage: Stage,
    /// The size of an element of the array in bytes, if netCDF has its data type.
    netcdf: Option<u64>,
    /// The member that is being converted.
    from: Origin,
    limits: &'a Limits,
}

/// The ids of codecs for any Python object; `json` and `msgpack` are those of numcodecs before 0.6.
const OF_ANY_OBJECT: [&str; 6] = ["vlen-array", "json2", "json", "msgpack2", "msgpack", "pickle"];

/// Whether a filter turns objects into bytes.
pub(crate) fn makes_bytes_of_objects(filter: &Value) -> bool {
    let strings = ["vlen-utf8", "vlen-bytes", "categorize"];
    let Some(id) = filter.as_object().and_then(|filter| filter.get("id")) else { return false };
    id.to_text().is_ok_and(|id| strings.contains(&&*id) || OF_ANY_OBJECT.contains(&&*id))
}

/// Converts the codecs of an array with elements of `dtype`.
pub(crate) fn lower(
    array: &Array,
    dtype: &Dtype,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> MetaResult<Codecs> {
    let from = Origin { place: "/order".to_owned(), id: None };
    let netcdf = tolerated::netcdf_size(dtype, limits);
    let stage = Stage::Array(dtype.clone());
    let mut chain = Chain { codecs: Codecs::default(), stage, netcdf, from, limits };
    let rank = array.shape.len();
    if array.order == Order::F && rank > 1 {
        chain.push(Extension::new("transpose").with("order", (0..rank).rev().collect::<Value>()));
    }
    let mut filters = array.filters.iter().enumerate();
    if *dtype == Dtype::Object {
        let first = filters.next().ok_or_else(|| no_object_codec().at("/filters"))?;
        chain.from = Origin { place: "/filters/0".to_owned(), id: Some(first.1.id.clone()) };
        chain.object_codec(first.1).map_err(|e| e.at("/filters/0"))?;
    }
    let filters = filters.map(|(i, filter)| (pointer::element("/filters", i), filter));
    let compressor = array.compressor.iter().map(|compressor| ("/compressor".to_owned(), compressor));
    for (place, codec) in filters.chain(compressor) {
        chain.from = Origin { place: place.clone(), id: Some(codec.id.clone()) };
        chain.codec(codec, &place, sink).map_err(|e| e.at(&place))?;
    }
    chain.serialize();
    Ok(chain.codecs)
}

fn no_object_codec() -> MetaError {
    let message = "an array of objects needs an object codec as its first filter, found none";
    MetaError::new(MetaErrorKind::Unsupported, message)
}

impl Chain<'_> {
    fn is_array(&self) -> bool {
        matches!(self.stage, Stage::Array(_))
    }

    fn push(&mut self, codec: Extension) {
        self.codecs.list.push(codec);
        self.codecs.origins.push(self.from.clone());
    }

    fn obstacle(&mut self, what: String) {
        self.codecs.obstacles.push(what);
    }

    /// Adds the codec that turns objects into bytes.
    fn object_codec(&mut self, filter: &Codec) -> MetaResult<()> {
        let (objects, codec, items) = match &*filter.id {
            "vlen-utf8" => (Objects::Text, Extension::new("vlen-utf8"), 1),
            "vlen-bytes" => (Objects::Bytes, Extension::new("vlen-bytes"), 1),
            "categorize" => {
                let codes = self.dtype_of(filter, "astype").map_or(1, |scalar| u64::from(scalar.size));
                (Objects::Text, private(filter, "categorize"), codes)
            }
            id if OF_ANY_OBJECT.contains(&id) => (Objects::Any, private(filter, id), 1),
            _ => return Err(no_object_codec()),
        };
        if codec.name().contains(':') {
            self.obstacle(format!("filter {:?} of objects has no counterpart", filter.id));
        }
        self.codecs.objects = Some(objects);
        self.push(codec);
        self.stage = Stage::Buffer(items);
        Ok(())
    }

    fn codec(&mut self, codec: &Codec, place: &str, sink: &mut dyn Sink) -> MetaResult<()> {
        match &*codec.id {
            "delta" | "fixedscaleoffset" | "quantize" => self.typed(codec, "dtype", "astype"),
            "astype" => self.typed(codec, "decode_dtype", "encode_dtype"),
            "bitround" => self.bitround(codec),
            "packbits" => {
                self.serialize();
                self.viewing(codec, "packbits", 1);
            }
            // These are strings of a fixed length. Strings of variable length are objects, see `object_codec`.
            "categorize" => {
                let codes = self.dtype_of(codec, "astype").map_or(1, |scalar| u64::from(scalar.size));
                self.serialize();
                self.viewing(codec, "categorize_fixed", codes);
            }
            // These encode numbers and strings as well as objects.
            id @ ("json2" | "json" | "msgpack2" | "msgpack") if self.is_array() => {
                self.obstacle(format!("filter {id:?} has no counterpart"));
                self.push(private(codec, id));
                self.stage = Stage::Buffer(1);
            }
            "pcodec" | "zfpy" if self.is_array() => {
                self.push(public(codec, &codec.configuration));
                self.stage = Stage::Buffer(1);
            }
            _ => {
                let items = self.serialize();
                let lowered = byte_codec(codec, items, self.netcdf, place, sink)?;
                if role(lowered.name()) != Some(Role::BytesBytes) {
                    self.obstacle(format!("codec {:?} has no counterpart", codec.id));
                }
                self.push(lowered);
                self.stage = Stage::Buffer(1);
            }
        }
        Ok(())
    }

    /// Adds a filter from the dtype in its member `from` to the dtype in its member `to`.
    fn typed(&mut self, codec: &Codec, from: &str, to: &str) {
        let wanted = self.dtype_of(codec, from);
        let given = if codec.configuration.contains(to) { self.dtype_of(codec, to) } else { wanted };
        match (&self.stage, wanted, given) {
            // The byte order must match as well: a filter interprets the bytes as its own dtype.
            (Stage::Array(Dtype::Scalar(now)), Some(wanted), Some(given)) if *now == wanted => {
                let mut configuration = codec.configuration.clone();
                for (name, dtype) in [(from, wanted), (to, given)] {
                    // An array has no byte order; readers of format 3 take numbers in the order of their machine.
                    if configuration.contains(name) {
                        configuration.set(name, dtype.little().to_string());
                    }
                }
                self.push(public(codec, &configuration));
                self.stage = Stage::Array(Dtype::Scalar(given));
            }
            _ => {
                self.serialize();
                self.viewing(codec, &codec.id, given.map_or(1, |dtype| u64::from(dtype.size)));
            }
        }
    }

    /// Adds a bitround. It has no dtype of its own and rounds any floats.
    fn bitround(&mut self, codec: &Codec) {
        if let Stage::Array(Dtype::Scalar(Scalar { kind: Kind::Core(core), .. })) = self.stage
            && core.is_float()
        {
            self.push(public(codec, &codec.configuration));
        } else {
            let items = self.serialize();
            self.viewing(codec, &codec.id, items);
        }
    }

    /// Adds a filter that interprets bytes as elements. Its output has items of `items` bytes.
    fn viewing(&mut self, codec: &Codec, name: &str, items: u64) {
        self.obstacle(format!("filter {:?} works on the bytes of elements", codec.id));
        self.push(private(codec, name));
        self.stage = Stage::Buffer(items);
    }

    /// Turns an array into bytes, unless it is a buffer already, and returns the size of an item in bytes.
    fn serialize(&mut self) -> u64 {
        let dtype = match &self.stage {
            Stage::Buffer(items) => return *items,
            Stage::Array(dtype) => dtype.clone(),
        };
        let codec = match dtype.byte_order() {
            ByteOrder::None => Extension::new("bytes"),
            ByteOrder::One(endian) => Extension::new("bytes").with("endian", endian.name()),
            ByteOrder::Mixed(fields) => {
                self.obstacle("the fields have different byte orders".to_owned());
                let orders: Value = fields.into_iter().map(|e| e.name()).collect();
                Extension::new("bytes:fields").with("endian", orders)
            }
        };
        self.codecs.list.push(codec);
        self.codecs.origins.push(Origin { place: "/dtype".to_owned(), id: None });
        let items = dtype.size(self.limits).unwrap_or(1);
        self.stage = Stage::Buffer(items);
        items
    }

    /// Returns the dtype in a member of a filter, if it is a scalar.
    fn dtype_of(&self, codec: &Codec, member: &str) -> Option<Scalar> {
        let value = codec.configuration.get(member)?;
        let text = value.to_text().ok()?;
        Scalar::parse(&text, self.limits, &mut Ignore).ok()
    }
}

/// Returns a codec under the name that zarr-python gives it in documents of format 3.
fn public(codec: &Codec, configuration: &Object) -> Extension {
    Extension::new(format!("numcodecs.{}", codec.id)).with_configuration(configuration)
}

/// Returns a codec under a private name, which documents of format 3 cannot use.
fn private(codec: &Codec, name: &str) -> Extension {
    Extension::new(format!("numcodecs:{name}")).with_configuration(&codec.configuration)
}

/// Returns a codec of bytes. Its input has items of `items` bytes; `netcdf` is the size of an element of the array, if
/// netCDF has its data type.
fn byte_codec(
    codec: &Codec,
    items: u64,
    netcdf: Option<u64>,
    place: &str,
    sink: &mut dyn Sink,
) -> MetaResult<Extension> {
    let given = &codec.configuration;
    let is_at_end = || given.get("location").is_none_or(|location| location == "end");
    let level = |default: i32, sink: &mut dyn Sink| tolerated::level(given, default)?.value(place, sink);
    let with = |member: &str, value: Value| {
        let mut configuration = given.clone();
        configuration.set(member, value);
        public(codec, &configuration)
    };
    Ok(match &*codec.id {
        "zstd" => complete(&zstd_of_numcodecs(given, level(0, sink)?), items),
        "gzip" => gzip_of_numcodecs(level(1, sink)?),
        "zlib" | "bz2" => with("level", level(1, sink)?),
        "blosc" => {
            let shuffle = tolerated::shuffle(given)?.value(place, sink)?;
            complete(&blosc_of_numcodecs(given, shuffle), items)
        }
        "shuffle" => with("elementsize", tolerated::element_size(given, netcdf)?.value(place, sink)?),
        "crc32c" if is_at_end() => Extension::new("crc32c"),
        _ => public(codec, given),
    })
}
