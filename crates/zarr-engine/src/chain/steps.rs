//! Bytes → bytes codecs inside of another codec, which picks for each chunk those that it applies. **For codec authors.**

use super::{Named, build_codec, check_nesting};
use zarr_traits::CodecResult;
use zarr_traits::Spec;
use zarr_traits::codec::{
    BytesBytesCodec, Codec, CodecKind, Configuration, Context, EncodedSize, Note, Repr,
};
use zarr_traits::{Buffer, Scratch};

/// A list of bytes → bytes codecs, of which each may be applied or not.
#[derive(Debug)]
pub struct OptionalCodecs {
    /// `None` stands for one that nobody knows.
    codecs: Vec<Option<Named<dyn BytesBytesCodec>>>,
    /// Bytes that no step may decode to.
    most: u64,
}

impl OptionalCodecs {
    /// Builds the codecs that the required list `member` of a configuration names. What was tolerated in them is noted under
    /// `member`: also an unknown codec that the document allows to skip.
    ///
    /// # Errors
    /// When the member is missing, is not a list of codecs, or is longer or deeper than the limits allow; when a codec in it
    /// is of another kind, unknown, or refuses its configuration.
    pub fn of_member(
        configuration: &mut Configuration<'_>,
        member: &'static str,
        repr: &Repr,
        context: &Context<'_>,
    ) -> CodecResult<Self> {
        configuration.codecs(member, context, |specs, inside, notes| Self::build(specs, repr, inside, notes))
    }

    fn build(specs: &[Spec], repr: &Repr, context: &Context<'_>, notes: &mut Vec<Note>) -> CodecResult<Self> {
        check_nesting(specs, context)?;
        let misplaced = |kind| (kind != CodecKind::BytesBytes).then_some("must be from bytes to bytes");
        let mut codecs = Vec::with_capacity(specs.len());
        for (i, spec) in specs.iter().enumerate() {
            let name = spec.name.clone();
            // What nobody knows is never applied, so that nothing is written without it.
            codecs.push(match build_codec(i, spec, repr, context, notes, &mut Vec::new(), misplaced)? {
                Some(Codec::BytesBytes(codec)) => Some(Named { name, codec }),
                Some(_) => unreachable!("its entry states another kind, which is misplaced"),
                None => None,
            });
        }
        Ok(Self { codecs, most: context.limits.chunk_bytes.max(context.limits.encoded_bytes) })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.codecs.len()
    }

    /// Appends to `out` what codec `number` makes of `src`. `false`: nobody knows that codec, it must not be applied.
    ///
    /// # Errors
    /// That of the codec, with its name.
    pub fn encode(
        &self,
        number: usize,
        src: &[u8],
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> CodecResult<bool> {
        let Some(named) = self.codecs.get(number).and_then(Option::as_ref) else { return Ok(false) };
        named.encode(|codec| codec.encode(src, out, scratch)).map(|()| true)
    }

    /// Decodes `src`, to which the codecs whose numbers are `applied` were applied in order, into the start of `dst`, and
    /// returns how many bytes that made. A codec that nobody knows is skipped, as the document allows. What lies between two
    /// codecs may be as large as ours would make it of `dst`, some times.
    ///
    /// # Errors
    /// As [`BytesBytesCodec::decode_into`], with the name of the codec.
    pub fn decode_into(
        &self,
        applied: impl Fn(usize) -> bool,
        src: &[u8],
        dst: &mut [u8],
        scratch: &mut Scratch,
    ) -> CodecResult<usize> {
        let applied = (0..).zip(&self.codecs).filter(|(number, _)| applied(*number));
        let applied: Vec<_> = applied.filter_map(|(_, named)| named.as_ref()).collect();
        let Some((first, _)) = applied.split_first() else {
            let target = dst.get_mut(..src.len()).ok_or_else(zarr_traits::codec::too_large)?;
            target.copy_from_slice(src);
            return Ok(src.len());
        };
        let mut outer: Option<Buffer> = None;
        for step in (1..applied.len()).rev() {
            let all = EncodedSize::AtMost(dst.len() as u64);
            let size =
                applied[..step].iter().fold(all, |size, named| size.then(|n| named.codec.encoded_size(n)));
            let decoded =
                applied[step].decode_sized(outer.as_deref().unwrap_or(src), size, self.most, scratch)?;
            if let Some(used) = outer.replace(decoded) {
                scratch.give(used);
            }
        }
        let src = outer.as_deref().unwrap_or(src);
        let len = first.decode(|codec| codec.decode_into(src, dst, scratch))?;
        outer.into_iter().for_each(|buffer| scratch.give(buffer));
        Ok(len)
    }
}
