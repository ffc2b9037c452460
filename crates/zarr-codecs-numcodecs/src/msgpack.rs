//! `numcodecs:msgpack2`: objects as one MessagePack, in data of format 2: the elements, `"|O"` and the shape.
//!
//! | member | value |
//! |---|---|
//! | `raw` | whether strings are read as bytes, which need not be UTF-8; false when absent |
//! | `use_single_float` | whether floats are written as `float32`; false when absent |
//! | `use_bin_type` | whether `str 8` may be written; true when absent |
//!
//! The data type is `numcodecs:object`. Numbers and strings of fixed length can be read, but not written. Bytes are
//! read as base64. They cannot be told from strings then, so they are written as strings; with `raw` nothing can be
//! written. As in numcodecs, extension types and keys that are neither strings nor bytes are refused.
//! `numcodecs:msgpack` is the same without the shape, as numcodecs wrote it before 0.6.

use std::io::Write;
use std::sync::Arc;

use rmp::Marker;
use rmp::encode::{self, ValueWriteError};
use zarr_traits::codec::{ArrayBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, Repr, each_element};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::json::{Value, ValueKind};
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Region, Scratch};

use crate::elements::Elements;
use crate::json_text::{DEPTH, Style, write_character};
use crate::nested::{Brackets, Items, Layout};
use crate::{base64_text, object};

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:msgpack2",
    CodecKind::ArrayBytes,
    |configuration, repr, _: &Context<'_>| build(configuration, repr, Layout::TypeAndShape),
));

/// The row of the older codec `numcodecs:msgpack`.
pub const OLD_ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:msgpack",
    CodecKind::ArrayBytes,
    |configuration, repr, _: &Context<'_>| build(configuration, repr, Layout::TypeOnly),
));

#[derive(Debug)]
struct MsgPack {
    raw: bool,
    single: bool,
    short_strings: bool,
    layout: Layout,
    elements: Elements,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, layout: Layout) -> CodecResult<Codec> {
    let elements = Elements::of(repr)?;
    Ok(Codec::ArrayBytes(Arc::new(MsgPack {
        raw: configuration.optional_bool("raw")?.unwrap_or(false),
        single: configuration.optional_bool("use_single_float")?.unwrap_or(false),
        short_strings: configuration.optional_bool("use_bin_type")?.unwrap_or(true),
        layout,
        elements,
    })))
}

impl ArrayBytesCodec for MsgPack {
    fn access(&self) -> PartAccess<'_> {
        PartAccess::Whole
    }

    fn decode_into(
        &self,
        src: &[u8],
        shape: &[u64],
        part: &Region,
        dst: Destination<'_>,
        scratch: &mut Scratch,
    ) -> CodecResult<()> {
        let mut unpacker = Unpacker { rest: src, raw: self.raw };
        let mut items = Items::new(shape);
        for _ in 0..unpacker.list()? {
            let start = items.text.len();
            // the type after the elements is a string, also with `raw`
            unpacker.value(DEPTH, &mut items.text)?;
            items.push(start..items.text.len())?;
        }
        if !unpacker.rest.is_empty() {
            return Err(CodecError::corrupt(format!("{} bytes after the list", unpacker.rest.len())));
        }
        self.elements.put(items.elements(self.layout, shape)?, shape, part, dst, scratch)
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        self.elements.check_encode()?;
        if self.raw {
            let message = "with raw nothing can be written: strings cannot be told from bytes";
            return Err(CodecError::new(CodecErrorKind::Unsupported, message));
        }
        let shape: Vec<u64> = src.shape().to_vec();
        let brackets = Brackets::new(&shape);
        let behind = if self.layout == Layout::TypeAndShape { 2 } else { 1 };
        pack_list(brackets.items().saturating_add(behind), out)?;
        let mut i = 0;
        each_element(src, scratch, |content| {
            brackets.opening(i).try_for_each(|len| pack_list(len, out))?;
            i += 1;
            self.pack(&object::parse_marked(content)?, out)
        })?;
        encode::write_str(out, "|O").map_err(failed)?;
        if self.layout == Layout::TypeAndShape {
            pack_list(shape.len() as u64, out)?;
            shape.iter().try_for_each(|len| encode::write_uint(out, *len).map(drop)).map_err(failed)?;
        }
        Ok(())
    }

    fn encoded_size(&self, _: &[u64]) -> EncodedSize {
        EncodedSize::Unknown
    }
}

/// Reads MessagePack values and writes them as JSON.
struct Unpacker<'a> {
    rest: &'a [u8],
    raw: bool,
}

impl<'a> Unpacker<'a> {
    fn take(&mut self, len: usize) -> CodecResult<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(cut)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> CodecResult<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(cut)?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn marker(&mut self) -> CodecResult<Marker> {
        self.array::<1>().map(|[byte]| Marker::from_u8(byte))
    }

    /// Reads a length of `N` bytes.
    fn length<const N: usize>(&mut self) -> CodecResult<usize> {
        let bytes: [u8; N] = self.array()?;
        Ok(bytes.into_iter().fold(0, |len, byte| len << 8 | usize::from(byte)))
    }

    /// Reads the length of the list that begins here.
    fn list(&mut self) -> CodecResult<usize> {
        match self.marker()? {
            Marker::FixArray(len) => Ok(len.into()),
            Marker::Array16 => self.length::<2>(),
            Marker::Array32 => self.length::<4>(),
            _ => Err(CodecError::corrupt("expected a list")),
        }
    }

    fn value(&mut self, depth: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        let number = |n: &dyn std::fmt::Display, out: &mut Vec<u8>| {
            // a write to a vector does not fail
            let _ = write!(out, "{n}");
        };
        match self.marker()? {
            Marker::Null => out.extend_from_slice(b"null"),
            Marker::True => out.extend_from_slice(b"true"),
            Marker::False => out.extend_from_slice(b"false"),
            Marker::FixPos(n) => number(&n, out),
            Marker::FixNeg(n) => number(&n, out),
            Marker::U8 => number(&u8::from_be_bytes(self.array()?), out),
            Marker::U16 => number(&u16::from_be_bytes(self.array()?), out),
            Marker::U32 => number(&u32::from_be_bytes(self.array()?), out),
            Marker::U64 => number(&u64::from_be_bytes(self.array()?), out),
            Marker::I8 => number(&i8::from_be_bytes(self.array()?), out),
            Marker::I16 => number(&i16::from_be_bytes(self.array()?), out),
            Marker::I32 => number(&i32::from_be_bytes(self.array()?), out),
            Marker::I64 => number(&i64::from_be_bytes(self.array()?), out),
            Marker::F32 => float(f32::from_be_bytes(self.array()?).into(), out),
            Marker::F64 => float(f64::from_be_bytes(self.array()?), out),
            Marker::FixStr(len) => self.string(len.into(), out)?,
            Marker::Str8 => self.length::<1>().and_then(|len| self.string(len, out))?,
            Marker::Str16 => self.length::<2>().and_then(|len| self.string(len, out))?,
            Marker::Str32 => self.length::<4>().and_then(|len| self.string(len, out))?,
            Marker::Bin8 => self.length::<1>().and_then(|len| self.binary(len, out))?,
            Marker::Bin16 => self.length::<2>().and_then(|len| self.binary(len, out))?,
            Marker::Bin32 => self.length::<4>().and_then(|len| self.binary(len, out))?,
            Marker::FixArray(len) => self.values(len.into(), depth, out)?,
            Marker::Array16 => self.length::<2>().and_then(|len| self.values(len, depth, out))?,
            Marker::Array32 => self.length::<4>().and_then(|len| self.values(len, depth, out))?,
            Marker::FixMap(len) => self.map(len.into(), depth, out)?,
            Marker::Map16 => self.length::<2>().and_then(|len| self.map(len, depth, out))?,
            Marker::Map32 => self.length::<4>().and_then(|len| self.map(len, depth, out))?,
            Marker::Reserved => return Err(CodecError::corrupt("c1 is not MessagePack")),
            _ => {
                let message = "extension types of MessagePack are not supported";
                return Err(CodecError::new(CodecErrorKind::Unsupported, message));
            }
        }
        Ok(())
    }

    fn values(&mut self, len: usize, depth: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        let depth = inside(depth)?;
        out.push(b'[');
        for i in 0..len {
            if i > 0 {
                out.push(b',');
            }
            self.value(depth, out)?;
        }
        out.push(b']');
        Ok(())
    }

    fn map(&mut self, len: usize, depth: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        let depth = inside(depth)?;
        out.push(b'{');
        for i in 0..len {
            if i > 0 {
                out.push(b',');
            }
            let start = out.len();
            self.value(depth, out)?;
            if out.get(start) != Some(&b'"') {
                return Err(CodecError::corrupt("a key is neither a string nor bytes"));
            }
            out.push(b':');
            self.value(depth, out)?;
        }
        out.push(b'}');
        Ok(())
    }

    fn string(&mut self, len: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        if self.raw {
            return self.binary(len, out);
        }
        let text = std::str::from_utf8(self.take(len)?)
            .map_err(|e| CodecError::corrupt("a string is not UTF-8").with_source(e))?;
        out.push(b'"');
        text.chars().for_each(|c| write_character(c, Style::Plain, out));
        out.push(b'"');
        Ok(())
    }

    fn binary(&mut self, len: usize, out: &mut Vec<u8>) -> CodecResult<()> {
        let bytes = self.take(len)?;
        out.push(b'"');
        base64_text::encode(bytes, out);
        out.push(b'"');
        Ok(())
    }
}

fn inside(depth: usize) -> CodecResult<usize> {
    depth.checked_sub(1).ok_or_else(|| {
        CodecError::new(CodecErrorKind::LimitExceeded, format!("more than {DEPTH} nested lists or objects"))
    })
}

fn float(x: f64, out: &mut Vec<u8>) {
    let text = match x {
        x if x.is_infinite() => format!("{}Infinity", if x < 0.0 { "-" } else { "" }),
        x => format!("{x:?}"),
    };
    out.extend_from_slice(text.as_bytes());
}

fn cut() -> CodecError {
    CodecError::corrupt("unexpected end of MessagePack")
}

fn failed(e: ValueWriteError) -> CodecError {
    CodecError::new(CodecErrorKind::LimitExceeded, "a length exceeds MessagePack").with_source(e)
}

fn pack_list(len: u64, out: &mut Vec<u8>) -> CodecResult<()> {
    encode::write_array_len(out, short(len)?).map_err(failed)?;
    Ok(())
}

fn short(len: u64) -> CodecResult<u32> {
    u32::try_from(len)
        .map_err(|_| CodecError::new(CodecErrorKind::LimitExceeded, format!("{len} exceeds 32 bits")))
}

impl MsgPack {
    fn pack(&self, value: &Value, out: &mut Vec<u8>) -> CodecResult<()> {
        match value.kind() {
            ValueKind::Null => out.push(Marker::Null.to_u8()),
            ValueKind::Bool if value.as_bool() == Some(true) => out.push(Marker::True.to_u8()),
            ValueKind::Bool => out.push(Marker::False.to_u8()),
            ValueKind::Number | ValueKind::NonFinite => self.pack_number(value, out)?,
            ValueKind::String => {
                let text = value.to_text()?;
                match text.strip_prefix('\0') {
                    Some("NaN") => self.pack_float(f64::NAN, out)?,
                    Some("Infinity") => self.pack_float(f64::INFINITY, out)?,
                    Some("-Infinity") => self.pack_float(f64::NEG_INFINITY, out)?,
                    Some(marked) => self.pack_string(marked, out)?,
                    None => self.pack_string(&text, out)?,
                }
            }
            ValueKind::Array => {
                let list: Vec<Value> = value.elements().into_iter().flatten().collect();
                pack_list(list.len() as u64, out)?;
                list.iter().try_for_each(|item| self.pack(item, out))?;
            }
            ValueKind::Object => {
                let object = value.as_object().unwrap_or_default();
                let members = object.distinct();
                encode::write_map_len(out, short(members.len() as u64)?).map_err(failed)?;
                for member in members {
                    let name = member.name()?;
                    self.pack_string(name.strip_prefix('\0').unwrap_or(&name), out)?;
                    self.pack(&member.value(), out)?;
                }
            }
        }
        Ok(())
    }

    fn pack_number(&self, number: &Value, out: &mut Vec<u8>) -> CodecResult<()> {
        let written = match (number.as_u64(), number.as_i64()) {
            (Some(n), _) => encode::write_uint(out, n).map(drop),
            (_, Some(n)) => encode::write_sint(out, n).map(drop),
            _ => return self.pack_float(number.as_f64().unwrap_or(f64::NAN), out),
        };
        written.map_err(failed)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the configuration asks for float32")]
    fn pack_float(&self, x: f64, out: &mut Vec<u8>) -> CodecResult<()> {
        let written = if self.single { encode::write_f32(out, x as f32) } else { encode::write_f64(out, x) };
        written.map_err(failed)
    }

    fn pack_string(&self, text: &str, out: &mut Vec<u8>) -> CodecResult<()> {
        match u8::try_from(text.len()) {
            Ok(len @ 32..) if !self.short_strings => {
                out.extend_from_slice(&[Marker::Str16.to_u8(), 0, len]);
                out.extend_from_slice(text.as_bytes());
                Ok(())
            }
            _ => {
                short(text.len() as u64)?;
                encode::write_str(out, text).map_err(failed)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_traits::json;

    use super::*;
    use crate::testing::{Variable, hex, objects, values};

    const LONG: &str = r#""xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx""#;
    const PACKED: &str = "dc0015a161c001c3fbcb3ff8000000000000cb7ff8000000000000cb7ff0000000000000cbfff000000000000082a162 \
        920180a161a2c3a990a9c3a9f09f98800a225ccd012ccf0000010000000000d3ffffff0000000000d1ff38cb3e7ad7f29abcaf48 \
        cfffffffffffffffffd92878787878787878787878787878787878787878787878787878787878787878787878787878787878 \
        a27c4f9113";

    #[test]
    fn packs_of_numcodecs_are_decoded() {
        // rule H6
        let mut msgpack2 = Variable::new("numcodecs:msgpack2", &json!({}), &objects());
        msgpack2.golden(&[r#""a""#, r#""b""#], &[2], &hex("94a161a162a27c4f9102"));
        let texts = values(&["1e-7", "18446744073709551615", LONG]);
        assert_eq!(msgpack2.decode(&hex(PACKED), &[19]).unwrap(), texts);
        msgpack2.golden(&texts, &[19], &hex(PACKED));
        // strings that look like words are strings
        let strings = [r#""NaN""#, r#""\u0000NaN""#];
        msgpack2.golden(&strings, &[2], &hex("94a34e614ea4004e614ea27c4f9102"));
        let elements = [r#""a""#, r#""b""#, r#""c""#, "1", "2", "3"];
        msgpack2.golden(&elements, &[2, 3], &hex("9493a161a162a16393010203a27c4f920203"));
        msgpack2.golden(&elements[..1], &[], &hex("93a161a27c4f90"));
        let mut msgpack = Variable::new("numcodecs:msgpack", &json!({}), &objects());
        msgpack.golden(&elements, &[2, 3], &hex("9393a161a162a16393010203a27c4f"));
    }

    #[test]
    fn the_configuration_changes_how_values_are_packed() {
        // rule H6
        let open = |configuration| Variable::new("numcodecs:msgpack2", &configuration, &objects());
        let mut single = open(json!({"use_single_float": true}));
        single.golden(&["1.5"], &[1], &hex("93ca3fc00000a27c4f9101"));
        let long = &[LONG];
        let packed = [&hex("93da0028")[..], &[b'x'; 40], &hex("a27c4f9101")].concat();
        open(json!({"use_bin_type": false})).golden(long, &[1], &packed);
        // bytes are read as base64
        let packed = hex("94c40200ffc403616263a27c4f9102");
        assert_eq!(open(json!({})).decode(&packed, &[2]).unwrap(), [r#""AP8=""#, r#""YWJj""#]);
        let mut raw = open(json!({"raw": true}));
        assert_eq!(raw.decode(&hex("93a2fffea27c4f9101"), &[1]).unwrap(), [r#""//4=""#]);
        assert_eq!(raw.encode(&["1"], &[1]).unwrap_err().kind(), CodecErrorKind::Unsupported);
    }

    #[test]
    fn packs_that_do_not_fit_the_chunk_are_refused() {
        // rule L103
        Variable::survives("numcodecs:msgpack2", &json!({}), &objects(), &hex(PACKED), &[19]);
        let mut msgpack2 = Variable::new("numcodecs:msgpack2", &json!({}), &objects());
        let mut kind = |packed: &[u8]| msgpack2.decode(packed, &[1]).unwrap_err().kind();
        for packed in [
            "",
            "90",
            "c0",
            "9101",
            "92a27c4f9101",
            "93c1a27c4f9101",
            "93a1ffa27c4f9101",
            "93a5a27c4f9101",
            "ddffffffff01",
            "93ddffffffff",
            "93dfffffffff",
            "93c6ffffffff",
            "93810102a27c4f9101",
            "93dbffffffff",
            "9301a27c4f91ff",
            "940102a27c4f9102",
            "9301a27c4f910100",
        ] {
            assert_eq!(kind(&hex(packed)), CodecErrorKind::Corrupt, "{packed}");
        }
        assert_eq!(kind(&hex("93d40102a27c4f9101")), CodecErrorKind::Unsupported);
        assert_eq!(kind(&[&[0x93][..], &[0x91; 100_000]].concat()), CodecErrorKind::LimitExceeded);
        assert_eq!(msgpack2.encode(&["x"], &[1]).unwrap_err().kind(), CodecErrorKind::InvalidArgument);
    }
}
