//! The members of `blosc` and `zstd`, in formats 3 and 2.
//!
//! The specification makes most of them optional, but each one is required by some reader, so a document has all of
//! them. The default values are those that the codecs of zarr-codecs-core use when a member is missing.

use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value};
use crate::v3::Extension;

/// The shuffles of blosc by their names in format 3. The index of a name is its number in format 2.
const SHUFFLES: [&str; 3] = ["noshuffle", "shuffle", "bitshuffle"];

/// Returns `codec` with all members if it is `blosc` or `zstd`. It encodes elements of `element` bytes.
pub(crate) fn complete(codec: &Extension, element: u64) -> Extension {
    let given = codec.configuration();
    let members = match codec.name() {
        "blosc" => blosc(&given, element),
        "zstd" => vec![
            ("level", integer(&given, "level").unwrap_or_else(|| 0.into())),
            ("checksum", given.get("checksum").unwrap_or_else(|| false.into())),
        ],
        _ => return codec.clone(),
    };
    let mut all: Object = members.into_iter().collect();
    for member in given.members() {
        let name = member.name_lossy();
        if !all.contains(&name) {
            all.set(&name, member.value());
        }
    }
    codec.clone().with_configuration(&all)
}

/// Returns the members of blosc in order. A missing `cname` stays missing: format 3 has no default for it.
fn blosc(given: &Object, element: u64) -> Vec<(&'static str, Value)> {
    let shuffle = match given.get("shuffle") {
        None => automatic(element).into(),
        Some(value) => name_of_shuffle(&value, element).map_or(value, Value::from),
    };
    let typesize = integer(given, "typesize").filter(|size| size.as_raw() != "0");
    let cname = given.get("cname").map(|cname| ("cname", cname));
    let others = [
        ("clevel", integer(given, "clevel").unwrap_or_else(|| 5.into())),
        ("shuffle", shuffle),
        ("typesize", typesize.unwrap_or_else(|| element.max(1).into())),
        ("blocksize", integer(given, "blocksize").unwrap_or_else(|| 0.into())),
    ];
    cname.into_iter().chain(others).collect()
}

/// Returns the default shuffle for elements of `element` bytes.
fn automatic(element: u64) -> &'static str {
    if element == 1 { "bitshuffle" } else { "shuffle" }
}

/// Returns the name of the shuffle with this number. The number -1 stands for the default shuffle.
fn name_of_shuffle(value: &Value, element: u64) -> Option<&'static str> {
    match value.as_number()?.to_integer()? {
        -1 => Some(automatic(element)),
        number => SHUFFLES.get(usize::try_from(number).ok()?).copied(),
    }
}

/// Returns the number in format 2 of a shuffle given as a word: a name of format 3, or one that GDAL writes.
pub(crate) fn number_of_shuffle(word: &str) -> Option<u8> {
    const WORDS: [(&str, u8); 6] =
        [("noshuffle", 0), ("none", 0), ("shuffle", 1), ("byte", 1), ("bitshuffle", 2), ("bit", 2)];
    WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, number)| *number)
}

/// Returns `blosc` of format 3 for a configuration of numcodecs, with its defaults, but not yet [complete].
pub(crate) fn blosc_of_numcodecs(given: &Object, shuffle: Value) -> Extension {
    let size = |name| given.get(name).filter(|size| !size.is_null());
    let members = [
        ("cname", Some(given.get("cname").unwrap_or_else(|| "lz4".into()))),
        ("clevel", given.get("clevel")),
        ("shuffle", Some(shuffle)),
        ("typesize", size("typesize")),
        ("blocksize", given.get("blocksize")),
    ];
    let members: Object = members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    Extension::new("blosc").with_configuration(&members)
}

/// Returns `zstd` of format 3 for a level of numcodecs, which treats levels above 22 as 22.
pub(crate) fn zstd_of_numcodecs(given: &Object, level: Value) -> Extension {
    let level = replace(level, |n| n > 22, 22);
    let zstd = Extension::new("zstd").with("level", level);
    given.get("checksum").map_or(zstd.clone(), |checksum| zstd.with("checksum", checksum))
}

/// Returns `gzip` of format 3 for a level of numcodecs, where -1 stands for the default level 6.
pub(crate) fn gzip_of_numcodecs(level: Value) -> Extension {
    Extension::new("gzip").with("level", replace(level, |n| n == -1, 6))
}

/// Turns the members of `blosc` or `zstd` into those of format 2. The codec encodes items of `items` bytes.
pub(crate) fn to_format_2(name: &str, members: &mut Object, items: u64) -> MetaResult<()> {
    if name == "zstd" {
        // TensorStore and older readers do not know the member.
        if members.get("checksum").and_then(|checksum| checksum.as_bool()) != Some(true) {
            members.remove("checksum");
        }
        return Ok(());
    }
    let shuffle = members.get("shuffle").and_then(|name| {
        let name = name.to_text().ok()?;
        SHUFFLES.iter().position(|known| *known == name)
    });
    let number = shuffle.ok_or_else(|| MetaError::invalid("shuffle is missing or unknown"))?;
    members.set("shuffle", number);
    if members.get("typesize").is_some_and(|typesize| typesize == Value::from(items)) {
        members.remove("typesize");
    }
    Ok(())
}

/// Returns a member, spelled as an integer if its value is one.
pub(crate) fn integer(given: &Object, name: &str) -> Option<Value> {
    given.get(name).map(|value| spelled(&value))
}

/// Returns an integer without fraction and exponent, and any other value unchanged.
pub(crate) fn spelled(value: &Value) -> Value {
    value.as_number().and_then(|n| n.to_integer()).map_or_else(|| value.clone(), Value::from)
}

/// Returns `with` if `level` is an integer for which `is` returns true, else `level`.
fn replace(level: Value, is: impl Fn(i128) -> bool, with: i32) -> Value {
    let number = level.as_number().and_then(|n| n.to_integer());
    if number.is_some_and(is) { with.into() } else { level }
}
