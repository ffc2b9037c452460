//! `gzip`: DEFLATE in gzip members.
//!
//! Spec: [gzip codec](https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/index.html), [RFC
//! 1952](https://www.rfc-editor.org/rfc/rfc1952).
//! Rules: [gzip](https://github.com/zarr-rs/zarr/blob/v0.1.0/docs/specification/codecs.md#d.3).
//!
//! | member | value |
//! |---|---|
//! | `level` | 0 (stored) to 9 |
//!
//! An absent `level` is noted, as only writers need it. A level out of range is refused.
//!
//! Members of all writers are read, also several in a row, with every field of RFC 1952. Checksum and length are
//! verified. Zeros after the last member are padding and ignored, as in gzip; any other trailing bytes are an error.
//! Equal data gives equal bytes at any time and on any machine: the header has no time and no name. Compressed bytes
//! may change with the version of the compressor.

use std::sync::Arc;
use zarr_traits::strided::to_usize;

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};
use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Entry};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

/// The registry entry of this codec.
pub const ENTRY: Entry =
    Entry::Codec(CodecEntry::new("gzip", CodecKind::BytesBytes, |configuration, _, _| {
        build(configuration, false)
    }));

/// The registry entry of this codec without C code, whatever other features are on.
pub const ENTRY_IN_RUST: Entry =
    Entry::Codec(CodecEntry::new("gzip", CodecKind::BytesBytes, |configuration, _, _| {
        build(configuration, true)
    }));

/// Magic number, method, no flags, no time, no hint, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Checksum and length.
const TRAILER: usize = 8;
/// The most content bytes of a stored block, and the bytes of its header.
const STORED: (usize, usize) = (0xffff, 5);
/// The most bytes passed to the compressor at once; some backends count in 32 bits.
const PIECE: usize = 1 << 30;

#[derive(Debug)]
struct Gzip {
    level: u8,
    #[cfg_attr(not(feature = "libdeflate"), expect(dead_code, reason = "all is in Rust"))]
    in_rust: bool,
}

fn build(configuration: &mut Configuration<'_>, in_rust: bool) -> CodecResult<Codec> {
    let level = configuration.optional_integer("level", 0..=9)?;
    if level.is_none() {
        configuration.note("level", "level is missing, read as 5");
    }
    let level = level.and_then(|level| u8::try_from(level).ok()).unwrap_or(5);
    Ok(Codec::BytesBytes(Arc::new(Gzip { level, in_rust })))
}

/// The decoder of a worker.
#[derive(Default)]
struct Decoder(Option<Decompress>);

/// The encoders of a worker, one per level.
#[derive(Default)]
struct Encoders([Option<Compress>; 10]);

impl BytesBytesCodec for Gzip {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], scratch: &mut Scratch) -> CodecResult<usize> {
        #[cfg(feature = "libdeflate")]
        if !self.in_rust && after_header(src).is_ok() && crate::libdeflate::decode_gzip(src, dst, scratch) {
            return Ok(dst.len());
        }
        let state = scratch.slot::<Decoder>().0.get_or_insert_with(|| Decompress::new(false));
        let (mut rest, mut made) = (after_header(src)?, 0);
        loop {
            let target = &mut dst[made..];
            let (used, len) = inflate(state, rest, target)?;
            let (trailer, behind) = rest[used..].split_first_chunk::<TRAILER>().ok_or_else(cut)?;
            check(&target[..len], trailer)?;
            made += len;
            if behind.iter().all(|byte| *byte == 0) {
                return Ok(made);
            }
            if !behind.starts_with(&HEADER[..2]) {
                let message = format!(
                    "{} bytes after the last member are neither another member nor zeros",
                    behind.len()
                );
                return Err(CodecError::corrupt(message));
            }
            rest = after_header(behind)?;
        }
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        let most = stored_len(src.len() as u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        crate::reserve(out, most.saturating_add(HEADER.len() + TRAILER))?;
        out.extend_from_slice(&HEADER);
        let start = out.len();
        if self.level == 0 || !self.deflate(src, out, most, scratch) || out.len() - start > most {
            out.truncate(start);
            store(src, out);
        }
        let crc = crc(src);
        out.extend_from_slice(&crc.sum().to_le_bytes());
        out.extend_from_slice(&crc.amount().to_le_bytes());
        Ok(())
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        let frame = (HEADER.len() + TRAILER) as u64;
        stored_len(decoded)
            .and_then(|n| n.checked_add(frame))
            .map_or(EncodedSize::Unknown, EncodedSize::AtMost)
    }
}

impl Gzip {
    /// Appends a DEFLATE stream. Returns false if it exceeds `most` bytes, for which `out` has room: then storing is not
    /// larger.
    fn deflate(&self, src: &[u8], out: &mut Vec<u8>, most: usize, scratch: &mut Scratch) -> bool {
        #[cfg(feature = "libdeflate")]
        if !self.in_rust {
            return crate::libdeflate::deflate(self.level, src, out, most, scratch);
        }
        let _ = most;
        let Some(kept) = scratch.slot::<Encoders>().0.get_mut(usize::from(self.level)) else { return false };
        // zlib-rs does not completely reset the state of an unfinished stream, so do not keep it.
        let mut state =
            kept.take().unwrap_or_else(|| Compress::new(Compression::new(self.level.into()), false));
        state.reset();
        loop {
            let before = (state.total_in(), out.len());
            let rest = &src[to_usize(state.total_in())..];
            let piece = &rest[..rest.len().min(PIECE)];
            let flush = if piece.len() == rest.len() { FlushCompress::Finish } else { FlushCompress::None };
            match state.compress_vec(piece, out, flush) {
                Ok(Status::StreamEnd) => {
                    *kept = Some(state);
                    return true;
                }
                Ok(_) if before != (state.total_in(), out.len()) => {}
                _ => return false,
            }
        }
    }
}

/// Appends stored blocks.
fn store(src: &[u8], out: &mut Vec<u8>) {
    let mut blocks = src.chunks(STORED.0);
    let mut block = blocks.next().unwrap_or_default();
    loop {
        let next = blocks.next();
        let len = u16::try_from(block.len()).unwrap_or(u16::MAX);
        out.push(u8::from(next.is_none()));
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&(!len).to_le_bytes());
        out.extend_from_slice(block);
        match next {
            Some(next) => block = next,
            None => return,
        }
    }
}

/// Returns the length of [stored](store) blocks.
fn stored_len(len: u64) -> Option<u64> {
    len.div_ceil(STORED.0 as u64).max(1).checked_mul(STORED.1 as u64)?.checked_add(len)
}

/// Decodes one DEFLATE stream. Returns the number of consumed bytes and the number of decoded bytes.
fn inflate(state: &mut Decompress, src: &[u8], dst: &mut [u8]) -> CodecResult<(usize, usize)> {
    state.reset(false);
    loop {
        let before = (to_usize(state.total_in()), to_usize(state.total_out()));
        let status = state
            .decompress(&src[before.0..], &mut dst[before.1..], FlushDecompress::Finish)
            .map_err(|e| CodecError::corrupt("the DEFLATE stream is damaged").with_source(e))?;
        let (used, made) = (to_usize(state.total_in()), to_usize(state.total_out()));
        if matches!(status, Status::StreamEnd) {
            return Ok((used, made));
        }
        if before == (used, made) {
            return Err(if made == dst.len() && used < src.len() { too_large() } else { cut() });
        }
    }
}

/// Returns the bytes after the header of a member (RFC 1952, section 2.3).
fn after_header(src: &[u8]) -> CodecResult<&[u8]> {
    if let [first, second, ..] = *src {
        if first & 0x0f == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31) {
            return Err(CodecError::corrupt("it is a zlib stream, not a gzip member"));
        }
        if src[..2] != HEADER[..2] {
            return Err(CodecError::corrupt(format!(
                "{first:02x}{second:02x} is not the magic number of gzip"
            )));
        }
    }
    let (&[_, _, method, flags, ..], mut rest) = src.split_first_chunk::<10>().ok_or_else(cut)?;
    if method != 8 || flags & 0xe0 != 0 {
        return Err(CodecError::corrupt(format!("method {method} with flags {flags:#04x} is unknown")));
    }
    if flags & 0x04 != 0 {
        let (len, extra) = rest.split_first_chunk().ok_or_else(cut)?;
        rest = extra.get(usize::from(u16::from_le_bytes(*len))..).ok_or_else(cut)?;
    }
    for _name_and_comment in 0..(flags & 0x18).count_ones() {
        let end = rest.iter().position(|byte| *byte == 0).ok_or_else(cut)?;
        rest = &rest[end + 1..];
    }
    if flags & 0x02 != 0 {
        let header = &src[..src.len() - rest.len()];
        let (stored, behind) = rest.split_first_chunk().ok_or_else(cut)?;
        if u32::from(u16::from_le_bytes(*stored)) != crc(header).sum() & 0xffff {
            return Err(CodecError::new(
                CodecErrorKind::Checksum,
                "the checksum of the header does not match",
            ));
        }
        rest = behind;
    }
    Ok(rest)
}

/// Compares the decoded bytes with the trailer.
fn check(decoded: &[u8], trailer: &[u8; TRAILER]) -> CodecResult<()> {
    let [a, b, c, d, length @ ..] = *trailer;
    let (stored, length, actual) =
        (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(length), crc(decoded));
    if stored != actual.sum() {
        let message =
            format!("the stored checksum is {stored:08x}, that of the data is {:08x}", actual.sum());
        return Err(CodecError::new(CodecErrorKind::Checksum, message));
    }
    if length != actual.amount() {
        return Err(CodecError::corrupt(format!(
            "a member of {} bytes states {length} bytes",
            decoded.len()
        )));
    }
    Ok(())
}

/// Calculates the checksum, and the length modulo 2^32.
fn crc(bytes: &[u8]) -> Crc {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc
}

fn cut() -> CodecError {
    CodecError::corrupt("unexpected end of gzip member")
}

#[cfg(test)]
#[cfg(feature = "bytes")]
mod tests {
    use zarr_traits::json::{Value, json};

    use super::*;
    use crate::testing::{
        Noise, after_bytes, bytes_codec, chain, decode, encode, golden, noted, refused, sixteen, vectors,
    };

    const VECTORS: &str = include_str!("../testdata/gzip.txt");

    fn level(level: u8) -> Value {
        after_bytes("gzip", json!({ "level": level }))
    }

    fn vector(name: &str) -> Vec<u8> {
        vectors(VECTORS).find(|(n, _)| *n == name).unwrap().1
    }

    #[test]
    fn members_of_other_writers_are_read() {
        // rule D3.1
        let chain = chain(&level(5), "int32", 1);
        for (name, encoded) in vectors(VECTORS) {
            assert_eq!(decode(&chain, &[16], &encoded).unwrap(), sixteen(), "{name}"); // rules D3.t3, D3.t4 and D3.t6
        }
    }

    #[test]
    fn an_incompressible_chunk_does_not_affect_the_next_chunk() {
        for level in 1..=9_u8 {
            let codec = bytes_codec("gzip", &json!({ "level": level }));
            let (mut scratch, mut noise) = (Scratch::new(), Noise(u64::from(level)));
            for round in 0..24 {
                let len = noise.below(if round % 2 == 0 { 300 } else { 200_000 });
                let src = if round % 3 < 2 { noise.bytes(len) } else { noise.waves(len) };
                let (mut out, mut back) = (Vec::new(), vec![0; src.len()]);
                codec.encode(&src, &mut out, &mut scratch).unwrap();
                assert_eq!(codec.decode_into(&out, &mut back, &mut scratch).unwrap(), src.len());
                assert_eq!(back, src, "level {level}, round {round}");
            }
        }
    }

    #[test]
    fn stored_blocks_always_have_the_same_bytes() {
        // rule D3.2
        let stored = "1f8b08000000000000ff010300fcff0102031d80bc5503000000";
        golden(&level(0), "uint8", &[3], &[1, 2, 3], stored);
        golden(&level(0), "uint8", &[0], &[], "1f8b08000000000000ff010000ffff0000000000000000");
        let chain = chain(&level(0), "uint8", 1);
        for len in [65_534, 65_535, 65_536, 200_000] {
            let (elements, shape) = (Noise(7).bytes(len), [len as u64]);
            let encoded = encode(&chain, &shape, &elements);
            assert_eq!(chain.encoded_size(&shape), EncodedSize::AtMost(encoded.len() as u64));
            assert_eq!(decode(&chain, &shape, &encoded).unwrap(), elements);
        }
    }

    #[test]
    fn levels_are_accepted_noted_or_refused() {
        // rules D3.t1 and D3.t2
        for configuration in [Value::null(), json!({})] {
            assert_eq!(noted(&after_bytes("gzip", configuration), "uint8", 1), ["/1/configuration/level"]);
        }
        for bad in [json!(10), json!(-1), json!(5.5), json!("5"), json!(null)] {
            refused(&after_bytes("gzip", json!({ "level": bad })), "uint8", 1);
        }
        assert_eq!(
            noted(&after_bytes("gzip", json!({"level": 5.0})), "uint8", 1),
            ["/1/configuration/level"]
        ); // rule D.09
    }

    #[test]
    fn damaged_members_are_errors() {
        // rules D3.t5 to D3.t7
        let chain = chain(&level(5), "int32", 1);
        let stored = vector("stored");
        let end = stored.len();
        let damaged = |at: usize| {
            let mut damaged = stored.clone();
            damaged[at] ^= 1;
            decode(&chain, &[16], &damaged).unwrap_err()
        };
        assert_eq!(damaged(end - 5).kind(), CodecErrorKind::Checksum); // rule D3.t7
        assert!(damaged(end - 4).to_string().ends_with("a member of 64 bytes states 65 bytes"));
        assert!(damaged(end - 1).to_string().contains("states 16777280 bytes")); // rule D3.t8: nothing is sized by it
        assert_eq!(damaged(20).kind(), CodecErrorKind::Checksum);
        assert_eq!(damaged(2).kind(), CodecErrorKind::Corrupt);
        let zlib = [&[0x78, 0x9c], &stored[10..]].concat();
        let e = decode(&chain, &[16], &zlib).unwrap_err(); // rule D3.t5
        assert_eq!(e.to_string(), "codec \"gzip\" failed to decode: it is a zlib stream, not a gzip member");
        // The file that is whole by itself, twice. rule D.06
        let twice = decode(&chain, &[16], &[&stored[..], &stored].concat()).unwrap_err();
        assert_eq!(twice.kind(), CodecErrorKind::TooLarge, "{twice}");
        for tail in [&[0, 0, 1][..], &[0x1f], &[0x1f, 0x8b], b"garbage", &HEADER, &stored[..14]] {
            let e = decode(&chain, &[16], &[&stored, tail].concat()).unwrap_err(); // rule D3.t6
            assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{e}");
        }
        let fields = vector("every-field");
        let mut header = fields.clone();
        header[4] ^= 1;
        assert_eq!(decode(&chain, &[16], &header).unwrap_err().kind(), CodecErrorKind::Checksum, "FHCRC");
        for encoded in [stored, fields, vector("two-members")] {
            for len in 0..encoded.len() {
                decode(&chain, &[16], &encoded[..len]).unwrap_err();
            }
        }
    }

    #[test]
    fn chunks_of_another_size_than_declared_are_refused() {
        // rule D.06
        let chain = chain(&level(5), "int32", 1);
        for (name, encoded) in vectors(VECTORS) {
            let e = decode(&chain, &[15], &encoded).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::TooLarge, "{name}: {e}");
            let e = decode(&chain, &[17], &encoded).unwrap_err();
            assert!(e.to_string().ends_with("it decodes to 64 bytes, expected 68"), "{name}: {e}");
        }
        assert!(decode(&chain, &[0], &[]).is_err());
        assert_eq!(decode(&chain, &[0], &encode(&chain, &[0], &[])).unwrap(), [0_u8; 0]);
    }
}
