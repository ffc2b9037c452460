//! Encoding the inner chunks of one object with several threads, each into its own buffer.

use std::ops::Range;
use std::sync::Mutex;

use zarr_engine::run::PART;
use zarr_strided::Source;
use zarr_traits::lock::unpoisoned;
use zarr_traits::{
    Buffer, Bytes, Region, Scratch,
    update::{ChunkUpdate, EncodedInner, JoinedObject, NewInner},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};

/// The writing of the inner chunks of one chunk.
pub(crate) struct Encoding {
    update: Box<dyn ChunkUpdate>,
    /// The scratch memory of the stored object that `update` was fed, if any.
    object: Option<Bytes>,
    /// The number of inner chunks in a part, which one thread encodes.
    together: usize,
    done: Mutex<Done>,
}

/// Encodes the elements of an inner chunk. Returns whether it is stored.
pub(crate) type Encode<'a> = dyn FnMut(&Source<'_>, &mut Scratch) -> ArrayResult<bool> + 'a;

/// The inner chunks encoded so far.
struct Done {
    /// The buffers that no thread appends to at the moment, with their numbers.
    idle: Vec<(usize, Vec<u8>)>,
    buffers: usize,
    inner: Vec<NewInner>,
}

/// The content of an object to put.
pub(crate) struct Value {
    pub(crate) parts: Vec<Bytes>,
    /// The scratch memory of the stored object. Parts may refer to it.
    object: Option<Bytes>,
    /// The encoded bytes, in one buffer per thread.
    encoded: Vec<Bytes>,
}

impl Encoding {
    /// Returns an encoding of inner chunks of `bytes` decoded bytes each. `object` is the memory of the stored object
    /// that `update` was fed. The first buffer is taken from `scratch`, and [`Value::recycle`] gives it back.
    ///
    /// # Errors
    /// When memory for the list of inner chunks cannot be allocated.
    pub(crate) fn new(
        update: Box<dyn ChunkUpdate>,
        object: Option<Bytes>,
        scratch: Option<&mut Scratch>,
        bytes: usize,
    ) -> ArrayResult<Self> {
        let count = update.count();
        let together = usize::try_from(PART).unwrap_or(usize::MAX).checked_div(bytes).unwrap_or(1).max(1);
        let mut inner = Vec::new();
        inner.try_reserve_exact(count).map_err(|_| {
            ArrayError::new(ArrayErrorKind::LimitExceeded, format!("no memory for {count} inner chunks"))
        })?;
        inner.resize(count, NewInner::Kept);
        let buffer = scratch.map(Scratch::take_vec).unwrap_or_default();
        let done = Done { idle: vec![(0, buffer)], buffers: 1, inner };
        Ok(Self { update, object, together, done: Mutex::new(done) })
    }

    /// The number of parts that can be encoded independently.
    pub(crate) fn parts(&self) -> u64 {
        self.update.count().div_ceil(self.together) as u64
    }

    /// Returns the numbers of the inner chunks of a part.
    fn part(&self, number: u64) -> Range<usize> {
        let count = self.update.count();
        let first = usize::try_from(number).map_or(count, |number| number.saturating_mul(self.together));
        first.min(count)..first.saturating_add(self.together).min(count)
    }

    /// Encodes the inner chunks of a part. `values` calls a function with the new elements of an inner chunk, given as a
    /// box of the written elements, or returns `None` if it has none and keeps its bytes.
    pub(crate) fn encode(
        &self,
        part: u64,
        scratch: &mut Scratch,
        values: impl Fn(&Region, &mut Scratch, &mut Encode<'_>) -> ArrayResult<Option<bool>>,
    ) -> ArrayResult<()> {
        let part = self.part(part);
        let (buffer, mut out) = self.take_buffer(scratch);
        let mut inner = Vec::with_capacity(part.len());
        for number in part.clone() {
            let (start, elements) = (out.len(), self.update.elements(number)?);
            let mut encode = |src: &Source<'_>, scratch: &mut Scratch| {
                Ok(self.update.encode(number, src, &mut out, scratch)?)
            };
            inner.push(match values(&elements, scratch, &mut encode)? {
                Some(true) => NewInner::Encoded(EncodedInner::new(buffer, start, out.len() - start)),
                Some(false) => NewInner::Fill,
                None => NewInner::Kept,
            });
        }
        let mut done = unpoisoned(self.done.lock());
        done.inner[part].copy_from_slice(&inner);
        done.idle.push((buffer, out));
        Ok(())
    }

    /// Takes the only inner chunk of a part as already encoded.
    pub(crate) fn insert(&self, part: u64, bytes: &[u8]) {
        let mut done = unpoisoned(self.done.lock());
        let (buffer, len) = (done.buffers, bytes.len());
        done.buffers += 1;
        done.idle.push((buffer, bytes.to_vec()));
        done.inner[self.part(part)].fill(NewInner::Encoded(EncodedInner::new(buffer, 0, len)));
    }

    fn take_buffer(&self, scratch: &mut Scratch) -> (usize, Vec<u8>) {
        let mut done = unpoisoned(self.done.lock());
        if let Some(idle) = done.idle.pop() {
            return idle;
        }
        done.buffers += 1;
        (done.buffers - 1, scratch.take_vec())
    }

    /// Joins the inner chunks into an object. Returns it and whether all its elements are the fill value.
    pub(crate) fn join(self, scratch: &mut Scratch) -> ArrayResult<(Value, bool)> {
        let Done { mut idle, inner, .. } = unpoisoned(self.done.into_inner());
        idle.sort_unstable_by_key(|(buffer, _)| *buffer);
        let buffers: Vec<Bytes> = idle.into_iter().map(|(_, out)| Bytes::from(out)).collect();
        let JoinedObject { parts, is_empty, .. } = self.update.join(&buffers, &inner, scratch)?;
        Ok((Value { parts, object: self.object, encoded: buffers }, is_empty))
    }
}

impl Value {
    /// The size in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }

    /// Returns an object in one buffer.
    pub(crate) fn encoded(buffer: Vec<u8>) -> Self {
        let bytes = Bytes::from(buffer);
        Self { parts: vec![bytes.clone()], object: None, encoded: vec![bytes] }
    }

    /// Returns an object that was changed in place.
    pub(crate) fn patched(buffer: Buffer) -> Self {
        let (bytes, memory) = buffer.into_bytes();
        Self { parts: vec![bytes], object: Some(memory), encoded: Vec::new() }
    }

    /// Gives memory that the store did not keep back to `scratch`, for the next chunk: that of the object and the first
    /// buffer, which were taken from it. The buffers of other threads came from their own scratch memory: `scratch` would
    /// grow with each chunk.
    pub(crate) fn recycle(self, scratch: Option<&mut Scratch>) {
        drop(self.parts);
        let Some(scratch) = scratch else { return };
        let vec = |bytes: Bytes| bytes.try_into_mut().ok().map(Vec::from);
        if let Some(object) = self.object.and_then(vec) {
            scratch.give(object.into());
        }
        if let Some(buffer) = self.encoded.into_iter().next().and_then(vec) {
            scratch.give_vec(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_traits::CodecResult;

    const LEN: usize = 1 << 20;

    /// Two inner chunks, which are stored as they are.
    #[derive(Debug)]
    struct Two;

    impl ChunkUpdate for Two {
        fn feed(&mut self, _: Bytes) -> CodecResult<()> {
            Ok(())
        }

        fn count(&self) -> usize {
            2
        }

        fn elements(&self, _: usize) -> CodecResult<Region> {
            Ok(Region::whole(&[LEN as u64]))
        }

        fn encode(&self, _: usize, _: &Source<'_>, out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<bool> {
            out.resize(out.len() + LEN, 1);
            Ok(true)
        }

        fn join(&self, buffers: &[Bytes], _: &[NewInner], _: &mut Scratch) -> CodecResult<JoinedObject> {
            Ok(JoinedObject::new(buffers.to_vec(), false))
        }
    }

    #[test]
    fn scratch_memory_does_not_grow_when_other_threads_start_first() {
        let elements = vec![1; LEN];
        let source = Source::dense(&elements, &[LEN as u64], 1).unwrap();
        let (mut own, mut other) = (Scratch::new(), Scratch::new());
        let mut sizes = Vec::new();
        for _ in 0..10 {
            let encoding = Encoding::new(Box::new(Two), None, Some(&mut own), LEN).unwrap();
            let values = |_: &Region, scratch: &mut Scratch, encode: &mut Encode<'_>| {
                encode(&source, scratch).map(Some)
            };
            encoding.encode(0, &mut other, values).unwrap();
            encoding.encode(1, &mut own, values).unwrap();
            let (value, _) = encoding.join(&mut own).unwrap();
            assert_eq!(value.len(), 2 * LEN as u64);
            value.recycle(Some(&mut own));
            sizes.push(own.bytes() + other.bytes());
        }
        assert!(
            (2 * LEN..4 * LEN).contains(&sizes[0]) && sizes.iter().all(|size| *size == sizes[0]),
            "{sizes:?}"
        );
    }
}
