//! What the rest of the workspace sees of an array's metadata, whatever the version of its documents.

use std::sync::Arc;

use zarr_traits::{DataType, KeyEncoding, Limits, Registry};

use crate::builder::ArrayBuilder;
use crate::diagnostic::Sink;
use crate::error::MetaResult;
use crate::json::{Object, Value};
use crate::resolve::{self, Resolved};
use crate::v3::ArrayDocument;

/// The metadata of an array: a document, kept as it is spelled, with the model of version 3 on top.
///
/// [`builder`](Self::builder) makes new metadata, [`parse`](Self::parse) reads stored metadata, and
/// [`resolve`](Self::resolve) looks up what it names.
#[derive(Debug, Clone)]
pub struct ArrayMeta {
    document: ArrayDocument,
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

    /// Reads a `zarr.json`, tolerantly; what was tolerated is reported to `sink`.
    ///
    /// # Errors
    /// When it is no valid document of an array, exceeds `limits`, or `sink` says so.
    pub fn parse(bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Self> {
        ArrayDocument::parse(bytes, limits, sink).map(Self::from)
    }

    /// Looks up the data type, chunk grid, key encoding, codecs and storage transformers, and reads the fill value. What
    /// was tolerated is reported to `sink`.
    ///
    /// # Errors
    /// Of kind [`UnknownExtension`](crate::MetaErrorKind::UnknownExtension) when the registry does not know a name that
    /// must be understood; of kind [`Invalid`](crate::MetaErrorKind::Invalid) for a configuration or a fill value that is
    /// refused and for codecs out of order; and what `sink` answers.
    pub fn resolve(&self, registry: &Registry, limits: &Limits, sink: &mut dyn Sink) -> MetaResult<Resolved> {
        resolve::resolve(&self.document, registry, limits, sink)
    }

    /// Looks up the key encoding alone: where chunks lie is known also when what is in them is not.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn key_encoding(&self, registry: &Registry, limits: &Limits) -> MetaResult<Arc<dyn KeyEncoding>> {
        resolve::key_encoding_alone(&self.document, registry, limits)
    }

    /// The document.
    pub fn document(&self) -> &ArrayDocument {
        &self.document
    }

    /// The length of each dimension, in elements; none for a scalar.
    pub fn shape(&self) -> &[u64] {
        self.document.shape()
    }

    /// Gives the array another shape.
    ///
    /// # Errors
    /// When the number of dimensions is another one.
    pub fn set_shape(&mut self, shape: &[u64]) -> MetaResult<()> {
        self.document.set_shape(shape)
    }

    /// The name of each dimension; `None` when there are no names.
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.document.dimension_names()
    }

    /// The attributes; empty when there are none.
    pub fn attributes(&self) -> Object {
        self.document.attributes()
    }

    /// Gives the array other attributes, an object.
    ///
    /// # Errors
    /// When `attributes` is no object, or holds what JSON cannot: a bare `NaN`, a lone surrogate.
    pub fn set_attributes(&mut self, attributes: impl Into<Value>) -> MetaResult<()> {
        self.document.set_attributes(attributes)
    }

    /// Changes the attributes; what the change does not touch keeps its bytes.
    pub fn edit_attributes<R>(&mut self, change: impl FnOnce(&mut Object) -> R) -> R {
        self.document.edit_attributes(change)
    }

    /// The text of the document; every byte that was not edited is as it was read.
    pub fn to_text(&self) -> String {
        self.document.to_text()
    }
}

impl From<ArrayDocument> for ArrayMeta {
    fn from(document: ArrayDocument) -> Self {
        Self { document }
    }
}
