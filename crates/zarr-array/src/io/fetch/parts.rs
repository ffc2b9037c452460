//! Fetches parts of a chunk with one read of its object, or two if it has an index.

use zarr_engine::run::caught;
use zarr_strided::to_usize;
use zarr_traits::{
    Region, Scratch, Span, Version,
    partial::{ChunkRead, Known, Piece},
};

use super::{ChunkObject, FetchError, RESTARTS, Seen, Tally, Wish, changed_often, check_inside, strange};
use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::fetch::elements::Elements;
use crate::io::fetch::opened::Opened;
use crate::io::loaded::{Fetched, Loaded};
use crate::plan::one_or_many::OneOrMany;

/// The fetched data of parts of a chunk.
pub(crate) enum Parts {
    Absent,
    /// The whole object. The parts are decoded in one step.
    Whole(Loaded),
    /// The pieces of each part, and the bytes that hold them.
    Pieces(OneOrMany<Vec<Piece>>, Fetched),
    /// The elements of the only part.
    Elements(Elements),
}

impl Parts {
    /// The number of fetched bytes.
    pub(crate) fn fetched_bytes(&self) -> u64 {
        match self {
            Self::Absent => 0,
            Self::Whole(loaded) => loaded.len() as u64,
            Self::Pieces(_, fetched) => fetched.len() as u64,
            Self::Elements(elements) => elements.fetched_bytes(),
        }
    }

    /// Gives the memory of the object back.
    pub(crate) fn give_to(self, scratch: &mut Scratch) {
        match self {
            Self::Absent => {}
            Self::Whole(loaded) => loaded.give_to(scratch),
            Self::Pieces(_, fetched) => fetched.give_to(scratch),
            Self::Elements(elements) => elements.give_to(scratch),
        }
    }
}

/// The bytes that must be read for parts.
pub(crate) enum PartsWish {
    /// The pieces of each part.
    Pieces(OneOrMany<Vec<Piece>>),
    /// The whole object, because a part needs it. Parts are taken out of it if the codec `has_pieces`.
    Whole { has_pieces: bool },
}

const NOT_BY_PARTS: &str = "a codec does not read a part of an object of which it read another part";

impl Core {
    /// Fetches parts of a chunk, and returns the version of the object if it is known.
    pub(crate) async fn fetch(
        &self,
        mut object: ChunkObject<'_>,
        parts: &[&Region],
        mut scratch: Option<&mut Scratch>,
    ) -> ArrayResult<(Parts, Option<Version>)> {
        for _ in 0..RESTARTS {
            match self.try_fetch(object, parts, scratch.as_deref_mut()).await {
                Err(FetchError::Changed) => self.indexes.forget(object.index),
                Err(FetchError::Other(e)) => return Err(e),
                Ok(fetched) => return Ok(fetched),
            }
            object.opened = None;
        }
        Err(changed_often())
    }

    async fn try_fetch(
        &self,
        object: ChunkObject<'_>,
        parts: &[&Region],
        scratch: Option<&mut Scratch>,
    ) -> Result<(Parts, Option<Version>), FetchError> {
        let Some(first) = parts.first() else { return Ok((Parts::Absent, None)) };
        let fetching = self.fetching_of(object.steps);
        let (read, seen) = match self.wish(object, first, fetching, true, &mut Tally::default()).await? {
            Wish::Absent => return Ok((Parts::Absent, None)),
            Wish::Whole(read) => {
                return self.fetch_whole(object, read.is_some(), read, parts, scratch).await;
            }
            Wish::Pieces(read, seen) => (read, seen),
        };
        let (expected, version) = (read.object_size(), seen.version.clone());
        // The cached index may be of an object that was replaced since, so an error in it is not final.
        let pieces = match self.pieces_of_parts(object, parts, read, &seen).await {
            Err(FetchError::Other(_)) if seen.remembered => return Err(FetchError::Changed),
            planned => planned?,
        };
        let pieces = match pieces {
            PartsWish::Pieces(pieces) => pieces,
            PartsWish::Whole { has_pieces } => {
                return self.fetch_whole(object, has_pieces, None, parts, scratch).await;
            }
        };
        let spans = pieces.iter().flatten().map(|piece| piece.span);
        match self.fetch_spans(object.key, spans, expected, seen, scratch).await? {
            Some(fetched) => Ok((Parts::Pieces(pieces, fetched), version)),
            None => Ok((Parts::Absent, None)),
        }
    }

    /// Returns what must be read for the parts of a chunk. `read` is that of the first one.
    pub(crate) async fn pieces_of_parts(
        &self,
        object: ChunkObject<'_>,
        parts: &[&Region],
        read: Box<dyn ChunkRead>,
        seen: &Seen,
    ) -> Result<PartsWish, FetchError> {
        let Some((first, others)) = parts.split_first() else {
            return Ok(PartsWish::Pieces(OneOrMany::Many(Vec::new())));
        };
        let of_first = caught(|| self.pieces_of(&*read, object.steps, first))?;
        if others.is_empty() {
            return Ok(PartsWish::Pieces(OneOrMany::one(of_first)));
        }
        let opened = Opened::There(read.known(), seen.clone());
        let object = ChunkObject { opened: Some(&opened), ..object };
        let mut pieces = Vec::with_capacity(parts.len());
        pieces.push(of_first);
        for part in others {
            match self.wish(object, part, self.fetching.with_whole(0), true, &mut Tally::default()).await? {
                Wish::Pieces(read, _) => pieces.push(caught(|| self.pieces_of(&*read, object.steps, part))?),
                Wish::Whole(read) => return Ok(PartsWish::Whole { has_pieces: read.is_some() }),
                Wish::Absent => return Err(FetchError::Changed),
            }
        }
        Ok(PartsWish::Pieces(OneOrMany::Many(pieces)))
    }

    /// Fetches the whole object, and takes the pieces of each part out of it if it `has_pieces`. `first` is the read of the
    /// first part, if it waits for the whole object.
    async fn fetch_whole(
        &self,
        object: ChunkObject<'_>,
        has_pieces: bool,
        mut first: Option<Box<dyn ChunkRead>>,
        parts: &[&Region],
        scratch: Option<&mut Scratch>,
    ) -> Result<(Parts, Option<Version>), FetchError> {
        let Some((loaded, version)) = self.load_whole(object, has_pieces, scratch).await? else {
            return Ok((Parts::Absent, None));
        };
        if !has_pieces {
            return Ok((Parts::Whole(loaded), version));
        }
        let (size, mut known) = (loaded.len() as u64, None);
        let mut pieces_of = |part: &&Region| {
            caught(|| {
                let read = match first.take() {
                    Some(mut read) => {
                        read.feed(&[loaded.whole()], Some(size))?;
                        known = read.known();
                        read
                    }
                    None => self
                        .read_in(object.shape, part, loaded.whole(), &mut known)?
                        .ok_or_else(|| strange(NOT_BY_PARTS))?,
                };
                self.pieces_of(&*read, object.steps, part)
            })
        };
        let pieces = match parts {
            [part] => OneOrMany::one(pieces_of(part)?),
            parts => OneOrMany::Many(parts.iter().map(pieces_of).collect::<ArrayResult<_>>()?),
        };
        check_inside(pieces.iter().flatten().map(|piece: &Piece| piece.span), Some(size))?;
        let fetched = Fetched::new(loaded, vec![Span { offset: 0, len: size }]);
        Ok((Parts::Pieces(pieces, fetched), version))
    }

    /// Starts a partial read of a part of a chunk whose object is in memory. `known` keeps the index from one part to
    /// the next. `None` if the chain reads only whole chunks.
    pub(crate) fn read_in(
        &self,
        shape: &[u64],
        part: &Region,
        object: &[u8],
        known: &mut Option<Known>,
    ) -> ArrayResult<Option<Box<dyn ChunkRead>>> {
        let fetching = self.fetching.with_whole(0);
        let Some(mut read) = self.chain.partial(shape, part, fetching, known.as_ref())? else {
            return Ok(None);
        };
        let size = object.len() as u64;
        while !read.wants().is_empty() {
            let wanted = read.wants().iter().map(|want| {
                let range = want.resolve(size)?;
                Ok(&object[to_usize(range.start)..to_usize(range.end)])
            });
            let wanted: Vec<&[u8]> = wanted.collect::<ArrayResult<_>>()?;
            read.feed(&wanted, Some(size))?;
        }
        *known = read.known();
        Ok(Some(read))
    }
}
