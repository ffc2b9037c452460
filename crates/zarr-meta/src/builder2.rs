//! Metadata for new arrays of format 2, in the style of zarr-python.

use zarr_traits::Limits;

use crate::diagnostic::{Ignore, Sink, Strict};
use crate::error::{MetaError, MetaResult};
use crate::fill;
use crate::json::{Object, Root, Value};
use crate::lower::DIMENSIONS;
use crate::model::ArrayMeta;
use crate::v2::dtype::{ByteOrder, Dtype, Endian};
use crate::v2::{self, Attributes};
use crate::v3::{Extension, writable};

/// A builder of the metadata of a new array of format 2; see [`ArrayMeta::builder_v2`].
///
/// Defaults are written into the document: fill value null, no filters, no compressor, order C, little-endian, chunk
/// keys with `.`.
#[derive(Debug, Clone)]
pub struct ArrayBuilder2 {
    shape: Vec<u64>,
    data_type: Extension,
    chunks: Option<Vec<u64>>,
    byte_order: ByteOrder,
    fill_value: Option<Value>,
    /// Whether the fill value is that of a stored array, whose tolerated forms are no errors.
    fill_is_stored: bool,
    filters: Vec<Value>,
    compressor: Option<Value>,
    fortran: bool,
    separator: char,
    attributes: Object,
    dimension_names: Option<Vec<String>>,
}

impl ArrayMeta {
    /// Returns a builder of metadata for a new array of format 2. The data type and the fill value are given as in
    /// format 3, filters and compressor as in format 2.
    ///
    /// ```
    /// use zarr_meta::{ArrayMeta, DocumentName, v3::Extension};
    /// use serde_json::json;
    ///
    /// let meta = ArrayMeta::builder_v2([1000, 1000], Extension::new("float32"))
    ///     .chunks([100, 100])
    ///     .fill_value("NaN")
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
            fill_value: None,
            fill_is_stored: false,
            filters: Vec::new(),
            compressor: None,
            fortran: false,
            separator: '.',
            attributes: Object::new(),
            dimension_names: None,
        }
    }

    /// Sets the shape of a chunk in elements.
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

    /// Sets the fill value, in the form of a document of format 3.
    #[must_use]
    pub fn fill_value(mut self, value: impl Into<Value>) -> Self {
        (self.fill_value, self.fill_is_stored) = (Some(value.into()), false);
        self
    }

    /// Sets the fill value of a stored array, which may have a tolerated form.
    pub(crate) fn stored_fill_value(mut self, value: &Value) -> Self {
        (self.fill_value, self.fill_is_stored) = (Some(value.clone()), true);
        self
    }

    /// Leaves elements of chunks that are not stored undefined: the fill value is null.
    #[must_use]
    pub fn undefined_fill(mut self) -> Self {
        self.fill_value = None;
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

    /// Sets the attributes.
    ///
    /// # Errors
    /// If `attributes` is not an object, or has a value that JSON cannot represent: a bare `NaN`, a lone surrogate.
    pub fn attributes(self, attributes: impl Into<Value>) -> MetaResult<Self> {
        let attributes = writable(&attributes.into())?.as_object().unwrap_or_default();
        Ok(self.attributes_as_they_are(attributes))
    }

    pub(crate) fn attributes_as_they_are(mut self, attributes: Object) -> Self {
        self.attributes = attributes;
        self
    }

    /// Returns the metadata.
    ///
    /// # Errors
    /// If a value is missing, wrong, or cannot be represented in format 2.
    pub fn build(mut self) -> MetaResult<ArrayMeta> {
        let limits = Limits::default();
        let chunks = self.chunks.take().ok_or_else(|| MetaError::argument("the chunk shape is not given"))?;
        let dtype = Dtype::of(&self.data_type, &self.byte_order, &limits).map_err(|e| e.at("/data_type"))?;
        let fill_value = self.fill(&dtype).map_err(|e| e.at("/fill_value"))?;
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

    fn fill(&self, dtype: &Dtype) -> MetaResult<Value> {
        let Some(given) = &self.fill_value else { return Ok(Value::from(None::<bool>)) };
        let sink: &mut dyn Sink = if self.fill_is_stored { &mut Ignore } else { &mut Strict };
        if *dtype != Dtype::Object {
            return v2::fill::raise(dtype, given, sink);
        }
        let strings =
            if self.data_type.name() == "string" { crate::DataType::String } else { crate::DataType::Bytes };
        fill::write(&strings, &fill::read(&strings, given, sink)?)
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
