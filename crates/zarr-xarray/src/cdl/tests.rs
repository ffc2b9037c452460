//! The words of CDL, and whole texts against its grammar. netCDF-C is not needed.

use zarr_array::{NdVec, block_on};
use zarr_hierarchy::{Group, standard};
use zarr_store::MemoryStore;

use super::words::{attribute_values, identifier, literal, quoted};
use super::*;
use crate::{Encoding, NewDataset, NewVariable};

#[test]
fn words_are_those_of_ncdump() {
    for (name, wanted) in [("t2m", "t2m"), ("2m", "\\2m"), ("a b(c)", "a\\ b\\(c\\)"), ("é-1.x", "é-1.x")] {
        assert_eq!(identifier(name), wanted);
    }
    assert_eq!(quoted("a\"b\\\n\u{1}"), "\"a\\\"b\\\\\\n\\001\"");
    for (of, scalar, wanted) in [
        (NumberType::Int16, Scalar::Integer(-32767), Some("-32767s")),
        (NumberType::Int8, Scalar::Integer(128), None),
        (NumberType::UInt8, Scalar::Integer(255), Some("255UB")),
        (NumberType::UInt64, Scalar::Integer(u64::MAX.into()), Some("18446744073709551615ULL")),
        (NumberType::Float32, Scalar::Float(f64::NAN), Some("NaNf")),
        (NumberType::Float32, Scalar::Float(0.1), Some("0.1f")),
        (NumberType::Float64, Scalar::Float(f64::NEG_INFINITY), Some("-Infinity")),
        (NumberType::Float64, Scalar::Integer(5), Some("5.0")),
        (NumberType::Int32, Scalar::Float(0.5), None),
    ] {
        assert_eq!(literal(of, scalar).as_deref(), wanted, "{of:?} {scalar:?}");
    }
    for (json, of, wanted) in [
        ("5", None, Some(("", "5"))),
        ("5000000000", None, Some(("", "5000000000LL"))),
        ("[1,2.5]", None, Some(("", "1.0, 2.5"))),
        ("[0,1]", Some(NumberType::Int8), Some(("", "0b, 1b"))),
        ("[0,300]", Some(NumberType::Int8), Some(("", "0, 300"))),
        (r#""K""#, None, Some(("", r#""K""#))),
        (r#"["a","b"]"#, None, Some(("string ", r#""a", "b""#))),
        (r#"{"a":[true]}"#, None, Some(("", r#""{\"a\":[true]}""#))),
        ("true", None, Some(("", "\"true\""))),
        ("null", None, None),
        ("[]", None, None),
    ] {
        let found = attribute_values(&Value::parse(json).unwrap(), of);
        assert_eq!(found.as_ref().map(|(prefix, values)| (*prefix, values.as_str())), wanted, "{json}");
    }
}

/// Makes a tree: packed numbers, texts, booleans and names with blanks at the root, and a group below.
fn tree() -> DataTree {
    let packed = Encoding::new().data_type(NumberType::Int16).scale(0.5).missing(-1);
    let new = NewDataset::new()
        .attribute("title", "de\"mo")
        .coordinate("lat", NewVariable::new(["lat"], vec![1.0_f32, 2.0]).attribute("units", "degrees_north"))
        .variable(
            "t",
            NewVariable::new(["lat"], vec![1.5_f64, 2.0])
                .encoding(packed)
                .attribute("valid_range", vec![0, 9]),
        )
        .variable("odd name", NewVariable::new(["lat"], vec![true, false]))
        .variable("s", NewVariable::new(Vec::<String>::new(), NdVec::new([], vec!["x".to_owned()]).unwrap()));
    let below =
        NewDataset::new().variable("n", NewVariable::new(["x"], vec![7_i64; 3])).attribute("level", 2);
    let storage = zarr_array::Storage::from(MemoryStore::new());
    block_on(DataTree::create(storage, "/", [("/", new), ("/fine", below)], &standard())).unwrap()
}

#[test]
fn a_tree_is_written_as_ncdump_does() {
    let wanted = "netcdf demo {
dimensions:
\tlat = 2 ;
variables:
\tfloat lat(lat) ;
\t\tlat:_FillValue = NaNf ;
\t\tlat:units = \"degrees_north\" ;
\tbyte odd\\ name(lat) ;
\t\todd\\ name:dtype = \"bool\" ;
\tstring s ;
\tshort t(lat) ;
\t\tt:_FillValue = -1s ;
\t\tt:valid_range = 0s, 9s ;
\t\tt:scale_factor = 0.5 ;

// global attributes:
\t\t:title = \"de\\\"mo\" ;

group: fine {
  dimensions:
  \tx = 3 ;
  variables:
  \tint64 n(x) ;

  // group attributes:
  \t\t:level = 2 ;
  } // group fine
}
";
    assert_eq!(tree().to_cdl("demo"), wanted);
}

/// The tokens of CDL: names with escapes, numbers, texts, punctuation. Comments are left out.
fn tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut chars) = (Vec::new(), text.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => {}
            '/' if chars.peek() == Some(&'/') => while chars.next().is_some_and(|c| c != '\n') {},
            '"' => {
                let mut is_escaped = false;
                while chars.next_if(|c| is_escaped || *c != '"').is_some_and(|c| {
                    is_escaped = c == '\\' && !is_escaped;
                    true
                }) {}
                assert_eq!(chars.next(), Some('"'), "a text is not closed");
                tokens.push("TEXT".to_owned());
            }
            '{' | '}' | '(' | ')' | ',' | ';' | ':' | '=' => tokens.push(c.to_string()),
            c => {
                let mut word = String::from(c);
                let mut is_escaped = c == '\\';
                while let Some(c) =
                    chars.next_if(|c| is_escaped || !(c.is_whitespace() || "{}(),;:=\"".contains(*c)))
                {
                    is_escaped = c == '\\' && !is_escaped;
                    word.push(c);
                }
                tokens.push(word);
            }
        }
    }
    tokens
}

/// Checks a text against the grammar of `ncgen`, as far as headers need it.
struct Parser(std::iter::Peekable<std::vec::IntoIter<String>>);

impl Parser {
    fn take(&mut self, wanted: &str) {
        assert_eq!(self.0.next().as_deref(), Some(wanted));
    }

    fn is(&mut self, wanted: &str) -> bool {
        self.0.next_if(|token| token == wanted).is_some()
    }

    fn name(&mut self) {
        let name = self.0.next().unwrap();
        let first = name.chars().next().unwrap();
        assert!(first.is_alphabetic() || first == '_' || first == '\\', "{name}");
    }

    fn group(&mut self) {
        self.take("{");
        if self.is("dimensions") {
            self.take(":");
            while !["variables", "group", "}", ":"].contains(&self.0.peek().unwrap().as_str()) {
                self.name();
                self.take("=");
                let length = self.0.next().unwrap();
                assert!(length == "UNLIMITED" || length.parse::<u64>().is_ok_and(|n| n > 0), "{length}");
                self.take(";");
            }
        }
        if self.is("variables") {
            self.take(":");
            while !["group", "}"].contains(&self.0.peek().unwrap().as_str()) {
                self.declaration();
            }
        }
        while self.0.peek().is_some_and(|token| token == ":") {
            self.declaration();
        }
        while self.is("group") {
            self.take(":");
            self.name();
            self.group();
        }
        self.take("}");
    }

    /// A variable or an attribute.
    fn declaration(&mut self) {
        const TYPES: [&str; 12] = [
            "byte", "ubyte", "short", "ushort", "int", "uint", "int64", "uint64", "float", "double", "char",
            "string",
        ];
        let is_typed = self.0.next_if(|token| TYPES.contains(&token.as_str())).is_some();
        if !self.is(":") {
            self.name();
            if !self.is(":") {
                assert!(is_typed, "a variable has no type");
                if self.is("(") {
                    self.name();
                    while self.is(",") {
                        self.name();
                    }
                    self.take(")");
                }
                return self.take(";");
            }
        }
        self.name();
        self.take("=");
        loop {
            let value = self.0.next().unwrap();
            let number = value.trim_end_matches(|c: char| "bsUBSLf".contains(c));
            assert!(value == "TEXT" || number.parse::<f64>().is_ok(), "{value}");
            if !self.is(",") {
                break;
            }
        }
        self.take(";");
    }
}

/// Checks a whole text.
fn check(text: &str) {
    let mut parser = Parser(tokens(text).into_iter().peekable());
    parser.take("netcdf");
    parser.name();
    parser.group();
    assert_eq!(parser.0.next(), None);
}

#[test]
fn texts_have_the_grammar_of_ncgen() {
    check(&tree().to_cdl("1 odd \"name\""));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/datasets.json");
    let table: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut count = 0;
    for (name, documents) in table["stores"].as_object().unwrap() {
        let storage = zarr_array::Storage::from(MemoryStore::new());
        for (key, value) in documents.as_object().unwrap() {
            let key = zarr_array::traits::Key::new(key.as_str()).unwrap();
            let text = value.as_str().unwrap_or_default().as_bytes().to_vec();
            block_on(storage.put(&key, text)).unwrap();
        }
        let open = async { DataTree::open(Group::open(storage, "/", &standard()).await?).await };
        if let Ok(tree) = block_on(open) {
            check(&tree.to_cdl(name));
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}
