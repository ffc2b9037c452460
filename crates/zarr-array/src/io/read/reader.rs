//! The read of one cell: its takes are fetched with one request for the data, decoded, and put into their results.

use std::ops::Range;
use std::sync::Arc;

use zarr_engine::run::PART;
use zarr_strided::{Destination, Dims, Source, byte_len};
use zarr_traits::{
    Key, Region, Scratch, Version,
    heap::Heap,
    partial::{Piece, PieceDecode},
};

use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::io::chunk_cache::Decoded;
use crate::io::core::{Core, with_heap};
use crate::io::fetch::elements::{ElementSpans, Elements};
use crate::io::fetch::opened::Opened;
use crate::io::fetch::parts::Parts;
use crate::io::fetch::{ChunkObject, Tally, strange};
use crate::io::read::runs::Run;
use crate::io::read::sink::{Open, Sink};
use crate::plan::hits::Hits;
use crate::plan::joint::Joint;
use crate::plan::{Cell, Pick, Take, Tile};
use crate::settings::MissingChunks;

/// The state with which any cell is read.
pub(crate) struct Reader<'a> {
    pub(crate) core: &'a Core,
    pub(crate) joint: &'a Joint,
    /// The cache of decoded chunks, if the read uses it.
    pub(crate) cache: Option<&'a Decoded>,
    /// The contents of elements of variable length.
    pub(crate) heap: Option<&'a Arc<Heap>>,
    /// Whether the result is all zero at first, so that a fill value of zero need not be written.
    pub(crate) zeroed: bool,
}

/// The fetched data of a cell or a block.
pub(crate) struct Found {
    /// The takes that were fetched, and the number of each decoded box for the cache.
    takes: Vec<Take>,
    units: Vec<Dims>,
    parts: Parts,
    /// The version of the object, if it is known.
    version: Option<Version>,
    /// The other takes, whose elements were in the cache.
    cached: Vec<(Take, Arc<Vec<u8>>)>,
}

/// Consecutive pieces of consecutive takes, which one thread decodes. The pieces of a tile are in one share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Share {
    /// The take and the piece in it with which the share begins, and those with which the next one begins.
    start: (usize, usize),
    end: (usize, usize),
}

impl Share {
    /// Returns its pieces of a take, of `all` pieces.
    fn of(&self, take: usize, all: usize) -> Range<usize> {
        let first = if take == self.start.0 { self.start.1 } else { 0 };
        let end = if take == self.end.0 { self.end.1 } else { all };
        first..end
    }
}

impl Found {
    /// The number of fetched bytes.
    pub(crate) fn fetched_bytes(&self) -> u64 {
        self.parts.fetched_bytes()
    }

    /// Takes the first pieces that can be decoded together off `pieces`.
    #[inline]
    fn next_run<'f>(&'f self, pieces: &mut &'f [Piece]) -> ArrayResult<Option<Run<'f>>> {
        match &self.parts {
            Parts::Pieces(_, fetched) => Run::next(pieces, fetched),
            _ => Ok(None),
        }
    }

    /// Gives the memory of the object back.
    pub(crate) fn give_to(self, scratch: &mut Scratch) {
        self.parts.give_to(scratch);
    }
}

impl Reader<'_> {
    /// Reads the index of the object of a cell, for its blocks.
    pub(crate) async fn open(&self, cell: &Cell) -> ArrayResult<Opened> {
        let key = self.core.key(&cell.chunk)?;
        let object = ChunkObject::of(cell, self.joint.steps(), &key, None);
        self.core.open(object, &self.joint.around(cell), true, &mut Tally::default()).await
    }

    /// Fetches what must be decoded for a cell or a block.
    pub(crate) async fn fetch(
        &self,
        cell: &Cell,
        opened: Option<&Opened>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Found> {
        let key = self.core.key(&cell.chunk)?;
        if let [plan] = self.joint.plans()
            && self.cache.is_none()
            && let Some(spans) = ElementSpans::of(self.core, plan, cell)
        {
            let object = ChunkObject::of(cell, self.joint.steps(), &key, opened);
            let elements = self.core.fetch_elements(object, spans, scratch).await?;
            let parts = elements.map_or(Parts::Absent, Parts::Elements);
            let takes = vec![Take::of_elements(cell)];
            return Ok(Found { takes, units: Vec::new(), parts, version: None, cached: Vec::new() });
        }
        let takes = self.joint.takes(cell);
        let (takes, units, cached) = match self.cache {
            Some(cache) => self.split(cache, cell, &key, takes).await?,
            None => (takes, Vec::new(), Vec::new()),
        };
        if !self.core.has_inner() {
            // The whole box around the selected elements may be held in memory.
            let sparse = takes.iter().filter(|take| self.only(take).is_none_or(|pick| !pick.is_dense));
            sparse.into_iter().try_for_each(|take| self.core.check_chunk(take.part.shape()))?;
        }
        let object = ChunkObject::of(cell, self.joint.steps(), &key, opened);
        let (parts, version) = match &takes[..] {
            [take] => self.core.fetch(object, &[&take.part], scratch).await?,
            takes => {
                let parts: Vec<&Region> = takes.iter().map(|take| &take.part).collect();
                self.core.fetch(object, &parts, scratch).await?
            }
        };
        Ok(Found { takes, units, parts, version, cached })
    }

    /// Looks for takes in the cache, each enlarged to what is cached.
    async fn split(
        &self,
        cache: &Decoded,
        cell: &Cell,
        key: &Key,
        takes: Vec<Take>,
    ) -> ArrayResult<(Vec<Take>, Vec<Dims>, Vec<(Take, Arc<Vec<u8>>)>)> {
        let plan = &self.joint.plans()[0];
        let whole = |take: Take| {
            let (unit, part) = plan.unit(cell, &take.part);
            (unit, take.widened(part))
        };
        let (units, takes): (Vec<Dims>, Vec<Take>) = takes.into_iter().map(whole).unzip();
        let found = cache.find(&self.core.storage, key, units.iter()).await?;
        let (mut missing, mut cached) = (Vec::new(), Vec::new());
        for ((unit, take), memory) in units.into_iter().zip(takes).zip(found) {
            match memory {
                Some(memory) => cached.push((take, memory)),
                None => missing.push((take, unit)),
            }
        }
        let (missing, units): (Vec<Take>, Vec<Dims>) = missing.into_iter().unzip();
        Ok((missing, units, cached))
    }

    /// Returns the pick of a take whose pieces are decoded into its result one by one: the only one, if nothing is cached.
    fn only<'t>(&self, take: &'t Take) -> Option<&'t Pick> {
        match &take.picks[..] {
            [pick] if self.cache.is_none() => Some(pick),
            _ => None,
        }
    }

    /// Groups the pieces of a chunk with inner chunks into shares for threads.
    pub(crate) fn divide(&self, cell: &Cell, found: &Found) -> Vec<Share> {
        let mut shares = Shares::default();
        let Parts::Pieces(all, _) = &found.parts else { return Vec::new() };
        if !self.core.has_inner() {
            return Vec::new();
        }
        for (nth, (take, pieces)) in found.takes.iter().zip(all.iter()).enumerate() {
            shares.begin((nth, 0));
            // The tiles of a list are whole takes.
            let only = self.only(take).filter(|pick| self.joint.of(pick).is_steps());
            let mut tile: Option<Tile> = None;
            for (piece_nth, piece) in pieces.iter().enumerate() {
                if let Some(pick) = only
                    && let Some(first) = self.hits(cell, take, pick, piece).first()
                    && tile.as_ref().is_none_or(|tile| !tile.holds(first))
                {
                    tile = Some(self.joint.of(pick).tile(first));
                    shares.begin((nth, piece_nth));
                }
                shares.add(self.core.bytes_of(match &piece.job {
                    PieceDecode::Chain(inner) => &inner.chunk,
                    _ => &piece.shape,
                }));
            }
        }
        shares.end((all.len(), 0));
        shares.done
    }

    /// Returns the elements of a pick in a piece of its take.
    fn hits(&self, cell: &Cell, take: &Take, pick: &Pick, piece: &Piece) -> Hits {
        self.hits_in(cell, take, pick, &piece.at, &piece.shape)
    }

    /// Returns the elements of a pick in a box of its take.
    fn hits_in(&self, cell: &Cell, take: &Take, pick: &Pick, at: &[u64], shape: &[u64]) -> Hits {
        if pick.is_dense {
            let at = pick.at.iter().zip(at).map(|(first, at)| first + at).collect();
            return Hits::Dense { at, count: shape.into() };
        }
        let starts = cell.start.iter().zip(take.part.start());
        let corner: Dims = starts.zip(at).map(|((cell, part), at)| cell + part + at).collect();
        self.joint.of(pick).hits(&pick.at, &pick.count, &corner, shape)
    }

    /// Decodes a share of the pieces.
    pub(crate) fn decode_share(
        &self,
        cell: &Cell,
        found: &Found,
        share: &Share,
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let Parts::Pieces(all, _) = &found.parts else { return Ok(()) };
        with_heap(self.heap, scratch, |scratch| {
            let takes = all.iter().enumerate().take(share.end.0 + 1).skip(share.start.0);
            let takes = takes.map(|(nth, pieces)| (nth, &pieces[share.of(nth, pieces.len())]));
            takes
                .filter(|(_, pieces)| !pieces.is_empty())
                .try_for_each(|(nth, pieces)| self.pieces(cell, found, nth, pieces, sink, scratch))
        })
    }

    /// Decodes all that was fetched.
    pub(crate) fn decode(
        &self,
        cell: &Cell,
        found: &Found,
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let takes = 0..found.takes.len();
        with_heap(self.heap, scratch, |scratch| match &found.parts {
            Parts::Absent => found.takes.iter().try_for_each(|take| self.fill(take, sink)),
            Parts::Whole(_) if self.core.has_inner() => {
                Err(strange("a codec with inner chunks cannot read them one by one"))
            }
            Parts::Whole(loaded) => takes
                .into_iter()
                .try_for_each(|nth| self.whole(cell, found, nth, loaded.whole(), sink, scratch)),
            Parts::Pieces(all, _) => takes
                .zip(all.iter())
                .try_for_each(|(nth, pieces)| self.pieces(cell, found, nth, pieces, sink, scratch)),
            Parts::Elements(elements) => {
                found.takes.iter().try_for_each(|take| self.elements(take, elements, sink, scratch))
            }
        })
    }

    /// Copies what was in the cache.
    pub(crate) fn copy_cached(&self, cell: &Cell, found: &Found, sink: &mut Sink<'_>) -> ArrayResult<()> {
        found.cached.iter().try_for_each(|(take, memory)| self.copy(cell, take, memory, sink))
    }

    /// Writes fill values, or fails if a missing chunk is an error.
    fn fill(&self, take: &Take, sink: &mut Sink<'_>) -> ArrayResult<()> {
        let element = &self.core.fill_element;
        if self.core.missing == MissingChunks::Error {
            return Err(ArrayError::new(ArrayErrorKind::NotFound, "the chunk is missing"));
        }
        if self.zeroed && element.is_zero() {
            return Ok(());
        }
        take.picks.iter().try_for_each(|pick| sink.fill(self.joint.of(pick), pick, element.bytes()))
    }

    /// Decodes pieces of a take. Each lies in one tile, and the pieces of a tile follow each other.
    fn pieces<'f>(
        &self,
        cell: &Cell,
        found: &'f Found,
        nth: usize,
        mut pieces: &'f [Piece],
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let take = &found.takes[nth];
        let Some(pick) = self.only(take) else {
            return self.decode_once(cell, found, nth, sink, scratch, |mut dst, scratch| {
                while let Some(run) = found.next_run(&mut pieces)? {
                    let dst = dst.reborrow().sub(&run.piece().at, &run.piece().shape)?;
                    zarr_engine::run_piece(run.piece(), run.bytes, dst, scratch)?;
                }
                Ok(())
            });
        };
        let plan = self.joint.of(pick);
        let mut open: Option<Open<'_>> = None;
        while let Some(run) = found.next_run(&mut pieces)? {
            let hits = self.hits(cell, take, pick, run.piece());
            let Some(first) = hits.first() else { continue };
            if open.as_ref().is_none_or(|open| !open.tile.holds(first)) {
                drop(open.take());
                open = Some(sink.open(plan, pick, first)?);
            }
            if let Some(Open { tile, memory }) = &mut open {
                self.piece(run.piece(), &hits, run.bytes, &tile.at, memory, scratch)?;
            }
        }
        Ok(())
    }

    /// Decodes the selected elements of a piece into a part of the result whose first element is at `origin`.
    fn piece(
        &self,
        piece: &Piece,
        hits: &Hits,
        src: &[u8],
        origin: &[u64],
        result: &mut Destination<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        if let Some(dst) = hits.dense(origin, result)? {
            return Ok(zarr_engine::run_piece(piece, src, dst, scratch)?);
        }
        if let PieceDecode::Fill(fill) = &piece.job {
            return hits.fill(fill.bytes(), origin, result);
        }
        // The whole piece is decoded into scratch memory first.
        let (shape, size) = (&piece.shape, self.core.size);
        let mut memory = scratch.take(byte_len(shape, size)?)?;
        zarr_engine::run_piece(piece, src, Destination::dense(&mut memory, shape, size)?, scratch)?;
        hits.take(&memory, shape, origin, result)?;
        scratch.give(memory);
        Ok(())
    }

    /// Puts elements of an uncompressed chunk into the result.
    fn elements(
        &self,
        take: &Take,
        elements: &Elements,
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let size = self.core.size;
        take.picks.iter().try_for_each(|pick| {
            if let Some(bytes) = elements.as_one()? {
                let source = Source::dense(bytes, &pick.count, size)?;
                return sink.put(self.joint.of(pick), pick, &source, elements.swap());
            }
            let mut memory = scratch.take(byte_len(&pick.count, size)?)?;
            elements.copy_to(&mut memory)?;
            let source = Source::dense(&memory, &pick.count, size)?;
            sink.put(self.joint.of(pick), pick, &source, elements.swap())?;
            scratch.give(memory);
            Ok(())
        })
    }

    /// Decodes a take of a chunk without inner chunks.
    fn whole(
        &self,
        cell: &Cell,
        found: &Found,
        nth: usize,
        object: &[u8],
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
    ) -> ArrayResult<()> {
        let take = &found.takes[nth];
        let decode = |dst: Destination<'_>, scratch: &mut Scratch| {
            Ok(self.core.chain.decode_into(object, &cell.shape, &take.part, dst, scratch)?)
        };
        match self.only(take).filter(|pick| pick.is_dense) {
            Some(pick) => {
                let Open { tile, memory } = sink.open(self.joint.of(pick), pick, &pick.at)?;
                let within: Dims = pick.at.iter().zip(&tile.at).map(|(at, tile)| at - tile).collect();
                decode(memory.sub(&within, &pick.count)?, scratch)
            }
            None => self.decode_once(cell, found, nth, sink, scratch, decode),
        }
    }

    /// Decodes the box of a take with `decode`, and copies its elements to all picks.
    fn decode_once(
        &self,
        cell: &Cell,
        found: &Found,
        nth: usize,
        sink: &mut Sink<'_>,
        scratch: &mut Scratch,
        decode: impl FnOnce(Destination<'_>, &mut Scratch) -> ArrayResult<()>,
    ) -> ArrayResult<()> {
        let (take, size) = (&found.takes[nth], self.core.size);
        let shape = take.part.shape();
        self.core.check_chunk(shape)?;
        if let (Some(cache), Some(unit)) = (self.cache, found.units.get(nth)) {
            let mut memory = zarr_strided::zeroed(byte_len(shape, size)?)?;
            decode(Destination::dense(&mut memory, shape, size)?, scratch)?;
            self.copy(cell, take, &memory, sink)?;
            cache.keep(unit, Arc::new(memory), found.version.as_ref());
            return Ok(());
        }
        let mut memory = scratch.take(byte_len(shape, size)?)?;
        decode(Destination::dense(&mut memory, shape, size)?, scratch)?;
        self.copy(cell, take, &memory, sink)?;
        scratch.give(memory);
        Ok(())
    }

    /// Copies the elements of all picks of a take out of its decoded box. Each pick lies in one tile.
    fn copy(&self, cell: &Cell, take: &Take, memory: &[u8], sink: &mut Sink<'_>) -> ArrayResult<()> {
        let (origin, shape) = (Dims::filled(0, cell.shape.len()), take.part.shape());
        take.picks.iter().try_for_each(|pick| {
            let mut open = sink.open(self.joint.of(pick), pick, &pick.at)?;
            self.hits_in(cell, take, pick, &origin, shape).take(
                memory,
                shape,
                &open.tile.at,
                &mut open.memory,
            )
        })
    }
}

/// The shares of a cell, while they are made.
#[derive(Default)]
struct Shares {
    done: Vec<Share>,
    start: (usize, usize),
    /// The decoded bytes since `start`.
    bytes: u64,
}

impl Shares {
    /// Ends a share that is large enough before a take and piece with which a tile begins.
    fn begin(&mut self, tile: (usize, usize)) {
        if self.bytes >= PART {
            self.end(tile);
        }
    }

    fn end(&mut self, end: (usize, usize)) {
        if self.bytes > 0 {
            self.done.push(Share { start: self.start, end });
        }
        (self.start, self.bytes) = (end, 0);
    }

    fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes).max(1);
    }
}
