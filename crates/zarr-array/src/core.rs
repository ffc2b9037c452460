//! What an open array is made of: everything that a read or a write of a chunk needs to know.

use std::sync::Arc;

use zarr_traits::{
    ByteRange, Chain, ChunkGrid, CodecError, CodecErrorKind, DataType, Dims, EncodedSize, FillValue, If, Key,
    KeyEncoding, Limits, Prefix, Reply, Scratch, Storage, StoreResult, Version,
};

use crate::cpu::Cpu;
use crate::error::{ArrayError, ArrayErrorKind, ArrayResult};
use crate::feed::Place;
use crate::plan::Plan;

/// What a missing chunk means to a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Missing {
    /// It stands for the fill value, as the specification says.
    #[default]
    Fill,
    /// It is an error of kind [`NotFound`](ArrayErrorKind::NotFound): for data that is known to be complete.
    Error,
}

/// What becomes of a chunk that holds nothing but the fill value, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum FillChunks {
    /// It is not stored; what was stored before is deleted.
    #[default]
    Skip,
    /// It is stored like any other.
    Store,
}

/// An open array, resolved. Cloned only when a setting of its handle is changed.
#[derive(Debug, Clone)]
pub(crate) struct Core {
    pub(crate) path: String,
    pub(crate) prefix: Prefix,
    /// Where chunks lie: the storage behind the array's storage transformers.
    pub(crate) storage: Storage,
    pub(crate) shape: Dims,
    pub(crate) data_type: DataType,
    pub(crate) size: usize,
    pub(crate) fill: FillValue,
    pub(crate) grid: Arc<dyn ChunkGrid>,
    pub(crate) keys: Arc<dyn KeyEncoding>,
    pub(crate) chain: Arc<Chain>,
    pub(crate) limits: Limits,
    pub(crate) cpu: Cpu,
    pub(crate) missing: Missing,
    pub(crate) fill_chunks: FillChunks,
    pub(crate) single_writer: bool,
    /// Whether others may have made the array longer meanwhile: what lies beyond its edge is not ours to fill.
    pub(crate) beside: bool,
}

/// The bytes of an object.
pub(crate) enum Loaded {
    /// In scratch memory.
    Scratch(zarr_traits::Buffer),
    /// As the store holds them.
    Bytes(Vec<zarr_traits::Bytes>),
}

/// Up to this bound of its size an object is read without asking for its size first.
const BLIND: u64 = 16 << 20;

impl Core {
    pub(crate) fn place(&self, may_block: bool) -> Place {
        Place { storage: self.storage.clone(), cpu: self.cpu.clone(), may_block }
    }

    pub(crate) fn key(&self, chunk: &[u64]) -> StoreResult<Key> {
        let mut key = String::with_capacity(self.prefix.as_str().len() + 8 + 4 * chunk.len());
        key.push_str(self.prefix.as_str());
        self.keys.encode(chunk, &mut key);
        Key::new(key)
    }

    /// An error with the chunk that it is about.
    pub(crate) fn locate(&self, plan: &Plan, cell: u64, error: ArrayError) -> ArrayError {
        let chunk = plan.cell(cell).chunk;
        match self.key(&chunk) {
            Ok(key) => error.in_chunk(&chunk, &key),
            Err(_) => error,
        }
    }

    /// Decoded bytes of a chunk, about: those of the first one of a plan.
    pub(crate) fn chunk_bytes(&self, plan: &Plan) -> u64 {
        let elements = if plan.cells() > 0 { plan.cell(0).shape.product() } else { Some(0) };
        elements.unwrap_or(u64::MAX).saturating_mul(self.size as u64)
    }

    /// The whole object at `key`, of a chunk of `shape`.
    pub(crate) async fn load(
        &self,
        key: &Key,
        shape: &[u64],
        condition: If<'_>,
        scratch: Option<&mut Scratch>,
    ) -> ArrayResult<Option<(Loaded, Option<Version>)>> {
        let expected = self.chain.encoded_size(shape);
        let Some(scratch) = scratch else {
            let Some(Reply { bytes, version, .. }) =
                self.storage.reader().get_ranges(key, &[ByteRange::All], condition).await?
            else {
                return Ok(None);
            };
            let len: usize = bytes.iter().map(zarr_traits::Bytes::len).sum();
            self.check_size(len as u64, expected)?;
            self.check_chunk(shape)?;
            return Ok(Some((Loaded::Bytes(bytes), version)));
        };
        let mut room = match expected {
            EncodedSize::Exact(exact) if exact <= self.limits.chunk_bytes => in_memory(exact),
            EncodedSize::AtMost(bound) if bound <= BLIND => in_memory(bound),
            EncodedSize::Unknown => 64 << 10,
            // Too much to take on the word of a document: the object says how large it is.
            _ => {
                let Some(stat) = self.storage.reader().size(key).await? else { return Ok(None) };
                self.check_size(stat.size, expected)?;
                in_memory(stat.size)
            }
        };
        loop {
            let mut buffer = scratch.take(room)?;
            let filled =
                self.storage.reader().read_into(key, &[ByteRange::All], condition, &mut buffer).await;
            let Some(filled) = filled? else {
                scratch.give(buffer);
                return Ok(None);
            };
            let size = filled.size.unwrap_or(filled.len as u64);
            self.check_size(size, expected)?;
            if size <= room as u64 {
                self.check_chunk(shape)?;
                buffer.truncate(filled.len);
                return Ok(Some((Loaded::Scratch(buffer), filled.version)));
            }
            scratch.give(buffer);
            room = in_memory(size);
        }
    }

    /// Refuses an object that cannot be a chunk, before memory is taken for it.
    pub(crate) fn check_size(&self, size: u64, expected: EncodedSize) -> ArrayResult<()> {
        let most = match expected {
            EncodedSize::Exact(exact) if size == exact => return Ok(()),
            EncodedSize::Exact(exact) => return Err(wrong_size(size, exact)),
            // another encoder may do worse than ours, within reason
            EncodedSize::AtMost(bound) => bound.saturating_mul(4).max(1 << 20).min(self.limits.encoded_bytes),
            EncodedSize::Unknown => self.limits.encoded_bytes,
        };
        if size <= most {
            return Ok(());
        }
        Err(ArrayError::new(
            ArrayErrorKind::LimitExceeded,
            format!("the object has {size} bytes, a chunk of this array may have {most}"),
        ))
    }

    /// Refuses to decode a chunk that is larger than the limits allow.
    pub(crate) fn check_chunk(&self, shape: &[u64]) -> ArrayResult<()> {
        let bytes = zarr_traits::chain::byte_len(shape, self.size)? as u64;
        if bytes <= self.limits.chunk_bytes {
            return Ok(());
        }
        let message = format!("a chunk of {bytes} bytes exceeds the limit of {}", self.limits.chunk_bytes);
        Err(CodecError::new(CodecErrorKind::LimitExceeded, message).into())
    }
}

/// A number of bytes that memory is asked for; what exceeds it will be refused.
fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

pub(crate) fn wrong_size(size: u64, expected: u64) -> ArrayError {
    ArrayError::new(ArrayErrorKind::Corrupt, format!("the object has {size} bytes, expected {expected}"))
}

impl Loaded {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Scratch(buffer) => buffer.len(),
            Self::Bytes(parts) => parts.iter().map(zarr_traits::Bytes::len).sum(),
        }
    }

    /// The bytes, of an object that was asked for in one range.
    pub(crate) fn whole(&self) -> &[u8] {
        match self {
            Self::Scratch(buffer) => buffer,
            Self::Bytes(parts) => parts.first().map_or(&[], |b| b),
        }
    }

    pub(crate) fn give_to(self, scratch: &mut Scratch) {
        if let Self::Scratch(buffer) = self {
            scratch.give(buffer);
        }
    }
}
