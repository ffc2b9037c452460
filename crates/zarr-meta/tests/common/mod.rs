//! The document `BASE` of docs/specification, edits of it, a registry with our data types and stubs of the core codecs,
//! and verdicts.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "shared by several test programs, each using a part"
)]

use std::sync::Arc;

use zarr_meta::GRIDS;
use zarr_meta::{
    ArrayMeta, Code, DATA_TYPES, Diagnostic, Limits, MetaError, MetaErrorKind, MetaResult, Registry,
    Resolved, Severity, Sink, Strict,
};
use zarr_traits::codec::{
    ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec, CodecKind, Effect, EncodedSize, PartAccess,
    Repr,
};
use zarr_traits::extension::{CodecEntry, Entry, TransformerEntry};
use zarr_traits::strided::{Destination, Dims, Source};
use zarr_traits::{
    CodecError, CodecErrorKind, CodecResult, Layout, Prefix, Region, Scratch, Storage, StorageTransformer,
};

pub const BASE: [(&str, &str); 9] = [
    ("zarr_format", "3"),
    ("node_type", "\"array\""),
    ("shape", "[4]"),
    ("data_type", "\"int32\""),
    ("chunk_grid", r#"{"name":"regular","configuration":{"chunk_shape":[2]}}"#),
    ("chunk_key_encoding", r#"{"name":"default","configuration":{"separator":"/"}}"#),
    ("fill_value", "7"),
    ("codecs", r#"[{"name":"bytes","configuration":{"endian":"little"}}]"#),
    ("attributes", "{}"),
];

/// `BASE` with members set (`("shape", "[5]")`), deleted (`("-shape", "")`) or repeated (`("+shape", "[5]")`).
pub fn base(edits: &[(&str, &str)]) -> String {
    let mut members: Vec<(String, String)> =
        BASE.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    for (name, value) in edits {
        if let Some(name) = name.strip_prefix('-') {
            members.retain(|(n, _)| n != name);
        } else if let Some(name) = name.strip_prefix('+') {
            members.push((name.to_owned(), (*value).to_owned()));
        } else if let Some(member) = members.iter_mut().find(|(n, _)| n == name) {
            member.1 = (*value).to_owned();
        } else {
            members.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    let members: Vec<String> = members.iter().map(|(n, v)| format!("\"{n}\":{v}")).collect();
    format!("{{{}}}", members.join(","))
}

/// Edits of [`BASE`], as [`base`] takes them.
pub type Edits<'a> = &'a [(&'a str, &'a str)];

/// Checks rows of a table: the id of a rule, edits, verdict.
pub fn rows(rows: &[(&str, Edits<'_>, Verdict)]) {
    for (id, edits, verdict) in rows {
        check(id, &base(edits), *verdict);
    }
}

/// Returns the document of a group with additional members.
pub fn group(members: &str) -> String {
    format!(r#"{{"zarr_format":3,"node_type":"group","attributes":{{}}{members}}}"#)
}

/// The verdict about a document, strict and tolerant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Valid, without any report.
    Fine,
    /// Accepted with this diagnostic, but refused by a strict reader.
    Tolerated(Code),
    /// Valid, with advice of this code while it is resolved.
    Advised(Code),
    /// The document is refused. The error contains these words.
    Refused(&'static str),
    /// The document is read and can be listed, but resolving fails. The error contains these words.
    Unresolved(&'static str),
}

/// Parses and resolves a document with one sink.
pub fn open(text: &str, sink: &mut dyn Sink) -> Result<(ArrayMeta, Resolved), (bool, MetaError)> {
    let limits = Limits::default();
    let meta = ArrayMeta::parse(text.as_bytes(), &limits, sink).map_err(|e| (false, e))?;
    let resolved = meta.resolve(&registry(), &limits, sink).map_err(|e| (true, e))?;
    Ok((meta, resolved))
}

/// Asserts that `text` gets the verdict for the rule `id`.
pub fn check(id: &str, text: &str, verdict: Verdict) {
    let mut notes: Vec<Diagnostic> = Vec::new();
    let result = open(text, &mut notes);
    let strict = open(text, &mut Strict);
    let said: Vec<Code> = notes.iter().map(|n| n.code).collect();
    match (verdict, result) {
        (Verdict::Fine, Ok(_)) => {
            assert_eq!(said, [], "rule {id}: {text}");
            strict.unwrap_or_else(|e| panic!("rule {id}, strict: {}", e.1));
        }
        (Verdict::Tolerated(code), Ok(_)) => {
            assert_eq!(said, [code], "rule {id}: {text}");
            assert_eq!(code.severity(), Severity::Error, "rule {id}");
            assert!(!notes[0].pointer.is_empty() || code == Code::ByteOrderMark, "rule {id}: no pointer");
            let e = strict.expect_err(id).1;
            assert_eq!(e.kind(), MetaErrorKind::Deviation(code), "rule {id}: {e:#}");
        }
        (Verdict::Advised(code), Ok(_)) => {
            assert_eq!(said, [code], "rule {id}: {text}");
            assert_eq!(code.severity(), Severity::Warning, "rule {id}");
            strict.unwrap_or_else(|e| panic!("rule {id}, strict: {}", e.1));
        }
        (Verdict::Refused(words), Err((false, e))) | (Verdict::Unresolved(words), Err((true, e))) => {
            assert!(format!("{e:#}").contains(words), "rule {id}: {e:#}");
            assert!(!format!("{e:#}").contains('\n') && !format!("{e:#}").ends_with('.'), "rule {id}: {e:#}");
            assert!(!matches!(e.kind(), MetaErrorKind::Deviation(_)), "rule {id}: {e:#}");
            assert!(strict.is_err(), "rule {id}");
        }
        (_, Ok(_)) => panic!("rule {id}: accepted, notes {notes:?}: {text}"),
        (_, Err((resolving, e))) => {
            panic!("{id}: {}: {e:#}", if resolving { "unresolved" } else { "refused" })
        }
    }
}

pub fn parse(text: &str) -> MetaResult<ArrayMeta> {
    ArrayMeta::parse(text.as_bytes(), &Limits::default(), &mut Vec::new())
}

/// Returns a registry with stubs of the core codecs, which only check their configuration.
pub fn registry() -> Registry {
    let codec = |name, aliases, kind, build| Entry::Codec(CodecEntry::aliased(name, aliases, kind, build));
    let bytes: fn(
        &mut zarr_traits::extension::Configuration<'_>,
        &Repr,
        &zarr_traits::extension::Context<'_>,
    ) -> CodecResult<Codec> = |c, repr, _| {
        let (_, unit) = repr.fixed()?;
        let unit = if matches!(repr.data_type.layout(), Layout::Packed { .. }) { 2 } else { unit };
        match c.optional_string("endian")?.as_deref() {
            Some("little" | "big") => {}
            None if unit == 1 => {}
            other => return Err(CodecError::configuration(format!("endian is {other:?}"))),
        }
        Ok(Codec::ArrayBytes(Arc::new(Nothing)))
    };
    Registry::core()
        .overriding(DATA_TYPES)
        .overriding(GRIDS)
        .with(&[
            Entry::Transformer(TransformerEntry::new("same", |_, _| Ok(Arc::new(Untouched)))),
            codec("bytes", &["endian"], CodecKind::ArrayBytes, bytes),
            codec("vlen-utf8", &[], CodecKind::ArrayBytes, |_, _, _| {
                Ok(Codec::ArrayBytes(Arc::new(Nothing)))
            }),
            codec("vlen-bytes", &[], CodecKind::ArrayBytes, |_, _, _| {
                Ok(Codec::ArrayBytes(Arc::new(Nothing)))
            }),
            codec("gzip", &["https://example.org/gzip"], CodecKind::BytesBytes, |c, _, _| {
                c.integer("level", 0..=9)?;
                Ok(Codec::BytesBytes(Arc::new(Nothing)))
            }),
            codec("crc32c", &[], CodecKind::BytesBytes, |_, _, _| Ok(Codec::BytesBytes(Arc::new(Nothing)))),
            codec("zstd", &[], CodecKind::BytesBytes, |c, _, _| {
                c.integer("level", -131_072..=22)?;
                c.optional_bool("checksum")?;
                Ok(Codec::BytesBytes(Arc::new(Nothing)))
            }),
            codec("transpose", &[], CodecKind::ArrayArray, |c, repr, _| {
                c.lengths("order")?;
                Ok(Codec::ArrayArray(Arc::new(Same(repr.clone()))))
            }),
            codec("sharding_indexed", &[], CodecKind::ArrayBytes, |c, _, _| {
                let inner = c.lengths("chunk_shape")?;
                for name in ["codecs", "index_codecs", "index_location"] {
                    c.get(name).ok_or_else(|| CodecError::configuration(format!("{name} is missing")))?;
                }
                Ok(Codec::ArrayBytes(Arc::new(Shards(inner))))
            }),
        ])
        .expect("the names are unique")
}

#[derive(Debug)]
struct Nothing;

#[derive(Debug)]
struct Same(Repr);

#[derive(Debug)]
struct Shards(Dims);

fn unused<T>() -> CodecResult<T> {
    Err(CodecError::new(CodecErrorKind::Unsupported, "a stub does not encode or decode"))
}

impl BytesBytesCodec for Nothing {
    fn decode_into(&self, _: &[u8], _: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
        unused()
    }
    fn encode(&self, _: &[u8], _: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        unused()
    }
    fn encoded_size(&self, _: u64) -> EncodedSize {
        EncodedSize::Unknown
    }
}

impl ArrayBytesCodec for Nothing {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn decode_into(
        &self,
        _: &[u8],
        _: &[u64],
        _: &Region,
        _: Destination<'_>,
        _: &mut Scratch,
    ) -> CodecResult<()> {
        unused()
    }
    fn encode(&self, _: Source<'_>, _: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        unused()
    }
    fn encoded_size(&self, _: &[u64]) -> EncodedSize {
        EncodedSize::Unknown
    }
}

impl ArrayBytesCodec for Shards {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn check_shape(&self, shape: &[u64]) -> CodecResult<()> {
        if self.0.len() == shape.len() && shape.iter().zip(&self.0[..]).all(|(n, inner)| n % inner == 0) {
            return Ok(());
        }
        Err(CodecError::configuration("chunk_shape does not divide the shard"))
    }
    fn decode_into(
        &self,
        _: &[u8],
        _: &[u64],
        _: &Region,
        _: Destination<'_>,
        _: &mut Scratch,
    ) -> CodecResult<()> {
        unused()
    }
    fn encode(&self, _: Source<'_>, _: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
        unused()
    }
    fn encoded_size(&self, _: &[u64]) -> EncodedSize {
        EncodedSize::Unknown
    }
}

impl ArrayArrayCodec for Same {
    fn effect(&self) -> Effect<'_> {
        Effect::Whole
    }
    fn encoded_repr(&self) -> CodecResult<Repr> {
        Ok(self.0.clone())
    }
    fn encoded_shape(&self, shape: &[u64]) -> CodecResult<Dims> {
        Ok(shape.into())
    }
    fn decode(&self, _: Source<'_>, _: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        unused()
    }
    fn encode(&self, _: Source<'_>, _: Destination<'_>, _: &mut Scratch) -> CodecResult<()> {
        unused()
    }
}

/// A storage transformer that changes nothing.
#[derive(Debug)]
struct Untouched;

impl StorageTransformer for Untouched {
    fn wrap(&self, storage: &Storage, _: &Prefix) -> Storage {
        storage.clone()
    }
}
