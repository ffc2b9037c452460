//! Decoding: from the bytes of an object to elements.

use std::ops::Range;

use zarr_strided::{Destination, Dims, Source, Swap, byte_len, swap_in_place};

use super::{Chain, Named, mismatch};
use zarr_traits::codec::{BytesBytesCodec, Effect, EncodedSize};
use zarr_traits::{Buffer, CodecError, CodecErrorKind, CodecResult, Region, Scratch};

/// Partial decoding is used if the needed span is below this share of the chunk.
const SPAN_SHARE: (usize, usize) = (3, 4);

impl Chain {
    /// Decodes `part` of a chunk of `shape` into `dst`, which has the shape of the part. `src` is the whole object.
    ///
    /// # Errors
    /// The error of a codec, with its name.
    pub fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        if !part.is_inside(shape) || part.shape() != dst.shape() {
            return Err(mismatch(shape, part));
        }
        self.decode_array(0, src, shape, part, dst, scratch)
    }

    /// Decodes with the array → array codecs from `level` on and all later codecs.
    fn decode_array(
        &self,
        level: usize,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let Some(named) = self.array_array.get(level) else {
            return self.decode_bytes(src, shape, part, dst, scratch);
        };
        let effect = named.codec.effect();
        if let Effect::Reorder(order) = effect {
            let shape = Dims::from(shape).permuted(order).ok_or_else(|| mismatch(shape, part))?;
            let part = part.permute(order).ok_or_else(|| mismatch(&shape, part))?;
            return self.decode_array(level + 1, src, &shape, &part, dst.permute(order)?, scratch);
        }
        let size = self.sizes[level + 1];
        let encoded = named.codec.encoded_shape(shape)?;
        let suffices = match effect {
            Effect::Elementwise => Some(part.clone()),
            Effect::Reshape => named.codec.map_part(shape, part),
            _ => None,
        };
        let decodes_part = suffices.is_some() || part.is_whole(shape);
        let wanted = suffices.unwrap_or_else(|| Region::whole(&encoded));
        if decodes_part
            && effect == Effect::Reshape
            && let Some(memory) = dst.as_dense_mut()
        {
            let inner = Destination::dense(memory, wanted.shape(), size)?;
            return self.decode_array(level + 1, src, &encoded, &wanted, inner, scratch);
        }
        if decodes_part && self.is_raw_after(level) {
            let elements =
                Source::dense(src, &encoded, size).map_err(|e| CodecError::corrupt(e.to_string()))?;
            let elements = elements.sub(wanted.start(), wanted.shape())?;
            return named.decode(|codec| codec.decode(elements, dst, scratch));
        }
        let mut buffer = scratch.take(byte_len(wanted.shape(), size)?)?;
        let inner = Destination::dense(&mut buffer, wanted.shape(), size)?;
        self.decode_array(level + 1, src, &encoded, &wanted, inner, scratch)?;
        let inner = Source::dense(&buffer, wanted.shape(), size)?;
        if decodes_part {
            named.decode(|codec| codec.decode(inner, dst, scratch))?;
        } else {
            let mut whole = scratch.take(byte_len(shape, dst.size())?)?;
            let target = Destination::dense(&mut whole, shape, dst.size())?;
            named.decode(|codec| codec.decode(inner, target, scratch))?;
            dst.put(Source::dense(&whole, shape, dst.size())?.sub(part.start(), part.shape())?, Swap::NONE)?;
            scratch.give(whole);
        }
        scratch.give(buffer);
        Ok(())
    }

    /// Whether the codecs after the array → array codec at `level` leave the elements as they are in memory.
    fn is_raw_after(&self, level: usize) -> bool {
        let is_last = level + 1 == self.array_array.len() && self.bytes_bytes.is_empty();
        is_last && self.swap().is_some_and(Swap::is_none)
    }

    /// Decodes with the bytes → bytes codecs, the last one first, then with the array → bytes codec.
    fn decode_bytes(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let array_bytes = &self.array_bytes;
        let mut outer: Option<Buffer> = None;
        for step in (1..self.bytes_bytes.len()).rev() {
            let from = outer.as_deref().unwrap_or(src);
            let decoded = self.decode_step(step, from, shape, scratch)?;
            if let Some(used) = outer.replace(decoded) {
                scratch.give(used);
            }
        }
        let src = outer.as_deref().unwrap_or(src);
        match (self.bytes_bytes.is_empty(), self.swap()) {
            (true, _) => array_bytes.decode(|codec| codec.decode_into(src, shape, part, dst, scratch))?,
            (false, Some(swap)) => self.decode_plain(swap, src, shape, part, dst, scratch)?,
            (false, None) => {
                let buffer = self.decode_step(0, src, shape, scratch)?;
                array_bytes.decode(|codec| codec.decode_into(&buffer, shape, part, dst, scratch))?;
                scratch.give(buffer);
            }
        }
        outer.into_iter().for_each(|buffer| scratch.give(buffer));
        Ok(())
    }

    /// Decodes with the first bytes → bytes codec if its output is the elements. It decodes directly into the
    /// destination if that has the same order, or only the bytes around the part if the codec can do that. Otherwise it
    /// decodes to scratch memory.
    fn decode_plain(
        &self,
        swap: Swap,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let (first, size) = (&self.bytes_bytes[0], dst.size());
        if part.is_whole(shape)
            && let Some(target) = dst.as_dense_mut()
        {
            let len = first.decode(|codec| codec.decode_into(src, target, scratch))?;
            exactly(len, target.len(), &first.name)?;
            swap_in_place(target, swap);
            return Ok(());
        }
        let total = byte_len(shape, size)?;
        let span = byte_span(shape, part, size);
        if span.len() < total / SPAN_SHARE.1 * SPAN_SHARE.0 {
            let mut buffer = scratch.take(span.len())?;
            let done = first.decode(|codec| codec.decode_span(src, total, span, &mut buffer, scratch))?;
            if done {
                dst.put(Source::strided(&buffer, 0, part.shape(), &byte_strides(shape, size), size)?, swap)?;
            }
            scratch.give(buffer);
            if done {
                return Ok(());
            }
        }
        let buffer = self.decode_step(0, src, shape, scratch)?;
        dst.put(Source::dense(&buffer, shape, size)?.sub(part.start(), part.shape())?, swap)?;
        scratch.give(buffer);
        Ok(())
    }

    /// Decodes with one bytes → bytes codec into scratch memory.
    fn decode_step(
        &self,
        step: usize,
        src: &[u8],
        shape: &[u64],
        scratch: &mut Scratch,
    ) -> CodecResult<Buffer> {
        self.bytes_bytes[step].decode_sized(src, self.size_after(shape, step), self.most, scratch)
    }
}

impl Named<dyn BytesBytesCodec> {
    /// Decodes `src` into scratch memory. If `size` is only an estimate, the buffer doubles up to four times our
    /// encoder's bound, at most `most` bytes.
    pub(super) fn decode_sized(
        &self,
        src: &[u8],
        size: EncodedSize,
        most: u64,
        scratch: &mut Scratch,
    ) -> CodecResult<Buffer> {
        if let EncodedSize::Exact(len) = size {
            let len = usize::try_from(len).map_err(|_| CodecError::no_memory(usize::MAX))?;
            let mut buffer = scratch.take(len)?;
            let got = self.decode(|codec| codec.decode_into(src, &mut buffer, scratch))?;
            exactly(got, len, &self.name)?;
            return Ok(buffer);
        }
        let guess = size.bound();
        let some_times = guess.map_or(u64::MAX, |n| n.saturating_mul(4).max(src.len() as u64).max(1 << 20));
        let most = usize::try_from(some_times.min(most)).unwrap_or(usize::MAX);
        let guess = guess.and_then(|n| usize::try_from(n).ok()).unwrap_or(4 * src.len());
        let mut room = guess.max(1 << 10).min(most);
        loop {
            let mut buffer = scratch.take(room)?;
            match self.decode(|codec| codec.decode_into(src, &mut buffer, scratch)) {
                Ok(len) => {
                    buffer.truncate(len);
                    return Ok(buffer);
                }
                Err(e) if e.kind() == CodecErrorKind::TooLarge && room < most => {
                    scratch.give(buffer);
                    room = room.saturating_mul(2).min(most);
                }
                Err(e) => return Err(e),
            }
        }
    }
}

fn exactly(got: usize, expected: usize, name: &str) -> CodecResult<()> {
    if got == expected {
        return Ok(());
    }
    Err(CodecError::corrupt(format!("it decodes to {got} bytes, expected {expected}"))
        .in_codec(name, "decode"))
}

/// Returns the bytes from one element to the next in C order. The caller has checked [`byte_len`].
fn byte_strides(shape: &[u64], size: usize) -> Vec<i64> {
    let mut stride = i64::try_from(size).unwrap_or(i64::MAX);
    let mut strides: Vec<i64> = shape
        .iter()
        .rev()
        .map(|len| {
            let here = stride;
            stride = stride.saturating_mul(i64::try_from(*len).unwrap_or(i64::MAX));
            here
        })
        .collect();
    strides.reverse();
    strides
}

/// Returns the byte range from the first to the last element of `part` in a chunk in C order.
fn byte_span(shape: &[u64], part: &Region, size: usize) -> Range<usize> {
    if part.is_empty() {
        return 0..0;
    }
    let place = |position: &mut dyn Iterator<Item = u64>| -> usize {
        let sum: i64 = position
            .zip(byte_strides(shape, size))
            .map(|(p, s)| i64::try_from(p).unwrap_or(i64::MAX) * s)
            .sum();
        usize::try_from(sum).unwrap_or(0)
    };
    let first = place(&mut part.start().iter().copied());
    let last = place(&mut part.start().iter().zip(part.shape()).map(|(s, n)| s + n - 1));
    first..last + size
}
