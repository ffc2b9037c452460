//! The index: the place of each inner chunk. Every number from an index is checked here.

use zarr_traits::strided::{Destination, Dims, Source, bytes_of_mut, zeroed};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Region, Scratch, Span, codec::EncodedSize};

use crate::inner::Touched;
use crate::shard::Shard;

/// The offset and the length of a missing inner chunk.
pub(crate) const MISSING: u64 = u64::MAX;

/// The name of the index in error messages.
const IN_INDEX: &str = "in the index of the shard";

/// The bytes of a decoded entry.
const ENTRY_SIZE: u64 = 16;

/// The layout of a shard of a given shape.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The number of inner chunks in each dimension.
    pub(crate) chunks: Dims,
    /// The shape of the index: `chunks` and a last dimension of 2.
    pub(crate) index: Dims,
    /// The bytes of the encoded index.
    pub(crate) index_len: u64,
}

impl Layout {
    /// The number of inner chunks. It fits, as the index was checked to fit into memory.
    pub(crate) fn len(&self) -> u64 {
        self.chunks.product().unwrap_or(u64::MAX)
    }
}

impl Shard {
    /// Returns the most bytes of an encoded shard.
    pub(crate) fn object_bound(&self, layout: &Layout) -> Option<u64> {
        let one = self.inner.encoded_size(&self.chunk).bound()?;
        one.checked_mul(layout.len())?.checked_add(layout.index_len)
    }

    /// Returns the layout of a shard of `shape`.
    ///
    /// # Errors
    /// If the shape of inner chunks does not divide `shape`, or the index exceeds the limits.
    pub(crate) fn layout(&self, shape: &[u64]) -> CodecResult<Layout> {
        let divides = shape.len() == self.chunk.len()
            && shape.iter().zip(&self.chunk).all(|(shard, chunk)| shard.is_multiple_of(*chunk));
        if !divides {
            let message =
                format!("inner chunks of shape {:?} do not divide a shard of {shape:?}", self.chunk);
            return Err(CodecError::configuration(message));
        }
        let chunks: Dims = shape.iter().zip(&self.chunk).map(|(shard, chunk)| shard / chunk).collect();
        let size = chunks.product().and_then(|n| n.checked_mul(ENTRY_SIZE));
        if size.is_none_or(|size| size > self.index_limit) {
            let message = format!(
                "an index of {chunks:?} inner chunks exceeds the limit of {} bytes",
                self.index_limit
            );
            return Err(CodecError::new(CodecErrorKind::LimitExceeded, message));
        }
        let mut index = chunks.clone();
        index.push(2);
        let EncodedSize::Exact(index_len) = self.index.encoded_size(&index) else {
            return Err(CodecError::configuration("the size of the encoded index is unknown"));
        };
        Ok(Layout { chunks, index, index_len })
    }

    /// Decodes the entries of the inner chunks `touched` from the bytes of the index.
    pub(crate) fn entries(
        &self,
        src: &[u8],
        layout: &Layout,
        touched: Touched,
        scratch: &mut Scratch,
    ) -> CodecResult<Entries> {
        let (mut start, mut shape) = (touched.first.clone(), touched.count.clone());
        start.push(0);
        shape.push(2);
        let wrong = || CodecError::new(CodecErrorKind::InvalidArgument, "the part is not inside the shard");
        let len = shape.product().and_then(|n| usize::try_from(n).ok()).ok_or_else(wrong)?;
        let mut values = zeroed::<u64>(len)?;
        let dst = Destination::dense(bytes_of_mut(&mut values), &shape, size_of::<u64>())?;
        let part = Region::new(start, shape).ok_or_else(wrong)?;
        let decoded = self.index.decode_into(src, &layout.index, &part, dst, scratch);
        decoded.map_err(|e| e.inside(IN_INDEX))?;
        Ok(Entries { touched, values })
    }

    /// Returns the bytes of the index in a whole shard.
    pub(crate) fn index_of<'a>(&self, src: &'a [u8], layout: &Layout) -> CodecResult<&'a [u8]> {
        let split = usize::try_from(layout.index_len).ok().and_then(|len| {
            if self.at_start { src.get(..len) } else { src.get(src.len().checked_sub(len)?..) }
        });
        split.ok_or_else(|| self.too_short(src.len(), layout))
    }

    /// Returns the encoded index.
    pub(crate) fn encode_index(
        &self,
        entries: &[u64],
        layout: &Layout,
        scratch: &mut Scratch,
    ) -> CodecResult<Vec<u8>> {
        let (entries, mut index) = (Source::of(entries, &layout.index)?, Vec::new());
        self.index.encode(entries, &mut index, scratch).map_err(|e| e.inside(IN_INDEX))?;
        let made = index.len() as u64;
        if made == layout.index_len {
            return Ok(index);
        }
        let message = format!("index_codecs made {made} bytes but promised {}", layout.index_len);
        Err(CodecError::new(CodecErrorKind::Unsupported, message))
    }

    /// Returns the bytes where inner chunks may be, in an object of `size` bytes if the size is known.
    pub(crate) fn room(&self, layout: &Layout, size: Option<u64>) -> Room {
        if self.at_start {
            Room { from: layout.index_len, to: size }
        } else {
            Room { from: 0, to: size.map(|size| size.saturating_sub(layout.index_len)) }
        }
    }

    /// Returns the error for an object of `len` bytes, which is too short for its index.
    pub(crate) fn too_short(&self, len: usize, layout: &Layout) -> CodecError {
        CodecError::corrupt(format!("{len} bytes are too few for an index of {}", layout.index_len))
    }
}

/// The entries of the inner chunks in a box of their grid.
#[derive(Debug)]
pub(crate) struct Entries {
    touched: Touched,
    values: Vec<u64>,
}

impl Entries {
    /// Returns the offset and length of inner chunk `number` from the index, or a missing entry if it is outside the
    /// box.
    pub(crate) fn of(&self, number: &[u64]) -> [u64; 2] {
        let place = self.touched.place(number).and_then(|place| self.values.get(2 * place..2 * place + 2));
        place.map_or([MISSING; 2], |entry| [entry[0], entry[1]])
    }

    /// Whether all inner chunks of `touched` are in the box.
    pub(crate) fn covers(&self, touched: &Touched) -> bool {
        self.touched.covers(touched)
    }

    /// The bytes of memory that the entries take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.values[..]) + size_of::<Self>()
    }
}

/// The bytes where inner chunks may be: inside the object and outside the index.
#[derive(Debug)]
pub(crate) struct Room {
    from: u64,
    to: Option<u64>,
}

impl Room {
    /// Returns the bytes of inner chunk `number` with this `entry`, or `None` if it is missing.
    ///
    /// # Errors
    /// If the entry is invalid. Other inner chunks are not affected.
    pub(crate) fn span(&self, number: &[u64], entry: [u64; 2]) -> CodecResult<Option<Span>> {
        let [offset, len] = entry;
        let broken = |why: &str| {
            let message = format!("inner chunk {number:?}: its {len} bytes at offset {offset} {why}");
            Err(CodecError::corrupt(message))
        };
        match (offset == MISSING, len == MISSING, offset.checked_add(len)) {
            (true, true, _) => Ok(None),
            (true, false, _) | (false, true, _) => {
                broken("are invalid, both numbers are 2^64 - 1 for a missing inner chunk")
            }
            (_, _, None) => broken("end beyond 2^64"),
            _ if offset < self.from => broken("overlap the index"),
            (_, _, Some(end)) if self.to.is_some_and(|to| end > to) => {
                broken("overlap the index or lie outside of the object")
            }
            _ => Ok(Some(Span { offset, len })),
        }
    }
}
