//! Bytes → bytes codecs inside another codec, which chooses the codecs to apply for each chunk. **For codec authors.**

use super::{Named, build_codec, check_nesting};
use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr};
use zarr_traits::extension::{Configuration, Context, Note, Spec};
use zarr_traits::{Buffer, CodecResult, Scratch};

/// A list of bytes → bytes codecs, each of which may or may not be applied.
#[derive(Debug)]
pub struct OptionalCodecs {
    /// The codecs; `None` is an unknown codec.
    codecs: Vec<Option<Named<dyn BytesBytesCodec>>>,
    /// The most bytes that a step may decode to.
    most: u64,
}

impl OptionalCodecs {
    /// Builds the codecs in the required list `member` of a configuration. Notes on accepted deviations have pointers
    /// below `member`; one of them is an unknown codec that the document allows to skip.
    ///
    /// # Errors
    /// If the member is missing, is not a list of codecs, or is longer or deeper than the limits allow; if a codec has
    /// another kind, is unknown or refuses its configuration.
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
        let misplaced = |kind| (kind != CodecKind::BytesBytes).then_some("must be a bytes → bytes codec");
        let mut codecs = Vec::with_capacity(specs.len());
        for (i, spec) in specs.iter().enumerate() {
            let name = spec.name.clone();
            // An unknown codec is never applied, so no chunk is written without it.
            codecs.push(match build_codec(i, spec, repr, context, notes, &mut Vec::new(), misplaced)? {
                Some(Codec::BytesBytes(codec)) => Some(Named { name, codec }),
                Some(_) => unreachable!("build_codec refuses codecs of another kind"),
                None => None,
            });
        }
        Ok(Self { codecs, most: context.limits.chunk_bytes.max(context.limits.encoded_bytes) })
    }

    /// The number of codecs.
    pub fn count(&self) -> usize {
        self.codecs.len()
    }

    /// Appends `src`, encoded with codec `number`, to `out`. Returns `false` if that codec is unknown and must not be
    /// applied.
    ///
    /// # Errors
    /// The error of the codec, with its name.
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

    /// Decodes `src`, which was encoded with the `applied` codecs in order, into the start of `dst`. Returns the number
    /// of decoded bytes. Unknown codecs are skipped, as the document allows it. Intermediate results are limited to a
    /// small multiple of our own worst-case encoding of `dst`.
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
