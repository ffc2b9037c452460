//! Base64 with the standard alphabet ([RFC 4648](https://www.rfc-editor.org/rfc/rfc4648), section 4).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the text of `src`, with padding and without line breaks.
pub(crate) fn encode(src: &[u8], out: &mut Vec<u8>) {
    for group in src.chunks(3) {
        let byte = |i| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let place = (bits >> (18 - 6 * digit)) as usize & 63;
            out.push(if digit <= group.len() { ALPHABET[place] } else { b'=' });
        }
    }
}

/// Decodes `text` to the start of `dst` and returns the number of bytes. White space is ignored.
pub(crate) fn decode(text: &[u8], dst: &mut [u8]) -> zarr_traits::CodecResult<usize> {
    use zarr_traits::{CodecError, codec::too_large};

    let damaged = || CodecError::corrupt("the text is not base64");
    let (mut made, mut digits, mut padding, mut bits) = (0, 0, 0, 0_u32);
    for byte in text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()) {
        if byte == b'=' {
            padding += 1;
            continue;
        }
        let value = value(byte).filter(|_| padding == 0).ok_or_else(damaged)?;
        bits = bits << 6 | u32::from(value);
        digits = (digits + 1) % 4;
        if digits != 1 {
            let [_, _, high, low] = bits.to_be_bytes();
            let byte = match digits {
                2 => u16::from_be_bytes([high, low]) >> 4,
                3 => u16::from_be_bytes([high, low]) >> 2,
                _ => u16::from(low),
            };
            *dst.get_mut(made).ok_or_else(too_large)? = byte.to_le_bytes()[0];
            made += 1;
        }
    }
    match (digits, padding) {
        (0, 0) | (2, 2) | (3, 1) => Ok(made),
        _ => Err(damaged()),
    }
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
