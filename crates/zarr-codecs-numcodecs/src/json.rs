//! `numcodecs:json2`: objects as one JSON text, in data of format 2: `["a",null,1,"|O",[3]]`.
//!
//! | member | value |
//! |---|---|
//! | `encoding` | `"utf-8"`, also when absent |
//! | `ensure_ascii` | whether encoded text is only ASCII; true when absent |
//! | `skipkeys` `check_circular` `allow_nan` `sort_keys` `indent` `separators` `strict` | ignored |
//!
//! The data type is `numcodecs:object`. Numbers and strings of fixed length can be read, but not written. Non-finite
//! floats are the words that Python writes, without quotes. `numcodecs:json` is the same without the shape, as
//! numcodecs wrote it before 0.6.

use std::sync::Arc;

use zarr_traits::codec::{ArrayBytesCodec, Codec, CodecKind, EncodedSize, PartAccess, Repr, each_element};
use zarr_traits::extension::{CodecEntry, Configuration, Context, Entry};
use zarr_traits::strided::{Destination, Source};
use zarr_traits::{CodecError, CodecErrorKind, CodecResult, Region, Scratch};

use crate::elements::Elements;
use crate::json_text::{Reader, Style};
use crate::nested::{Brackets, Items, Layout};

/// The row of this codec in a registry.
pub const ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:json2",
    CodecKind::ArrayBytes,
    |configuration, repr, _: &Context<'_>| build(configuration, repr, Layout::TypeAndShape),
));

/// The row of the older codec `numcodecs:json`.
pub const OLD_ENTRY: Entry = Entry::Codec(CodecEntry::new(
    "numcodecs:json",
    CodecKind::ArrayBytes,
    |configuration, repr, _: &Context<'_>| build(configuration, repr, Layout::TypeOnly),
));

#[derive(Debug)]
struct Json {
    style: Style,
    layout: Layout,
    elements: Elements,
}

fn build(configuration: &mut Configuration<'_>, repr: &Repr, layout: Layout) -> CodecResult<Codec> {
    let elements = Elements::of(repr)?;
    let encoding = configuration.optional_string("encoding")?;
    let encoding = encoding.as_deref().unwrap_or("utf-8").to_ascii_lowercase();
    if !matches!(&*encoding, "utf-8" | "utf8" | "utf_8" | "ascii" | "us-ascii") {
        let message = format!("encoding is {encoding:?}, expected \"utf-8\"");
        return Err(CodecError::configuration(message).at("/configuration/encoding"));
    }
    let ascii = configuration.optional_bool("ensure_ascii")?.unwrap_or(true) || encoding.ends_with("ascii");
    for ignored in ["skipkeys", "check_circular", "allow_nan", "sort_keys", "indent", "separators", "strict"]
    {
        configuration.get(ignored);
    }
    Ok(Codec::ArrayBytes(Arc::new(Json {
        style: if ascii { Style::Ascii } else { Style::Plain },
        layout,
        elements,
    })))
}

impl ArrayBytesCodec for Json {
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
        let mut items = Items::new(shape);
        let mut reader = Reader::new(src)?;
        reader.list(|reader| {
            let place = reader.value(Style::Plain, &mut items.text)?;
            items.push(place)
        })?;
        reader.end()?;
        self.elements.put(items.elements(self.layout, shape)?, shape, part, dst, scratch)
    }

    fn encode(&self, src: Source<'_>, out: &mut Vec<u8>, scratch: &mut Scratch) -> CodecResult<()> {
        self.elements.check_encode()?;
        let shape: Vec<u64> = src.shape().to_vec();
        let brackets = Brackets::new(&shape);
        let mut i = 0;
        out.push(b'[');
        each_element(src, scratch, |content| {
            if i > 0 {
                out.push(b',');
            }
            brackets.opening(i).for_each(|_| out.push(b'['));
            copy(content, self.style, out)?;
            (0..brackets.closing(i)).for_each(|_| out.push(b']'));
            i += 1;
            Ok(())
        })?;
        if i > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"\"|O\"");
        if self.layout == Layout::TypeAndShape {
            out.extend_from_slice(format!(",{shape:?}").replace(' ', "").as_bytes());
        }
        out.push(b']');
        Ok(())
    }

    fn encoded_size(&self, _: &[u64]) -> EncodedSize {
        EncodedSize::Unknown
    }
}

/// Appends the JSON text of an element, or fails if `content` is not JSON.
fn copy(content: &[u8], style: Style, out: &mut Vec<u8>) -> CodecResult<()> {
    let mut copy = || {
        let mut reader = Reader::new(content)?;
        reader.value(style, out)?;
        reader.end()
    };
    copy().map_err(|e| {
        CodecError::new(CodecErrorKind::InvalidArgument, "an element is not JSON text").with_source(e)
    })
}

#[cfg(test)]
mod tests {
    use zarr_traits::DataType;
    use zarr_traits::json;
    use zarr_traits::strided::bytes_of;

    use super::*;
    use crate::testing::{Variable, build, decode_fixed, objects, repr, texts, values};

    const ASCII: &str = r#"["a",null,1,true,-5,1.5,NaN,Infinity,-Infinity,{"b":[1,{}],"a":"\u00e9"},[],"\u00e9\ud83d\ude00\n\"\\",300,1099511627776,-1099511627776,-200,1e-07,18446744073709551615,"|O",[18]]"#;

    #[test]
    fn texts_of_numcodecs_are_decoded() {
        // rule H6
        let mut json2 = Variable::new("numcodecs:json2", &json!({}), &objects());
        let texts = values(&["1e-07", "18446744073709551615"]);
        assert_eq!(json2.decode(ASCII.as_bytes(), &[18]).unwrap(), texts);
        assert_eq!(String::from_utf8(json2.encode(&texts, &[18]).unwrap()).unwrap(), ASCII);
        let full = json!({"allow_nan": true, "check_circular": true, "encoding": "utf-8", "ensure_ascii": false,
            "indent": true, "separators": [",", ":"], "skipkeys": false, "sort_keys": true, "strict": true});
        let mut plain = Variable::new("numcodecs:json2", &full, &objects());
        plain.golden(&[r#""é""#], &[1], r#"["é","|O",[1]]"#.as_bytes());
        let indented = "[\n  \"a\", \n  {\n \"b\": 1\n}, \n  \"|O\", \n  [\n    2\n  ]\n]\n";
        assert_eq!(plain.decode(indented.as_bytes(), &[2]).unwrap(), [r#""a""#, r#"{"b":1}"#]);
    }

    #[test]
    fn lists_of_lists_are_dimensions() {
        // rule H22
        let mut json2 = Variable::new("numcodecs:json2", &json!({}), &objects());
        let elements = [r#""a""#, r#""b""#, r#""c""#, "[1]", "2", "3"];
        json2.golden(&elements, &[2, 3], br#"[["a","b","c"],[[1],2,3],"|O",[2,3]]"#);
        json2.golden(&elements, &[1, 3, 2], br#"[[["a","b"],["c",[1]],[2,3]],"|O",[1,3,2]]"#);
        json2.golden(&elements[..1], &[], br#"["a","|O",[]]"#);
        json2.golden(&[], &[0], br#"["|O",[0]]"#);
        let mut json = Variable::new("numcodecs:json", &json!({}), &objects());
        json.golden(&elements, &[2, 3], br#"[["a","b","c"],[[1],2,3],"|O"]"#);
        json.golden(&elements, &[6], br#"["a","b","c",[1],2,3,"|O"]"#);
    }

    #[test]
    fn texts_that_do_not_fit_the_chunk_are_refused() {
        // rule L103
        Variable::survives("numcodecs:json2", &json!({}), &objects(), ASCII.as_bytes(), &[18]);
        let mut json2 = Variable::new("numcodecs:json2", &json!({}), &objects());
        for text in [
            "",
            "[]",
            "{}",
            "[1]",
            r#"["|O"]"#,
            r#"[1,2,"|O"]"#,
            r#"[1,"|O",[2]]"#,
            r#"[1,2,3,"|O",[2]]"#,
            r#"[1,2,"|O",[-2]]"#,
            r#"[1,2,"|O",[1.5]]"#,
            r#"[1,2,3,[2]]"#,
            r#"[[1,2],"|O",[2]]"#,
            r#"[1,2,"|O",[1,2]]"#,
            r#"[[1,2],"|O",[2,1]] x"#,
            r#"[[1],[2,3],"|O",[2,2]]"#,
            r#"[1,2,"|O",[18446744073709551615,18446744073709551615]]"#,
            r#"[1,2,3,4,5,"|O",[5]]"#,
        ] {
            let e = json2.decode(text.as_bytes(), &[2]).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Corrupt, "{text}: {e:#}");
        }
        assert!(json2.decode(b"[\"\xff\",1,\"|O\",[2]]", &[2]).is_err());
        let e = json2.encode(&["no text"], &[1]).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::InvalidArgument);
        assert!(json2.encode(&["1 2"], &[1]).is_err());
    }

    #[test]
    fn numbers_and_strings_of_fixed_length_are_read() {
        let read = |text: &str, repr: &Repr| {
            decode_fixed("numcodecs:json2", &json!({}), repr, text.as_bytes(), &[2])
        };
        let integers = repr(DataType::Int16);
        assert_eq!(read(r#"[1,-2,"<i2",[2]]"#, &integers).unwrap(), bytes_of(&[1_i16, -2]));
        let floats = repr(DataType::Float32);
        assert_eq!(
            read(r#"[0.1,-Infinity,"<f4",[2]]"#, &floats).unwrap(),
            bytes_of(&[0.1, f32::NEG_INFINITY])
        );
        let strings = ["é", "", "a", "b"].map(|text| text.chars().next().map_or(0, u32::from));
        assert_eq!(read(r#"["\u00e9","ab","<U2",[2]]"#, &texts(8)).unwrap(), bytes_of(&strings));
        for (text, repr) in [
            (r#"[1,40000,"<i2",[2]]"#, &integers),
            (r#"[1,1.5,"<i2",[2]]"#, &integers),
            (r#"[1,"a","<i2",[2]]"#, &integers),
            (r#"[1,"<i2",[1]]"#, &integers),
            (r#"["abc","","<U3",[2]]"#, &texts(8)),
            (r#"[1,"","<U2",[2]]"#, &texts(8)),
            (r#"["\ud800","","<U2",[2]]"#, &texts(8)),
        ] {
            assert_eq!(read(text, repr).unwrap_err().kind(), CodecErrorKind::Corrupt, "{text}");
        }
        let Codec::ArrayBytes(codec) = build("numcodecs:json2", &json!({}), &integers).unwrap() else {
            unreachable!()
        };
        let src = Source::of(&[1_i16], &[1]).unwrap();
        let e = codec.encode(src, &mut Vec::new(), &mut Scratch::new()).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Unsupported);
    }

    #[test]
    fn configurations() {
        for (configuration, repr) in [
            (json!({"encoding": "utf-16"}), objects()),
            (json!({"ensure_ascii": 1}), objects()),
            (json!({}), repr(DataType::String)),
        ] {
            let e = build("numcodecs:json2", &configuration, &repr).unwrap_err();
            assert_eq!(e.kind(), CodecErrorKind::Configuration, "{configuration}: {e:#}");
        }
        let e = build("numcodecs:pickle", &json!({"protocol": 5}), &objects()).unwrap_err();
        assert_eq!(e.kind(), CodecErrorKind::Unsupported); // rule L105
        assert!(format!("{e:#}").contains("never"), "{e:#}");
    }
}
