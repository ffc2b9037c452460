//! Codec configurations of format 2 in forms that numcodecs does not define, but other programs write.

use zarr_meta::{ArrayMeta, Code, Diagnostic, Ignore, Limits, Members2, MetaErrorKind, Strict};

fn zarray(dtype: &str, filters: &str, compressor: &str) -> String {
    format!(
        r#"{{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "{dtype}", "compressor": {compressor},
            "fill_value": 0, "order": "C", "filters": {filters}, "mine": [1.50]}}"#
    )
}

/// Returns the last codec of the model, and the reports about the document.
fn read(dtype: &str, filters: &str, compressor: &str) -> (String, Vec<(Code, String)>) {
    let text = zarray(dtype, filters, compressor);
    let mut notes: Vec<Diagnostic> = Vec::new();
    let meta = ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut notes).unwrap();
    let codecs = meta.document().codecs();
    let codec = codecs.last().unwrap_or_else(|| panic!("{:?}", meta.v3_obstacles())).to_value().to_compact();
    (codec, notes.into_iter().map(|note| (note.code, note.pointer)).collect())
}

#[test]
fn blosc_shuffles_given_as_words_are_read_and_reported() {
    for (word, shuffle) in [
        ("NONE", "noshuffle"), // GDAL, with BLOSC_SHUFFLE=NONE
        ("BIT", "bitshuffle"), // GDAL, with BLOSC_SHUFFLE=BIT
        ("SHUFFLE", "shuffle"),
        ("BYTE", "shuffle"),
        ("bit", "bitshuffle"),
        ("noshuffle", "noshuffle"),
        ("shuffle", "shuffle"),
        ("bitshuffle", "bitshuffle"),
    ] {
        let blosc = format!(r#"{{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "{word}"}}"#);
        let expected = format!(
            r#"{{"name":"blosc","configuration":{{"cname":"lz4","clevel":5,"shuffle":"{shuffle}","typesize":4,"blocksize":0}}}}"#
        );
        let place = (Code::CodecConfiguration, "/compressor/shuffle".to_owned());
        assert_eq!(read("<i4", "null", &blosc), (expected.clone(), vec![place]), "{word}");
        let place = (Code::CodecConfiguration, "/filters/0/shuffle".to_owned());
        assert_eq!(read("<i4", &format!("[{blosc}]"), "null"), (expected, vec![place]), "{word}");
    }
    let strict = zarray("<i4", "null", r#"{"id": "blosc", "shuffle": "BIT"}"#);
    let e = ArrayMeta::parse_v2(strict.as_bytes(), None, &Limits::default(), &mut Strict).unwrap_err();
    assert_eq!(e.kind(), MetaErrorKind::Deviation(Code::CodecConfiguration));
}

#[test]
fn unknown_words_for_shuffles_are_refused() {
    for shuffle in [r#""bits""#, "3", "-2", "null", "1.5"] {
        let text = zarray("<i4", "null", &format!(r#"{{"id": "blosc", "shuffle": {shuffle}}}"#));
        let meta = ArrayMeta::parse_v2(text.as_bytes(), None, &Limits::default(), &mut Ignore).unwrap();
        assert_eq!(meta.v3_obstacles(), ["the array cannot be understood"], "{shuffle}");
    }
}

#[test]
fn a_shuffle_of_element_size_0_shuffles_whole_elements() {
    let place = (Code::CodecConfiguration, "/filters/0/elementsize".to_owned());
    let shuffle =
        |size: u64| format!(r#"{{"name":"numcodecs.shuffle","configuration":{{"elementsize":{size}}}}}"#);
    for (dtype, size) in [("<f8", 8), ("<i2", 2), ("|u1", 1)] {
        // netCDF-C writes a number; up to version 4.9 it wrote a string.
        for zero in ["0", r#""0""#] {
            let filter = format!(r#"[{{"id": "shuffle", "elementsize": {zero}}}]"#);
            assert_eq!(read(dtype, &filter, "null"), (shuffle(size), vec![place.clone()]), "{dtype} {zero}");
        }
    }
    // The elements are those of the array, even after another filter.
    let filters = r#"[{"id": "fletcher32"}, {"id": "shuffle", "elementsize": 0}]"#;
    assert_eq!(read("<f8", filters, "null").0, shuffle(8));
    // Other sizes stay.
    assert_eq!(read("<f8", r#"[{"id": "shuffle", "elementsize": 2}]"#, "null"), (shuffle(2), vec![]));
    let text = r#"[{"id": "shuffle", "elementsize": "2"}]"#;
    assert_eq!(read("<f8", text, "null"), (shuffle(2), vec![place.clone()]));
    // Some versions of netCDF-C omit the size. numcodecs, which always writes it, reads an absent one as 4.
    let absent = r#"[{"id": "shuffle"}]"#;
    assert_eq!(read("<f8", absent, "null"), (shuffle(8), vec![place]));
    assert_eq!(read("<i4", absent, "null"), (shuffle(4), vec![]), "both readings agree");
    // netCDF has no times and no complex numbers, so this is read as numcodecs reads it.
    let zero = r#"[{"id": "shuffle", "elementsize": 0}]"#;
    assert_eq!(read("<M8[m]", zero, "null"), (shuffle(0), vec![]));
    assert_eq!(read("<M8[m]", absent, "null"), (shuffle(4), vec![]));
}

#[test]
fn a_changed_document_has_tolerated_configurations_in_the_defined_form() {
    for (filters, compressor, strict) in [
        (
            r#"[{"id": "shuffle", "elementsize": 0}]"#,
            r#"{"id": "zlib", "level": "9"}"#,
            r#"[{"id":"shuffle","elementsize":4}] {"id":"zlib","level":9}"#,
        ),
        (
            "null",
            r#"{"id": "blosc", "cname": "lz4", "shuffle": "NONE", "num_threads": "1"}"#,
            r#"null {"id":"blosc","cname":"lz4","shuffle":0,"num_threads":"1"}"#,
        ),
        ("null", r#"{"shuffle": "BIT", "id": "blosc"}"#, r#"null {"shuffle":2,"id":"blosc"}"#),
        // A configuration in the defined form keeps its spelling.
        (
            r#"[ {"id":"delta", "dtype": "<i4"} ]"#,
            r#"{"id": "blosc",  "shuffle": -1}"#,
            r#"[ {"id":"delta", "dtype": "<i4"} ] {"id": "blosc",  "shuffle": -1}"#,
        ),
    ] {
        let text = zarray("<i4", filters, compressor);
        let limits = Limits::default();
        let meta = ArrayMeta::parse_v2(text.as_bytes(), None, &limits, &mut Ignore).unwrap();
        let same = meta.with_members2(&Members2::default()).unwrap();
        let value = zarr_meta::json::Value::parse(&same.to_text()).unwrap().as_object().unwrap();
        let member = |name| value.get(name).unwrap();
        let found = format!("{} {}", member("filters").as_raw(), member("compressor").as_raw());
        assert_eq!(found, strict);
        assert_eq!(member("mine").as_raw(), "[1.50]");
        assert_eq!(same.document().codecs(), meta.document().codecs());
        ArrayMeta::parse_v2(same.to_text().as_bytes(), None, &limits, &mut Strict).unwrap();
    }
}
