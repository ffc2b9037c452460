//! Filters and compressors, from format 2 to the codecs of format 3 (checklist H.5 to H.7, H20 to H23).
//!
//! Filters and compressors of format 2 turn a buffer into a buffer. The first of them see numbers, and become array → array
//! codecs as long as each takes the numbers as they are. From the first on that does not, all work on bytes: one that
//! wants numbers then views the bytes as such, for which there is no codec in format 3. It gets a private name.

use zarr_traits::Limits;

use super::array::{Array, Codec, Order};
use super::dtype::{ByteOrder, Core, Dtype, Kind, Scalar};
use super::tolerated;
use crate::codecs::complete::{blosc_of_numcodecs, complete, gzip_of_numcodecs, zstd_of_numcodecs};
use crate::diagnostic::{Ignore, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value, pointer};
use crate::names::{Role, role};
use crate::v3::Extension;

/// The codecs of an array.
#[derive(Debug, Default)]
pub(crate) struct Codecs {
    /// In the order of encoding.
    pub(crate) list: Vec<Extension>,
    /// Where each of them comes from.
    pub(crate) origins: Vec<Origin>,
    /// The data type of an array of objects, which its codec decides.
    pub(crate) objects: Option<Objects>,
    /// What no document of format 3 can say.
    pub(crate) obstacles: Vec<String>,
}

/// The member of an older document that says what a codec does.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// A JSON pointer.
    pub(crate) place: String,
    /// The id of a filter or compressor.
    pub(crate) id: Option<String>,
}

/// What objects are, by the codec that turns them to bytes (checklist H.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Objects {
    Text,
    Bytes,
    /// Whatever Python can hold.
    Any,
}

/// What reaches the next codec.
enum Stage {
    /// An array that `bytes` would store as this.
    Array(Dtype),
    /// A buffer with items of so many bytes.
    Buffer(u64),
}

struct Chain<'a> {
    codecs: Codecs,
    stage: Stage,
    /// Bytes of an element of the array, if netCDF has its data type.
    netcdf: Option<u64>,
    /// What is being lowered.
    from: Origin,
    limits: &'a Limits,
}

/// The ids of codecs of any object that Python has; `json` and `msgpack` are those of numcodecs before 0.6.
const OF_ANY_OBJECT: [&str; 6] = ["vlen-array", "json2", "json", "msgpack2", "msgpack", "pickle"];

/// Whether a filter turns objects to bytes (checklist H.6).
pub(crate) fn makes_bytes_of_objects(filter: &Value) -> bool {
    let strings = ["vlen-utf8", "vlen-bytes", "categorize"];
    let Some(id) = filter.as_object().and_then(|filter| filter.get("id")) else { return false };
    id.to_text().is_ok_and(|id| strings.contains(&&*id) || OF_ANY_OBJECT.contains(&&*id))
}

/// Lowers the codecs of an array of elements of `dtype`.
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
    let message = "an array of objects needs an object codec as its first filter, there is none";
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

    /// The codec that turns objects to bytes.
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
            // Texts of a fixed length: those of any length are objects.
            "categorize" => {
                let codes = self.dtype_of(codec, "astype").map_or(1, |scalar| u64::from(scalar.size));
                self.serialize();
                self.viewing(codec, "categorize_fixed", codes);
            }
            // These write down numbers and texts as well as objects.
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

    /// A filter that takes numbers of one dtype, given as its member `from`, and gives those of another, its member `to`.
    fn typed(&mut self, codec: &Codec, from: &str, to: &str) {
        let wanted = self.dtype_of(codec, from);
        let given = if codec.configuration.contains(to) { self.dtype_of(codec, to) } else { wanted };
        match (&self.stage, wanted, given) {
            // Byte order included: a filter views the bytes as its own dtype.
            (Stage::Array(Dtype::Scalar(now)), Some(wanted), Some(given)) if *now == wanted => {
                let mut configuration = codec.configuration.clone();
                for (name, dtype) in [(from, wanted), (to, given)] {
                    // The order of bytes means nothing to an array; readers of format 3 take it for that of their machine.
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

    /// Checklist D.9b: it takes the floats that reach it, and names no dtype.
    fn bitround(&mut self, codec: &Codec) {
        if let Stage::Array(Dtype::Scalar(Scalar { kind: Kind::Core(Core::Float), .. })) = self.stage {
            self.push(public(codec, &codec.configuration));
        } else {
            let items = self.serialize();
            self.viewing(codec, &codec.id, items);
        }
    }

    /// A filter that views bytes as elements, and gives items of so many bytes.
    fn viewing(&mut self, codec: &Codec, name: &str, items: u64) {
        self.obstacle(format!("filter {:?} works on the bytes of elements", codec.id));
        self.push(private(codec, name));
        self.stage = Stage::Buffer(items);
    }

    /// Turns an array to bytes, if it is one still, and gives the bytes of an item.
    fn serialize(&mut self) -> u64 {
        let dtype = match &self.stage {
            Stage::Buffer(items) => return *items,
            Stage::Array(dtype) => dtype.clone(),
        };
        let codec = match dtype.byte_order() {
            ByteOrder::None => Extension::new("bytes"),
            ByteOrder::One(endian) => Extension::new("bytes").with("endian", endian.name()),
            ByteOrder::Mixed(fields) => {
                self.obstacle("the fields are of different byte orders".to_owned());
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

    /// The dtype that a member of a filter names, if it is one of single values.
    fn dtype_of(&self, codec: &Codec, member: &str) -> Option<Scalar> {
        let value = codec.configuration.get(member)?;
        let text = value.to_text().ok()?;
        Scalar::parse(&text, self.limits, &mut Ignore).ok()
    }
}

/// A codec under the name that zarr-python gives it in documents of format 3 (checklist D10.1).
fn public(codec: &Codec, configuration: &Object) -> Extension {
    Extension::new(format!("numcodecs.{}", codec.id)).with_configuration(configuration)
}

/// A codec under a name that documents of format 3 cannot use.
fn private(codec: &Codec, name: &str) -> Extension {
    Extension::new(format!("numcodecs:{name}")).with_configuration(&codec.configuration)
}

/// A codec that takes any bytes. Items of so many bytes reach it; `netcdf` is the size of an element of the array, if netCDF
/// has its data type.
fn byte_codec(
    codec: &Codec,
    items: u64,
    netcdf: Option<u64>,
    place: &str,
    sink: &mut dyn Sink,
) -> MetaResult<Extension> {
    let given = &codec.configuration;
    let is_at_end = || given.get("location").is_none_or(|location| location == "end".into());
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
