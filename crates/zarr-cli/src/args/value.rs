//! JSON on the command line.

use std::fs;
use std::io::{self, Read};

use zarr_array::meta::json::{Object, Value};

use crate::exit::Failure;

/// Returns a value from the command line: JSON, or else a string.
pub(crate) fn given(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|_| text.into())
}

/// Returns the JSON object that an argument gives directly, by file or by standard input.
pub(crate) fn object_of(argument: &str) -> Result<Object, Failure> {
    let (text, place) = match argument.strip_prefix('@') {
        Some(file) => {
            let text = fs::read_to_string(file);
            (text.map_err(|e| Failure::io(&e, format_args!("cannot read {file:?}")))?, file.to_owned())
        }
        None if argument == "-" => {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            read.map_err(|e| Failure::io(&e, "cannot read standard input"))?;
            (text, "standard input".to_owned())
        }
        None => (argument.to_owned(), "the argument".to_owned()),
    };
    let value = Value::parse(&text).map_err(|e| Failure::usage(format!("{place}: {e:#}")))?;
    value.as_object().ok_or_else(|| Failure::usage(format!("{place}: attributes must be a JSON object")))
}
