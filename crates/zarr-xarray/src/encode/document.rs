//! The document of the array of a new variable, in either format.

use zarr_meta::json::Object;
use zarr_meta::v3::Extension;
use zarr_meta::{ArrayMeta, Format, MetaError};

use super::Form;
use crate::error::{XarrayError, XarrayResult};
use crate::fill_value::{Missing, write_fill_value};
use crate::new_variable::Encoding;
use crate::number::NumberType;

/// The default limit on the size of a chunk, in bytes.
const CHUNK: u64 = 4 << 20;

impl Encoding {
    /// Builds the document of an array. In format 2 the missing value is its fill value, in format 3 an attribute.
    pub(super) fn document(
        &self,
        shape: &[u64],
        form: &Form,
        dimensions: &[String],
        mut attributes: Object,
        format: Format,
    ) -> XarrayResult<ArrayMeta> {
        let data_type = form.data_type.clone();
        let is_float = data_type.number().is_some_and(NumberType::is_float);
        let size = data_type.size().unwrap_or(16) as u64;
        let chunks = self.chunks.clone().unwrap_or_else(|| chunks(shape, size));
        let mut builder = ArrayMeta::builder(shape, data_type).chunks(chunks);
        if !dimensions.is_empty() {
            builder = builder.dimension_names(dimensions.iter().map(String::as_str));
        }
        if let Some(shards) = &self.shards {
            builder = builder.shards(shards.clone());
        }
        if let Some(codecs) = &self.codecs {
            builder = builder.codecs(codecs.iter().cloned());
        }
        let refused = |error: MetaError| XarrayError::invalid(format!("{error:#}"));
        if format == Format::V3 {
            if let Some(missing) = form.missing {
                attributes.set("_FillValue", write_fill_value(&Missing::Number(missing)));
            }
            if is_float {
                builder = builder.fill(f64::NAN);
            }
            return builder.attributes(attributes.to_value()).build().map_err(refused);
        }
        let keys = Extension::new("v2");
        let builder = builder.chunk_key_encoding(keys).build().and_then(|meta| meta.to_builder_v2());
        let builder = builder.map_err(refused)?.attributes(attributes.to_value());
        // An array without dimensions has an empty list of names.
        let builder = builder.dimension_names(dimensions);
        let builder = match form.missing {
            Some(missing) => builder.fill(missing.to_json()?),
            None => builder.undefined_fill(),
        };
        builder.build().map_err(refused)
    }
}

/// Returns the shape of chunks of at most [`CHUNK`] bytes. The longest length is halved until they are small enough.
fn chunks(shape: &[u64], size: u64) -> Vec<u64> {
    let mut chunks: Vec<u64> = shape.iter().map(|length| (*length).max(1)).collect();
    let is_large = |chunks: &[u64]| {
        let bytes = chunks.iter().try_fold(size, |bytes, length| bytes.checked_mul(*length));
        bytes.is_none_or(|bytes| bytes > CHUNK)
    };
    while is_large(&chunks)
        && let Some(longest) = chunks.iter_mut().max()
        && *longest > 1
    {
        *longest = longest.div_ceil(2);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_at_most_4_mib() {
        assert_eq!(chunks(&[], 8), Vec::<u64>::new());
        assert_eq!(chunks(&[0, 3], 8), [1, 3]);
        assert_eq!(chunks(&[1000, 721, 1440], 4), [125, 91, 90]);
        assert_eq!(chunks(&[u64::MAX, u64::MAX], 16), [512, 512]);
    }
}
