//! The chain of codecs that encodes and decodes the chunks of an array. **For engine authors.**

mod decode;
mod elementwise;
mod encode;
mod plain;
mod reorder;
mod steps;

use std::sync::Arc;

use zarr_strided::{Destination, Dims, Swap};

use elementwise::Elementwise;
use plain::PlainRead;
use reorder::{Mapped, is_same};
use zarr_traits::codec::{
    ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, CodecKind, Effect, EncodedSize, PartAccess,
    Repr,
};
use zarr_traits::extension::{Configuration, Context, Note, NoteKind, Spec};
use zarr_traits::partial::{ChunkRead, DecodePart, Known};
use zarr_traits::update::{ChunkUpdate, InnerChunks, SelectedPart};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Fetching, Region, Scratch};

pub use steps::OptionalCodecs;

/// A chain of codecs in document order: array → array, one array → bytes, bytes → bytes.
#[derive(Debug, Clone)]
pub struct Chain {
    array_array: Vec<Named<dyn ArrayArrayCodec>>,
    array_bytes: Named<dyn ArrayBytesCodec>,
    bytes_bytes: Vec<Named<dyn BytesBytesCodec>>,
    /// The representation before the chain and after each array → array codec; one more than there are such codecs.
    reprs: Vec<Repr>,
    sizes: Vec<usize>,
    skipped: Vec<String>,
    /// The most bytes that a step may decode to.
    most: u64,
}

#[derive(Debug)]
struct Named<T: ?Sized> {
    name: String,
    codec: Arc<T>,
}

impl<T: ?Sized> Clone for Named<T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), codec: self.codec.clone() }
    }
}

impl<T: ?Sized> Named<T> {
    fn decode<R>(&self, run: impl FnOnce(&T) -> CodecResult<R>) -> CodecResult<R> {
        run(&self.codec).map_err(|e| e.in_codec(&self.name, "decode"))
    }

    fn encode<R>(&self, run: impl FnOnce(&T) -> CodecResult<R>) -> CodecResult<R> {
        run(&self.codec).map_err(|e| e.in_codec(&self.name, "encode"))
    }
}

impl Chain {
    /// Builds the chain in the required list `member` of a configuration, for a codec that contains other codecs. Notes
    /// on accepted deviations have pointers below `member`.
    ///
    /// # Errors
    /// If the member is missing, is not a list of codecs, is longer or deeper than the limits allow, or is not a valid
    /// chain.
    pub fn of_member(
        configuration: &mut Configuration<'_>,
        member: &'static str,
        repr: Repr,
        context: &Context<'_>,
    ) -> CodecResult<Self> {
        let chain = configuration
            .codecs(member, context, |specs, inside, notes| Self::build(specs, repr, inside, notes))?;
        configuration.skip(chain.skipped());
        Ok(chain)
    }

    /// Builds the codecs of `specs` for chunks of `repr`. Notes on accepted deviations are appended to `notes`, with
    /// pointers relative to the list.
    ///
    /// An unknown codec is skipped if the document allows it. The chain then [cannot encode](Self::skipped).
    ///
    /// # Errors
    /// [`CodecErrorKind::UnknownExtension`]; [`CodecErrorKind::Configuration`] for a list that is empty, out of order
    /// or without exactly one array → bytes codec, and for an entry that builds a codec of another kind than it states;
    /// errors of codecs. The error's [`pointer`](CodecError::pointer) names the codec.
    pub fn build(
        specs: &[Spec],
        repr: Repr,
        context: &Context<'_>,
        notes: &mut Vec<Note>,
    ) -> CodecResult<Self> {
        check_nesting(specs, context)?;
        let mut array_array = Vec::new();
        let mut array_bytes = None;
        let mut bytes_bytes = Vec::new();
        let mut sizes = vec![repr.data_type.memory_size()];
        let mut reprs = vec![repr];
        let mut skipped = Vec::new();
        for (i, spec) in specs.iter().enumerate() {
            let misplaced = |kind| match (kind, array_bytes.is_some()) {
                (CodecKind::ArrayArray, true) => Some("must come before the array → bytes codec"),
                (CodecKind::ArrayBytes, true) => Some("is a second array → bytes codec, only one is allowed"),
                (CodecKind::BytesBytes, false) => Some("must come after the array → bytes codec"),
                _ => None,
            };
            let repr = &reprs[reprs.len() - 1];
            let Some(built) = build_codec(i, spec, repr, context, notes, &mut skipped, misplaced)? else {
                continue;
            };
            let name = spec.name.clone();
            match built {
                Codec::ArrayArray(codec) => {
                    let next =
                        codec.encoded_repr().map_err(|e| e.in_codec(&name, "open").at(&format!("/{i}")))?;
                    sizes.push(next.data_type.memory_size());
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
        let most = context.limits.chunk_bytes.max(context.limits.encoded_bytes);
        Ok(Self { array_array, array_bytes, bytes_bytes, reprs, sizes, skipped, most })
    }

    /// Returns this chain after one more codec, which encodes elements of `repr` to those of this chain. The codec is not
    /// part of the metadata: the chain shows the same chunks as other elements.
    ///
    /// # Errors
    /// [`CodecErrorKind::Unsupported`] if the codec encodes to another data type.
    pub fn after(&self, name: &str, repr: Repr, codec: Arc<dyn ArrayArrayCodec>) -> CodecResult<Self> {
        let (made, wanted) = (codec.encoded_repr()?, self.repr());
        if (&made.data_type, made.rank) != (&wanted.data_type, wanted.rank) {
            let message = format!("it makes elements of {}, expected {}", made.data_type, wanted.data_type);
            return Err(CodecError::new(CodecErrorKind::Unsupported, message).in_codec(name, "open"));
        }
        let mut chain = self.clone();
        chain.sizes.insert(0, repr.data_type.memory_size());
        chain.reprs.insert(0, repr);
        chain.array_array.insert(0, Named { name: name.to_owned(), codec });
        Ok(chain)
    }

    /// The representation of the chunks that the chain encodes.
    pub fn repr(&self) -> &Repr {
        &self.reprs[0]
    }

    /// The unknown codecs that were skipped, also in inner chains. A chunk encoded without them would be wrong.
    pub fn skipped(&self) -> &[String] {
        &self.skipped
    }

    /// Whether the encoded form of a chunk is its elements, possibly in another order of dimensions or bytes.
    pub fn is_plain(&self) -> bool {
        self.bytes_bytes.is_empty() && self.swap().is_some() && self.only_reorders()
    }

    /// Checks that every codec of the chain can work on chunks of `shape`.
    ///
    /// # Errors
    /// The error of the codec that cannot.
    pub fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        let mut shape: Dims = shape.into();
        for named in &self.array_array {
            shape = named.codec.encoded_shape(&shape).map_err(|e| e.in_codec(&named.name, "open"))?;
        }
        self.array_bytes.codec.check_shape(&shape).map_err(|e| e.in_codec(&self.array_bytes.name, "open"))
    }

    /// Returns the encoded size of a chunk of `shape`.
    pub fn encoded_size(&self, shape: &[u64]) -> EncodedSize {
        match self.encoded_shape(shape) {
            Ok(shape) => self.size_after(&shape, self.bytes_bytes.len()),
            Err(_) => EncodedSize::Unknown,
        }
    }

    /// Returns the order of dimensions and the byte swap if the encoded form of a chunk is its elements. Dimension `i`
    /// of the encoded form is dimension `order[i]` of the chunk.
    pub fn plain(&self, rank: usize) -> Option<(Dims, Swap)> {
        let known = self.bytes_bytes.is_empty() && self.skipped.is_empty() && self.only_reorders();
        let swap = self.swap().filter(|_| known)?;
        Some((self.order(rank)?, swap))
    }

    /// Returns the shape of inner chunks, which can be read and written separately, or `None` if there are none.
    pub fn inner_shape(&self, rank: usize) -> Option<Dims> {
        match self.array_bytes.codec.access() {
            PartAccess::Inner(inner) if self.bytes_bytes.is_empty() => {
                Dims::from(inner).permuted(&self.order(rank)?.inverse()?)
            }
            _ => None,
        }
    }

    /// Returns a reader for `part` of a chunk of `shape`. If there are [inner chunks](Self::inner_shape), each of its
    /// pieces lies in one of them. `known` is what an earlier read learnt about the same version of the object. With
    /// `None` the caller reads the object whole and calls [`decode_into`](Self::decode_into).
    ///
    /// # Errors
    /// The error of the codec, with its name; [`CodecErrorKind::Unsupported`] if it says that it has inner chunks and
    /// does not read them.
    pub fn partial(
        &self,
        shape: &[u64],
        part: &Region,
        fetching: Fetching,
        known: Option<&Known>,
    ) -> CodecResult<Option<Box<dyn ChunkRead>>> {
        if !self.bytes_bytes.is_empty() || !part.is_inside(shape) {
            return Ok(None);
        }
        // Only inner chunks have pieces of a whole chunk.
        if part.is_whole(shape) && !matches!(self.array_bytes.codec.access(), PartAccess::Inner(_)) {
            return Ok(None);
        }
        let Some(order) = self.order(shape.len()) else { return Ok(None) };
        let stored = match is_same(&order) {
            true => Some((shape.into(), part.clone())),
            false => Dims::from(shape).permuted(&order).zip(part.permute(&order)),
        };
        let Some((shape, part)) = stored else { return Ok(None) };
        let Some(read) = self.stored_part(shape, part, fetching, known)? else { return Ok(None) };
        let order = (!is_same(&order)).then_some(order);
        let mapped = Mapped { inner: read, order, codecs: self.elementwise() };
        Ok(Some(if mapped.is_same() { mapped.inner } else { Box::new(mapped) }))
    }

    /// Returns a reader for `part` of what the array → bytes codec encodes.
    fn stored_part(
        &self,
        shape: Dims,
        part: Region,
        fetching: Fetching,
        known: Option<&Known>,
    ) -> CodecResult<Option<Box<dyn ChunkRead>>> {
        let codec = &self.array_bytes;
        let partial = || codec.decode(|codec| codec.partial(&shape, &part, fetching, known));
        match codec.codec.access() {
            PartAccess::Plain(swap) => {
                let size = self.sizes[self.sizes.len() - 1];
                Ok(Some(Box::new(PlainRead { shape, part, size, swap, fetching })))
            }
            PartAccess::Ranges => partial(),
            PartAccess::Inner(_) => partial()?.map(Some).ok_or_else(|| {
                let message = "it says that it has inner chunks, and does not read them";
                CodecError::new(CodecErrorKind::Unsupported, message).in_codec(&codec.name, "decode")
            }),
            _ => Ok(None),
        }
    }

    /// Returns a writer for elements of a chunk of `shape` by its inner chunks. With `None` the caller
    /// [encodes](Self::encode) the chunk whole.
    pub fn update(
        &self,
        shape: &[u64],
        picks: &SelectedPart,
        how: InnerChunks,
    ) -> Option<Box<dyn ChunkUpdate>> {
        if !self.bytes_bytes.is_empty() || !self.skipped.is_empty() || !picks.part.is_inside(shape) {
            return None;
        }
        let order = self.order(shape.len())?;
        let codec = &self.array_bytes.codec;
        let PartAccess::Inner(_) = codec.access() else { return None };
        let update = codec.update(&Dims::from(shape).permuted(&order)?, &picks.permute(&order)?, how)?;
        let order = (!is_same(&order)).then_some(order);
        let mapped = Mapped { inner: update, order, codecs: self.elementwise() };
        Some(if mapped.is_same() { mapped.inner } else { Box::new(mapped) })
    }

    /// The codecs that convert each element alone, if there are any.
    fn elementwise(&self) -> Option<Arc<Elementwise>> {
        let codecs = self.array_array.iter().zip(&self.sizes[1..]);
        let codecs: Vec<_> =
            codecs.filter(|(named, _)| named.codec.effect() == Effect::Elementwise).collect();
        (!codecs.is_empty()).then(|| Arc::new(Elementwise::new(&self.reprs[0], codecs)))
    }

    /// The swap of bytes, if the array → bytes codec stores the elements in C order.
    fn swap(&self) -> Option<Swap> {
        match self.array_bytes.codec.access() {
            PartAccess::Plain(swap) => Some(swap),
            _ => None,
        }
    }

    fn only_reorders(&self) -> bool {
        self.array_array.iter().all(|named| matches!(named.codec.effect(), Effect::Reorder(_)))
    }

    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        self.array_array.iter().try_fold(shape.into(), |shape: Dims, named| named.codec.encoded_shape(&shape))
    }

    /// Returns the encoded size after the array → bytes codec and the first `steps` bytes → bytes codecs.
    fn size_after(&self, inner_shape: &[u64], steps: usize) -> EncodedSize {
        let size = self.array_bytes.codec.encoded_size(inner_shape);
        self.bytes_bytes[..steps].iter().fold(size, |size, named| size.then(|n| named.codec.encoded_size(n)))
    }
}

/// Fails for a list that is longer or deeper than the limits allow.
fn check_nesting(specs: &[Spec], context: &Context<'_>) -> CodecResult<()> {
    if specs.len() <= context.limits.chain_length && context.depth <= context.limits.chain_depth {
        return Ok(());
    }
    let message = format!("{} codecs at depth {} exceed the limits", specs.len(), context.depth);
    Err(CodecError::new(CodecErrorKind::LimitExceeded, message))
}

/// Builds codec number `i` of a list. `misplaced` returns the reason why a codec of a given kind is not allowed there.
/// Returns `None` if the codec is unknown and the document allows to skip it.
fn build_codec(
    i: usize,
    spec: &Spec,
    repr: &Repr,
    context: &Context<'_>,
    notes: &mut Vec<Note>,
    skipped: &mut Vec<String>,
    misplaced: impl FnOnce(CodecKind) -> Option<&'static str>,
) -> CodecResult<Option<Codec>> {
    let here = || format!("/{i}");
    let entry = match context.registry.codec(&spec.name) {
        Ok(entry) => entry,
        Err(_) if !spec.must_understand => {
            let message = format!("unknown codec {:?}, skipped because the document allows it", spec.name);
            notes.push(Note::new(NoteKind::SkippedCodec, here(), message));
            skipped.push(spec.name.clone());
            return Ok(None);
        }
        Err(e) => return Err(e.at(&here())),
    };
    if let Some(why) = misplaced(entry.kind()) {
        return Err(CodecError::configuration(format!("codec {:?} {why}", spec.name)).at(&here()));
    }
    if spec.name != entry.name() {
        notes.extend(Note::alias(&spec.name, entry.name(), &here()));
    }
    let mut configuration = Configuration::new(&spec.configuration);
    let built = entry
        .build(&mut configuration, repr, context)
        .map_err(|e| e.in_codec(&spec.name, "open").at(&here()))?;
    if built.kind() != entry.kind() {
        let message = format!("codec {:?} has another kind than its entry states", spec.name);
        return Err(CodecError::configuration(message).at(&here()));
    }
    skipped.extend_from_slice(configuration.skipped());
    let tolerated = configuration.finish().into_iter();
    notes.extend(tolerated.map(|note| note.below(&here())));
    Ok(Some(built))
}

impl DecodePart for Chain {
    fn decode_part(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        self.decode_into(src, shape, part, dst, scratch)
    }
}

fn mismatch(shape: &[u64], part: &Region) -> CodecError {
    CodecError::new(
        CodecErrorKind::InvalidArgument,
        format!("{part} is not inside a chunk of shape {shape:?}"),
    )
}
