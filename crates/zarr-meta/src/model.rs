//! What the rest of the workspace sees of an array's metadata, whatever the version of its documents.

use std::sync::Arc;

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use zarr_traits::{ChunkGrid, CodecError, CodecErrorKind, DataType, KeyEncoding, Limits, Registry};

use crate::builder::ArrayBuilder;
use crate::builder2::ArrayBuilder2;
use crate::diagnostic::{Code, Diagnostic, Sink};
use crate::documents::{DocumentName, Format};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Root, Value, pointer};
use crate::lower::{self, Lowered, Restated};
use crate::raise;
use crate::resolve::{self, Resolved};
use crate::v1;
use crate::v2::{self, Attributes, Strings};
use crate::v3::{ArrayDocument, Extension};

/// The metadata of an array: documents, kept as they are spelled, with the model of version 3 on top.
///
/// [`builder`](Self::builder) makes new metadata, [`parse`](Self::parse) reads stored metadata, and
/// [`resolve`](Self::resolve) looks up what it names. An array of format 1 or 2 keeps its own documents, and beside them
/// what they mean as a [`document`](Self::document) of format 3.
#[derive(Debug, Clone)]
pub struct ArrayMeta {
    document: ArrayDocument,
    old: Option<Box<Old>>,
}

/// What an array of format 1 or 2 has in the store, and what its model does not say.
#[derive(Debug, Clone)]
struct Old {
    format: Format,
    array: Root,
    attributes: Attributes,
    lowered: Lowered,
    /// Of chunk keys, where the document did not say it.
    assumed_separator: Option<char>,
}

impl ArrayMeta {
    /// Metadata for a new array.
    ///
    /// ```
    /// use zarr_meta::{ArrayMeta, DataType, v3::Extension};
    /// use serde_json::json;
    ///
    /// let meta = ArrayMeta::builder([1000, 1000], DataType::Float32)
    ///     .chunks([100, 100])
    ///     .shards([500, 500])
    ///     .fill(f32::NAN)
    ///     .codecs([Extension::new("zstd").with("level", 3).with("checksum", false)])
    ///     .dimension_names(["y", "x"])
    ///     .attributes(json!({ "units": "K" }))
    ///     .build()?;
    /// assert_eq!(meta.document().codecs()[0].name(), "sharding_indexed");
    /// # Ok::<(), zarr_meta::MetaError>(())
    /// ```
    pub fn builder(shape: impl Into<Vec<u64>>, data_type: DataType) -> ArrayBuilder {
        ArrayBuilder::new(shape.into(), data_type)
    }

    /// Metadata for a new array of format 2. The data type and the fill value are given as in format 3, filters and
    /// compressor as in format 2.
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

    /// Reads a `zarr.json`, tolerantly; what was tolerated is reported to `sink`.
    ///
    /// # Errors
    /// When it is no valid document of an array, exceeds `limits`, or `sink` says so.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        ArrayDocument::parse(bytes, limits, sink).map(Self::from)
    }

    /// Reads the documents of an array of format 2, `.zarray` and, where there is one, `.zattrs`, tolerantly; what was
    /// tolerated is reported to `sink`. A dtype, codec or fill value that cannot be understood is an error of
    /// [`resolve`](Self::resolve).
    ///
    /// # Errors
    /// When `array` is no valid document of an array of format 2 (checklist H.1), exceeds `limits`, or `sink` says so.
    pub fn parse_v2(
        array: &[u8],
        attributes: Option<&[u8]>,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> MetaResult<Self> {
        let (root, array) = v2::Array::parse(array, limits, sink)?;
        let attributes = Attributes::parse(DocumentName::Attributes2, attributes, limits, sink)?;
        Self::of_v2(root, &array, attributes, limits, sink)
    }

    pub(crate) fn of_v2(
        root: Root,
        array: &v2::Array,
        attributes: Attributes,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> MetaResult<Self> {
        let (document, lowered) = lower::lower(array, &attributes.object(), Strings::Base64, limits, sink)?;
        let old = Old { format: Format::V2, array: root, attributes, lowered, assumed_separator: None };
        Ok(Self { document, old: Some(Box::new(old)) })
    }

    /// Reads the documents of an array of format 1, `meta` and `attrs`, tolerantly; what was tolerated is reported to
    /// `sink`. Arrays of order `"F"` whose compression is not blosc are read as zarr-python 1 has written them, in C
    /// order, unless they are to be taken by the letter: `literal` (checklist I8).
    ///
    /// # Errors
    /// When `array` is no valid document of an array of format 1 (checklist I), exceeds `limits`, or `sink` says so.
    pub fn parse_v1(
        array: &[u8],
        attributes: Option<&[u8]>,
        literal: bool,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> MetaResult<Self> {
        let (root, array) = v1::parse(array, literal, limits, sink)?;
        if attributes.is_none() {
            let message = format!("there is no {}, read as {{}}", DocumentName::Attributes1);
            sink.report(Diagnostic::new(Code::MissingAttributes, "/attributes", message))?;
        }
        let attributes = Attributes::parse(DocumentName::Attributes1, attributes, limits, sink)?;
        let (document, lowered) = lower::lower(&array, &attributes.object(), Strings::Unknown, limits, sink)?;
        let old = Old {
            format: Format::V1,
            array: root,
            attributes,
            lowered: lowered.of_format_1(),
            assumed_separator: None,
        };
        Ok(Self { document, old: Some(Box::new(old)) })
    }

    /// The version of the format.
    pub fn format(&self) -> Format {
        self.old.as_ref().map_or(Format::V3, |old| old.format)
    }

    /// Looks up the data type, chunk grid, key encoding, codecs and storage transformers, and reads the fill value. What
    /// was tolerated is reported to `sink`.
    ///
    /// # Errors
    /// Of kind [`UnknownExtension`](crate::MetaErrorKind::UnknownExtension) when the registry does not know a name that
    /// must be understood; of kind [`Invalid`](crate::MetaErrorKind::Invalid) for a configuration or a fill value that is
    /// refused and for codecs out of order; and what `sink` answers.
    pub fn resolve(&self, registry: &Registry, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Resolved> {
        let Some(Old { lowered, .. }) = self.old.as_deref() else {
            return resolve::resolve(&self.document, &registry.public(), limits, sink);
        };
        match &lowered.refusal {
            None => resolve::resolve(&self.document, registry, limits, &mut Restated { lowered, sink })
                .map_err(|e| lowered.restate(e)),
            Some(refusal) => Err(refusal.clone()),
        }
    }

    /// This array as one of format 3, chunks untouched. The names of dimensions that format 2 has among the attributes
    /// become `dimension_names`; the attribute is kept beside them where `keep_attribute` says so (checklist H.9).
    ///
    /// A [fill value that is undefined](Self::fill_is_undefined) becomes zero, an empty string or NaT.
    ///
    /// # Errors
    /// The first of the [obstacles](Self::v3_obstacles), and what makes the array or its attributes unreadable.
    pub fn to_v3(&self, keep_attribute: bool) -> MetaResult<Self> {
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        let mut meta = self.clone().understood()?;
        if let Some(obstacle) = self.v3_obstacles().first() {
            let message = format!("cannot become an array of format 3 without new chunks: {obstacle}");
            return Err(MetaError::new(MetaErrorKind::Unsupported, message));
        }
        if self.names_are_an_attribute() && !keep_attribute {
            meta.document.edit_attributes(|attributes| attributes.remove(lower::DIMENSIONS));
        }
        meta.old = None;
        Ok(meta)
    }

    /// Whether the names of dimensions are among the attributes, as before format 3. Those of no dimensions are an empty list
    /// there, and nothing in format 3.
    pub(crate) fn names_are_an_attribute(&self) -> bool {
        self.old.is_some()
            && match self.shape() {
                [] => self.attributes().get(lower::DIMENSIONS).is_some_and(|names| names.as_raw() == "[]"),
                _ => self.dimension_names().is_some(),
            }
    }

    /// This array as one of format 2, chunks untouched. The names of dimensions become an attribute (checklist J2).
    ///
    /// # Errors
    /// What format 2 cannot say: shards, a chunk grid that is not regular, data types and codecs that it lacks, and the
    /// chunk key encoding `default`, whose chunks have other keys.
    pub fn to_v2(&self) -> MetaResult<Self> {
        if self.format() == Format::V2 {
            return Ok(self.clone());
        }
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        let meta = self.clone().understood()?;
        let mut builder = raise::raise(&meta.document)?.attributes_as_they_are(self.attributes());
        if self.fill_is_undefined() {
            builder = builder.undefined_fill();
        }
        builder.build()
    }

    /// Itself, unless its dtype, codecs or fill value were refused.
    pub(crate) fn understood(self) -> MetaResult<Self> {
        match self.old.as_ref().and_then(|old| old.lowered.refusal.as_ref()) {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(self),
        }
    }

    /// Looks up the chunk grid alone.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn chunk_grid(&self, registry: &Registry, limits: &Limits) -> MetaResult<Arc<dyn ChunkGrid>> {
        resolve::chunk_grid_alone(&self.document, registry, limits)
    }

    /// Looks up the key encoding alone: where chunks lie is known also when what is in them is not.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn key_encoding(&self, registry: &Registry, limits: &Limits) -> MetaResult<Arc<dyn KeyEncoding>> {
        resolve::key_encoding_alone(&self.document, registry, limits)
    }

    /// The document of format 3, or what an older one means as such. The latter may use names that documents of format 3
    /// cannot, see [`v3_obstacles`](Self::v3_obstacles).
    pub fn document(&self) -> &ArrayDocument {
        &self.document
    }

    /// Whether the content of what is not stored is undefined: the fill value of format 1 or 2 is null. It reads as zero,
    /// an empty string or NaT, and a chunk of nothing else must be stored nevertheless (checklist H.3, G11).
    pub fn fill_is_undefined(&self) -> bool {
        self.old.as_ref().is_some_and(|old| old.lowered.fill_is_undefined)
    }

    /// Why this array cannot become one of format 3 by new metadata alone; nothing when it can (checklist H.9).
    pub fn v3_obstacles(&self) -> &[String] {
        self.old.as_ref().map_or(&[], |old| &old.lowered.obstacles)
    }

    /// The length of each dimension, in elements; none for a scalar.
    pub fn shape(&self) -> &[u64] {
        self.document.shape()
    }

    /// Gives the array another shape: a change of metadata only (checklist G1). Where the chunk grid ends before the new
    /// shape it becomes longer (C18).
    ///
    /// # Errors
    /// As [`set_shape`](Self::set_shape) and [`chunk_grid`](Self::chunk_grid), and when the grid cannot grow that far; where
    /// it must, also as [`resolve`](Self::resolve), of data type, fill value and codecs.
    pub fn resize(&mut self, shape: &[u64], registry: &Registry, limits: &Limits) -> MetaResult<()> {
        let grid = self.chunk_grid(registry, limits)?;
        let mut new = self.clone();
        new.set_shape(shape)?;
        let is_covered = |(dim, length): (usize, &u64)| *length == 0 || grid.find(dim, length - 1).is_some();
        if !shape.iter().enumerate().all(is_covered) {
            let chain = resolve::chain_alone(&self.document, &registry.public(), limits)?;
            let inner = chain.inner_shape(shape.len()).unwrap_or_else(|| shape.iter().map(|_| 1).collect());
            let members = grid.grown(shape, &inner).map_err(cannot_grow)?;
            let grid = self.document.chunk_grid().clone();
            let grid = members.iter().fold(grid, |grid, (name, value)| grid.with(name, value));
            new.document.set_chunk_grid(grid);
        }
        *self = new;
        Ok(())
    }

    /// Gives the array another shape, and keeps the chunk grid. Where that may end, as `rectilinear` may, see
    /// [`resize`](Self::resize).
    ///
    /// # Errors
    /// When the number of dimensions is another one. Arrays of format 1 are not changed (checklist I).
    pub fn set_shape(&mut self, shape: &[u64]) -> MetaResult<()> {
        self.check_writable()?;
        self.document.set_shape(shape)?;
        if let Some(old) = &mut self.old {
            old.array.members.set("shape", shape.iter().copied().collect::<Value>());
        }
        Ok(())
    }

    /// Says what stands between the numbers in the chunk keys of an array of format 2 whose document does not say so: before
    /// version 2.8 zarr-python wrote keys with `/` and no `dimension_separator` (checklist H7). The document has the member
    /// from now on, and keeps it where it is stored again. Nothing where there is a member, or in another format.
    ///
    /// # Errors
    /// When `separator` is neither `.` nor `/`.
    pub fn assume_separator(&mut self, separator: char) -> MetaResult<()> {
        if !matches!(separator, '.' | '/') {
            return Err(MetaError::argument(format!("a separator is \".\" or \"/\", not {separator:?}")));
        }
        let Some(old) = self.old.as_mut().filter(|old| old.format == Format::V2) else { return Ok(()) };
        if !old.array.members.contains(lower::SEPARATOR) {
            old.array.members.set(lower::SEPARATOR, separator.to_string());
            self.document.set_chunk_key_encoding(lower::chunk_keys(separator));
            old.assumed_separator = Some(separator);
        }
        Ok(())
    }

    /// The separator that was [assumed](Self::assume_separator), because the document does not say it.
    pub fn assumed_separator(&self) -> Option<char> {
        self.old.as_ref()?.assumed_separator
    }

    /// The name of each dimension; `None` when there are no names.
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.document.dimension_names()
    }

    /// The attributes; empty when there are none, or when they [cannot be read](Self::attributes_error).
    pub fn attributes(&self) -> Object {
        self.document.attributes()
    }

    /// Why the attributes cannot be read: before format 3 they have a document of their own (checklist H.t8).
    pub fn attributes_error(&self) -> Option<&MetaError> {
        self.old.as_ref()?.attributes.error()
    }

    /// The attributes as a Rust type; see [`Object::deserialize`].
    ///
    /// ```
    /// # use zarr_meta::{MetaError, ArrayMeta, DataType};
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct Attributes {
    ///     units: String,
    ///     valid_range: Option<[f32; 2]>,
    /// }
    /// let mut meta = ArrayMeta::builder([100], DataType::Float32).chunks([10]).build()?;
    /// meta.set_attribute("units", "K")?;
    /// meta.set_attribute("valid_range", &[150.0, 350.0])?;
    /// let attributes: Attributes = meta.attributes_as()?;
    /// assert_eq!((attributes.units.as_str(), attributes.valid_range), ("K", Some([150.0, 350.0])));
    /// # Ok::<(), MetaError>(())
    /// ```
    ///
    /// # Errors
    /// When they are no such value, with the JSON pointer to the member; when they [cannot be
    /// read](Self::attributes_error).
    pub fn attributes_as<T: DeserializeOwned>(&self) -> MetaResult<T> {
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        self.attributes().deserialize().map_err(|e| e.at("/attributes"))
    }

    /// Sets one attribute to anything that serializes; see [`Value::serialize`]. The others keep their bytes.
    ///
    /// # Errors
    /// When `value` has no form in JSON, and as [`edit_attributes`](Self::edit_attributes).
    pub fn set_attribute<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> MetaResult<()> {
        let value = Value::serialize(value).map_err(|e| e.at(&pointer::join("/attributes", name)))?;
        self.edit_attributes(|attributes| attributes.set(name, value))
    }

    /// Gives the array other attributes, an object.
    ///
    /// # Errors
    /// When `attributes` is no object, or holds what JSON cannot: a bare `NaN`, a lone surrogate; and when those that
    /// are there [cannot be read](Self::attributes_error). Arrays of format 1 are not changed.
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        self.check_writable()?;
        let Some(old) = &mut self.old else { return self.document.set_attributes(attributes) };
        old.attributes.set(&attributes.into())?;
        self.follow_attributes()
    }

    /// Changes the attributes; what the change does not touch keeps its bytes.
    ///
    /// # Errors
    /// When the attributes [cannot be read](Self::attributes_error). Arrays of format 1 are not changed.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> MetaResult<R> {
        self.check_writable()?;
        let Some(old) = &mut self.old else { return Ok(self.document.edit_attributes(change)) };
        let result = old.attributes.edit(change)?;
        self.follow_attributes()?;
        Ok(result)
    }

    /// Gives the model the attributes of the older document, and the names of dimensions that are among them.
    fn follow_attributes(&mut self) -> MetaResult<()> {
        let Some(old) = &self.old else { return Ok(()) };
        let attributes = old.attributes.object();
        let rank = self.document.shape().len();
        let names = lower::dimension_names(&attributes, rank);
        let names = names.map_or(vec![None; rank], |names| names.into_iter().map(Some).collect());
        self.document.edit_attributes(|model| *model = attributes);
        self.document.set_dimension_names(&names)
    }

    /// The document of an array of format 2, and its attributes.
    pub(crate) fn documents2(&self) -> Option<(Root, Attributes)> {
        let old = self.old.as_ref().filter(|old| old.format == Format::V2)?;
        Some((old.array.clone(), old.attributes.clone()))
    }

    /// Checklist I: format 1 is read, never written.
    fn check_writable(&self) -> MetaResult<()> {
        match self.format() {
            Format::V1 => {
                let message = "arrays of Zarr format 1 are read only, convert it first";
                Err(MetaError::new(MetaErrorKind::Unsupported, message))
            }
            _ => Ok(()),
        }
    }

    /// All documents of the array as they would be stored now, with `None` for one that must not exist. Attributes that
    /// cannot be read are left out: what is stored may stay.
    pub fn documents(&self) -> Vec<(DocumentName, Option<String>)> {
        let (array, attributes) = match self.format() {
            Format::V3 => (DocumentName::Node, None),
            Format::V2 => (DocumentName::Array2, Some(DocumentName::Attributes2)),
            Format::V1 => (DocumentName::Array1, Some(DocumentName::Attributes1)),
        };
        let attributes =
            attributes.zip(self.old.as_ref()).and_then(|(name, old)| old.attributes.document(name));
        [(array, Some(self.to_text()))].into_iter().chain(attributes).collect()
    }

    /// The text of the document that makes the array, without one of attributes; every byte that was not edited is as it
    /// was read.
    pub fn to_text(&self) -> String {
        self.old.as_ref().map_or_else(|| self.document.to_text(), |old| old.array.to_text())
    }

    /// Reports what is valid, but unwise: advice of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// What `sink` answers.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        match &self.old {
            None => self.document.lint(sink),
            Some(old) => old.attributes.lint(sink),
        }
    }
}

impl From<ArrayDocument> for ArrayMeta {
    fn from(document: ArrayDocument) -> Self {
        Self { document, old: None }
    }
}

/// The error of a grid that ends before an array does.
fn cannot_grow(e: CodecError) -> MetaError {
    let kind = match e.kind() {
        CodecErrorKind::Unsupported => MetaErrorKind::Unsupported,
        _ => MetaErrorKind::InvalidArgument,
    };
    MetaError::new(kind, "cannot be made to cover the array").at("/chunk_grid").with_source(e)
}
