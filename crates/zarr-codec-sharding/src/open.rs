//! Builds the codec from its configuration. Unusable configurations fail here, when the array is opened.

use std::sync::Arc;

use zarr_engine::Chain;
use zarr_traits::codec::{Codec, EncodedSize, Repr};
use zarr_traits::extension::{Configuration, Context};
use zarr_traits::strided::Dims;
use zarr_traits::{CodecError, CodecResult, DataType, FillValue};

use crate::codec::Sharding;
use crate::index::MISSING;
use crate::shard::Shard;

/// Builds the codec from its configuration.
pub(crate) fn build(
    configuration: &mut Configuration<'_>,
    repr: &Repr,
    context: &Context<'_>,
) -> CodecResult<Codec> {
    let chunk = configuration.lengths("chunk_shape")?;
    let wrong = |message: String| CodecError::configuration(message).at("/configuration/chunk_shape");
    if chunk.len() != repr.rank {
        let message = format!("chunk_shape has {} dimensions, the shard has {}", chunk.len(), repr.rank);
        return Err(wrong(message));
    }
    if chunk.contains(&0) {
        return Err(wrong(format!("chunk_shape is {chunk:?}, its lengths must be above 0")));
    }
    let at_start = match configuration.optional_string("index_location")?.as_deref() {
        None | Some("end") => false,
        Some("start") => true,
        Some(other) => {
            let message = format!("index_location is {other:?}, it must be \"start\" or \"end\"");
            return Err(CodecError::configuration(message).at("/configuration/index_location"));
        }
    };
    let inner = Chain::of_member(configuration, "codecs", repr.clone(), context)?;
    inner.check_shape(&chunk).map_err(|e| e.at("/configuration/codecs"))?;
    let entries = Repr::new(DataType::UInt64, FillValue::of(MISSING), repr.rank.saturating_add(1));
    let index = Chain::of_member(configuration, "index_codecs", entries, context)?;
    // The index is located by its size, so the size must be known. If it is known for one shape, it is known for all.
    let mut one = Dims::filled(1, repr.rank);
    one.push(2);
    if !matches!(index.encoded_size(&one), EncodedSize::Exact(_)) {
        let message = "index_codecs make an index of unknown size, they must not compress";
        return Err(CodecError::configuration(message).at("/configuration/index_codecs"));
    }
    Ok(Codec::ArrayBytes(Arc::new(Sharding(Arc::new(Shard {
        chunk,
        fill: repr.fill_element(),
        inner: Arc::new(inner),
        index,
        at_start,
        index_limit: context.limits.chunk_bytes,
        object_limit: context.limits.encoded_bytes,
    })))))
}
