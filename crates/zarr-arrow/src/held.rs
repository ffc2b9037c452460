//! Buffers of Arrow as bytes, without a copy.

use zarr_array::traits::Bytes;

/// A buffer of any version of Arrow, kept alive while its bytes are used.
struct Held<B>(B);

impl<B: std::ops::Deref<Target = [u8]>> AsRef<[u8]> for Held<B> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the bytes of a buffer.
pub(crate) fn bytes<B: std::ops::Deref<Target = [u8]> + Send + 'static>(buffer: B) -> Bytes {
    Bytes::from_owner(Held(buffer))
}
