//! Base64 (RFC 4648, section 4), the form of bytes in documents.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes `bytes`, with padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 0x3F) as usize];
            out.push(if i <= group.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

/// Decodes `text`. Returns `None` without padding or if unused bits are not zero.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let body = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for c in body {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count).to_le_bytes()[0]);
            bits &= (1 << count) - 1;
        }
    }
    (bits == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn encodes_and_decodes_only_what_is_canonical() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("AQI=", &[1, 2]),
            ("AQ==", &[1]),
            ("//79", &[255, 254, 253]),
            ("+/8AAQ==", &[251, 255, 0, 1]),
        ] {
            assert_eq!(super::decode(text).as_deref(), Some(bytes), "{text}");
            assert_eq!(super::encode(bytes), text);
        }
        for bad in ["A", "AQI", "AQI!", "AR==", "A===", "AQ=I", "===="] {
            assert_eq!(super::decode(bad), None, "{bad}");
        }
    }
}
