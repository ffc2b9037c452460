//! Numbers in the answers of the page: compressed, as text.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use zarr_array::meta::json::Object;

use crate::out::json;

/// The largest code of a number; the one behind it is that of missing numbers.
const LAST: f64 = 65_534.0;

/// Packs numbers; NaN is missing. Codes of one or two bytes hold integers exactly, and other numbers in steps of their range
/// if `is_coarse`. They are differences to the code before. Other numbers are floats.
///
/// The member `type` is `u1`, `u2`, `f4` or `f8`. All first bytes of the little-endian elements come first, then all second
/// ones; this is compressed with zlib. A number is `start` + `step` × code.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "codes are within their type, and floats are rounded"
)]
pub(super) fn pack(numbers: &[f64], is_coarse: bool) -> Object {
    let finite = || numbers.iter().copied().filter(|number| number.is_finite());
    let ends = finite().fold(None, |found: Option<(f64, f64)>, n| {
        let (min, max) = found.unwrap_or((n, n));
        Some((min.min(n), max.max(n)))
    });
    let (min, max) = ends.unwrap_or_default();
    let missing = numbers.iter().filter(|number| number.is_nan()).count();
    let has_infinities = numbers.iter().any(|number| number.is_infinite());
    let are_integers = finite().all(|number| number.fract() == 0.0);
    let range = max - min;
    let step = match (are_integers, range) {
        _ if has_infinities || !range.is_finite() => None,
        (true, range) if range <= LAST => Some(1.0),
        (false, range) if is_coarse && range > 0.0 => Some(range / LAST),
        _ => None,
    };
    let (kind, bytes) = match step {
        Some(step) => {
            let is_small = step == 1.0 && range <= 254.0;
            let last = if is_small { 255_u16 } else { u16::MAX };
            let code =
                |number: &f64| if number.is_nan() { last } else { ((number - min) / step).round() as u16 };
            let mut before = 0_u16;
            let differences: Vec<u16> = numbers
                .iter()
                .map(|number| {
                    let code = code(number);
                    code.wrapping_sub(std::mem::replace(&mut before, code))
                })
                .collect();
            match is_small {
                true => ("u1", differences.iter().map(|code| *code as u8).collect()),
                false => ("u2", planes(&differences, |code| code.to_le_bytes())),
            }
        }
        None if are_integers && min.abs().max(max.abs()) > f64::from(1 << 24) => {
            ("f8", planes(numbers, |number| number.to_le_bytes()))
        }
        None => ("f4", planes(numbers, |number| (*number as f32).to_le_bytes())),
    };
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing into memory cannot fail.
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    json::object([
        ("type", kind.into()),
        ("start", json::float(min)),
        ("step", step.unwrap_or(1.0).into()),
        ("count", (numbers.len() as u64).into()),
        ("missing", (missing as u64).into()),
        ("min", ends.map(|(min, _)| json::float(min)).into()),
        ("max", ends.map(|(_, max)| json::float(max)).into()),
        ("data", STANDARD.encode(packed).into()),
    ])
}

/// Returns the first bytes of all elements, then their second bytes, and so on.
fn planes<T, const N: usize>(elements: &[T], bytes: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    (0..N)
        .flat_map(|at| elements.iter().map(move |element| (at, element)))
        .map(|(at, element)| bytes(element)[at])
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    /// Returns the numbers that the script makes of an answer.
    fn unpacked(packed: &Object) -> Vec<f64> {
        let text = |name: &str| packed.get(name).unwrap().as_text().unwrap();
        let number = |name: &str| packed.get(name).unwrap().as_f64().unwrap();
        let mut bytes = Vec::new();
        ZlibDecoder::new(&STANDARD.decode(text("data")).unwrap()[..]).read_to_end(&mut bytes).unwrap();
        let count = usize::try_from(packed.get("count").unwrap().as_u64().unwrap()).unwrap();
        let at = |plane: usize, i: usize| bytes[plane * count + i];
        let mut before = 0_u16;
        let (size, last) = if text("type") == "u1" { (1, 255) } else { (2, u16::MAX) };
        (0..count)
            .map(|i| match text("type").as_str() {
                "f4" => f32::from_le_bytes([0, 1, 2, 3].map(|plane| at(plane, i))).into(),
                "f8" => f64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|plane| at(plane, i))),
                _ => {
                    let difference = u16::from_le_bytes([at(0, i), if size == 2 { at(1, i) } else { 0 }]);
                    before = before.wrapping_add(difference) & last;
                    if before == last {
                        f64::NAN
                    } else {
                        number("start") + number("step") * f64::from(before)
                    }
                }
            })
            .collect()
    }

    #[test]
    fn numbers_come_back_exactly_or_within_half_a_step() {
        let nan = f64::NAN;
        for (numbers, is_coarse, kind) in [
            (vec![0.0, 255.0, 3.0], true, "u2"),
            (vec![-3.0, 251.0, nan, 3.0], false, "u1"),
            (vec![nan, 1000.0, 66_534.0], false, "u2"),
            (vec![0.0, 70_000.0], true, "f4"),
            (vec![0.0, 3e9, 7.0], true, "f8"),
            (vec![0.5, nan, 2.25], false, "f4"),
            (vec![0.5, f64::INFINITY, nan], true, "f4"),
            (vec![nan, nan], true, "u1"),
            (vec![], true, "u1"),
        ] {
            let packed = pack(&numbers, is_coarse);
            assert_eq!(packed.get("type").unwrap().as_text().as_deref(), Some(kind), "{numbers:?}");
            let back = unpacked(&packed);
            assert_eq!(format!("{back:?}"), format!("{numbers:?}"));
        }
        let numbers = [233.22, 260.0, f64::NAN, 293.26];
        let back = unpacked(&pack(&numbers, true));
        let is_near =
            |(one, other): (&f64, &f64)| one.is_nan() && other.is_nan() || (one - other).abs() < 0.0005;
        assert!(back.iter().zip(&numbers).all(is_near), "{back:?}");
    }
}
