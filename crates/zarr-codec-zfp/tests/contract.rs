//! The codecs keep the contract.

use zarr_codec_zfp::{CODECS, zfpy};
use zarr_conformance::codec::{Subject, check};
use zarr_traits::json::{Value, json};
use zarr_traits::{DataType, Registry};

const SHAPES: &[&[u64]] = &[&[], &[0], &[1], &[7], &[3, 5], &[2, 0, 3], &[4, 3, 5], &[23, 11], &[2, 5, 3, 4]];

fn of(name: &str, configuration: Value, types: impl IntoIterator<Item = DataType>) -> Subject {
    Subject::new(name, configuration).types(types).shapes(SHAPES).refuses([
        DataType::Bool,
        DataType::Float16,
        DataType::Complex64,
        DataType::Raw(4),
        DataType::String,
    ])
}

/// Returns a number of few digits.
fn single(n: u64) -> Vec<u8> {
    f32::from(n.to_le_bytes()[0]).to_ne_bytes().into()
}

#[test]
fn the_codecs_keep_the_contract() {
    use DataType as T;
    let narrow = [T::Int8, T::UInt8, T::Int16, T::UInt16];
    let wide = [T::Int32, T::Int64, T::Float32, T::Float64];
    let reversible = json!({"mode": "reversible"});
    // Rounding twice changes numbers in zfp, so these tests use numbers of few digits that need no rounding.
    let rate = json!({"mode": "fixed_rate", "rate": 40});
    let precision = json!({"mode": "fixed_precision", "precision": 0});
    let accuracy = json!({"mode": "fixed_accuracy", "tolerance": 1e-9});
    let expert = json!({"mode": "expert", "minbits": 1, "maxbits": 16658, "maxprec": 64, "minexp": -1074});
    let subjects = [
        of("zfp", reversible.clone(), narrow.iter().chain(&wide).cloned()),
        of("zfp", reversible.clone(), [T::UInt32])
            .elements(|n| u32::try_from(n >> 33).unwrap().to_ne_bytes().into()),
        of("zfp", reversible, [T::UInt64]).elements(|n| (n >> 1).to_ne_bytes().into()),
        of("zfp", rate.clone(), narrow.clone()),
        of("zfp", rate, [T::Float32]).elements(single),
        of("zfp", precision.clone(), narrow),
        of("zfp", precision, [T::Float32]).elements(single),
        of("zfp", accuracy, [T::Float32]).elements(single),
        of("zfp", expert, [T::Float32]).elements(single),
        of("numcodecs.zfpy", json!({"mode": 5}), wide),
        of("numcodecs.zfpy", json!({"mode": 2, "rate": 40}), [T::Float32]).elements(single),
    ];
    let registry = Registry::core().with(CODECS).unwrap().with(&[zfpy::ENTRY]).unwrap();
    check(&registry, subjects).unwrap();
}
