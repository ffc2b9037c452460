//! Writes one element as text.

use std::io::Write;
use std::sync::Arc;

use half::f16;
use zarr_array::meta::json::Value;
use zarr_array::traits::ExtensionType;
use zarr_array::traits::number::{NumberType, with_integer};
use zarr_array::{DataType, FillValue};

use crate::exit::{Exit, Failure};
use crate::terminal::is_unsafe;

/// The way to print the elements of a data type.
pub(crate) enum Render {
    Core(Append),
    /// Printed as the data type writes its fill values.
    Extension {
        data_type: Arc<dyn ExtensionType>,
        /// Whether strings are printed without quotes.
        bare: bool,
    },
}

/// Appends an element, given as bytes in the byte order of this machine.
type Append = fn(&[u8], &mut Vec<u8>);

impl Render {
    /// Renders JSON values: numbers with their exact value, so that every reader gets the same; non-finite numbers as
    /// the strings of the specification, complex numbers as pairs, byte strings as base64.
    pub(crate) fn json(data_type: &DataType) -> Option<Self> {
        Self::new(data_type, false, json)
    }

    /// Renders text for people: numbers with the fewest digits that identify them in their width, complex numbers as in
    /// Python, byte strings in hexadecimal.
    pub(crate) fn text(data_type: &DataType) -> Option<Self> {
        Self::new(data_type, true, text)
    }

    fn new(data_type: &DataType, bare: bool, core: fn(&DataType) -> Option<Append>) -> Option<Self> {
        match data_type {
            // The elements are JSON with Python's words `NaN` and `Infinity`. They are copied unchanged, because
            // strings would be something else.
            DataType::Extension(objects) if objects.name() == "numcodecs:object" => {
                Some(Self::Core(|content, out| out.extend_from_slice(content)))
            }
            DataType::Extension(raw) if raw.name() == "raw_bytes" => core(&DataType::Raw(0)).map(Self::Core),
            DataType::Extension(data_type) => Some(Self::Extension { data_type: data_type.clone(), bare }),
            core_type => core(core_type).map(Self::Core),
        }
    }

    /// Appends an element: its bytes in the byte order of this machine, or the content of an element of variable
    /// length.
    pub(crate) fn element(&self, element: &[u8], out: &mut Vec<u8>) -> Result<(), Failure> {
        match self {
            Self::Core(append) => append(element, out),
            Self::Extension { data_type, bare } => {
                let value = data_type.fill_to_json(&FillValue::from_bytes(element));
                let value = value.map_err(|e| Failure::new(Exit::Corrupt, format!("{e:#}")))?;
                match value.as_text() {
                    Some(text) if *bare => plain(&text, out),
                    None if *bare => plain(value.as_raw(), out),
                    _ => put(out, format_args!("{value}")),
                }
            }
        }
        Ok(())
    }
}

fn json(data_type: &DataType) -> Option<Append> {
    Some(match data_type {
        DataType::Float16 => |e, out| json_float(f64::from(half(e)), out),
        DataType::Float32 => |e, out| json_float(f64::from(f32::from_ne_bytes(array(e))), out),
        DataType::Float64 => |e, out| json_float(f64::from_ne_bytes(array(e)), out),
        DataType::Complex64 => |e, out| json_pair(e, |e| f64::from(f32::from_ne_bytes(array(e))), out),
        DataType::Complex128 => |e, out| json_pair(e, |e| f64::from_ne_bytes(array(e)), out),
        DataType::String => {
            |e, out| put(out, format_args!("{}", Value::from(&*String::from_utf8_lossy(e)).as_raw()))
        }
        DataType::Raw(_) | DataType::Bytes => |e, out| {
            out.push(b'"');
            base64(e, out);
            out.push(b'"');
        },
        other => return whole(other),
    })
}

fn text(data_type: &DataType) -> Option<Append> {
    Some(match data_type {
        DataType::Float16 => |e, out| put(out, format_args!("{}", shortest_half(half(e)))),
        DataType::Float32 => |e, out| text_float32(f32::from_ne_bytes(array(e)), out),
        DataType::Float64 => |e, out| text_float(f64::from_ne_bytes(array(e)), out),
        DataType::Complex64 => {
            |e, out| text_pair(e, |e, out| text_float32(f32::from_ne_bytes(array(e)), out), out)
        }
        DataType::Complex128 => {
            |e, out| text_pair(e, |e, out| text_float(f64::from_ne_bytes(array(e)), out), out)
        }
        DataType::String => |e, out| plain(&String::from_utf8_lossy(e), out),
        DataType::Raw(_) | DataType::Bytes => {
            |e, out| e.iter().for_each(|byte| put(out, format_args!("{byte:02x}")))
        }
        other => return whole(other),
    })
}

/// Appends text as one line that a terminal shows as it is.
fn plain(text: &str, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.find(is_unsafe) {
        let (before, behind) = rest.split_at(at);
        let mut chars = behind.chars();
        put(out, format_args!("{before}{}", chars.next().unwrap_or_default().escape_default()));
        rest = chars.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
}

/// Returns how to print the types that look the same in JSON and text.
fn whole(data_type: &DataType) -> Option<Append> {
    Some(match data_type.number()? {
        NumberType::Bool => |e, out| out.extend_from_slice(if e == [0] { b"false" } else { b"true" }),
        number => with_integer!(
            number,
            T => |e, out| put(out, format_args!("{}", T::from_ne_bytes(array(e)))),
            return None
        ),
    })
}

/// Returns the element as an array. The data type guarantees the length.
fn array<const N: usize>(element: &[u8]) -> [u8; N] {
    element.try_into().unwrap_or([0; N])
}

fn put(out: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(what);
}

fn half(element: &[u8]) -> f16 {
    f16::from_ne_bytes(array(element))
}

fn non_finite(number: f64) -> Option<&'static str> {
    match number {
        _ if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => None,
    }
}

fn json_float(number: f64, out: &mut Vec<u8>) {
    match non_finite(number) {
        Some(name) => put(out, format_args!("\"{name}\"")),
        // Rust writes finite numbers as JSON does.
        None => put(out, format_args!("{number:?}")),
    }
}

fn text_float(number: f64, out: &mut Vec<u8>) {
    match non_finite(number) {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => put(out, format_args!("{number:?}")),
    }
}

fn text_float32(number: f32, out: &mut Vec<u8>) {
    if number.is_finite() { put(out, format_args!("{number:?}")) } else { text_float(f64::from(number), out) }
}

fn json_pair(element: &[u8], part: fn(&[u8]) -> f64, out: &mut Vec<u8>) {
    let (real, imaginary) = element.split_at(element.len() / 2);
    out.push(b'[');
    json_float(part(real), out);
    out.push(b',');
    json_float(part(imaginary), out);
    out.push(b']');
}

/// Writes `1.0-2.0j`, which Python's `complex` reads.
fn text_pair(element: &[u8], part: Append, out: &mut Vec<u8>) {
    let (real, imaginary) = element.split_at(element.len() / 2);
    part(real, out);
    let sign = out.len();
    part(imaginary, out);
    if out.get(sign) != Some(&b'-') {
        out.insert(sign, b'+');
    }
    out.push(b'j');
}

/// Returns the fewest digits that give `number` back.
fn shortest_half(number: f16) -> String {
    let exact = number.to_f64();
    if let Some(name) = non_finite(exact) {
        return name.to_owned();
    }
    let fits = |text: &String| text.parse().is_ok_and(|n| f16::from_f64(n).to_bits() == number.to_bits());
    let fewest = (0..5).map(|digits| format!("{exact:.digits$e}")).find(fits);
    format!("{:?}", fewest.and_then(|text| text.parse::<f64>().ok()).unwrap_or(exact))
}

/// Writes base64 (RFC 4648, section 4).
fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let bits =
            group.iter().zip([16, 8, 0]).fold(0, |bits, (byte, shift)| bits | u32::from(*byte) << shift);
        for (i, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            out.push(if i <= group.len() { DIGITS[(bits >> shift & 63) as usize] } else { b'=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(render: Option<Append>, element: &[u8]) -> String {
        let mut out = Vec::new();
        render.unwrap()(element, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_numbers_have_the_exact_value() {
        let f32_ = |n: f32| render(json(&DataType::Float32), &n.to_ne_bytes());
        assert_eq!(f32_(0.1), "0.10000000149011612");
        assert_eq!(
            [f32_(-0.0), f32_(1e20), f32_(f32::NAN), f32_(f32::NEG_INFINITY)],
            ["-0.0", "1.0000000200408773e20", "\"NaN\"", "\"-Infinity\""]
        );
        assert_eq!(render(json(&DataType::Float16), &f16::from_f32(0.1).to_ne_bytes()), "0.0999755859375");
        assert_eq!(render(json(&DataType::UInt64), &u64::MAX.to_ne_bytes()), "18446744073709551615");
        assert_eq!(render(json(&DataType::Bool), &[2]), "true");
        let complex = [1.5_f32.to_ne_bytes(), f32::INFINITY.to_ne_bytes()].concat();
        assert_eq!(render(json(&DataType::Complex64), &complex), "[1.5,\"Infinity\"]");
        assert_eq!(render(json(&DataType::Raw(3)), &[0, 255, 16]), "\"AP8Q\"");
        for (bytes, text) in
            [(&[1][..], "\"AQ==\""), (&[1, 2], "\"AQI=\""), (&[], "\"\""), (&[1, 2, 3, 4], "\"AQIDBA==\"")]
        {
            assert_eq!(render(json(&DataType::Raw(0)), bytes), text);
        }
    }

    #[test]
    fn text_is_short() {
        assert_eq!(render(text(&DataType::Float32), &0.1_f32.to_ne_bytes()), "0.1");
        let f16_ = |n: f32| render(text(&DataType::Float16), &f16::from_f32(n).to_ne_bytes());
        assert_eq!(
            [f16_(0.1), f16_(65504.0), f16_(-0.0), f16_(6e-8), f16_(f32::NAN)],
            ["0.1", "65500.0", "-0.0", "6e-8", "NaN"]
        );
        let complex = [1.5_f64.to_ne_bytes(), (-2.0_f64).to_ne_bytes()].concat();
        assert_eq!(render(text(&DataType::Complex128), &complex), "1.5-2.0j");
        let complex = [f32::NAN.to_ne_bytes(), 2.0_f32.to_ne_bytes()].concat();
        assert_eq!(render(text(&DataType::Complex64), &complex), "NaN+2.0j");
        assert_eq!(render(text(&DataType::Raw(2)), &[0, 255]), "00ff");
    }
}
