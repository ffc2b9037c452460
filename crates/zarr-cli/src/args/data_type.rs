//! Data types as users name them: in format 3, in NumPy, in Python.

use zarr_array::meta::json::Value;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::{Ignore, data_type_of_dtype};
use zarr_array::traits::ExtensionType;
use zarr_array::traits::extension::Context;
use zarr_array::{DataType, Limits};

use crate::args::target::registry;
use crate::exit::Failure;

/// Names of Python and NumPy, and what they mean on the usual machine.
const ALIASES: [(&str, &str); 20] = [
    ("int", "int64"),
    ("float", "float64"),
    ("complex", "complex128"),
    ("str", "string"),
    ("object", "string"),
    ("boolean", "bool"),
    ("bool_", "bool"),
    ("?", "bool"),
    ("byte", "int8"),
    ("short", "int16"),
    ("long", "int64"),
    ("ubyte", "uint8"),
    ("ushort", "uint16"),
    ("uint", "uint64"),
    ("ulong", "uint64"),
    ("half", "float16"),
    ("single", "float32"),
    ("double", "float64"),
    ("csingle", "complex64"),
    ("cdouble", "complex128"),
];

/// Returns the data type that the user gave, and whether its bytes are big-endian.
///
/// # Errors
/// If no data type has this name; the message has a similar name. If a time has no unit.
pub(crate) fn named(text: &str) -> Result<(DataType, bool), Failure> {
    let limits = Limits::default();
    let is_json = text.starts_with(['{', '[']);
    let value = if is_json { Value::parse(text)? } else { text.into() };
    let (extension, is_big) = match text.starts_with(['<', '>', '|', '[']) {
        true => data_type_of_dtype(&value, &limits)?,
        false => (Extension::parse(&value, &mut Ignore)?, false),
    };
    let registry = registry();
    let context = Context::new(&registry, &limits);
    match registry.data_type(&extension.to_spec(), &context) {
        Ok((DataType::Extension(time), _)) if !is_json && has_no_unit(&*time) => {
            let name = time.name().trim_start_matches("numpy.");
            Err(Failure::usage(format!("{text:?} has no unit, and readers need one, such as {name}[ns]")))
        }
        Ok((data_type, _)) => Ok((data_type, is_big)),
        Err(_) if !is_json && meant(text).is_some() => named(&meant(text).unwrap_or_default()),
        Err(e) => {
            let hint = similar(text).map(|name| format!("; did you mean {name:?}?"));
            Err(Failure::usage(format!("{e:#}{}", hint.unwrap_or_default())))
        }
    }
}

/// Whether a data type is a time of NumPy without a unit, which NumPy itself does not read back.
fn has_no_unit(time: &dyn ExtensionType) -> bool {
    ["numpy.datetime64", "numpy.timedelta64"].contains(&time.name())
        && time.configuration().get("unit").is_some_and(|unit| unit == "generic")
}

/// Returns the data type that a name of NumPy or Python means: `f4`, `int`, `datetime64[ns]`.
fn meant(name: &str) -> Option<String> {
    if let Some((_, meaning)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Some((*meaning).to_owned());
    }
    let time = |long: &str, short: &str| name.strip_prefix(long).map(|unit| format!("<{short}8{unit}"));
    let typed = time("datetime64", "M").or_else(|| time("timedelta64", "m"));
    let typed = typed.unwrap_or_else(|| format!("<{name}"));
    let is_dtype = |text: &String| data_type_of_dtype(&text.as_str().into(), &Limits::default()).is_ok();
    // A type string has a byte order once only.
    Some(typed).filter(|_| !name.starts_with(['<', '>', '|'])).filter(is_dtype)
}

/// Returns a known name that looks like `text`.
fn similar(text: &str) -> Option<String> {
    /// The similarity from which a name is suggested, as for verbs and options.
    const ENOUGH: f64 = 0.7;
    let core = DataType::CORE.iter().map(|data_type| data_type.name().into_owned());
    let others =
        ["datetime64[s]", "timedelta64[s]", "bfloat16"].into_iter().chain(ALIASES.map(|(name, _)| name));
    let scored = core
        .chain(others.map(str::to_owned))
        .map(|name| (strsim::jaro_winkler(&text.to_lowercase(), &name), name));
    let best = scored.filter(|(score, _)| *score > ENOUGH).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_types_of_both_formats_and_of_python_are_understood() {
        let time = |unit: &str| format!("numpy.datetime64 {unit}");
        let sized = |name: &str, size: usize| format!("{name} {size}");
        for (text, wanted, is_big) in [
            ("float32", "float32".to_owned(), false),
            ("<f4", "float32".to_owned(), false),
            ("f4", "float32".to_owned(), false),
            (">i2", "int16".to_owned(), true),
            ("|u1", "uint8".to_owned(), false),
            ("|b1", "bool".to_owned(), false),
            ("bool", "bool".to_owned(), false),
            ("b1", "bool".to_owned(), false),
            ("int", "int64".to_owned(), false),
            ("float", "float64".to_owned(), false),
            ("str", "string".to_owned(), false),
            ("c8", "complex64".to_owned(), false),
            ("<M8[s]", time("s"), false),
            ("M8[ms]", time("ms"), false),
            ("datetime64[ns]", time("ns"), false),
            ("U10", sized("fixed_length_utf32", 40), false),
            (">U3", sized("fixed_length_utf32", 12), true),
            ("S5", sized("null_terminated_bytes", 5), false),
            ("V6", sized("raw_bytes", 6), false),
            (r#"[["a", ">i2"], ["b", "|u1"]]"#, sized("struct", 3), true),
            ("string", "string".to_owned(), false),
            ("r16", "r16".to_owned(), false),
            (
                r#"{"name": "numpy.timedelta64", "configuration": {"unit": "s", "scale_factor": 1}}"#,
                sized("numpy.timedelta64", 8),
                false,
            ),
        ] {
            let (data_type, big) = named(text).unwrap_or_else(|e| panic!("{text}: {}", e.message()));
            let shown = match &data_type {
                DataType::Extension(time) if time.name() == "numpy.datetime64" => {
                    format!(
                        "{} {}",
                        time.name(),
                        time.configuration().get("unit").unwrap().as_text().unwrap()
                    )
                }
                DataType::Extension(other) => format!("{} {}", other.name(), data_type.size().unwrap()),
                core => core.name().into_owned(),
            };
            assert_eq!((shown, big), (wanted, is_big), "{text}");
        }
    }

    #[test]
    fn a_time_needs_a_unit() {
        for text in ["datetime64", "M8", "<M8", ">M8"] {
            let message = named(text).unwrap_err().message().to_owned();
            assert!(message.contains("no unit") && message.ends_with("datetime64[ns]"), "{message}");
        }
        for text in ["timedelta64", "m8", "<m8"] {
            assert!(named(text).unwrap_err().message().ends_with("timedelta64[ns]"), "{text}");
        }
    }

    #[test]
    fn an_unknown_name_has_a_similar_one_in_the_error() {
        for (name, meant) in [
            ("flaot32", "float32"),
            ("Float64", "float64"),
            ("int_32", "int32"),
            ("strng", "string"),
            ("flot", "float"),
        ] {
            let e = named(name).unwrap_err();
            assert!(e.message().ends_with(&format!("; did you mean {meant:?}?")), "{}", e.message());
            named(meant).unwrap();
        }
        for bad in ["", "xyz", "<q9", "<<f4", "<float", "{", "|O", "[1]", r#"[["a", ">i2"], ["b", "<i2"]]"#] {
            assert!(!named(bad).unwrap_err().message().contains("mean"), "{bad}");
        }
    }
}
