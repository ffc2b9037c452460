//! A chain of codecs: what an array does to each of its chunks. **For engine authors.**

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use zarr_strided::{Destination, Dims, Source};

use crate::codec::{
    ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, CodecKind, Configuration, Context, EncodedSize,
    Note, Repr,
};
use crate::error::{CodecError, CodecErrorKind, CodecResult};
use crate::partial::{ChunkRead, Hints, PlainRead};
use crate::region::{Region, permute};
use crate::registry::{Spec, alias};
use crate::scratch::{Buffer, Scratch};

/// Codecs in the order of the document: array → array, one array → bytes, bytes → bytes (checklist A21).
#[derive(Debug)]
pub struct Chain {
    array_array: Vec<Named<dyn ArrayArrayCodec>>,
    array_bytes: Named<dyn ArrayBytesCodec>,
    bytes_bytes: Vec<Named<dyn BytesBytesCodec>>,
    /// What reaches the chain, and what each array → array codec makes of it; one more than there are of those.
    reprs: Vec<Repr>,
    sizes: Vec<usize>,
    skipped: Vec<String>,
}

#[derive(Debug)]
struct Named<T: ?Sized> {
    name: String,
    codec: Arc<T>,
}

impl<T: ?Sized> Named<T> {
    fn decode<R>(&self, run: impl FnOnce(&T) -> CodecResult<R>) -> CodecResult<R> {
        run(&self.codec).map_err(|e| e.in_codec(&self.name, "decode"))
    }

    fn encode<R>(&self, run: impl FnOnce(&T) -> CodecResult<R>) -> CodecResult<R> {
        run(&self.codec).map_err(|e| e.in_codec(&self.name, "encode"))
    }
}

/// A partial decode is worth its own pass over the encoded bytes below this share of the chunk.
const SPAN_SHARE: (usize, usize) = (3, 4);

impl Chain {
    /// Builds the codecs of `specs` for chunks of `repr`. What was tolerated is appended to `notes`, with pointers
    /// relative to the list.
    ///
    /// A codec that nobody knows is skipped if the document allows that (checklist K5); the chain can then not
    /// [write](Self::skipped).
    ///
    /// # Errors
    /// [`CodecErrorKind::UnknownExtension`]; [`CodecErrorKind::Configuration`] for a list that is empty, out of order
    /// or without exactly one array → bytes codec (A.t60 to A.t63); whatever a codec refuses. The error's
    /// [`pointer`](CodecError::pointer) says which.
    pub fn build(
        specs: &[Spec],
        repr: Repr,
        context: &Context<'_>,
        notes: &mut Vec<Note>,
    ) -> CodecResult<Self> {
        if specs.len() > context.limits.chain_length || context.depth > context.limits.chain_depth {
            return Err(CodecError::new(
                CodecErrorKind::LimitExceeded,
                format!("{} codecs at depth {} are more than the limits allow", specs.len(), context.depth),
            ));
        }
        let mut array_array = Vec::new();
        let mut array_bytes = None;
        let mut bytes_bytes = Vec::new();
        let mut sizes = vec![repr.fixed().map_or(0, |(size, _)| size)];
        let mut reprs = vec![repr];
        let mut skipped = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            let here = format!("/{i}");
            let entry = match context.registry.codec(&spec.name) {
                Ok(entry) => entry,
                Err(_) if !spec.must_understand => {
                    skipped.push(spec.name.clone());
                    continue;
                }
                Err(e) => return Err(e.at(&here)),
            };
            let order = |why: &str| {
                CodecError::configuration(format!("codec {:?} {why}", spec.name)).at(&format!("/{i}"))
            };
            match (entry.kind, array_bytes.is_some()) {
                (CodecKind::ArrayArray, true) => {
                    return Err(order("must stand before the array → bytes codec"));
                }
                (CodecKind::ArrayBytes, true) => {
                    return Err(order("is a second array → bytes codec, there must be one"));
                }
                (CodecKind::BytesBytes, false) => {
                    return Err(order("must stand after the array → bytes codec"));
                }
                _ => {}
            }
            notes.extend(alias(&spec.name, entry.name, &here));
            let repr = &reprs[reprs.len() - 1];
            let mut configuration = Configuration::new(&spec.configuration);
            let built = (entry.build)(&mut configuration, repr, context)
                .map_err(|e| e.in_codec(&spec.name, "open").at(&here))?;
            notes.extend(
                configuration
                    .finish()
                    .into_iter()
                    .map(|n| Note { pointer: format!("{here}{}", n.pointer), ..n }),
            );
            let name = spec.name.clone();
            match built {
                Codec::ArrayArray(codec) => {
                    let next = codec.encoded_repr().map_err(|e| e.in_codec(&name, "open").at(&here))?;
                    sizes.push(next.fixed().map_or(0, |(size, _)| size));
                    reprs.push(next);
                    array_array.push(Named { name, codec });
                }
                Codec::ArrayBytes(codec) => array_bytes = Some(Named { name, codec }),
                Codec::BytesBytes(codec) => bytes_bytes.push(Named { name, codec }),
            }
        }
        let array_bytes = array_bytes.ok_or_else(|| {
            CodecError::configuration("the codecs lack an array → bytes codec such as \"bytes\"")
        })?;
        Ok(Self { array_array, array_bytes, bytes_bytes, reprs, sizes, skipped })
    }

    /// What reaches the chain.
    pub fn repr(&self) -> &Repr {
        &self.reprs[0]
    }

    /// The codecs that were skipped because the document allows it; what is written without them would be wrong.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Whether the encoded form of a chunk is just its elements, perhaps reordered and swapped.
    pub fn is_plain(&self) -> bool {
        self.bytes_bytes.is_empty() && self.array_bytes.codec.plain().is_some() && self.only_layouts()
    }

    /// Whether every codec of the chain can work on chunks of `shape`.
    ///
    /// # Errors
    /// That of the codec that cannot.
    pub fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        let mut shape: Dims = shape.into();
        for named in &self.array_array {
            shape = named.codec.encoded_shape(&shape).map_err(|e| e.in_codec(&named.name, "open"))?;
        }
        self.array_bytes.codec.check_shape(&shape).map_err(|e| e.in_codec(&self.array_bytes.name, "open"))
    }

    /// How many bytes a chunk of `shape` becomes.
    pub fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        match self.inner_shape(shape) {
            Ok(shape) => self.size_after(&shape, self.bytes_bytes.len()),
            Err(_) => EncodedSize::Unknown,
        }
    }

    /// Decodes the `part` of a chunk of `shape` into `dst`, which has the shape of the part. `src` is the whole object.
    ///
    /// # Errors
    /// That of the codec at fault, with its name.
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

    /// Appends the encoded form of the chunk `src` to `out`.
    ///
    /// # Errors
    /// That of the codec at fault, with its name; [`CodecErrorKind::Unsupported`] when a codec was skipped.
    pub fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        if let Some(name) = self.skipped.first() {
            let message = format!(
                "codec {name:?} is unknown and was skipped, what is written without it would be wrong"
            );
            return Err(CodecError::new(CodecErrorKind::Unsupported, message));
        }
        self.encode_array(0, src, out, scratch)
    }

    /// A way to read the `part` of a chunk of `shape` without reading the whole object; `None`: read it whole and call
    /// [`decode_into`](Self::decode_into). The pieces go into what [`encoded_view`](Self::encoded_view) makes of the
    /// destination.
    pub fn partial(&self, shape: &[u64], part: &Region, hints: Hints) -> Option<Box<dyn ChunkRead>> {
        if !self.bytes_bytes.is_empty() || !part.is_inside(shape) {
            return None;
        }
        let (mut shape, mut part): (Dims, _) = (shape.into(), part.clone());
        for named in &self.array_array {
            let order = named.codec.as_layout()?;
            (shape, part) = (permute(&shape, order)?, part.permute(order)?);
        }
        match self.array_bytes.codec.plain() {
            Some(swap) => Some(Box::new(PlainRead { shape, part, size: *self.sizes.last()?, swap, hints })),
            None => self.array_bytes.codec.partial(&shape, &part, hints),
        }
    }

    /// `dst` with its dimensions in the order in which the array → bytes codec sees them.
    ///
    /// # Errors
    /// When there are array → array codecs that do more than reorder; [`partial`](Self::partial) is `None` then.
    pub fn encoded_view<'a>(&self, mut dst: Destination<'a>) -> CodecResult<Destination<'a>> {
        for named in &self.array_array {
            let order = named.codec.as_layout().ok_or_else(|| {
                CodecError::new(CodecErrorKind::Unsupported, "no view through a codec that changes elements")
            })?;
            dst = dst.permute(order)?;
        }
        Ok(dst)
    }

    fn only_layouts(&self) -> bool {
        self.array_array.iter().all(|named| named.codec.as_layout().is_some())
    }

    fn inner_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        self.array_array.iter().try_fold(shape.into(), |shape: Dims, named| named.codec.encoded_shape(&shape))
    }

    /// Bytes after the array → bytes codec and the first `steps` bytes → bytes codecs.
    fn size_after(&self, inner_shape: &[u64], steps: usize) -> EncodedSize {
        let size = self.array_bytes.codec.encoded_size(inner_shape);
        self.bytes_bytes[..steps].iter().fold(size, |size, named| size.then(|n| named.codec.encoded_size(n)))
    }

    /// Decodes from the array → array codec at `level` on: those codecs, then the rest.
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
        if let Some(order) = named.codec.as_layout() {
            let shape = permute(shape, order).ok_or_else(|| mismatch(shape, part))?;
            let part = part.permute(order).ok_or_else(|| mismatch(&shape, part))?;
            return self.decode_array(level + 1, src, &shape, &part, dst.permute(order)?, scratch);
        }
        let size = self.sizes[level + 1];
        let encoded = named.codec.encoded_shape(shape)?;
        let (wanted, decodes_part) = match named.codec.map_part(shape, part) {
            Some(region) => (region, true),
            None => (Region::whole(&encoded), part.is_whole(shape)),
        };
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
            dst.put(
                Source::dense(&whole, shape, dst.size())?.sub(part.start(), part.shape())?,
                zarr_strided::Swap::NONE,
            )?;
            scratch.give(whole);
        }
        scratch.give(buffer);
        Ok(())
    }

    /// Decodes the bytes → bytes codecs, the last one first, and the array → bytes codec.
    fn decode_bytes(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        mut dst: Destination<'_>,
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
        let Some(first) = self.bytes_bytes.first() else {
            return array_bytes.decode(|codec| codec.decode_into(src, shape, part, dst, scratch));
        };
        match array_bytes.codec.plain() {
            // the elements lie there as the destination wants them: decompress into it
            Some(swap) if part.is_whole(shape) && dst.as_dense_mut().is_some() => {
                if let Some(target) = dst.as_dense_mut() {
                    let len = first.decode(|codec| codec.decode_into(src, target, scratch))?;
                    exactly(len, target.len(), &first.name)?;
                    zarr_strided::swap_in_place(target, swap);
                }
            }
            Some(swap) => {
                let size = dst.size();
                let total = byte_len(shape, size)?;
                let span = byte_span(shape, part, size);
                let strides = byte_strides(shape, size);
                if span.len() < total / SPAN_SHARE.1 * SPAN_SHARE.0 {
                    let mut buffer = scratch.take(span.len())?;
                    if first.decode(|c| c.decode_span(src, total, span, &mut buffer, scratch))? {
                        dst.put(Source::strided(&buffer, 0, part.shape(), &strides, size)?, swap)?;
                        scratch.give(buffer);
                        return self.give_back(outer, scratch);
                    }
                    scratch.give(buffer);
                }
                let buffer = self.decode_step(0, src, shape, scratch)?;
                dst.put(Source::dense(&buffer, shape, size)?.sub(part.start(), part.shape())?, swap)?;
                scratch.give(buffer);
            }
            None => {
                let buffer = self.decode_step(0, src, shape, scratch)?;
                array_bytes.decode(|codec| codec.decode_into(&buffer, shape, part, dst, scratch))?;
                scratch.give(buffer);
            }
        }
        self.give_back(outer, scratch)
    }

    fn give_back(&self, buffer: Option<Buffer>, scratch: &mut Scratch) -> CodecResult<()> {
        buffer.into_iter().for_each(|b| scratch.give(b));
        Ok(())
    }

    /// Decodes one bytes → bytes codec into scratch. Where the size is only guessed, room grows until it fits or exceeds
    /// what an object may have.
    fn decode_step(
        &self,
        step: usize,
        src: &[u8],
        shape: &[u64],
        scratch: &mut Scratch,
    ) -> CodecResult<Buffer> {
        let named = &self.bytes_bytes[step];
        let size = self.size_after(shape, step);
        if let EncodedSize::Exact(len) = size {
            let len = usize::try_from(len).map_err(|_| crate::scratch::no_memory(usize::MAX))?;
            let mut buffer = scratch.take(len)?;
            let got = named.decode(|codec| codec.decode_into(src, &mut buffer, scratch))?;
            exactly(got, len, &named.name)?;
            return Ok(buffer);
        }
        let most = growth_limit(size, src.len());
        let mut room =
            size.bound().and_then(|n| usize::try_from(n).ok()).unwrap_or(4 * src.len()).clamp(1 << 10, most);
        loop {
            let mut buffer = scratch.take(room)?;
            match named.decode(|codec| codec.decode_into(src, &mut buffer, scratch)) {
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
        if let Some(order) = named.codec.as_layout() {
            return self.encode_array(level + 1, src.permute(order)?, out, scratch);
        }
        let shape = named.encode(|codec| codec.encoded_shape(src.shape()))?;
        let size = self.sizes[level + 1];
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
        let plain = self.array_bytes.codec.plain().is_some_and(|swap| swap.is_none());
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

/// How much room a decoder may be given whose output size nobody knows: some times what our own encoder would need, or,
/// for an unknown bound, what a chunk may have.
fn growth_limit(size: EncodedSize, src: usize) -> usize {
    let bound = size.bound().and_then(|n| usize::try_from(n).ok()).unwrap_or(1 << 30);
    bound.saturating_mul(4).max(src).max(1 << 20)
}

fn exactly(got: usize, expected: usize, name: &str) -> CodecResult<()> {
    if got == expected {
        return Ok(());
    }
    Err(CodecError::corrupt(format!("it decodes to {got} bytes, expected {expected}"))
        .in_codec(name, "decode"))
}

fn mismatch(shape: &[u64], part: &Region) -> CodecError {
    CodecError::new(
        CodecErrorKind::InvalidArgument,
        format!("{part:?} is no part of a chunk of shape {shape:?}"),
    )
}

/// The bytes of elements of `size` in `shape`.
///
/// # Errors
/// When that exceeds memory.
pub fn byte_len(shape: &[u64], size: usize) -> CodecResult<usize> {
    let elements = shape.iter().try_fold(1_u64, |n, len| n.checked_mul(*len));
    let bytes = elements.and_then(|n| n.checked_mul(size as u64)).and_then(|n| isize::try_from(n).ok());
    bytes.map(isize::unsigned_abs).ok_or_else(|| {
        CodecError::new(
            CodecErrorKind::LimitExceeded,
            format!("shape {shape:?} of {size}-byte elements exceeds memory"),
        )
    })
}

/// Bytes from one element to the next in C order; the caller has checked [`byte_len`].
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

/// From the first to behind the last byte of `part` in a chunk in C order.
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
