//! Metadata for new arrays of format 2, in the style of zarr-python (checklist H.1, H10, H14).

use zarr_traits::Limits;

use crate::diagnostic::Strict;
use crate::error::{MetaError, MetaResult};
use crate::fill;
use crate::json::{Object, Root, Value};
use crate::lower::DIMENSIONS;
use crate::model::ArrayMeta;
use crate::v2::dtype::{ByteOrder, Dtype, Endian};
use crate::v2::{self, Attributes};
use crate::v3::{Extension, writable};

/// Makes the metadata of a new array of format 2; see [`ArrayMeta::builder_v2`].
///
/// What is not said gets a value that is then recorded: fill value null, no filters, no compressor, order C, little-endian,
/// chunk keys with `.`.
#[derive(Debug, Clone)]
pub struct ArrayBuilder2 {
    shape: Vec<u64>,
    data_type: Extension,
    chunks: Option<Vec<u64>>,
    byte_order: ByteOrder,
    fill_value: Option<Value>,
    filters: Vec<Value>,
    compressor: Option<Value>,
    fortran: bool,
    separator: char,
    attributes: Object,
    dimension_names: Option<Vec<String>>,
}

impl ArrayBuilder2 {
    pub(crate) fn new(shape: Vec<u64>, data_type: Extension) -> Self {
        Self {
            shape,
            data_type,
            chunks: None,
            byte_order: ByteOrder::One(Endian::Little),
            fill_value: None,
            filters: Vec::new(),
            compressor: None,
            fortran: false,
            separator: '.',
            attributes: Object::new(),
            dimension_names: None,
        }
    }

    /// The shape of a chunk, in elements.
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

    /// The element that stands wherever nothing is stored, in the form that it has in a document of format 3.
    #[must_use]
    pub fn fill_value(mut self, value: impl Into<Value>) -> Self {
        self.fill_value = Some(value.into());
        self
    }

    /// What stands wherever nothing is stored is undefined (checklist H.3), as when no fill value is given.
    pub(crate) fn undefined_fill(mut self) -> Self {
        self.fill_value = None;
        self
    }

    /// The filters, objects with an `id`, in the order of encoding. The one that turns strings to bytes is put in front
    /// of them when it is not there.
    #[must_use]
    pub fn filters<V: Into<Value>>(mut self, filters: impl IntoIterator<Item = V>) -> Self {
        self.filters = filters.into_iter().map(Into::into).collect();
        self
    }

    /// The compressor, an object with an `id`.
    #[must_use]
    pub fn compressor(mut self, compressor: impl Into<Value>) -> Self {
        self.compressor = Some(compressor.into());
        self
    }

    /// Stores chunks in order F: the first index is the fastest.
    #[must_use]
    pub fn fortran_order(mut self) -> Self {
        self.fortran = true;
        self
    }

    /// What stands between the numbers in a chunk key: `.` or `/`.
    #[must_use]
    pub fn separator(mut self, separator: char) -> Self {
        self.separator = separator;
        self
    }

    /// The names of the dimensions, which format 2 has among the attributes (checklist J2).
    #[must_use]
    pub fn dimension_names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.dimension_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The attributes.
    ///
    /// # Errors
    /// When `attributes` is no object, or holds what JSON cannot: a bare `NaN`, a lone surrogate.
    pub fn attributes(self, attributes: impl Into<Value>) -> MetaResult<Self> {
        let attributes = writable(&attributes.into())?.as_object().unwrap_or_default();
        Ok(self.attributes_as_they_are(attributes))
    }

    pub(crate) fn attributes_as_they_are(mut self, attributes: Object) -> Self {
        self.attributes = attributes;
        self
    }

    /// The metadata.
    ///
    /// # Errors
    /// When a value is missing, wrong, or has no form in format 2.
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
        // H10: sorted by name.
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
        if *dtype != Dtype::Object {
            return v2::fill::raise(dtype, given);
        }
        let strings =
            if self.data_type.name() == "string" { crate::DataType::String } else { crate::DataType::Bytes };
        fill::write(&strings, &fill::read(&strings, given, &mut Strict)?)
    }

    /// Checklist H.6.
    fn complete_filters(&mut self, dtype: &Dtype) {
        let id = if self.data_type.name() == "string" { "vlen-utf8" } else { "vlen-bytes" };
        let known = self.filters.first().is_some_and(v2::codecs::makes_bytes_of_objects);
        if *dtype == Dtype::Object && !known {
            self.filters.insert(0, Object::from_iter([("id", id)]).into());
        }
    }
}

/// The members of an object sorted by name; anything else as it is.
fn sorted(value: &Value) -> Value {
    let Some(object) = value.as_object() else { return value.clone() };
    let mut members: Vec<(String, Value)> =
        object.members().map(|m| (m.name_lossy().into_owned(), m.value())).collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    Object::from_iter(members).into()
}
