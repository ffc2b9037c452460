//! Converts the model of format 3 to documents of format 2, as far as format 2 can express it.
//!
//! Rules: [from format 2 to format 3](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/format-2.md#h.9).

use zarr_traits::{Limits, Registry};

use crate::builder2::ArrayBuilder2;
use crate::codecs::{Element, full};
use crate::diagnostic::Ignore;
use crate::documents::Format;
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::fill::Fill;
use crate::json::{Object, Value, pointer};
use crate::members2::Members2;
use crate::model::ArrayMeta;
use crate::names::{Role, role};
use crate::v2::complete;
use crate::v2::dtype::{ByteOrder, Dtype, Endian, Kind, Scalar};
use crate::v3::{self, ArrayDocument, Extension};

impl ArrayMeta {
    /// Returns this array in format 2, for the same chunks. The names of dimensions become an attribute.
    ///
    /// # Errors
    /// If format 2 has no equivalent: for shards, a chunk grid that is not regular, some data types and codecs, and the
    /// chunk key encoding `default`, whose chunks have other keys.
    pub fn to_v2(&self) -> MetaResult<Self> {
        if self.format() == Format::V2 {
            return Ok(self.clone());
        }
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        let meta = self.clone().understood()?;
        let mut builder = raise(meta.document())?.attributes_as_they_are(self.attributes());
        if self.fill_is_undefined() {
            builder = builder.undefined_fill();
        }
        builder.build()
    }

    /// Returns a builder of an array of format 2 with the same data type, chunks, codecs, fill value and names of
    /// dimensions, without attributes.
    ///
    /// # Errors
    /// As [`to_v2`](Self::to_v2).
    pub fn to_builder_v2(&self) -> MetaResult<ArrayBuilder2> {
        raise(self.clone().understood()?.document())
    }

    /// Returns the members with which this array of format 2 has the given codecs of format 3, in their full form
    /// ([`written`](crate::codecs::written)). Its byte order changes only if the codec `bytes` has one, and the order of
    /// the elements only if the list begins with `transpose`.
    ///
    /// ```
    /// use zarr_meta::{ArrayMeta, v3::Extension};
    ///
    /// let meta = ArrayMeta::builder_v2([1000], Extension::new("float32")).chunks([100]).build()?;
    /// let members = meta.members2_of(&[Extension::new("gzip").with("level", 5)])?;
    /// assert_eq!(members.compressor.unwrap().to_compact(), r#"{"level":5,"id":"gzip"}"#);
    /// # Ok::<(), zarr_meta::MetaError>(())
    /// ```
    ///
    /// # Errors
    /// If the array is of another format, or format 2 has no equivalent of a codec.
    pub fn members2_of(&self, codecs: &[Extension]) -> MetaResult<Members2> {
        let (root, _) =
            self.documents2().ok_or_else(|| MetaError::argument("the array is not of format 2"))?;
        let document = self.document();
        let of_bytes = codecs.iter().find(|codec| codec.name() == "bytes");
        let names_bytes = of_bytes.is_some_and(|codec| codec.configuration().get("endian").is_some());
        let order = byte_order(if names_bytes { codecs } else { document.codecs() });
        let limits = Limits::default();
        let dtype = match root.members.get("dtype") {
            Some(dtype) if !names_bytes => Dtype::parse(&dtype, &limits, &mut Ignore),
            _ => Dtype::of(document.data_type(), &order, &limits),
        }?;
        let is_transposed = codecs.first().is_some_and(|codec| codec.name() == "transpose");
        let raised = Codecs::of(codecs, &dtype, &order, self.shape().len())?;
        Ok(Members2 {
            filters: Some(match raised.filters.is_empty() {
                true => None::<bool>.into(),
                false => raised.filters.into_iter().collect(),
            }),
            compressor: Some(raised.compressor.unwrap_or_else(|| None::<bool>.into())),
            order: is_transposed.then(|| if raised.fortran { "F" } else { "C" }.into()),
            dtype: names_bytes.then(|| dtype.to_value()),
            ..Members2::default()
        })
    }
}

/// Returns a builder with everything in the document except its attributes.
pub(crate) fn raise(array: &ArrayDocument) -> MetaResult<ArrayBuilder2> {
    if !array.storage_transformers().is_empty() {
        return Err(cannot("format 2 has no storage transformers").at("/storage_transformers"));
    }
    if let Some((name, _)) = array.additional().find(|(_, value)| !value.is_null()) {
        return Err(cannot("format 2 has no such member").at(&pointer::join("", &name)));
    }
    let order = byte_order(array.codecs());
    let dtype = Dtype::of(array.data_type(), &order, &Limits::default()).map_err(|e| e.at("/data_type"))?;
    let element = Element {
        size: dtype.size(&Limits::default())?.max(1),
        has_order: dtype.byte_order() != ByteOrder::None,
    };
    let rank = array.shape().len();
    // Names that are aliases are those of a registry.
    let codecs = full(array.codecs(), element, rank, &Registry::core());
    let codecs = Codecs::of(&codecs, &dtype, &order, rank)?;
    let mut builder = ArrayBuilder2::new(array.shape().to_vec(), array.data_type().clone())
        .chunks(chunks(array.chunk_grid())?)
        .byte_order(order)
        .separator(separator(array.chunk_key_encoding())?)
        .fill(Fill::stored(array.fill_value().clone()))
        .filters(codecs.filters);
    if codecs.fortran {
        builder = builder.fortran_order();
    }
    if let Some(compressor) = codecs.compressor {
        builder = builder.compressor(compressor);
    }
    match array.dimension_names() {
        None => Ok(builder),
        Some(names) => {
            let names: Option<Vec<String>> = names.iter().cloned().collect();
            let message = "format 2 has names for all dimensions or for none";
            Ok(builder.dimension_names(names.ok_or_else(|| cannot(message).at("/dimension_names"))?))
        }
    }
}

fn cannot(message: impl Into<String>) -> MetaError {
    MetaError::new(MetaErrorKind::Unsupported, message)
}

fn chunks(grid: &Extension) -> MetaResult<Vec<u64>> {
    const PLACE: &str = "/chunk_grid";
    if grid.name() != "regular" {
        return Err(cannot(format!("format 2 has no chunk grid {:?}", grid.name())).at(PLACE));
    }
    let shape = grid.configuration().get("chunk_shape");
    let shape = shape.ok_or_else(|| MetaError::invalid("chunk_shape is missing").at(PLACE))?;
    v3::lengths(&shape, PLACE, usize::MAX, &mut Ignore)
}

fn separator(encoding: &Extension) -> MetaResult<char> {
    const PLACE: &str = "/chunk_key_encoding";
    if encoding.name() != "v2" {
        let message =
            format!("the encoding {:?} has other chunk keys, copy the array instead", encoding.name());
        return Err(cannot(message).at(PLACE));
    }
    let configuration = encoding.restated(Some("separator")).configuration();
    match configuration.get("separator").as_ref().map(Value::as_raw) {
        None | Some("\".\"") => Ok('.'),
        Some("\"/\"") => Ok('/'),
        Some(other) => Err(MetaError::invalid(format!("unknown separator {other}")).at(PLACE)),
    }
}

/// Returns the byte order of the elements according to the codec `bytes`.
fn byte_order(codecs: &[Extension]) -> ByteOrder {
    let endian = |value: &Value| if value.as_raw() == "\"big\"" { Endian::Big } else { Endian::Little };
    let bytes = codecs.iter().find(|c| matches!(c.name(), "bytes" | "bytes:fields"));
    let given = bytes.and_then(|c| c.configuration().get("endian"));
    match given.as_ref().map(|given| (given, given.elements())) {
        None => ByteOrder::One(Endian::Little),
        Some((_, Some(fields))) => ByteOrder::Mixed(fields.map(|f| endian(&f)).collect()),
        Some((given, None)) => ByteOrder::One(endian(given)),
    }
}

/// The filters and the compressor that codecs become.
struct Codecs {
    /// The elements that the next filter of numbers encodes; `None` after the array has become bytes.
    stage: Option<Scalar>,
    /// The size in bytes of an item of the buffer that the next codec of bytes encodes.
    items: u64,
    endian: Endian,
    fortran: bool,
    filters: Vec<Value>,
    /// The last codec, if it is a compressor.
    compressor: Option<Value>,
}

impl Codecs {
    /// Converts a list of codecs for chunks of `rank` dimensions.
    fn of(list: &[Extension], dtype: &Dtype, order: &ByteOrder, rank: usize) -> MetaResult<Self> {
        let mut codecs = Self::new(dtype, order)?;
        for (i, codec) in list.iter().enumerate() {
            let raised = if i == 0 && codec.name() == "transpose" {
                codecs.transpose(codec, rank)
            } else {
                codecs.codec(codec)
            };
            raised.map_err(|e| e.at(&pointer::element("/codecs", i)))?;
        }
        Ok(codecs)
    }

    fn new(dtype: &Dtype, order: &ByteOrder) -> MetaResult<Self> {
        Ok(Self {
            stage: if let Dtype::Scalar(scalar) = dtype { Some(*scalar) } else { None },
            items: dtype.size(&Limits::default())?.max(1),
            endian: if let ByteOrder::One(endian) = order { *endian } else { Endian::Little },
            fortran: false,
            filters: Vec::new(),
            compressor: None,
        })
    }

    fn transpose(&mut self, codec: &Extension, rank: usize) -> MetaResult<()> {
        let order = codec.configuration().get("order");
        let order = order.map_or(Ok(Vec::new()), |o| v3::lengths(&o, "/order", usize::MAX, &mut Ignore))?;
        let rank = rank as u64;
        let reversed = order.iter().copied().eq((0..rank).rev());
        if !reversed && !order.iter().copied().eq(0..rank) {
            return Err(cannot("format 2 stores chunks in order C or F only"));
        }
        self.fortran = reversed && rank > 1;
        Ok(())
    }

    fn codec(&mut self, codec: &Extension) -> MetaResult<()> {
        let unknown = || cannot(format!("format 2 has no codec like {:?} here", codec.name()));
        match (codec.name(), role(codec.name())) {
            // Format 2 packs the bits in another order.
            ("numcodecs.packbits", _) => Err(unknown()),
            ("bytes" | "bytes:fields" | "vlen-utf8" | "vlen-bytes", _) => Ok(()),
            ("bitround" | "numcodecs.bitround", _) => self.bitround(codec),
            (name, Some(Role::ArrayArray)) => {
                self.typed(name.strip_prefix("numcodecs.").ok_or_else(unknown)?, codec)
            }
            (name, Some(Role::BytesBytes)) => {
                let raised = byte_codec(codec, self.items)?.ok_or_else(unknown)?;
                // Of two compressors the first becomes a filter.
                self.filters.extend(self.compressor.take());
                match is_compressor(name) {
                    true => self.compressor = Some(raised),
                    false => self.filters.push(raised),
                }
                self.items = 1;
                Ok(())
            }
            _ => Err(unknown()),
        }
    }

    fn bitround(&mut self, codec: &Extension) -> MetaResult<()> {
        match self.stage {
            Some(Scalar { kind: Kind::Core(core), .. }) if core.is_float() => {
                self.filters.push(with_id("bitround", &codec.configuration()));
                Ok(())
            }
            _ => Err(cannot("format 2 rounds floats only")),
        }
    }

    /// Adds a filter of numbers. In format 2 its dtypes have the byte order of the chunk.
    fn typed(&mut self, id: &str, codec: &Extension) -> MetaResult<()> {
        let mut configuration = codec.configuration();
        let (from, to) = match id {
            "astype" => ("decode_dtype", "encode_dtype"),
            _ => ("dtype", "astype"),
        };
        let now = self.stage.ok_or_else(|| cannot("the filter takes numbers only"))?;
        let read = |value: Value| -> MetaResult<Scalar> {
            let scalar = Scalar::parse(&value.to_text()?, &Limits::default(), &mut Ignore)?;
            Ok(if scalar.unit() > 1 { Scalar { endian: self.endian, ..scalar } } else { scalar })
        };
        let taken = configuration.get(from).map_or(Ok(now), read).map_err(|e| e.at("/configuration"))?;
        if taken != now {
            return Err(cannot(format!("the filter expects {taken}, but gets {now}")));
        }
        configuration.set(from, taken.to_string());
        let given = configuration.get(to).map(read).transpose().map_err(|e| e.at("/configuration"))?;
        if let Some(given) = given {
            configuration.set(to, given.to_string());
        }
        let given = given.unwrap_or(now);
        (self.stage, self.items) = (Some(given), u64::from(given.size));
        self.filters.push(with_id(id, &configuration));
        Ok(())
    }
}

fn with_id(id: &str, configuration: &Object) -> Value {
    let mut codec = configuration.clone();
    codec.set("id", id);
    codec.into()
}

/// Returns the filter or compressor for a codec of bytes, or `None` if format 2 has none.
fn byte_codec(codec: &Extension, items: u64) -> MetaResult<Option<Value>> {
    let mut configuration = codec.configuration();
    let id = match codec.name() {
        name @ ("zstd" | "blosc") => {
            complete::to_format_2(name, &mut configuration, items)?;
            name
        }
        "gzip" => "gzip",
        "crc32c" => "crc32c",
        name => match name.strip_prefix("numcodecs.") {
            Some(id) => id,
            None => return Ok(None),
        },
    };
    Ok(Some(with_id(id, &configuration)))
}

/// Whether a codec of bytes is a compressor, not only a checksum or a shuffle.
fn is_compressor(name: &str) -> bool {
    let id = name.strip_prefix("numcodecs.").unwrap_or(name);
    matches!(id, "zstd" | "gzip" | "blosc" | "zlib" | "bz2" | "lzma" | "lz4")
}
