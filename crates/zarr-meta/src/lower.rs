//! From the documents of formats 1 and 2 to the model of format 3 (checklist H.9).

use zarr_traits::Limits;

use crate::diagnostic::{Ignore, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value};
use crate::v2;
use crate::v3::{ArrayDocument, Extension};

/// What a model of format 3 does not say about the array that it was made from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lowered {
    /// The fill value is null (checklist G11).
    pub(crate) fill_is_undefined: bool,
    /// What keeps the model from being a document of format 3.
    pub(crate) obstacles: Vec<String>,
    /// Why the chunks cannot be read; the model then names the dtype as it stands.
    pub(crate) refusal: Option<MetaError>,
}

/// The model of an array of format 2.
pub(crate) fn lower(
    array: &v2::Array,
    attributes: &Object,
    limits: &Limits,
    _sink: &mut dyn Sink,
) -> MetaResult<(ArrayDocument, Lowered)> {
    let refusal = MetaError::new(MetaErrorKind::Unsupported, "format 2 is not supported yet");
    let dtype = array.dtype.to_text().map_or_else(|_| array.dtype.to_compact(), |t| t.into_owned());
    let mut model = Object::new();
    model.set("zarr_format", 3);
    model.set("node_type", "array");
    model.set("shape", array.shape.iter().copied().collect::<Value>());
    model.set("data_type", Extension::new(dtype));
    let chunks = array.chunks.iter().copied().collect::<Value>();
    model.set("chunk_grid", Extension::new("regular").with("chunk_shape", chunks));
    let separator = array.separator.to_string();
    model.set("chunk_key_encoding", Extension::new("v2").with("separator", separator));
    model.set("fill_value", &array.fill_value);
    model.set("codecs", Vec::<Value>::new());
    model.set("attributes", attributes);
    let document = ArrayDocument::new(&model.to_value(), limits, &mut Ignore)?;
    Ok((document, Lowered { refusal: Some(refusal), ..Lowered::default() }))
}
