//! `numcodecs.shuffle`: the first bytes of all elements, then their second bytes, and so on.
//!
//! | member | value |
//! |---|---|
//! | `elementsize` | bytes of an element; the size of the data type when `null` or absent; 1 changes nothing |
//!
//! An `elementsize` of 0 is read as 1, as numcodecs does, and noted. (zarr-meta reads it differently in format 2, where
//! netCDF-C writes it.) Bytes that are not whole elements are an error.

use std::sync::Arc;

use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecError, CodecResult, Scratch};

use crate::non_null;
use crate::stream::reserve;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.shuffle", CodecKind::BytesBytes, build));

#[derive(Debug)]
struct Shuffle {
    size: usize,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let size = match non_null(configuration, "elementsize") {
        None => repr.fixed().map_or(4, |(size, _)| size),
        Some(_) => usize::try_from(configuration.integer("elementsize", 0..=i64::MAX)?).unwrap_or(usize::MAX),
    };
    if size == 0 {
        configuration.note("elementsize", "elementsize is 0, read as 1: nothing is shuffled");
    }
    Ok(Codec::BytesBytes(Arc::new(Shuffle { size: size.max(1) })))
}

impl Shuffle {
    /// Returns the number of elements in `len` bytes.
    fn elements(&self, len: usize) -> CodecResult<usize> {
        if len.is_multiple_of(self.size) {
            return Ok(len / self.size);
        }
        Err(CodecError::corrupt(format!("{len} bytes are not whole elements of {} bytes", self.size)))
    }
}

/// Transposes: byte `j` of row `i` of `src` becomes byte `i` of row `j` of `dst`.
fn transpose(src: &[u8], dst: &mut [u8], rows: usize, columns: usize) {
    for (i, row) in src.chunks_exact(columns.max(1)).enumerate() {
        for (byte, target) in row.iter().zip(dst[i..].iter_mut().step_by(rows.max(1))) {
            *target = *byte;
        }
    }
}

impl BytesBytesCodec for Shuffle {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        let elements = self.elements(src.len())?;
        let dst = dst.get_mut(..src.len()).ok_or_else(too_large)?;
        transpose(src, dst, self.size, elements);
        Ok(src.len())
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        let elements = self.elements(src.len())?;
        reserve(out, src.len())?;
        let start = out.len();
        out.resize(start + src.len(), 0);
        transpose(src, &mut out[start..], elements, self.size);
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::Exact(decoded)
    }
}

#[cfg(test)]
mod tests {
    use zarr_engine::Chain;
    use zarr_traits::extension::{Context, Spec};
    use zarr_traits::json;
    use zarr_traits::{DataType, Limits, Registry, Scratch};

    use crate::testing::{bytes_codec, decode, decodes, encode, four, hex, refused, repr, survives, to_hex};

    #[test]
    fn bytes_of_numcodecs_are_reproduced() {
        // rule H7
        for (configuration, decoded, encoded) in [
            (json!({"elementsize": 4}), four(), "01020304000000000000000000000000"),
            (json!({}), four(), "01020304000000000000000000000000"),
            (json!({"elementsize": null}), four(), "01020304000000000000000000000000"),
            (json!({"elementsize": 3}), (0..12).collect(), "000306090104070a0205080b"),
            (json!({"elementsize": 0}), four(), "01000000020000000300000004000000"),
            (json!({"elementsize": 1}), four(), "01000000020000000300000004000000"),
            (json!({"elementsize": 4}), Vec::new(), ""),
        ] {
            let codec = bytes_codec("numcodecs.shuffle", &configuration);
            assert_eq!(to_hex(&encode(&*codec, &decoded)), encoded);
            decodes(&*codec, &hex(encoded), &decoded);
            survives(&*codec, &hex(encoded), &decoded, true);
        }
        let codec = bytes_codec("numcodecs.shuffle", &json!({"elementsize": 3}));
        assert!(codec.encode(&four(), &mut Vec::new(), &mut Scratch::new()).is_err());
        let huge = bytes_codec("numcodecs.shuffle", &json!({"elementsize": i64::MAX}));
        assert!(decode(&*huge, &four(), 16).is_err());
        refused("numcodecs.shuffle", &json!({"elementsize": -1}));
    }

    #[test]
    fn an_element_size_of_0_is_noted() {
        let bytes = zarr_codecs_core::bytes::ENTRY;
        let registry = Registry::core().with(crate::CODECS).unwrap().with(&[bytes]).unwrap();
        let limits = Limits::default();
        let context = Context::new(&registry, &limits);
        for (size, noted) in [(0, &["/1/configuration/elementsize"][..]), (1, &[]), (4, &[])] {
            let shuffle = Spec::new("numcodecs.shuffle", json!({ "elementsize": size }));
            let specs = [Spec::new("bytes", json!({ "endian": "little" })), shuffle].map(Result::unwrap);
            let mut notes = Vec::new();
            Chain::build(&specs, repr(DataType::Int32), &context, &mut notes).unwrap();
            let places: Vec<&str> = notes.iter().map(|note| note.pointer.as_str()).collect();
            assert_eq!(places, noted, "{size}");
        }
    }
}
