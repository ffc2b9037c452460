//! Kernels on slices: results for single elements, refused elements, and round trips.

use std::fmt::Debug;

use zarr_xarray::NumberType::{self, Float32, Float64, Int8, Int16, Int32, Int64, UInt8};
use zarr_xarray::kernel::{Packing, TimeCoding, decode_booleans, encode_booleans};
use zarr_xarray::{Calendar, NOT_A_TIME, Scalar, TimeUnit, TimeUnits, Unit, XarrayErrorKind};

/// Contiguous elements in memory.
trait Memory: Copy + Debug + PartialEq {
    fn bytes(elements: &[Self]) -> Vec<u8>;
    fn of(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! memory {
    ($($t:ty)*) => {$(
        impl Memory for $t {
            fn bytes(elements: &[Self]) -> Vec<u8> {
                elements.iter().flat_map(|element| element.to_ne_bytes()).collect()
            }

            fn of(bytes: &[u8]) -> Vec<Self> {
                bytes.as_chunks().0.iter().map(|bytes| Self::from_ne_bytes(*bytes)).collect()
            }
        }
    )*};
}

memory!(i8 u8 i16 i32 i64 u64 f32 f64);

fn decode<S: Memory, D: Memory>(packing: &Packing, stored: &[S]) -> Vec<D> {
    let mut dst = vec![0; stored.len() * size_of::<D>()];
    packing.decode(&S::bytes(stored), &mut dst).unwrap();
    D::of(&dst)
}

fn encode<G: Memory, S: Memory>(packing: &Packing, of: NumberType, given: &[G]) -> Result<Vec<S>, String> {
    let mut dst = vec![0; given.len() * size_of::<S>()];
    packing.encode(of, &G::bytes(given), &mut dst).map_err(|error| format!("{error:#}"))?;
    Ok(S::of(&dst))
}

/// NaN equals NaN, and 0 is not −0.
fn same(found: &[f64], wanted: &[f64]) {
    let bits =
        |list: &[f64]| list.iter().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(wanted), "{found:?} {wanted:?}");
}

/// With missing values, scale and offset, decoded to float64.
fn packed(stored: NumberType, missing: &[i128], scale: Option<f64>, offset: Option<f64>) -> Packing {
    let missing = missing.iter().map(|integer| Scalar::Integer(*integer)).collect();
    Packing::plain(stored).missing(missing).scale(scale).offset(offset).decoded(Float64)
}

#[test]
fn numbers_are_masked_and_scaled() {
    let packing = packed(Int16, &[-9], Some(0.1), Some(220.0));
    same(&decode(&packing, &[0_i16, 1, -9, 128]), &[220.0, 220.1, f64::NAN, 232.8]);
    // The product is rounded before the offset is added: a fused operation would give other digits.
    let (scale, offset) = (0.1, -0.3);
    let rounded = 3.0 * scale + offset;
    assert_ne!(3.0_f64.mul_add(scale, offset), rounded);
    same(&decode(&packed(Int8, &[], Some(scale), Some(offset)), &[3_i8]), &[rounded]);
    // Without an offset, or without a scale, a number keeps the sign of its zero.
    same(&decode(&packed(Float64, &[], Some(2.0), None), &[-0.0_f64]), &[-0.0]);
    same(&decode(&packed(Float64, &[], None, Some(-0.0)), &[-0.0_f64]), &[-0.0]);
}

#[test]
fn any_number_of_missing_values_is_masked() {
    for missing in [&[][..], &[1], &[1, 3], &[1, 3, 4], &[1, 3, 4, 100_000]] {
        let found: Vec<f64> = decode(&packed(Int16, missing, None, None), &[0_i16, 1, 2, 3, 4]);
        let wanted = [0, 1, 2, 3, 4].map(|n| if missing.contains(&n) { f64::NAN } else { n as f64 });
        same(&found, &wanted);
    }
}

#[test]
fn missing_integers_are_compared_as_integers() {
    let large = (1_i64 << 53) + 1;
    let packing = packed(Int64, &[large.into()], None, None);
    same(
        &decode(&packing, &[large - 1, large, large + 1]),
        &[(large - 1) as f64, f64::NAN, (large + 1) as f64],
    );
    let packing = packed(NumberType::UInt64, &[u64::MAX.into()], None, None);
    same(&decode(&packing, &[u64::MAX, u64::MAX - 1]), &[f64::NAN, u64::MAX as f64]);
}

#[test]
fn small_integers_become_float32() {
    let packing = packed(UInt8, &[255], None, None).decoded(Float32);
    let found: Vec<f32> = decode(&packing, &[0_u8, 254, 255]);
    assert_eq!(found[..2], [0.0, 254.0]);
    assert!(found[2].is_nan());
}

#[test]
fn float32_that_stays_float32_is_scaled_in_float32() {
    // Row `pack-float-nan-fill-stays-f4` of xarray.
    let packing = packed(Float32, &[], Some(0.1), Some(220.5)).decoded(Float32);
    let found: Vec<f32> = decode(&packing, &[0.0_f32, 1.7]);
    assert_eq!(found.iter().map(|x| f64::from(*x)).collect::<Vec<_>>(), [220.5, 220.669_998_168_945_3]);
}

#[test]
fn complex_numbers_are_missing_as_a_whole() {
    let missing = vec![Scalar::Complex(1.0, 2.0)];
    let packing = Packing::plain(NumberType::Complex64).missing(missing);
    let found: Vec<f32> = decode(&packing, &[1.0_f32, 2.0, 1.0, 0.0]);
    assert!(found[0].is_nan() && found[1].is_nan());
    assert_eq!(found[2..], [1.0, 0.0]);
}

/// Rows `w-pack-…` and `w-fill-…` of xarray.
#[test]
fn numbers_are_written_as_xarray_does() {
    let packing = packed(Int16, &[-32767], Some(0.1), Some(220.5));
    assert_eq!(encode(&packing, Float64, &[220.5, 220.6, 231.49, f64::NAN]), Ok(vec![0_i16, 1, 110, -32767]));
    assert_eq!(
        encode(&packing, Float32, &[220.5_f32, 220.6, 231.49, f32::NAN]),
        Ok(vec![0_i16, 1, 110, -32767])
    );
    // Answers of numpy 2.4: with a missing value the arithmetic is in float32.
    let coarse = packed(Int16, &[-9], Some(0.01), Some(10.1));
    let given = [25.455_f32, 14.425];
    assert_eq!(encode(&coarse, Float32, &given), Ok(vec![1536_i16, 432]));
    let exact = packed(Int16, &[], Some(0.01), Some(10.1));
    assert_eq!(encode(&exact, Float32, &given), Ok(vec![1535_i16, 433]));
    let halves = Packing::plain(Int8);
    assert_eq!(encode(&halves, Float64, &[0.5, 1.5, 2.5, -0.5]), Ok(vec![0_i8, 2, 2, 0]));
    let filled = Packing::plain(Float32).missing(vec![Scalar::Float(-9999.0)]);
    assert_eq!(encode(&filled, Float32, &[1.0_f32, f32::NAN, 3.0]), Ok(vec![1.0_f32, -9999.0, 3.0]));
    let scaled = packed(Float64, &[], Some(0.5), Some(1.0));
    assert_eq!(encode(&scaled, Float64, &[1.0, 2.0]), Ok(vec![0.0, 2.0]));
    // Integers that are only copied may be of any size.
    assert_eq!(encode(&Packing::plain(Int64), Int64, &[i64::MAX]), Ok(vec![i64::MAX]));
}

#[test]
fn numbers_that_would_not_round_trip_are_refused() {
    let plain = Packing::plain(Int16);
    for (packing, given, element) in [
        (plain.clone(), vec![1.0, f64::NAN], "element 1 is NaN"),
        (plain.clone(), vec![70_000.0], "element 0 is 70000"),
        (plain.clone(), vec![0.0, 32_767.5], "element 1 is 32767.5"),
        (plain.clone(), vec![-32_768.6], "element 0 is -32768.6"),
        (plain.clone(), vec![f64::INFINITY], "element 0 is inf"),
        (packed(Int16, &[-9], Some(0.0), None), vec![1.0], "element 0 is 1"),
        // A missing value that the type does not have cannot be written.
        (packed(Int16, &[70_000], None, None), vec![f64::NAN], "element 0 is NaN"),
    ] {
        let error = encode::<f64, i16>(&packing, Float64, &given).unwrap_err();
        assert!(error.starts_with(element) && error.ends_with("which int16 does not have"), "{error:#}");
    }
    assert!(encode::<f64, f32>(&Packing::plain(Float32), Float64, &[1e300]).is_err());
    assert_eq!(encode(&Packing::plain(Float32), Float64, &[f64::INFINITY]), Ok(vec![f32::INFINITY]));
    assert_eq!(encode(&plain, Float64, &[32_767.4, -32_768.5]), Ok(vec![i16::MAX, i16::MIN]));
}

#[test]
fn the_limits_of_integer_types_are_kept() {
    let found = encode::<f64, i64>(&Packing::plain(Int64), Float64, &[-9_223_372_036_854_775_808.0]);
    assert_eq!(found, Ok(vec![i64::MIN]));
    assert!(encode::<f64, i64>(&Packing::plain(Int64), Float64, &[9_223_372_036_854_775_808.0]).is_err());
    let unsigned = Packing::plain(NumberType::UInt64);
    assert_eq!(encode(&unsigned, Float64, &[18_446_744_073_709_549_568.0]), Ok(vec![u64::MAX - 2047]));
    assert!(encode::<f64, u64>(&unsigned, Float64, &[18_446_744_073_709_551_616.0]).is_err());
    assert_eq!(encode(&unsigned, Float64, &[-0.4]), Ok(vec![0_u64]));
}

#[test]
fn slices_of_different_lengths_are_refused() {
    let packing = packed(Int16, &[1], None, None);
    for (src, dst) in [(3, 8), (2, 9), (4, 8), (2, 0)] {
        assert!(packing.decode(&vec![0; src], &mut vec![0; dst]).is_err(), "{src} {dst}");
    }
    assert!(packing.decode(&[], &mut []).is_ok());
    let impossible = packing.decoded(Int32);
    assert!(impossible.decode(&[0, 0], &mut [0; 4]).is_err());
}

#[test]
fn all_numbers_but_zero_are_true() {
    let mut dst = vec![9; 3];
    decode_booleans(&packed(Int8, &[0], None, None), &i8::bytes(&[0, 1, -1]), &mut dst).unwrap();
    assert_eq!(dst, [1, 1, 1], "xarray makes a missing number NaN, and NaN is true");
    decode_booleans(&Packing::plain(Int8), &i8::bytes(&[0, 1, -1]), &mut dst).unwrap();
    assert_eq!(dst, [0, 1, 1]);
    let mut dst = vec![9; 12];
    encode_booleans(Float32, &[0, 1, 1], &mut dst).unwrap();
    assert_eq!(f32::of(&dst), [0.0, 1.0, 1.0]);
}

fn units(text: &str) -> TimeUnits {
    TimeUnits::parse(text, Calendar::Standard, &mut Vec::new()).unwrap()
}

#[test]
fn times_are_counted_in_the_unit_that_is_given() {
    let days = units("days since 1970-01-02");
    let coding =
        TimeCoding::times(packed(Int32, &[-9], None, None), &days, TimeUnit::Seconds, TimeUnit::Seconds)
            .unwrap();
    let mut dst = vec![0; 24];
    coding.decode(&i32::bytes(&[0, -9, 2]), &mut dst).unwrap();
    assert_eq!(i64::of(&dst), [86_400, NOT_A_TIME, 3 * 86_400]);
    let mut back = vec![0; 12];
    coding.encode(&dst, &mut back).unwrap();
    assert_eq!(i32::of(&back), [0, -9, 2]);

    let noon = coding.encode(&i64::bytes(&[43_200]), &mut [0; 4]).unwrap_err();
    assert_eq!(noon.kind(), XarrayErrorKind::OutOfRange);
    let far = TimeCoding::times(Packing::plain(Int64), &days, TimeUnit::Nanoseconds, TimeUnit::Nanoseconds)
        .unwrap();
    let error = far.decode(&i64::bytes(&[0, 1_000_000]), &mut [0; 16]).unwrap_err();
    assert!(format!("{error:#}").starts_with("element 1 "), "{error:#}");
    let milliseconds = units("milliseconds since 1970-01-01");
    assert!(
        TimeCoding::times(Packing::plain(Int64), &milliseconds, TimeUnit::Seconds, TimeUnit::Seconds)
            .is_err()
    );
}

#[test]
fn packed_times_are_unpacked_first() {
    // Row `time-packed` of xarray.
    let packing = packed(Int16, &[], Some(0.5), Some(10.0));
    let hours = units("hours since 2000-01-01");
    let coding = TimeCoding::times(packing, &hours, TimeUnit::Nanoseconds, TimeUnit::Nanoseconds).unwrap();
    let mut dst = vec![0; 24];
    coding.decode(&i16::bytes(&[0, 1, 2]), &mut dst).unwrap();
    assert_eq!(i64::of(&dst), [946_720_800_000_000_000, 946_722_600_000_000_000, 946_724_400_000_000_000]);
    let mut back = vec![0; 6];
    coding.encode(&dst, &mut back).unwrap();
    assert_eq!(i16::of(&back), [0, 1, 2]);
}

#[test]
fn missing_times_are_encoded_or_refused() {
    let seconds = units("seconds since 1970-01-01");
    let coding =
        |packing| TimeCoding::times(packing, &seconds, TimeUnit::Seconds, TimeUnit::Seconds).unwrap();
    let none = i64::bytes(&[NOT_A_TIME]);
    let mut dst = [0; 8];
    coding(Packing::plain(Int64)).encode(&none, &mut dst).unwrap();
    assert_eq!(i64::of(&dst), [NOT_A_TIME]);
    coding(Packing::plain(Float64)).encode(&none, &mut dst).unwrap();
    assert!(f64::of(&dst)[0].is_nan());
    assert!(coding(Packing::plain(Int32)).encode(&none, &mut dst[..4]).is_err());
}

#[test]
fn spans_have_no_reference() {
    let coding =
        TimeCoding::spans(Packing::plain(Float64), Unit::Hours, TimeUnit::Nanoseconds, TimeUnit::Nanoseconds)
            .unwrap();
    let mut dst = vec![0; 16];
    coding.decode(&f64::bytes(&[1.5, f64::NAN]), &mut dst).unwrap();
    assert_eq!(i64::of(&dst), [5_400_000_000_000, NOT_A_TIME]);
}

/// Every stored number comes back from its decoded form.
#[test]
fn random_numbers_come_back() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..2000 {
        let scale = f64::from(random.i32(1..1000)) / f64::from(random.i32(1..1000));
        let offset = f64::from(random.i32(-100_000..100_000)) / 7.0;
        let packing = packed(Int16, &[-9], Some(scale), Some(offset));
        let stored: Vec<i16> = (0..20).map(|_| random.i16(..)).chain([-9]).collect();
        let decoded: Vec<f64> = decode(&packing, &stored);
        assert_eq!(encode(&packing, Float64, &decoded), Ok(stored), "{packing:?}");
    }
}
