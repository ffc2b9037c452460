//! Decodes what was fetched of a chunk into its place in the result.

use zarr_strided::{Destination, Source, Swap};
use zarr_traits::partial::{Piece, PieceDecode};
use zarr_traits::{Scratch, byte_len};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::core::Core;
use crate::io::fetch::opened::Opened;
use crate::io::fetch::{ChunkPart, Data};
use crate::plan::Cell;
use crate::settings::MissingChunks;

impl Core {
    /// Fetches the selected part of a chunk.
    pub(crate) async fn fetch_cell(
        &self,
        cell: &Cell,
        opened: Option<&Opened>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Data> {
        let key = self.key(&cell.chunk)?;
        if !cell.is_dense() && !self.has_inner() {
            // the whole box around the selected elements may be held in memory
            self.check_chunk(cell.part.shape())?;
        }
        self.fetch(ChunkPart { opened, ..cell.of(&key) }, scratch).await
    }

    /// Fails if a missing chunk is an error. Returns whether fill values must be written into a result, which is
    /// `zeroed` or not.
    pub(crate) fn writes_fill(&self, zeroed: bool) -> ArrayResult<bool> {
        match self.missing {
            MissingChunks::Error => Err(ArrayError::new(ArrayErrorKind::NotFound, "the chunk is missing")),
            MissingChunks::Fill => Ok(!(zeroed && self.fill_element.is_zero())),
        }
    }

    /// Decodes the selected elements of a piece into `dst`, which has exactly their shape.
    pub(crate) fn decode_piece(
        &self,
        cell: &Cell,
        piece: &Piece,
        src: &[u8],
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        if cell.is_dense() {
            return Ok(zarr_engine::run_piece(piece, src, dst, scratch)?);
        }
        if let PieceDecode::Fill(fill) = &piece.job {
            return Ok(dst.fill(fill.bytes())?);
        }
        // the whole piece is decoded into scratch memory first
        let mut around = scratch.take(byte_len(&piece.shape, self.size)?)?;
        let whole = Destination::dense(&mut around, &piece.shape, self.size)?;
        zarr_engine::run_piece(piece, src, whole, scratch)?;
        let hits = cell.hits(&piece.at, &piece.shape);
        let whole = Source::dense(&around, &piece.shape, self.size)?;
        dst.put(whole.sub(&hits.start, &hits.extent)?.step(&cell.steps)?, Swap::NONE)?;
        scratch.give(around);
        Ok(())
    }

    /// Decodes a chunk without inner chunks. A selection with steps decodes the box around it first.
    pub(crate) fn decode_whole(
        &self,
        cell: &Cell,
        src: &[u8],
        mut dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        if cell.is_dense() {
            return Ok(self.chain.decode_into(src, &cell.shape, &cell.part, dst, scratch)?);
        }
        let shape = cell.part.shape();
        let mut around = scratch.take(byte_len(shape, self.size)?)?;
        let box_of = Destination::dense(&mut around, shape, self.size)?;
        self.chain.decode_into(src, &cell.shape, &cell.part, box_of, scratch)?;
        dst.put(Source::dense(&around, shape, self.size)?.step(&cell.steps)?, Swap::NONE)?;
        scratch.give(around);
        Ok(())
    }
}
