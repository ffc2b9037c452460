//! Codecs that convert single elements, in partial reads and writes. They do not depend on the order of dimensions, so they
//! come after all reordering.

use std::sync::Arc;

use zarr_strided::{Destination, Dims, Source, Swap, byte_len};
use zarr_traits::codec::{ArrayArrayCodec, Repr};
use zarr_traits::partial::{DecodePart, InnerPart, Piece, PieceDecode};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, FillValue, Region, Scratch};

use super::Named;

/// The codecs of a chain that convert single elements, in the order of encoding.
#[derive(Debug)]
pub(super) struct Elementwise {
    /// The codecs, each with the size of its encoded elements.
    codecs: Vec<(Named<dyn ArrayArrayCodec>, usize)>,
    /// The size of decoded elements.
    size: usize,
}

impl Elementwise {
    pub(super) fn new<'a>(
        repr: &Repr,
        codecs: impl IntoIterator<Item = (&'a Named<dyn ArrayArrayCodec>, &'a usize)>,
    ) -> Self {
        let codecs = codecs.into_iter().map(|(named, size)| (named.clone(), *size)).collect();
        Self { codecs, size: repr.data_type.memory_size() }
    }

    /// Decodes elements that `fill` writes to the destination that it gets, which has the shape of `dst`.
    fn decode(
        &self,
        dst: Destination<'_>,
        scratch: &mut Scratch,
        fill: &mut dyn FnMut(Destination<'_>, &mut Scratch) -> CodecResult<()>,
    ) -> CodecResult<()> {
        self.decode_from(0, dst, scratch, fill)
    }

    /// Decodes with the codecs from `level` on.
    fn decode_from(
        &self,
        level: usize,
        dst: Destination<'_>,
        scratch: &mut Scratch,
        fill: &mut dyn FnMut(Destination<'_>, &mut Scratch) -> CodecResult<()>,
    ) -> CodecResult<()> {
        let Some((named, size)) = self.codecs.get(level) else { return fill(dst, scratch) };
        let shape = Dims::from(dst.shape());
        let mut buffer = scratch.take(byte_len(&shape, *size)?)?;
        self.decode_from(level + 1, Destination::dense(&mut buffer, &shape, *size)?, scratch, fill)?;
        let elements = Source::dense(&buffer, &shape, *size)?;
        named.decode(|codec| codec.decode(elements, dst, scratch))?;
        scratch.give(buffer);
        Ok(())
    }

    /// Encodes elements with the codecs from `level` on, and passes them to `write`.
    pub(super) fn encode_from(
        &self,
        level: usize,
        src: &Source<'_>,
        scratch: &mut Scratch,
        write: &mut dyn FnMut(&Source<'_>, &mut Scratch) -> CodecResult<bool>,
    ) -> CodecResult<bool> {
        let Some((named, size)) = self.codecs.get(level) else { return write(src, scratch) };
        let mut buffer = scratch.take(byte_len(src.shape(), *size)?)?;
        let encoded = Destination::dense(&mut buffer, src.shape(), *size)?;
        named.encode(|codec| codec.encode(src.clone(), encoded, scratch))?;
        let done =
            self.encode_from(level + 1, &Source::dense(&buffer, src.shape(), *size)?, scratch, write)?;
        scratch.give(buffer);
        Ok(done)
    }

    /// Returns the decoded form of a fill value.
    fn fill(&self, fill: &FillValue) -> CodecResult<FillValue> {
        let mut element = vec![0; self.size];
        let dst = Destination::dense(&mut element, &[], self.size)?;
        self.decode(dst, &mut Scratch::new(), &mut |mut dst, _| Ok(dst.fill(fill.bytes())?))?;
        Ok(FillValue::from_bytes(element))
    }

    /// Returns the piece of the decoded elements. `fill` is the decoded form of the last fill value that occurred.
    pub(super) fn piece(
        self: &Arc<Self>,
        mut piece: Piece,
        fill: &mut Option<[FillValue; 2]>,
    ) -> CodecResult<Piece> {
        let codecs = self.clone();
        piece.job = match piece.job {
            PieceDecode::Fill(found) => {
                let decoded = match fill.take().filter(|[encoded, _]| *encoded == found) {
                    Some([_, decoded]) => decoded,
                    None => self.fill(&found)?,
                };
                *fill = Some([found, decoded.clone()]);
                PieceDecode::Fill(decoded)
            }
            PieceDecode::Chain(inner) => {
                let chain = Arc::new(ElementwisePart { chain: inner.chain.clone(), codecs });
                PieceDecode::Chain(Box::new(inner.chain(chain)))
            }
            PieceDecode::Strided { strides, swap } => PieceDecode::Chain(Box::new(InnerPart::new(
                Arc::new(ElementwisePart { chain: Arc::new(StridedPart { strides, swap }), codecs }),
                piece.shape.clone(),
                Region::whole(&piece.shape),
            ))),
            job => {
                let message = format!("this version does not support {job:?}");
                return Err(CodecError::new(CodecErrorKind::Unsupported, message));
            }
        };
        Ok(piece)
    }
}

/// A part of an inner chunk before the conversion of its elements.
#[derive(Debug)]
struct ElementwisePart {
    chain: Arc<dyn DecodePart>,
    codecs: Arc<Elementwise>,
}

impl DecodePart for ElementwisePart {
    fn decode_part(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        self.codecs
            .decode(dst, scratch, &mut |dst, scratch| self.chain.decode_part(src, shape, part, dst, scratch))
    }
}

/// Elements that are stored as they are in memory.
#[derive(Debug)]
struct StridedPart {
    strides: Arc<[i64]>,
    swap: Swap,
}

impl DecodePart for StridedPart {
    fn decode_part(
        &self,
        src: &[u8],
        shape: &[u64],
        _: &Region,
        mut dst: Destination<'_>,
        _: &mut Scratch,
    ) -> CodecResult<()> {
        let elements = Source::strided(src, 0, shape, &self.strides, dst.size());
        let elements = elements.map_err(|e| CodecError::corrupt(e.to_string()))?;
        Ok(dst.put(elements, self.swap)?)
    }
}
