//! Encoding: from elements to the bytes of an object.

use std::borrow::Cow;

use zarr_strided::{Destination, Source, Swap, byte_len};

use super::Chain;
use zarr_traits::codec::Effect;
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

impl Chain {
    /// Appends the encoded form of the chunk `src` to `out`.
    ///
    /// # Errors
    /// The error of a codec, with its name; [`CodecErrorKind::Unsupported`] if a codec was skipped.
    pub fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        self.check_writable()?;
        self.encode_array(0, src, out, scratch)
    }

    /// Checks that chunks can be encoded.
    ///
    /// # Errors
    /// [`CodecErrorKind::Unsupported`] if a codec was skipped.
    pub fn check_writable(&self) -> CodecResult<()> {
        let Some(name) = self.skipped.first() else { return Ok(()) };
        let message =
            format!("codec {name:?} is unknown and was skipped, chunks written without it would be wrong");
        Err(CodecError::new(CodecErrorKind::Unsupported, message))
    }

    fn encode_array(
        &self,
        level: usize,
        src: Source<'_>,
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let Some(named) = self.array_array.get(level) else {
            return self.encode_bytes(src, out, scratch);
        };
        let effect = named.codec.effect();
        if let Effect::Reorder(order) = effect {
            return self.encode_array(level + 1, src.permute(order)?, out, scratch);
        }
        let shape = named.encode(|codec| codec.encoded_shape(src.shape()))?;
        let size = self.sizes[level + 1];
        if let Some(memory) = src.as_dense().filter(|_| effect == Effect::Reshape) {
            return self.encode_array(level + 1, Source::dense(memory, &shape, size)?, out, scratch);
        }
        let mut buffer = scratch.take(byte_len(&shape, size)?)?;
        let encoded = Destination::dense(&mut buffer, &shape, size)?;
        named.encode(|codec| codec.encode(src, encoded, scratch))?;
        self.encode_array(level + 1, Source::dense(&buffer, &shape, size)?, out, scratch)?;
        scratch.give(buffer);
        Ok(())
    }

    fn encode_bytes(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let Some((last, before)) = self.bytes_bytes.split_last() else {
            return self.array_bytes.encode(|codec| codec.encode(src, out, scratch));
        };
        let plain = self.swap().is_some_and(Swap::is_none);
        let mut bytes: Cow<'_, [u8]> = match src.as_dense() {
            Some(dense) if plain => Cow::Borrowed(dense),
            _ => {
                let mut gathered = scratch.take_vec();
                self.array_bytes.encode(|codec| codec.encode(src, &mut gathered, scratch))?;
                Cow::Owned(gathered)
            }
        };
        for named in before {
            let mut next = scratch.take_vec();
            named.encode(|codec| codec.encode(&bytes, &mut next, scratch))?;
            if let Cow::Owned(used) = std::mem::replace(&mut bytes, Cow::Owned(next)) {
                scratch.give_vec(used);
            }
        }
        last.encode(|codec| codec.encode(&bytes, out, scratch))?;
        if let Cow::Owned(used) = bytes {
            scratch.give_vec(used);
        }
        Ok(())
    }
}
