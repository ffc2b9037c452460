//! The suite of codecs: one check for each rule of [`zarr_traits::codec`]. **For authors of codecs.**
//!
//! A [`Subject`] is a codec in one configuration. It is run alone and in chains with codecs of the suite, with dense
//! and strided elements, and with bytes of unknown size.

mod around;
mod build;
mod chunk;
mod claims;
mod damage;
mod part;
mod size;
mod subject;
mod whole;

use zarr_traits::Registry;
use zarr_traits::extension::{Entry, ExtensionPoint};

use crate::report::{Failure, Failures, Rule, watched};
use subject::Bench;
pub use subject::Subject;

/// Checks codecs of `registry`, each in the configuration of its subject.
///
/// ```
/// use zarr_conformance::codec::{Subject, check};
/// use zarr_traits::json;
/// # use std::sync::Arc;
/// # use zarr_traits::{codec::*, extension::*, *};
/// # #[derive(Debug)]
/// # struct Xor(u8);
/// # impl BytesBytesCodec for Xor {
/// #     fn decode_into(&self, src: &[u8], dst: &mut [u8], _: &mut Scratch) -> CodecResult<usize> {
/// #         let dst = dst.get_mut(..src.len()).ok_or_else(too_large)?;
/// #         dst.iter_mut().zip(src).for_each(|(d, s)| *d = s ^ self.0);
/// #         Ok(src.len())
/// #     }
/// #     fn encode(&self, src: &[u8], out: &mut Vec<u8>, _: &mut Scratch) -> CodecResult<()> {
/// #         Ok(out.extend(src.iter().map(|b| b ^ self.0)))
/// #     }
/// #     fn encoded_size(&self, decoded: u64) -> EncodedSize {
/// #         EncodedSize::Exact(decoded)
/// #     }
/// # }
/// # const CODECS: &[Entry] = &[Entry::Codec(CodecEntry::new("example.xor", CodecKind::BytesBytes, |configuration, _, _| {
/// #         let mask = configuration.integer("mask", 0..=255)?;
/// #         Ok(Codec::BytesBytes(Arc::new(Xor(u8::try_from(mask).unwrap_or(0)))))
/// #     }))];
/// let registry = Registry::core().with(CODECS)?;
/// let xor = Subject::new("example.xor", json!({ "mask": 15 }));
/// check(&registry, [xor.encodes(DataType::UInt8, &[2], &[0, 0xff], &[0x0f, 0xf0])]).unwrap();
/// # Ok::<(), zarr_traits::CodecError>(())
/// ```
///
/// # Errors
/// The broken rules, each with the name of the codec.
pub fn check(registry: &Registry, subjects: impl IntoIterator<Item = Subject>) -> Result<(), Failures> {
    let registry = registry.overriding(around::CODECS);
    let failures = subjects.into_iter().flat_map(|subject| broken(&registry, &subject));
    Failures::result("codec", failures.collect())
}

/// Returns the names of the codecs in a table that have no subject, for a test that no codec is forgotten.
pub fn untried<'a>(table: &'a [Entry], subjects: &[Subject]) -> Vec<&'a str> {
    let codecs = table.iter().filter(|entry| entry.point() == ExtensionPoint::Codec);
    let names = codecs.filter_map(|entry| entry.names().next());
    names.filter(|name| subjects.iter().all(|subject| subject.spec.name != *name)).collect()
}

fn broken(registry: &Registry, subject: &Subject) -> Vec<Failure> {
    let bench = match Bench::new(registry.clone(), subject.clone()) {
        Ok(bench) => bench,
        Err(fault) => return vec![RULES[0].broken(format!("{subject}: {}", fault.0))],
    };
    let failure = |rule: &Rule<Bench>| {
        let (bench, check) = (bench.clone(), rule.check);
        let message = watched(move || check(&bench)).err()?;
        Some(rule.broken(format!("{subject}: {message}")))
    };
    RULES.iter().filter_map(failure).collect()
}

const RULES: &[Rule<Bench>] = &[
    Rule::new("1", "encoded elements are decoded to the same elements", whole::round_trip),
    Rule::new("2", "unsupported types and shapes are refused when it is built", build::refusals),
    Rule::new("3", "it has the kind that its entry states", build::kind),
    Rule::new("4", "each member of a configuration is used, noted or refused", build::members),
    Rule::new("5", "sizes and shapes are right, and known without the elements", size::declared),
    Rule::new("6", "encoding appends", whole::appends),
    Rule::new("7", "sources and destinations may have any strides", whole::views),
    Rule::new("8", "a decoded part equals that part of the chunk", part::parts),
    Rule::new("9", "the fill value is encoded like an element", whole::fill),
    Rule::new("10", "a decoder returns exactly the encoded content", size::exact),
    Rule::new("11", "hostile bytes are an error or other elements", damage::survived),
    Rule::new("12", "memory is allocated for declared sizes only", damage::memory),
    Rule::new("13", "an error does not affect the next chunk", damage::forgotten),
    Rule::new("14", "the encoded form is that of the specification", whole::answers),
    Rule::new("15", "what it says of itself is true", claims::are_true),
];
