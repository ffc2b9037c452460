//! The metadata of an array, whatever the format of its documents.

use std::sync::Arc;

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use zarr_traits::{ChunkGrid, CodecError, CodecErrorKind, DataType, KeyEncoding, Limits, Registry};

use crate::diagnostic::{Code, Diagnostic, Ignore, Sink};
use crate::documents::{DocumentName, Format};
use crate::error::{MetaError, MetaErrorKind, MetaResult};
use crate::json::{Object, Value, pointer};
use crate::lower::{self, DIMENSIONS, Lowered, Restated};
use crate::resolve::{self, Resolved};
use crate::root::Root;
use crate::v1;
use crate::v2::{self, Attributes, Strings};
use crate::v3::ArrayDocument;

/// The member of the fill value in documents of all formats.
const FILL_VALUE: &str = "fill_value";

/// The metadata of an array: its documents, kept as they are spelled, and their meaning as a model of format 3.
///
/// [`builder`](Self::builder) creates metadata, [`parse`](Self::parse) reads stored metadata, and
/// [`resolve`](Self::resolve) looks up its extensions. An array of format 1 or 2 keeps its own documents and has a
/// [`document`](Self::document) of format 3 with the same meaning.
#[derive(Debug, Clone)]
pub struct ArrayMeta {
    /// In a box, so that a group among the nodes of a hierarchy takes no memory for it.
    document: Box<ArrayDocument>,
    old: Option<Box<Old>>,
}

/// The documents of an array of format 1 or 2, and facts that its model does not have.
#[derive(Debug, Clone)]
struct Old {
    format: Format,
    array: Root,
    attributes: Attributes,
    lowered: Lowered,
    /// The assumed separator of chunk keys, if the document has none.
    assumed_separator: Option<char>,
}

impl ArrayMeta {
    /// Reads a `zarr.json`. Tolerated deviations are reported to `sink`.
    ///
    /// # Errors
    /// If it is not a valid document of an array or exceeds `limits`; and those of `sink`.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        ArrayDocument::parse(bytes, limits, sink).map(Self::from)
    }

    /// Reads the documents of an array of format 2: `.zarray` and, if present, `.zattrs`. Tolerated deviations are
    /// reported to `sink`. A dtype, codec or fill value that cannot be understood is an error of
    /// [`resolve`](Self::resolve) only.
    ///
    /// # Errors
    /// If `array` is not a valid document of an array of format 2 or exceeds `limits`; and those of `sink`.
    pub fn parse_v2(
        array: &[u8],
        attributes: Option<&[u8]>,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> MetaResult<Self> {
        let parsed = v2::Array::parse(array, limits, sink).and_then(|(root, array)| {
            let attributes = Attributes::parse(DocumentName::Attributes2, attributes, limits, sink)?;
            Self::of_v2(root, &array, attributes, limits, sink)
        });
        parsed.map_err(|e| e.in_document(DocumentName::Array2.as_str()))
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
        Ok(Self { document: document.into(), old: Some(Box::new(old)) })
    }

    /// Reads the documents of an array of format 1, `meta` and `attrs`. Tolerated deviations are reported to `sink`.
    ///
    /// zarr-python 1 wrote arrays of order `"F"` in C order unless their compression is blosc. They are read as
    /// written, or with `literal` as the specification says.
    ///
    /// # Errors
    /// If `array` is not a valid document of an array of format 1 or exceeds `limits`; and those of `sink`.
    pub fn parse_v1(
        array: &[u8],
        attributes: Option<&[u8]>,
        literal: bool,
        limits: &Limits,
        sink: &mut dyn Sink,
    ) -> MetaResult<Self> {
        let parsed = v1::parse(array, literal, limits, sink);
        let (root, array) = parsed.map_err(|e| e.in_document(DocumentName::Array1.as_str()))?;
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
        Ok(Self { document: document.into(), old: Some(Box::new(old)) })
    }

    /// Returns the format of the documents.
    pub fn format(&self) -> Format {
        self.old.as_ref().map_or(Format::V3, |old| old.format)
    }

    /// Looks up the data type, chunk grid, key encoding, codecs and storage transformers, and reads the fill value.
    /// Tolerated deviations are reported to `sink`.
    ///
    /// # Errors
    /// [`UnknownExtension`](crate::MetaErrorKind::UnknownExtension) if the registry does not know a name that must be
    /// understood, [`Invalid`](crate::MetaErrorKind::Invalid) for an invalid configuration or fill value and for codecs
    /// in a wrong order; and those of `sink`.
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

    /// Returns this array in format 3, for the same chunks. The names of dimensions, an attribute in format 2, become
    /// `dimension_names`. With `keep_attribute` the attribute stays as well.
    ///
    /// A [fill value that is undefined](Self::fill_is_undefined) becomes zero, an empty string or NaT.
    ///
    /// # Errors
    /// For the first of the [obstacles](Self::v3_obstacles), and if the array or its attributes cannot be read.
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

    /// Whether the names of dimensions are an attribute, as before format 3. A scalar has an empty list there, and no
    /// member in format 3.
    fn names_are_an_attribute(&self) -> bool {
        self.old.is_some()
            && match self.shape() {
                [] => self.attributes().get(lower::DIMENSIONS).is_some_and(|names| names.as_raw() == "[]"),
                _ => self.dimension_names().is_some(),
            }
    }

    /// Returns the attributes of the array in format 3, where the names of dimensions are a member.
    pub(crate) fn attributes_without_names(&self) -> Object {
        let mut attributes = self.attributes();
        if self.names_are_an_attribute() {
            attributes.remove(lower::DIMENSIONS);
        }
        attributes
    }

    /// Returns the array, or an error if its dtype, codecs or fill value could not be understood.
    pub(crate) fn understood(self) -> MetaResult<Self> {
        match self.old.as_ref().and_then(|old| old.lowered.refusal.as_ref()) {
            Some(refusal) => Err(refusal.clone()),
            None => Ok(self),
        }
    }

    /// Looks up the data type only, also if the registry does not have the codecs.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve) about the data type.
    pub fn data_type(&self, registry: &Registry, limits: &Limits) -> MetaResult<DataType> {
        resolve::data_type_alone(&self.document, registry, limits)
    }

    /// Looks up the chunk grid only.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve) about the chunk grid.
    pub fn chunk_grid(&self, registry: &Registry, limits: &Limits) -> MetaResult<Arc<dyn ChunkGrid>> {
        resolve::chunk_grid_alone(&self.document, registry, limits)
    }

    /// Looks up the key encoding only, which gives the keys of chunks even if their codecs are unknown.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve) about the key encoding.
    pub fn key_encoding(&self, registry: &Registry, limits: &Limits) -> MetaResult<Arc<dyn KeyEncoding>> {
        resolve::key_encoding_alone(&self.document, registry, limits)
    }

    /// Returns the document of format 3, or for an older format the model with the same meaning. The model may use
    /// names that documents of format 3 cannot; see [`v3_obstacles`](Self::v3_obstacles).
    pub fn document(&self) -> &ArrayDocument {
        &self.document
    }

    /// Whether elements that are not stored are undefined, because the fill value of format 1 or 2 is null. They are
    /// read as zero, an empty string or NaT. A chunk with only such elements must still be stored.
    pub fn fill_is_undefined(&self) -> bool {
        self.old.as_ref().is_some_and(|old| old.lowered.fill_is_undefined)
    }

    /// Returns why this array cannot become one of format 3 for the same chunks; empty if it can.
    pub fn v3_obstacles(&self) -> &[String] {
        self.old.as_ref().map_or(&[], |old| &old.lowered.obstacles)
    }

    /// Returns the length of each dimension in elements; empty for a scalar.
    pub fn shape(&self) -> &[u64] {
        self.document.shape()
    }

    /// Changes the shape. This changes only metadata. A chunk grid that ends before the new shape grows.
    ///
    /// # Errors
    /// Those of [`set_shape`](Self::set_shape) and [`chunk_grid`](Self::chunk_grid), and if the grid cannot grow that
    /// far. If it must grow, also those of [`resolve`](Self::resolve) about data type, fill value and codecs.
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
            let grid = members.members().fold(grid, |grid, m| grid.with(&m.name_lossy(), m.value()));
            new.document.set_chunk_grid(grid);
        }
        *self = new;
        Ok(())
    }

    /// Changes the shape and keeps the chunk grid. For grids that may end, such as `rectilinear`, see
    /// [`resize`](Self::resize).
    ///
    /// # Errors
    /// If the number of dimensions differs, or the array is of format 1, which is read-only.
    pub fn set_shape(&mut self, shape: &[u64]) -> MetaResult<()> {
        self.check_writable()?;
        self.document.set_shape(shape)?;
        if let Some(old) = &mut self.old {
            old.array.members.set("shape", shape.iter().copied().collect::<Value>());
        }
        Ok(())
    }

    /// Sets the separator of chunk keys for an array of format 2 whose document has no `dimension_separator`:
    /// zarr-python before 2.8 wrote keys with `/` without this member. The document then has the member, also when it
    /// is stored. Does nothing if the member is present, or in another format.
    ///
    /// # Errors
    /// If `separator` is neither `.` nor `/`.
    pub fn assume_separator(&mut self, separator: char) -> MetaResult<()> {
        if !matches!(separator, '.' | '/') {
            return Err(MetaError::argument(format!("a separator is \".\" or \"/\", not {separator:?}")));
        }
        let Some(old) = self.old.as_mut().filter(|old| old.format == Format::V2) else { return Ok(()) };
        if !old.array.members.contains(v2::SEPARATOR) {
            old.array.members.set(v2::SEPARATOR, separator.to_string());
            self.document.set_chunk_key_encoding(lower::chunk_keys(separator));
            old.assumed_separator = Some(separator);
        }
        Ok(())
    }

    /// Returns the separator that was [assumed](Self::assume_separator), if any.
    pub fn assumed_separator(&self) -> Option<char> {
        self.old.as_ref()?.assumed_separator
    }

    /// Returns the name of each dimension, or `None` if there are no names.
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.document.dimension_names()
    }

    /// Sets the names of the dimensions. In format 2 they are the attribute `_ARRAY_DIMENSIONS`. If all are `None` the member
    /// is removed.
    ///
    /// ```
    /// # use zarr_meta::{ArrayMeta, MetaError, DataType};
    /// let mut meta = ArrayMeta::builder([4, 6], DataType::Float32).build()?;
    /// meta.set_dimension_names(&[Some("y".to_owned()), Some("x".to_owned())])?;
    /// assert!(meta.to_text().contains("\"dimension_names\""));
    /// # Ok::<(), MetaError>(())
    /// ```
    ///
    /// # Errors
    /// If the number of names is not the number of dimensions, if in format 2 some dimensions have a name and others have
    /// none, if the attributes [cannot be read](Self::attributes_error), or the array is of format 1, which is read-only.
    pub fn set_dimension_names(&mut self, names: &[Option<String>]) -> MetaResult<()> {
        self.check_writable()?;
        let mut document = self.document.clone();
        document.set_dimension_names(names)?;
        if self.old.is_none() {
            self.document = document;
            return Ok(());
        }
        let all: Option<Vec<&str>> = names.iter().map(Option::as_deref).collect();
        match all {
            Some(all) if !all.is_empty() => self
                .edit_attributes(|attributes| attributes.set(DIMENSIONS, all.into_iter().collect::<Value>())),
            None if names.iter().any(Option::is_some) => {
                Err(MetaError::argument("in format 2 all dimensions have a name, or none"))
            }
            _ => self.edit_attributes(|attributes| drop(attributes.remove(DIMENSIONS))),
        }
    }

    /// Sets the fill value, in the form of a document of the format of the array. Elements that are not stored have this
    /// value then. [`resolve`](Self::resolve) tells whether the data type has it.
    ///
    /// # Errors
    /// If the array is of format 1, which is read-only.
    pub fn set_fill_value(&mut self, value: impl Into<Value>, limits: &Limits) -> MetaResult<()> {
        self.check_writable()?;
        let Some(old) = &self.old else {
            self.document.set_fill_value(value.into());
            return Ok(());
        };
        let mut root = old.array.clone();
        root.members.set(FILL_VALUE, value);
        let (root, array) = v2::Array::parse(root.to_text().as_bytes(), limits, &mut Ignore)?;
        let assumed = old.assumed_separator;
        *self = Self::of_v2(root, &array, old.attributes.clone(), limits, &mut Ignore)?;
        if let Some(old) = &mut self.old {
            old.assumed_separator = assumed;
        }
        Ok(())
    }

    /// Returns the attributes; empty if there are none or if they [cannot be read](Self::attributes_error).
    pub fn attributes(&self) -> Object {
        self.document.attributes()
    }

    /// Returns why the attributes cannot be read. Before format 3 they are a separate document.
    pub fn attributes_error(&self) -> Option<&MetaError> {
        self.old.as_ref()?.attributes.error()
    }

    /// Returns the attributes as a Rust type; see [`Object::deserialize`].
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
    /// If the attributes do not fit the type, with the JSON pointer to the member; or if they [cannot be
    /// read](Self::attributes_error).
    pub fn attributes_as<T: DeserializeOwned>(&self) -> MetaResult<T> {
        self.attributes_error().map_or(Ok(()), |e| Err(e.clone()))?;
        Ok(self.attributes().deserialize().map_err(|e| e.at("/attributes"))?)
    }

    /// Sets one attribute to a value that can be serialized; see [`Value::serialize`]. The others keep their bytes.
    ///
    /// # Errors
    /// If `value` cannot be represented in JSON, and those of [`edit_attributes`](Self::edit_attributes).
    pub fn set_attribute<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> MetaResult<()> {
        let value = Value::serialize(value).map_err(|e| e.at(&pointer::join("/attributes", name)))?;
        self.edit_attributes(|attributes| attributes.set(name, value))
    }

    /// Replaces the attributes. `attributes` must be an object.
    ///
    /// # Errors
    /// If `attributes` is not an object or has a value that JSON cannot represent (a bare `NaN`, a lone surrogate), if
    /// the present attributes [cannot be read](Self::attributes_error), or if the array is of format 1, which is
    /// read-only.
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        self.check_writable()?;
        let Some(old) = &mut self.old else { return self.document.set_attributes(attributes) };
        old.attributes.set(&attributes.into())?;
        self.follow_attributes()
    }

    /// Changes the attributes. Members that are not changed keep their bytes.
    ///
    /// # Errors
    /// If the attributes [cannot be read](Self::attributes_error), or the array is of format 1, which is read-only.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> MetaResult<R> {
        self.check_writable()?;
        let Some(old) = &mut self.old else { return Ok(self.document.edit_attributes(change)) };
        let result = old.attributes.edit(change)?;
        self.follow_attributes()?;
        Ok(result)
    }

    /// Copies the attributes of the older document, and the names of dimensions in them, to the model.
    fn follow_attributes(&mut self) -> MetaResult<()> {
        let Some(old) = &self.old else { return Ok(()) };
        let attributes = old.attributes.object();
        let rank = self.document.shape().len();
        let names = lower::dimension_names(&attributes, rank);
        let names = names.map_or(vec![None; rank], |names| names.into_iter().map(Some).collect());
        self.document.edit_attributes(|model| *model = attributes);
        self.document.set_dimension_names(&names)
    }

    /// Returns the document of an array of format 2, and its attributes.
    pub(crate) fn documents2(&self) -> Option<(Root, Attributes)> {
        let old = self.old.as_ref().filter(|old| old.format == Format::V2)?;
        Some((old.array.clone(), old.attributes.clone()))
    }

    /// Returns an error for format 1, which is read-only.
    fn check_writable(&self) -> MetaResult<()> {
        match self.format() {
            Format::V1 => {
                let message = "arrays of format 1 are read-only, convert the array first";
                Err(MetaError::new(MetaErrorKind::Unsupported, message))
            }
            _ => Ok(()),
        }
    }

    /// Returns all documents of the array to store, with `None` for a document that must not exist. Attributes that
    /// cannot be read are left out, so that the stored ones stay.
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

    /// Returns the text of the document that makes the array, without separate attributes. Every byte that was not
    /// edited is as it was read.
    pub fn to_text(&self) -> String {
        self.old.as_ref().map_or_else(|| self.document.to_text(), |old| old.array.to_text())
    }

    /// Reports advice about valid but unwise metadata, of [`Severity::Warning`](crate::Severity::Warning).
    ///
    /// # Errors
    /// Only those of `sink`.
    pub fn lint(&self, sink: &mut dyn Sink) -> MetaResult<()> {
        match &self.old {
            None => self.document.lint(sink),
            Some(old) => old.attributes.lint(sink),
        }
    }
}

impl From<ArrayDocument> for ArrayMeta {
    fn from(document: ArrayDocument) -> Self {
        Self { document: document.into(), old: None }
    }
}

/// Returns the error of a grid that cannot grow to cover the array.
fn cannot_grow(e: CodecError) -> MetaError {
    let kind = match e.kind() {
        CodecErrorKind::Unsupported => MetaErrorKind::Unsupported,
        _ => MetaErrorKind::InvalidArgument,
    };
    MetaError::new(kind, "cannot grow to cover the array").at("/chunk_grid").with_source(e)
}
