//! Metadata for new arrays of format 2, in the style of zarr-python.

use zarr_traits::extension::Context;
use zarr_traits::{DataType, Limits, Registry};

use crate::DATA_TYPES;
use crate::diagnostic::{Ignore, Sink, Strict};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::fill::{self, Fill};
use crate::json::{Object, Value};
use crate::lower::DIMENSIONS;
use crate::model::ArrayMeta;
use crate::root::Root;
use crate::shapes::Shapes;
use crate::v2::dtype::{ByteOrder, Dtype, Endian, data_type_of_dtype};
use crate::v2::{self, Attributes};
use crate::v3::{Extension, writable};

/// A builder of the metadata of a new array of format 2; see [`ArrayMeta::builder_v2`].
///
/// Its methods have the names of [`ArrayBuilder`](crate::ArrayBuilder) where both formats have the same. Defaults are
/// written into the document: fill value null, no filters, no compressor, order C, little-endian, chunk keys with `.`.
///
/// Only [`build`](Self::build) checks the values; the other methods store them.
#[derive(Debug, Clone)]
pub struct ArrayBuilder2 {
    shape: Vec<u64>,
    data_type: Extension,
    chunks: Option<Vec<u64>>,
    byte_order: ByteOrder,
    fill: Option<Fill>,
    filters: Vec<Value>,
    compressor: Option<Value>,
    fortran: bool,
    separator: char,
    /// The attributes from the caller; those of a stored array are kept as they are.
    given: Option<Value>,
    attributes: Object,
    dimension_names: Option<Vec<String>>,
}

impl ArrayMeta {
    /// Returns a builder of metadata for a new array of format 2. The fill value is given as in format 3, filters and
    /// compressor as in format 2. The data type is a [`DataType`], its name in format 3, or a type string of NumPy such as
    /// `>i2`, which also has the byte order.
    ///
    /// ```
    /// use zarr_meta::{ArrayMeta, DataType, DocumentName, json};
    ///
    /// let meta = ArrayMeta::builder_v2([1000, 1000], DataType::Float32)
    ///     .chunks([100, 100])
    ///     .fill(f32::NAN)
    ///     .compressor(json!({ "id": "zstd", "level": 3 }))
    ///     .dimension_names(["y", "x"])
    ///     .build()?;
    /// assert_eq!(meta.documents()[0].0, DocumentName::Array2);
    /// # Ok::<(), zarr_meta::MetaError>(())
    /// ```
    pub fn builder_v2(shape: impl Into<Vec<u64>>, data_type: impl Into<Extension>) -> ArrayBuilder2 {
        ArrayBuilder2::new(shape.into(), data_type.into())
    }
}

impl ArrayBuilder2 {
    pub(crate) fn new(shape: Vec<u64>, data_type: Extension) -> Self {
        Self {
            shape,
            data_type,
            chunks: None,
            byte_order: ByteOrder::One(Endian::Little),
            fill: None,
            filters: Vec::new(),
            compressor: None,
            fortran: false,
            separator: '.',
            given: None,
            attributes: Object::new(),
            dimension_names: None,
        }
    }

    /// Sets the shape of the array.
    #[must_use]
    pub fn shape(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.shape = shape.into();
        self
    }

    /// Sets the shape of a chunk in elements. By default an array of up to 1 MiB is one chunk, and a larger one has chunks
    /// of up to 512 KiB.
    #[must_use]
    pub fn chunks(mut self, shape: impl Into<Vec<u64>>) -> Self {
        self.chunks = Some(shape.into());
        self
    }

    /// Stores numbers with the most significant byte first.
    #[must_use]
    pub fn big_endian(self) -> Self {
        self.byte_order(ByteOrder::One(Endian::Big))
    }

    pub(crate) fn byte_order(mut self, order: ByteOrder) -> Self {
        self.byte_order = order;
        self
    }

    /// Sets the fill value, the value of all elements that are not stored. A JSON form is that of format 3.
    #[must_use]
    pub fn fill(mut self, fill: impl Into<Fill>) -> Self {
        self.fill = Some(fill.into());
        self
    }

    /// Leaves elements of chunks that are not stored undefined: the fill value is null.
    #[must_use]
    pub fn undefined_fill(mut self) -> Self {
        self.fill = None;
        self
    }

    /// Sets the filters, objects with an `id`, in the order of encoding. For strings the filter that turns them into
    /// bytes is put first if it is missing.
    #[must_use]
    pub fn filters<V: Into<Value>>(mut self, filters: impl IntoIterator<Item = V>) -> Self {
        self.filters = filters.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the compressor, an object with an `id`.
    #[must_use]
    pub fn compressor(mut self, compressor: impl Into<Value>) -> Self {
        self.compressor = Some(compressor.into());
        self
    }

    /// Stores chunks in order F: the first index varies fastest.
    #[must_use]
    pub fn fortran_order(mut self) -> Self {
        self.fortran = true;
        self
    }

    /// Sets the separator of the numbers in a chunk key: `.` or `/`.
    #[must_use]
    pub fn separator(mut self, separator: char) -> Self {
        self.separator = separator;
        self
    }

    /// Sets the names of the dimensions. Format 2 has them in the attribute `_ARRAY_DIMENSIONS`.
    #[must_use]
    pub fn dimension_names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.dimension_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the attributes, which must be an object.
    #[must_use]
    pub fn attributes(mut self, attributes: impl Into<Value>) -> Self {
        self.given = Some(attributes.into());
        self
    }

    pub(crate) fn attributes_as_they_are(mut self, attributes: Object) -> Self {
        self.attributes = attributes;
        self
    }

    /// Returns the metadata.
    ///
    /// # Errors
    /// If a value is missing, wrong, or cannot be represented in format 2; if attributes are not an object, or have a value
    /// that JSON cannot represent: a bare `NaN`, a lone surrogate.
    pub fn build(mut self) -> MetaResult<ArrayMeta> {
        let limits = Limits::default();
        if let Some(given) = self.given.take() {
            self.attributes = writable(&given)?.as_object().unwrap_or_default();
        }
        self.resolve_type_string().map_err(|e| e.at("/data_type"))?;
        let dtype = Dtype::of(&self.data_type, &self.byte_order, &limits).map_err(|e| e.at("/data_type"))?;
        let chunks = match self.chunks.take() {
            Some(chunks) => chunks,
            None => Shapes::without_shards(&self.shape, dtype.size(&limits)?),
        };
        let fill_value = self.fill_value(&dtype).map_err(|e| e.at("/fill_value"))?;
        self.complete_filters(&dtype);
        if let Some(names) = &self.dimension_names {
            if names.len() != self.shape.len() {
                let (rank, got) = (self.shape.len(), names.len());
                return Err(MetaError::argument(format!("{rank} dimensions, but {got} names are given")));
            }
            self.attributes.set(DIMENSIONS, names.iter().collect::<Value>());
        }
        let lengths = |lengths: &[u64]| lengths.iter().copied().collect::<Value>();
        // zarr-python sorts the members by name.
        let mut array = Object::new();
        array.set("chunks", lengths(&chunks));
        array.set("compressor", self.compressor.as_ref().map(sorted));
        array.set("dimension_separator", self.separator.to_string());
        array.set("dtype", dtype.to_value());
        array.set("fill_value", fill_value);
        let filters: Vec<Value> = self.filters.iter().map(sorted).collect();
        array.set("filters", (!filters.is_empty()).then_some(filters));
        array.set("order", if self.fortran { "F" } else { "C" });
        array.set("shape", lengths(&self.shape));
        array.set("zarr_format", 2);
        let root = Root::laid_out(&array.to_value());
        let parsed = v2::Array::parse(root.to_text().as_bytes(), &limits, &mut Strict)?.1;
        ArrayMeta::of_v2(root, &parsed, Attributes::new(&self.attributes), &limits, &mut Strict)?.understood()
    }

    /// Replaces a type string of NumPy by the data type and the byte order that it means.
    fn resolve_type_string(&mut self) -> MetaResult<()> {
        let name = self.data_type.name();
        let of = |text: &str| data_type_of_dtype(&text.into(), &Limits::default());
        if name.starts_with(['<', '>', '|']) {
            let (data_type, is_big) = of(name)?;
            self.data_type = data_type;
            if is_big {
                self.byte_order = ByteOrder::One(Endian::Big);
            }
            return Ok(());
        }
        // `S4` has no byte order, but `i2` could have either.
        match of(&format!("<{name}")) {
            Ok((data_type, _)) if of(name).is_ok() => self.data_type = data_type,
            Ok((data_type, _)) => {
                let message = format!(
                    "data type {name:?} has no byte order, give \"<{name}\", \">{name}\" or the name {:?}",
                    data_type.name()
                );
                return Err(MetaError::argument(message));
            }
            Err(_) => {}
        }
        Ok(())
    }

    fn fill_value(&self, dtype: &Dtype) -> MetaResult<Value> {
        let Some(given) = &self.fill else { return Ok(Value::from(None::<bool>)) };
        let data_type = || {
            let (registry, limits) = (Registry::core().overriding(DATA_TYPES), Limits::default());
            let built = registry.data_type(&self.data_type.to_spec(), &Context::new(&registry, &limits));
            let unknown = |e| MetaError::new(MetaErrorKind::UnknownExtension, "the data type").with_source(e);
            built.map(|(data_type, _)| data_type).map_err(unknown)
        };
        let (given, is_stored) = given.json(data_type)?;
        let sink: &mut dyn Sink = if is_stored { &mut Ignore } else { &mut Strict };
        if *dtype != Dtype::Object {
            return v2::fill::raise(dtype, &given, sink);
        }
        let strings = if self.data_type.name() == "string" { DataType::String } else { DataType::Bytes };
        fill::write(&strings, &fill::read(&strings, &given, sink)?)
    }

    /// Inserts the filter that turns objects into bytes, if the dtype is an object and the filter is missing.
    fn complete_filters(&mut self, dtype: &Dtype) {
        let id = if self.data_type.name() == "string" { "vlen-utf8" } else { "vlen-bytes" };
        let known = self.filters.first().is_some_and(v2::codecs::makes_bytes_of_objects);
        if *dtype == Dtype::Object && !known {
            self.filters.insert(0, Object::from_iter([("id", id)]).into());
        }
    }
}

/// Returns an object with its members sorted by name, and any other value unchanged.
fn sorted(value: &Value) -> Value {
    let Some(object) = value.as_object() else { return value.clone() };
    let mut members: Vec<(String, Value)> =
        object.members().map(|m| (m.name_lossy().into_owned(), m.value())).collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    Object::from_iter(members).into()
}
