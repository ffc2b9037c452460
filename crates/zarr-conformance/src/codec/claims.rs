//! Checks of what a codec says of itself, on which the chain relies without asking it again.

use zarr_traits::codec::{ArrayArrayCodec, ArrayBytesCodec, Codec, Effect, EncodedSize, PartAccess};
use zarr_traits::strided::{Destination, Dims, Source, Swap};
use zarr_traits::{Fetching, Scratch};

use super::chunk::{Chunk, Worker};
use super::part::regions;
use super::subject::Bench;
use crate::report::{Check, Excerpt, Fault, ensure};

/// Rule 15.
pub(super) fn are_true(bench: &Bench) -> Check {
    let mut worker = Worker::new();
    for case in bench.cases() {
        let chunk = &case.chunk;
        let scratch = &mut worker.at(chunk).scratch;
        match bench.build(&bench.subject.spec, &chunk.repr)?.0 {
            Codec::ArrayArray(codec) => effect(&*codec, chunk, scratch)?,
            Codec::ArrayBytes(codec) => access(&*codec, chunk, scratch)?,
            Codec::BytesBytes(_) => {}
        }
    }
    Ok(())
}

fn effect(codec: &dyn ArrayArrayCodec, chunk: &Chunk, scratch: &mut Scratch) -> Check {
    let (repr, shape) = (codec.encoded_repr()?, codec.encoded_shape(&chunk.shape)?);
    let keeps_type = repr.data_type == chunk.repr.data_type;
    match codec.effect() {
        Effect::Reorder(order) => ensure!(
            keeps_type && Dims::from(&chunk.shape[..]).permuted(order).as_ref() == Some(&shape),
            "it says that it reorders dimensions by {order:?}, but makes {} {shape:?} of {chunk}",
            repr.data_type
        ),
        Effect::Reshape => ensure!(
            keeps_type && shape.product() == Some(chunk.elements.len() as u64),
            "it says that it only changes the shape, but makes {} {shape:?} of {chunk}",
            repr.data_type
        ),
        Effect::Elementwise => ensure!(
            shape[..] == chunk.shape[..],
            "it says that it converts single elements, but makes shape {shape:?} of {chunk}"
        ),
        _ => return Ok(()),
    }
    let (Some(size), Some(encoded_size)) = (chunk.repr.data_type.size(), repr.data_type.size()) else {
        return Ok(()); // elements of variable length are not in the memory of the chunk
    };
    let elements = chunk.elements.concat();
    let whole = Source::dense(&elements, &chunk.shape, size)?;
    let mut encode = |src: &Source<'_>, shape: &[u64], len: usize| -> Result<Vec<u8>, Fault> {
        let mut encoded = vec![0; len * encoded_size];
        codec.encode(src.clone(), Destination::dense(&mut encoded, shape, encoded_size)?, scratch)?;
        Ok(encoded)
    };
    let all = encode(&whole, &shape, chunk.elements.len())?;
    match codec.effect() {
        Effect::Reorder(order) => {
            let reordered = gathered(whole.permute(order)?)?;
            ensure!(
                all == reordered,
                "it says that it reorders dimensions, but changes the elements of {chunk}"
            );
        }
        Effect::Reshape => {
            ensure!(
                all == elements,
                "it says that it only changes the shape, but changes the elements of {chunk}"
            );
        }
        _ => {
            let encoded = Source::dense(&all, &shape, encoded_size)?;
            for part in regions(&chunk.shape) {
                let Some(len) = part.len().and_then(|len| usize::try_from(len).ok()) else { continue };
                let alone = encode(&whole.sub(part.start(), part.shape())?, part.shape(), len)?;
                let inside = gathered(encoded.sub(part.start(), part.shape())?)?;
                ensure!(
                    alone == inside,
                    "it says that it converts single elements, but {part:?} of {chunk} is encoded to {} alone and to {} in \
                     the chunk",
                    Excerpt(&alone),
                    Excerpt(&inside)
                );
            }
        }
    }
    Ok(())
}

fn access(codec: &dyn ArrayBytesCodec, chunk: &Chunk, scratch: &mut Scratch) -> Check {
    match codec.access() {
        PartAccess::Plain(swap) => {
            let Some(size) = chunk.repr.data_type.size() else {
                return Err(Fault(format!(
                    "it says that it stores the elements of {chunk}, which have no size"
                )));
            };
            let elements = chunk.elements.concat();
            let (mut encoded, mut swapped) = (Vec::new(), Vec::new());
            let source = Source::dense(&elements, &chunk.shape, size)?;
            codec.encode(source.clone(), &mut encoded, scratch)?;
            source.append_to(&mut swapped, swap)?;
            ensure!(encoded == swapped, "it says that it stores elements, but changes those of {chunk}");
            let declared = codec.encoded_size(&chunk.shape);
            ensure!(
                declared == EncodedSize::Exact(elements.len() as u64),
                "it says that it stores elements, but declares {declared:?} bytes for {chunk}"
            );
        }
        PartAccess::Inner(inner) => {
            ensure!(
                inner.len() == chunk.shape.len() && !inner.contains(&0),
                "it says that inner chunks have shape {inner:?} in {chunk}"
            );
            for part in regions(&chunk.shape) {
                let read = codec.partial(&chunk.shape, &part, Fetching::new(0, 0, 0), None)?;
                ensure!(
                    read.is_some(),
                    "it says that it has inner chunks, but does not read {part:?} of {chunk}"
                );
            }
        }
        _ => {}
    }
    Ok(())
}

fn gathered(source: Source<'_>) -> Result<Vec<u8>, Fault> {
    let mut elements = Vec::new();
    source.append_to(&mut elements, Swap::NONE)?;
    Ok(elements)
}
