//! Fetches several parts of a chunk with one read of its object.

use zarr_traits::{
    Region, Scratch, Span, Version,
    partial::{ChunkRead, Known, Piece},
};

use super::{ChunkPart, FetchError, RESTARTS, Seen, Tally, Wish, changed_often, check_inside, strange};
use crate::error::ArrayResult;
use crate::io::core::Core;
use crate::io::fetch::opened::Opened;
use crate::io::loaded::{Fetched, Loaded, in_memory};
use crate::run::caught;

/// The fetched data of several parts of a chunk.
pub(crate) enum Parts {
    Absent,
    /// The whole object. The parts are decoded in one step.
    Whole(Loaded),
    /// The pieces of each part, and the bytes that hold them.
    Pieces(Vec<Vec<Piece>>, Fetched),
}

impl Parts {
    /// The number of fetched bytes.
    pub(crate) fn fetched_bytes(&self) -> u64 {
        match self {
            Self::Absent => 0,
            Self::Whole(loaded) => loaded.len() as u64,
            Self::Pieces(_, fetched) => fetched.len() as u64,
        }
    }
}

/// What must be read for several parts.
pub(crate) enum PartsWish {
    /// The pieces of each part.
    Pieces(Vec<Vec<Piece>>),
    /// The whole object, because a part needs it. Parts are taken out of it if the codec `has_pieces`.
    Whole { has_pieces: bool },
}

const NOT_BY_PARTS: &str = "a codec does not read a part of an object of which it read another part";

impl Core {
    /// Fetches several parts of a chunk at once, and returns the version of the object if it is known. `chunk.part` is the
    /// box around them.
    pub(crate) async fn fetch_parts(
        &self,
        mut chunk: ChunkPart<'_>,
        parts: &[&Region],
        mut scratch: Option<&mut Scratch>,
    ) -> ArrayResult<(Parts, Option<Version>)> {
        for _ in 0..RESTARTS {
            match self.try_parts(chunk, parts, scratch.as_deref_mut()).await {
                Err(FetchError::Changed) => self.indexes.forget(chunk.index),
                Err(FetchError::Other(e)) => return Err(e),
                Ok(fetched) => return Ok(fetched),
            }
            chunk.opened = None;
        }
        Err(changed_often())
    }

    async fn try_parts(
        &self,
        chunk: ChunkPart<'_>,
        parts: &[&Region],
        scratch: Option<&mut Scratch>,
    ) -> Result<(Parts, Option<Version>), FetchError> {
        let Some(first) = parts.first() else { return Ok((Parts::Absent, None)) };
        let one = ChunkPart { part: first, ..chunk };
        let (read, seen) = match self.wish(one, self.fetching_of(one), true, &mut Tally::default()).await? {
            Wish::Absent => return Ok((Parts::Absent, None)),
            Wish::Whole(read) => return self.fetch_whole_parts(chunk, read.is_some(), parts, scratch).await,
            Wish::Pieces(read, seen) => (read, seen),
        };
        let (expected, version) = (read.object_size(), seen.version.clone());
        // The cached index may be of an object that was replaced since, so an error in it is not final.
        let pieces = match self.pieces_of_parts(chunk, parts, read, &seen).await {
            Err(FetchError::Other(_)) if seen.remembered => return Err(FetchError::Changed),
            planned => planned?,
        };
        let pieces = match pieces {
            PartsWish::Pieces(pieces) => pieces,
            PartsWish::Whole { has_pieces } => {
                return self.fetch_whole_parts(chunk, has_pieces, parts, scratch).await;
            }
        };
        match self.fetch_pieces(chunk.key, &pieces, expected, seen, scratch).await? {
            Some(fetched) => Ok((Parts::Pieces(pieces, fetched), version)),
            None => Ok((Parts::Absent, None)),
        }
    }

    /// Returns what must be read for the parts of a chunk. `read` is that of the first one.
    pub(crate) async fn pieces_of_parts(
        &self,
        chunk: ChunkPart<'_>,
        parts: &[&Region],
        read: Box<dyn ChunkRead>,
        seen: &Seen,
    ) -> Result<PartsWish, FetchError> {
        let opened = Opened::There(read.known(), seen.clone());
        let mut pieces = Vec::with_capacity(parts.len());
        let mut first = Some(read);
        for part in parts {
            let part = ChunkPart { part, opened: Some(&opened), ..chunk };
            if let Some(read) = first.take() {
                pieces.push(caught(|| self.pieces_of(&*read, part))?);
                continue;
            }
            let fetching = self.fetching.with_whole(0);
            match self.wish(part, fetching, true, &mut Tally::default()).await? {
                Wish::Pieces(read, _) => pieces.push(caught(|| self.pieces_of(&*read, part))?),
                Wish::Whole(read) => return Ok(PartsWish::Whole { has_pieces: read.is_some() }),
                Wish::Absent => return Err(FetchError::Changed),
            }
        }
        Ok(PartsWish::Pieces(pieces))
    }

    /// Fetches the whole object, and takes the pieces of each part out of it if it `has_pieces`.
    async fn fetch_whole_parts(
        &self,
        chunk: ChunkPart<'_>,
        has_pieces: bool,
        parts: &[&Region],
        scratch: Option<&mut Scratch>,
    ) -> Result<(Parts, Option<Version>), FetchError> {
        let Some((loaded, version)) = self.load_whole(chunk, has_pieces, scratch).await? else {
            return Ok((Parts::Absent, None));
        };
        if !has_pieces {
            return Ok((Parts::Whole(loaded), version));
        }
        let (size, mut known, mut pieces) = (loaded.len() as u64, None, Vec::with_capacity(parts.len()));
        for part in parts {
            let part = ChunkPart { part, ..chunk };
            pieces.push(caught(|| {
                match self.read_in(part.shape, part.part, loaded.whole(), &mut known)? {
                    Some(read) => self.pieces_of(&*read, part),
                    None => Err(strange(NOT_BY_PARTS)),
                }
            })?);
        }
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
                Ok(&object[in_memory(range.start)..in_memory(range.end)])
            });
            let wanted: Vec<&[u8]> = wanted.collect::<ArrayResult<_>>()?;
            read.feed(&wanted, Some(size))?;
        }
        *known = read.known();
        Ok(Some(read))
    }
}
