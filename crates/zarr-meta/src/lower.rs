//! Converts the documents of formats 1 and 2 to the model of format 3.
//!
//! Rules: [from format 2 to format 3](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/format-2.md#h.9).

use zarr_traits::Limits;

use crate::diagnostic::{Below, Capped, Code, Diagnostic, Ignore, Sink};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value};
use crate::v2::{self, Array, Dtype, Objects, Origin, Strings};
use crate::v3::{ArrayDocument, Extension};

/// The attribute in which xarray stores the names of dimensions before format 3.
pub const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Returns the chunk key encoding of formats 1 and 2.
pub(crate) fn chunk_keys(separator: char) -> Extension {
    Extension::new("v2").with("separator", separator.to_string())
}

/// Facts about an array of format 1 or 2 that its model of format 3 does not have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lowered {
    /// Whether the fill value is null.
    pub(crate) fill_is_undefined: bool,
    /// Why the model cannot be a document of format 3.
    pub(crate) obstacles: Vec<String>,
    /// The origin of each codec of the model.
    pub(crate) origins: Vec<Origin>,
    /// Whether the document is of format 1, which has no filters and other members for the compressor.
    is_format_1: bool,
    /// Why the chunks cannot be read. The model then has the dtype and the fill value of the document.
    pub(crate) refusal: Option<MetaError>,
}

/// The members of the model that depend on the dtype.
struct Meaning {
    data_type: Value,
    fill_value: Value,
    codecs: Vec<Extension>,
    origins: Vec<Origin>,
    obstacles: Vec<String>,
}

impl Lowered {
    /// Returns the same facts for an array of format 1 that was read as format 2.
    pub(crate) fn of_format_1(self) -> Self {
        let refusal = self.refusal.map(|e| {
            let place = compression(e.pointer());
            e.moved(place)
        });
        Self { is_format_1: true, refusal, ..self }
    }

    /// Returns the pointer into the older document for `pointer` into the model, and the id of the filter or compressor
    /// at that place.
    fn origin(&self, pointer: &str) -> (String, Option<&str>) {
        let (member, rest) = step(pointer);
        let place = match member {
            "data_type" => "/dtype",
            "chunk_grid" => "/chunks",
            "chunk_key_encoding" => "/dimension_separator",
            "codecs" => return self.origin_of_codec(rest),
            _ => pointer,
        };
        (place.to_owned(), None)
    }

    fn origin_of_codec(&self, pointer: &str) -> (String, Option<&str>) {
        let (number, rest) = step(pointer);
        match number.parse::<usize>().ok().and_then(|i| self.origins.get(i)) {
            Some(Origin { place, id: Some(id) }) => {
                // The older document has the members of the configuration next to the id.
                let place = format!("{place}{}", rest.strip_prefix("/configuration").unwrap_or(rest));
                (if self.is_format_1 { compression(&place) } else { place }, Some(id))
            }
            Some(Origin { place, id: None }) => (place.clone(), None),
            None => (String::new(), None),
        }
    }

    /// Returns an error about the model as one about the older document, with its members and codec ids.
    pub(crate) fn restate(&self, e: MetaError) -> MetaError {
        match self.origin(e.pointer()) {
            (place, Some(id)) if e.kind() == MetaErrorKind::UnknownExtension => {
                MetaError::new(e.kind(), format!("cannot be understood: unknown codec {id:?}")).at(&place)
            }
            (place, _) => e.moved(place),
        }
    }
}

/// Returns the pointer of format 1 that corresponds to `pointer` of format 2.
fn compression(pointer: &str) -> String {
    match pointer.strip_prefix("/compressor") {
        None => pointer.to_owned(),
        Some("") => "/compression".to_owned(),
        Some(rest) => format!("/compression_opts{rest}"),
    }
}

/// Splits a pointer into its first step and the rest.
fn step(pointer: &str) -> (&str, &str) {
    let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
    pointer.split_at(pointer.find('/').unwrap_or(pointer.len()))
}

/// A sink that turns reports about the model into reports about the older document.
pub(crate) struct Restated<'a> {
    pub(crate) lowered: &'a Lowered,
    pub(crate) sink: &'a mut dyn Sink,
}

impl Sink for Restated<'_> {
    fn report(&mut self, diagnostic: Diagnostic) -> MetaResult<()> {
        let pointer = self.lowered.origin(&diagnostic.pointer).0;
        self.sink.report(Diagnostic { pointer, ..diagnostic })
    }
}

/// Returns the model of an array of format 1 or 2. A dtype, codec or fill value that cannot be understood becomes a
/// [`refusal`](Lowered::refusal), so that the array can still be listed.
pub(crate) fn lower(
    array: &Array,
    attributes: &Object,
    strings: Strings,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> MetaResult<(ArrayDocument, Lowered)> {
    let mut notes: Vec<Diagnostic> = Vec::new();
    let (meaning, refusal) = match meaning(array, strings, limits, &mut Capped::new(&mut notes)) {
        Ok(meaning) => (meaning, None),
        Err(e) => (as_it_stands(array), Some(e)),
    };
    notes.into_iter().try_for_each(|note| sink.report(note))?;
    let fill_is_undefined = array.fill_value.is_null();
    if fill_is_undefined {
        let message = "the fill value is null: elements that are not stored are undefined and read as zero";
        sink.report(Diagnostic::new(Code::UndefinedFill, "/fill_value", message))?;
    }

    let lengths = |lengths: &[u64]| lengths.iter().copied().collect::<Value>();
    let mut model = Object::new();
    model.set("zarr_format", 3);
    model.set("node_type", "array");
    model.set("shape", lengths(&array.shape));
    model.set("data_type", meaning.data_type);
    model.set("chunk_grid", Extension::new("regular").with("chunk_shape", lengths(&array.chunks)));
    model.set("chunk_key_encoding", chunk_keys(array.separator));
    model.set("fill_value", meaning.fill_value);
    model.set("codecs", meaning.codecs);
    model.set("attributes", attributes);
    if let Some(names) = dimension_names(attributes, array.shape.len()) {
        model.set("dimension_names", names);
    }
    let document = ArrayDocument::new(&model.to_value(), limits, &mut Ignore)?;
    let Meaning { obstacles, origins, .. } = meaning;
    Ok((document, Lowered { fill_is_undefined, obstacles, origins, is_format_1: false, refusal }))
}

/// Returns the names of the dimensions if the attributes of an array of `rank` dimensions have one for each.
pub(crate) fn dimension_names(attributes: &Object, rank: usize) -> Option<Vec<String>> {
    let names = attributes.get(DIMENSIONS)?;
    let names = names.elements()?.map(|name| Some(name.to_text().ok()?.into_owned()));
    let names = names.take(rank + 1).collect::<Option<Vec<_>>>()?;
    (rank > 0 && names.len() == rank).then_some(names)
}

fn meaning(array: &Array, strings: Strings, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Meaning> {
    let dtype = Dtype::parse(&array.dtype, limits, &mut Below::member("/dtype", &mut *sink));
    let dtype = dtype.map_err(|e| e.at("/dtype"))?;
    let codecs = v2::codecs::lower(array, &dtype, limits, sink)?;
    let (fill, sink) = (&array.fill_value, &mut Below::member("/fill_value", sink));
    let (fill_value, data_type, private) = match codecs.objects {
        None => {
            let (data_type, private) = dtype.data_type();
            (v2::fill::lower(&dtype, fill, strings, sink), data_type, private)
        }
        Some(Objects::Text) => (v2::fill::lower_text(fill, sink).map(Value::from), "string".into(), false),
        Some(Objects::Bytes) => (v2::fill::lower_bytes(fill, sink), "bytes".into(), false),
        Some(Objects::Any) => (Ok(fill.clone()), Extension::new("numcodecs:object").into(), true),
    };
    let mut obstacles = codecs.obstacles;
    if private {
        obstacles.push(format!("no registered data type corresponds to {}", array.dtype.summary()));
    }
    let fill_value = fill_value.map_err(|e| e.at("/fill_value"))?;
    Ok(Meaning { data_type, fill_value, codecs: codecs.list, origins: codecs.origins, obstacles })
}

fn as_it_stands(array: &Array) -> Meaning {
    let dtype = array.dtype.to_text().map_or_else(|_| array.dtype.to_compact(), |text| text.into_owned());
    Meaning {
        data_type: dtype.into(),
        fill_value: array.fill_value.clone(),
        codecs: Vec::new(),
        origins: Vec::new(),
        obstacles: vec!["the array cannot be understood".to_owned()],
    }
}
