//! Whether the chunks of one array are those of another.

use zarr_traits::{Limits, Registry};

use crate::codecs::{Element, full};
use crate::diagnostic::Ignore;
use crate::error::MetaResult;
use crate::model::ArrayMeta;
use crate::resolve::Resolved;
use crate::v3::Extension;

impl ArrayMeta {
    /// Whether every object that is a chunk of this array is the same chunk of `other`, byte for byte: they have the same
    /// shape, data type, chunk grid and codecs. Formats and keys may differ, and so may what stands for chunks that are not
    /// stored.
    ///
    /// Arrays with storage transformers or with codecs that are skipped never have the same chunks.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve), of both.
    pub fn has_same_chunks(&self, other: &Self, registry: &Registry, limits: &Limits) -> MetaResult<bool> {
        let resolve = |meta: &Self| meta.resolve(registry, limits, &mut Ignore);
        let (a, b) = (resolve(self)?, resolve(other)?);
        let is_plain = |meta: &Self, resolved: &Resolved| {
            meta.document().storage_transformers().is_empty() && resolved.skipped().is_empty()
        };
        Ok(self.shape() == other.shape()
            && is_plain(self, &a)
            && is_plain(other, &b)
            && a.data_type == b.data_type
            && a.grid.agrees_with(&*b.grid)
            && full_codecs(self, &a, registry) == full_codecs(other, &b, registry))
    }
}

/// The codecs of an array in a form of which there is one.
fn full_codecs(meta: &ArrayMeta, resolved: &Resolved, registry: &Registry) -> Vec<Extension> {
    let element = Element::of(&resolved.data_type);
    full(meta.document().codecs(), element, meta.shape().len(), registry)
}
