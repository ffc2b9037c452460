//! Checks of sizes: declared encoded sizes, and the room of a decoder.

use zarr_traits::strided::Dims;
use zarr_traits::{
    CodecErrorKind,
    codec::{BytesBytesCodec, Codec, EncodedSize},
};

use super::chunk::Worker;
use super::subject::Bench;
use crate::report::{Check, ensure};

/// Rule 5.
pub(super) fn declared(bench: &Bench) -> Check {
    let mut worker = Worker::new();
    for case in bench.cases() {
        let chunk = &case.chunk;
        worker.at(chunk);
        for chain in &case.chains {
            let encoded = case.encode(chain, &mut worker)?.len() as u64;
            holds(chain.encoded_size(&chunk.shape), encoded, &chunk.to_string())?;
        }
        let huge = vec![u64::MAX; chunk.shape.len()];
        match bench.build(&bench.subject.spec, &chunk.repr)?.0 {
            // a size that overflows must not panic
            Codec::ArrayArray(codec) => drop(codec.encoded_shape(&huge)),
            Codec::ArrayBytes(codec) => {
                let _ = codec.check_shape(&huge);
                let size = codec.encoded_size(&huge);
                let less = Dims::from(&*huge).product().is_some();
                ensure!(
                    less || !matches!(size, EncodedSize::Exact(_)),
                    "the declared size of a chunk of shape {huge:?} is {size:?} bytes"
                );
            }
            Codec::BytesBytes(codec) => {
                let bytes = chunk.elements.concat();
                let mut encoded = Vec::new();
                codec.encode(&bytes, &mut encoded, &mut worker.scratch)?;
                let what = format!("{} bytes", bytes.len());
                holds(codec.encoded_size(bytes.len() as u64), encoded.len() as u64, &what)?;
                grows(&*codec)?;
            }
        }
    }
    Ok(())
}

fn holds(declared: EncodedSize, encoded: u64, what: &str) -> Check {
    let true_ = match declared {
        EncodedSize::Exact(size) => size == encoded,
        EncodedSize::AtMost(size) => encoded <= size,
        _ => true,
    };
    ensure!(true_, "{what}: declared {declared:?} bytes, encoded to {encoded} bytes");
    Ok(())
}

/// Checks that bounds grow with the size: a chain asks for the bound of a bound.
fn grows(codec: &dyn BytesBytesCodec) -> Check {
    let mut before = (0, 0);
    for size in (0..64).map(|bit| (1_u64 << bit) - 1).chain([u64::MAX]) {
        if let Some(bound) = codec.encoded_size(size).bound() {
            ensure!(
                bound >= before.1,
                "the bound of {size} bytes is {bound}, the bound of {} bytes is {}",
                before.0,
                before.1
            );
            before = (size, bound);
        }
    }
    Ok(())
}

/// Rule 10.
pub(super) fn exact(bench: &Bench) -> Check {
    let mut worker = Worker::new();
    for (case, encoded) in bench.small_cases()? {
        let chunk = &case.chunk;
        let decoded = case.decode_whole(&case.chains[0], &[], worker.at(chunk));
        ensure!(encoded.is_empty() || decoded.is_err(), "{chunk} is decoded from zero bytes");
        let (Codec::BytesBytes(codec), _) = bench.build(&bench.subject.spec, &chunk.repr)? else { continue };
        let bytes = chunk.elements.concat();
        let (scratch, mut encoded) = (&mut worker.scratch, Vec::new());
        codec.encode(&bytes, &mut encoded, scratch)?;
        for room in [bytes.len(), bytes.len() + 1, 4 * bytes.len() + 1000] {
            let mut memory = vec![0xa5; room];
            let len = codec.decode_into(&encoded, &mut memory, scratch);
            ensure!(
                len.as_ref().is_ok_and(|len| *len == bytes.len()),
                "{} bytes in room for {room} are decoded to {len:?}",
                bytes.len()
            );
            ensure!(
                bench.subject.lossy || memory.starts_with(&bytes),
                "{} bytes in room for {room} are decoded to other bytes",
                bytes.len()
            );
        }
        for room in [bytes.len() - 1, bytes.len() / 2, 0] {
            let done = codec.decode_into(&encoded, &mut vec![0xa5; room], scratch);
            ensure!(
                done.as_ref().is_err_and(|e| e.kind() == CodecErrorKind::TooLarge),
                "{} bytes in room for {room}: {done:?}, not an error of kind TooLarge",
                bytes.len()
            );
        }
    }
    Ok(())
}
