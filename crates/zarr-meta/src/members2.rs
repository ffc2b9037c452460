//! Changes members of the document of an array of format 2.

use zarr_traits::Limits;

use crate::diagnostic::Ignore;
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value};
use crate::model::ArrayMeta;
use crate::v2::{self, Dtype, codecs, tolerated};

/// Members of a `.zarray` that define how elements are stored. A member that is `None` stays as it is.
///
/// ```
/// use zarr_meta::{ArrayMeta, Members2, v3::Extension};
/// use zarr_meta::json;
///
/// let meta = ArrayMeta::builder_v2([1000], Extension::new("float32")).chunks([100]).build()?;
/// let zlib = Members2::default().compressor(json!({ "id": "zlib", "level": 5 }));
/// assert_eq!(meta.with_members2(&zlib)?.document().codecs().len(), 2);
/// # Ok::<(), zarr_meta::MetaError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Members2 {
    /// The shape of a chunk.
    pub chunks: Option<Vec<u64>>,
    /// The data type with its byte order.
    pub dtype: Option<Value>,
    /// The order of the elements in a chunk: `"C"` or `"F"`.
    pub order: Option<Value>,
    /// A list of filters, or null. In an array of objects the present filter that turns objects into bytes stays first,
    /// unless the list begins with such a filter.
    pub filters: Option<Value>,
    /// The compressor, or null.
    pub compressor: Option<Value>,
    /// The fill value, or null.
    pub fill_value: Option<Value>,
}

impl Members2 {
    /// Sets the shape of a chunk.
    #[must_use]
    pub fn chunks(self, chunks: impl Into<Vec<u64>>) -> Self {
        Self { chunks: Some(chunks.into()), ..self }
    }

    /// Sets the data type with its byte order.
    #[must_use]
    pub fn dtype(self, dtype: impl Into<Value>) -> Self {
        Self { dtype: Some(dtype.into()), ..self }
    }

    /// Sets the order of the elements in a chunk: `"C"` or `"F"`.
    #[must_use]
    pub fn order(self, order: impl Into<Value>) -> Self {
        Self { order: Some(order.into()), ..self }
    }

    /// Sets the list of filters, or null.
    #[must_use]
    pub fn filters(self, filters: impl Into<Value>) -> Self {
        Self { filters: Some(filters.into()), ..self }
    }

    /// Sets the compressor, or null.
    #[must_use]
    pub fn compressor(self, compressor: impl Into<Value>) -> Self {
        Self { compressor: Some(compressor.into()), ..self }
    }

    /// Sets the fill value, or null.
    #[must_use]
    pub fn fill_value(self, fill_value: impl Into<Value>) -> Self {
        Self { fill_value: Some(fill_value.into()), ..self }
    }
}

impl ArrayMeta {
    /// Returns this array of format 2 with other members in its document. All other text is kept, except for members of
    /// filters and the compressor in a tolerated form: they get the form that numcodecs defines.
    ///
    /// # Errors
    /// If the array is of another format, or the document is not valid with these members.
    pub fn with_members2(&self, members: &Members2) -> MetaResult<Self> {
        let (mut root, attributes) =
            self.documents2().ok_or_else(|| MetaError::argument("the array is not of format 2"))?;
        let limits = Limits::unlimited();
        let lengths = |lengths: &Vec<u64>| lengths.iter().copied().collect::<Value>();
        let dtype =
            root.members.get("dtype").and_then(|dtype| Dtype::parse(&dtype, &limits, &mut Ignore).ok());
        let old = root.members.get("filters").filter(|_| dtype == Some(Dtype::Object));
        let filters = members.filters.as_ref().map(|new| filters(old.as_ref(), new));
        let netcdf = dtype.and_then(|dtype| tolerated::netcdf_size(&dtype, &limits));
        for (name, value) in [
            ("chunks", members.chunks.as_ref().map(lengths)),
            ("dtype", members.dtype.clone()),
            ("order", members.order.clone()),
            ("filters", filters),
            ("compressor", members.compressor.clone()),
            ("fill_value", members.fill_value.clone()),
        ] {
            value.into_iter().for_each(|value| root.members.set(name, value));
        }
        restate(&mut root.members, netcdf);
        let (root, array) = v2::Array::parse(root.to_text().as_bytes(), &limits, &mut Ignore)?;
        Self::of_v2(root, &array, attributes, &limits, &mut Ignore)
    }
}

/// Gives filters and compressor the form that numcodecs defines. One that has this form keeps its spelling.
fn restate(members: &mut Object, netcdf: Option<u64>) {
    let strict = |codec: Value| tolerated::restated(&codec, netcdf);
    let compressor = members.get("compressor").map(strict);
    let filters = members.get("filters").and_then(|filters| Some(filters.elements()?.map(strict).collect()));
    for (name, new) in [("compressor", compressor), ("filters", filters)] {
        if let Some(new) = new.filter(|new: &Value| members.get(name).as_ref() != Some(new)) {
            members.set(name, new);
        }
    }
}

/// Returns the new filters, preceded by the old object codec if they lack one.
fn filters(old: Option<&Value>, new: &Value) -> Value {
    let first = |filters: &Value| filters.elements()?.next().filter(codecs::makes_bytes_of_objects);
    match old.and_then(first).filter(|_| first(new).is_none()) {
        Some(needed) => std::iter::once(needed).chain(new.elements().into_iter().flatten()).collect(),
        None => new.clone(),
    }
}
