//! `numcodecs.lzma`: the formats of liblzma, as the module `lzma` of Python names them.
//!
//! | member | value |
//! |---|---|
//! | `format` | 1 `.xz` (when absent), 2 `.lzma`, 3 raw |
//! | `check` | of an `.xz`: 0 none, 1 CRC-32, 4 CRC-64, 10 SHA-256; −1 (when absent) is CRC-64 |
//! | `preset` | 0 to 9, bit 31 for the extreme variant; `null` (when absent) is 6 |
//! | `filters` | `null`, or a list of filters; required for raw, which has no header |
//!
//! A filter has an `id` and further members: `0x21` LZMA2 and `0x4000000000000001` LZMA1 (`preset`, `dict_size`, `lc`,
//! `lp`, `pb`, `mode`, `nice_len`, `mf`, `depth`), 3 delta (`dist`), 4 to 11 the filters for machine code
//! (`start_offset`). The last filter, and no other, is LZMA1 or LZMA2.
//!
//! Decoders get at most 128 MiB for their dictionary, which is enough for every preset.

use std::sync::Arc;
use zarr_traits::strided::to_usize;

use liblzma::stream::{Action, Check, Error, LzmaOptions, Status, Stream};
use zarr_traits::codec::{BytesBytesCodec, Codec, CodecKind, EncodedSize, Repr, too_large};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Scratch};

use crate::non_null;
use crate::stream::{bound, decode_all, encode_within};

mod filters;

use filters::Filter;

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new("numcodecs.lzma", CodecKind::BytesBytes, build));

/// The most memory of a decoder, in bytes.
const MEMORY: u32 = 128 << 20;
/// The most filters of a chain.
const CHAIN: usize = 4;

#[derive(Debug)]
enum Format {
    Xz(Check),
    Alone,
    Raw,
}

#[derive(Debug)]
struct Lzma {
    format: Format,
    preset: u32,
    /// Up to four filters, of which the last is LZMA. Empty if not configured.
    filters: Vec<Filter>,
}

fn build(configuration: &mut Configuration<'_>, _: &Repr, _: &Context<'_>) -> CodecResult<Codec> {
    let check = configuration.optional_integer("check", -1..=15)?.unwrap_or(-1);
    let format = match (configuration.optional_integer("format", 1..=3)?.unwrap_or(1), check) {
        (1, 0) => Format::Xz(Check::None),
        (1, 1) => Format::Xz(Check::Crc32),
        (1, -1 | 4) => Format::Xz(Check::Crc64),
        (1, 10) => Format::Xz(Check::Sha256),
        (2, -1 | 0) => Format::Alone,
        (3, -1 | 0) => Format::Raw,
        (format, _) => {
            return Err(wrong("check", format!("check is {check}, which format {format} lacks")));
        }
    };
    let preset = filters::preset(non_null(configuration, "preset").as_ref())
        .ok_or_else(|| wrong("preset", "preset must be 0 to 9, optionally with bit 31".into()))?;
    let filters = match non_null(configuration, "filters") {
        None => Vec::new(),
        Some(filters) => {
            let list = filters.elements().filter(|list| list.clone().count() <= CHAIN);
            let too_many = || wrong("filters", format!("filters must be a list of at most {CHAIN} filters"));
            let filters = list.ok_or_else(too_many)?.map(|filter| Filter::parse(&filter));
            filters.collect::<CodecResult<_>>().map_err(|e| e.at("/configuration/filters"))?
        }
    };
    if let Some((last, others)) = filters.split_last()
        && (!last.is_lzma() || others.iter().any(Filter::is_lzma))
    {
        return Err(wrong("filters", "the last filter must be LZMA1 or LZMA2, and no other one".into()));
    }
    match (&format, &filters[..]) {
        (Format::Raw, []) => {
            Err(wrong("filters", "filters are missing, format 3 (raw) cannot be read without them".into()))
        }
        (Format::Xz(_), [.., last]) if last.is_lzma1() => {
            Err(wrong("filters", "format 1 does not allow LZMA1".into()))
        }
        (Format::Alone, [_, _, ..] | [Filter::Lzma2(_)]) => {
            Err(wrong("filters", "format 2 allows only the filter LZMA1".into()))
        }
        _ => Ok(Codec::BytesBytes(Arc::new(Lzma { format, preset, filters }))),
    }
}

fn wrong(member: &str, message: String) -> CodecError {
    CodecError::configuration(message).at(&format!("/configuration/{member}"))
}

impl Lzma {
    fn decoder(&self) -> Result<Stream, Error> {
        match self.format {
            Format::Xz(_) => Stream::new_stream_decoder(MEMORY.into(), 0),
            Format::Alone => Stream::new_lzma_decoder(MEMORY.into()),
            Format::Raw => Stream::new_raw_decoder(&filters::chain(&self.filters)?),
        }
    }

    fn encoder(&self) -> Result<Stream, Error> {
        match (&self.format, &self.filters[..]) {
            (Format::Xz(check), []) => Stream::new_easy_encoder(self.preset, *check),
            (Format::Xz(check), filters) => Stream::new_stream_encoder(&filters::chain(filters)?, *check),
            (Format::Alone, [Filter::Lzma1(settings)]) => Stream::new_lzma_encoder(&settings.options()?),
            (Format::Alone, _) => Stream::new_lzma_encoder(&LzmaOptions::new_preset(self.preset)?),
            (Format::Raw, filters) => Stream::new_raw_encoder(&filters::chain(filters)?),
        }
    }
}

impl BytesBytesCodec for Lzma {
    fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        decode_all(src, dst, |src, dst| decode_stream(self.decoder().map_err(failed)?, src, dst))
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        encode_within(src.len(), out, |out| {
            let mut state = self.encoder().map_err(failed)?;
            loop {
                let before = (state.total_in(), out.len());
                let rest = &src[to_usize(before.0)..];
                match state.process_vec(rest, out, Action::Finish).map_err(failed)? {
                    Status::StreamEnd => return Ok(true),
                    _ if before != (state.total_in(), out.len()) => {}
                    _ => return Ok(false),
                }
            }
        })
    }

    fn encoded_size(&self, decoded: u64) -> EncodedSize {
        EncodedSize::AtMost(bound(decoded))
    }
}

/// Decodes one stream. Returns how many bytes were read and how many were written.
fn decode_stream(mut state: Stream, src: &[u8], dst: &mut [u8]) -> CodecResult<(usize, usize)> {
    loop {
        let before = (to_usize(state.total_in()), to_usize(state.total_out()));
        let status = state.process(&src[before.0..], &mut dst[before.1..], Action::Finish).map_err(failed)?;
        let (used, made) = (to_usize(state.total_in()), to_usize(state.total_out()));
        if matches!(status, Status::StreamEnd) {
            return Ok((used, made));
        }
        if before == (used, made) {
            return end(state, src, used, made, dst.len());
        }
    }
}

/// Finishes a stream. Some filters notice its end only with room for one more byte.
fn end(mut state: Stream, src: &[u8], used: usize, made: usize, room: usize) -> CodecResult<(usize, usize)> {
    let cut = || CodecError::corrupt("unexpected end of LZMA stream");
    if made < room {
        return Err(cut());
    }
    let status = state.process(&src[used..], &mut [0], Action::Finish).map_err(failed)?;
    match (to_usize(state.total_out()) == made, status) {
        (true, Status::StreamEnd) => Ok((to_usize(state.total_in()), made)),
        (true, _) => Err(cut()),
        (false, _) => Err(too_large()),
    }
}

fn failed(e: Error) -> CodecError {
    let (kind, message) = match e {
        Error::MemLimit => (CodecErrorKind::LimitExceeded, "the dictionary exceeds the limit"),
        Error::Mem => (CodecErrorKind::LimitExceeded, "no memory for the dictionary"),
        Error::Options => (CodecErrorKind::Unsupported, "liblzma does not support these options"),
        Error::Format => (CodecErrorKind::Corrupt, "the stream has another format"),
        _ => (CodecErrorKind::Corrupt, "the LZMA stream is damaged"),
    };
    CodecError::new(kind, message).with_source(e)
}

#[cfg(test)]
mod tests {
    use zarr_traits::CodecErrorKind;
    use zarr_traits::json;

    use crate::testing::{bytes_codec, decode, decodes, encode, hex, refused, sixteen, survives};

    const LZMA1: u64 = 0x4000_0000_0000_0001;

    #[test]
    fn streams_of_numcodecs_are_decoded() {
        // rule H7
        for (configuration, encoded) in [
            (
                json!({}),
                "fd377a585a000004e6d6b4460200210116000000742fe5a3e0003f00205d0000687ebf0a82ad1ce65c818cf6 \
                 d9477bccf98d5d7f316f3478c6a2b11de3fa17005bd88b22b94500ea00013c40448da9251fb6f37d01000000 \
                 0004595a",
            ),
            (
                json!({"check": 0}),
                "fd377a585a000000ff12d9410200210116000000742fe5a3e0003f00205d0000687ebf0a82ad1ce65c818cf6 \
                 d9477bccf98d5d7f316f3478c6a2b11de3fa1700000134404c0770ed06729e7a010000000000595a",
            ),
            (
                json!({"format": 1, "check": 1, "preset": 0}),
                "fd377a585a0000016922de36020021010c0000008f98419ce0003f002c5d0000687e9e2040a60b69998b065a \
                 8b0094e93ec008161aa4a02e49651a68a7a470564bc3d0b1f86e368c28905700c97c89e100014440ba7e4fc2 \
                 9042990d010000000001595a",
            ),
            (
                json!({"check": 10, "filters": null}),
                "fd377a585a00000ae1fb0ca10200210116000000742fe5a3e0003f00205d0000687ebf0a82ad1ce65c818cf6 \
                 d9477bccf98d5d7f316f3478c6a2b11de3fa17005d85718ec594b982c252d0279e5966ffca33a5eaf2a45503 \
                 8d3ab331fde70cea00015440eb6c8d88189b4b9a01000000000a595a",
            ),
            (
                json!({"filters": [{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]}),
                "fd377a585a000004e6d6b4460201030103210110a22a1215e0003f00095d0000687ecaa27d6f400000000000 \
                 5bd88b22b94500ea000125405c24a9be1fb6f37d010000000004595a",
            ),
            (
                json!({"format": 2, "check": -1}),
                "5d00008000ffffffffffffffff0000687ebf0a82ad1ce65c818cf6d9477bccf98d5d7f316f3478c6a2b11f9f \
                 776cffff94aa0000",
            ),
            (
                json!({"format": 2, "filters": [{"id": LZMA1, "dict_size": 4096, "lc": 0, "lp": 2, "pb": 2}]}),
                "6c00100000ffffffffffffffff0000687ebf0a82ad1ce65c818cf6d9477bccf98d5d7f316f3478c6a2b11f9f \
                 776cffff94aa0000",
            ),
            (
                json!({"format": 3, "filters": [{"id": 33, "preset": 1}]}),
                "e0003f002c5d0000687e9e2040a60b69998b065a8b0094e93ec008161aa4a02e49651a68a7a470564bc3d0b1 \
                 f86e368c28905700",
            ),
            (
                json!({"format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 33, "dict_size": 8192}]}),
                "e0003f00095d0000687ecaa27d6f400000",
            ),
            (
                json!({"format": 3, "filters": [{"id": LZMA1}]}),
                "0000687ebf0a82ad1ce65c818cf6d9477bccf98d5d7f316f3478c6a2b11f9f776cffff94aa0000",
            ),
            (
                json!({"format": 3, "filters": [{"id": 4}, {"id": 33}]}),
                "e0003f00205d0000687ebf0a82ad1ce65c818cf6d9477bccf98d5d7f316f3478c6a2b11de3fa1700",
            ),
        ] {
            let codec = bytes_codec("numcodecs.lzma", &configuration);
            decodes(&*codec, &hex(encoded), &sixteen());
            // only .xz has checksums, and the checksum of the content may be off
            survives(
                &*codec,
                &hex(encoded),
                &sixteen(),
                !encoded.starts_with("fd") || encoded.contains("ff12d941"),
            );
            decodes(&*codec, &encode(&*codec, &[]), &[]);
        }
    }

    #[test]
    fn streams_in_a_row_are_one_and_bombs_stop() {
        let codec = bytes_codec("numcodecs.lzma", &json!({"preset": 0}));
        let (one, two) = (encode(&*codec, b"abc"), encode(&*codec, b"de"));
        decodes(&*codec, &[&one[..], &two].concat(), b"abcde");
        decodes(&*codec, &[&one[..], &[0; 4], &two, &[0; 8]].concat(), b"abcde");
        assert_eq!(
            decode(&*codec, &[&one[..], b"x"].concat(), 9).unwrap_err().kind(),
            CodecErrorKind::Corrupt
        );
        let bomb = encode(&*codec, &[0; 1 << 20]);
        assert_eq!(decode(&*codec, &bomb, 100).unwrap_err().kind(), CodecErrorKind::TooLarge); // rule L101
    }

    #[test]
    fn a_dictionary_does_not_take_all_memory() {
        // rule L105: the header wants 4 GiB - 1
        let greedy = hex("5dffffffffffffffffffffffff0000687ebf0a82");
        let codec = bytes_codec("numcodecs.lzma", &json!({"format": 2}));
        assert_eq!(decode(&*codec, &greedy, 64).unwrap_err().kind(), CodecErrorKind::LimitExceeded);
        let raw = json!({"format": 3, "filters": [{"id": 33, "dict_size": 4_294_967_295_u32}]});
        refused("numcodecs.lzma", &raw);
    }

    #[test]
    fn configurations_that_make_no_sense_are_refused_when_the_array_is_opened() {
        for bad in [
            json!({"format": 0}),
            json!({"format": 4}),
            json!({"check": 2}),
            json!({"format": 2, "check": 1}),
            json!({"preset": 10}),
            json!({"preset": "1"}),
            json!({"format": 3}),
            json!({"format": 3, "filters": []}),
            json!({"format": 3, "filters": [{"id": 3}]}),
            json!({"format": 3, "filters": [{"id": 33}, {"id": 33}]}),
            json!({"format": 3, "filters": [{"id": 33, "unheard": 1}]}),
            json!({"format": 3, "filters": [{"id": 3, "dist": 257}, {"id": 33}]}),
            json!({"format": 3, "filters": [{"id": 2}, {"id": 33}]}),
            json!({"format": 3, "filters": [3, {"id": 33}]}),
            json!({"format": 2, "filters": [{"id": 33}]}),
            json!({"format": 1, "filters": [{"id": LZMA1}]}),
            json!({"filters": {}}),
        ] {
            refused("numcodecs.lzma", &bad);
        }
        bytes_codec("numcodecs.lzma", &json!({"preset": 0x8000_0009_u32}));
    }
}
