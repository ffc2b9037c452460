//! The names of dimensions, and the attributes that are hidden from the user.

use std::collections::BTreeMap;

use zarr_meta::json::{Object, Value};
use zarr_meta::xarray::DIMENSIONS;
use zarr_meta::{ArrayMeta, Format, Ignore, Limits, parse_json};

use crate::error::{XarrayError, XarrayResult};
use crate::finding::{Finding, FindingCode};

/// The dimensions of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dimensions {
    /// Their names.
    pub names: Vec<String>,
    /// Their lengths.
    pub shape: Vec<u64>,
}

impl Dimensions {
    /// Returns the dimensions of these names and lengths.
    pub fn new(names: Vec<String>, shape: Vec<u64>) -> Self {
        Self { names, shape }
    }
}

/// The dimension that netCDF-C gives to scalars, which it stores as arrays of one element.
const SCALAR: &str = "_scalar_";

/// The attribute in which recent versions of netCDF-C describe an array.
const NETCDF_ARRAY: &str = "_nczarr_array";

/// Returns the dimensions of an array. Their names are in `dimension_names` in format 3, and in older formats in the
/// attribute `_ARRAY_DIMENSIONS` or in the attributes of netCDF-C. A scalar needs no names.
///
/// # Errors
/// `Invalid` if a dimension has no name.
pub fn dimensions(array: &ArrayMeta) -> XarrayResult<Dimensions> {
    let shape = array.shape().to_vec();
    let own = array.dimension_names().and_then(|names| names.iter().cloned().collect::<Option<Vec<_>>>());
    let own = own.filter(|names| names.len() == shape.len());
    let names = own.or_else(|| netcdf_names(array).filter(|names| names.len() == shape.len()));
    match names {
        Some(names) if names == [SCALAR] && shape == [1] => {
            Ok(Dimensions { names: Vec::new(), shape: Vec::new() })
        }
        Some(names) => Ok(Dimensions { names, shape }),
        None if shape.is_empty() => Ok(Dimensions { names: Vec::new(), shape }),
        None => Err(unnamed(array)),
    }
}

/// Returns the dimensions of an array by itself. One without a name, or with the name of one before it, is `dim_N` with
/// its number.
pub(crate) fn numbered(array: &ArrayMeta) -> Dimensions {
    if let Ok(known) = dimensions(array)
        && known.names.iter().enumerate().all(|(at, name)| !known.names[..at].contains(name))
    {
        return known;
    }
    let own = array.dimension_names().unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for dim in 0..array.shape().len() {
        let name = own.get(dim).cloned().flatten().filter(|name| !name.is_empty() && !names.contains(name));
        names.push(name.unwrap_or_else(|| format!("dim_{dim}")));
    }
    Dimensions::new(names, array.shape().to_vec())
}

fn unnamed(array: &ArrayMeta) -> XarrayError {
    let place = match array.format() {
        Format::V3 => "dimension_names",
        _ => "the attribute _ARRAY_DIMENSIONS",
    };
    XarrayError::invalid(format!("a dimension of the array has no name in {place}"))
}

/// Returns the names that netCDF-C writes in format 2: the last part of each path.
fn netcdf_names(array: &ArrayMeta) -> Option<Vec<String>> {
    if array.format() == Format::V3 {
        return None;
    }
    let paths = |object: Option<Value>, name: &str| object?.as_object()?.get(name)?.elements();
    let recent = paths(array.attributes().get(NETCDF_ARRAY), "dimension_references");
    let document = || parse_json(array.to_text().as_bytes(), &Limits::default(), &mut Ignore).ok();
    let first = || paths(document()?.root.as_object()?.get("_NCZARR_ARRAY"), "dimrefs");
    let name = |path: Value| Some(path.to_text().ok()?.rsplit('/').next()?.to_owned());
    recent.or_else(first)?.map(name).collect()
}

/// Returns the length of each dimension of a group, by name.
///
/// # Errors
/// `Invalid` if a dimension has two lengths. The error names both variables.
pub(crate) fn lengths<'a>(
    variables: impl IntoIterator<Item = (&'a str, &'a Dimensions)>,
) -> XarrayResult<BTreeMap<String, u64>> {
    let mut known: BTreeMap<&str, (u64, &str)> = BTreeMap::new();
    for (variable, dimensions) in variables {
        for (name, length) in dimensions.names.iter().zip(&dimensions.shape) {
            let (first, of) = *known.entry(name).or_insert((*length, variable));
            if first != *length {
                return Err(XarrayError::invalid(format!(
                    "dimension {name:?} has length {first} in variable {of:?} and length {length} in variable \
                     {variable:?}"
                )));
            }
        }
    }
    Ok(known.into_iter().map(|(name, (length, _))| (name.to_owned(), length)).collect())
}

/// Returns the attributes that the user sees: without the dimension names of format 2 and without the attributes of
/// netCDF-C.
pub fn visible_attributes(array: &ArrayMeta) -> Object {
    let mut attributes = without_netcdf(array.attributes());
    if array.format() != Format::V3 {
        attributes.remove(DIMENSIONS);
    }
    attributes
}

/// Removes the attributes of netCDF-C, whose names begin with `_nc` in upper or lower case.
pub(crate) fn without_netcdf(mut attributes: Object) -> Object {
    for name in of_netcdf(&attributes) {
        attributes.remove(&name);
    }
    attributes
}

/// Returns the names of the attributes that begin with `_nc`.
fn of_netcdf(attributes: &Object) -> Vec<String> {
    let hidden = |name: &str| name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("_nc"));
    let names = attributes.members().map(|member| member.name_lossy().into_owned());
    names.filter(|name| hidden(name)).collect()
}

/// Reports where xarray treats the names and the attributes of an array differently.
pub(crate) fn report(array: &ArrayMeta, findings: &mut Vec<Finding>) {
    let (attributes, is_v3) = (array.attributes(), array.format() == Format::V3);
    let hidden = of_netcdf(&attributes);
    if is_v3 && !hidden.is_empty() {
        findings.push(Finding::new(FindingCode::HiddenAttribute, format!("hidden: {}", hidden.join(", "))));
    }
    let has_names = array.shape().is_empty() || attributes.contains(DIMENSIONS);
    if !is_v3 && !has_names && attributes.contains(NETCDF_ARRAY) {
        findings.push(Finding::new(
            FindingCode::NetcdfNames,
            format!("the dimension names are in {NETCDF_ARRAY}"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use zarr_meta::json;

    use super::*;

    fn format2(shape: &str, member: &str, attributes: &str) -> ArrayMeta {
        let array = format!(
            r#"{{"zarr_format":2,"shape":{shape},"chunks":{shape},"dtype":"<f4","compressor":null,"filters":null,
            "order":"C","fill_value":null{member}}}"#
        );
        let attributes = Some(attributes.as_bytes());
        ArrayMeta::parse_v2(array.as_bytes(), attributes, &Limits::default(), &mut Ignore).unwrap()
    }

    #[test]
    fn names_of_format_2_come_from_attributes() {
        for (shape, member, attributes, names) in [
            ("[2,3]", "", r#"{"_ARRAY_DIMENSIONS":["y","x"]}"#, Some(&["y", "x"][..])),
            ("[2,3]", "", r#"{"_nczarr_array":{"dimension_references":["/g/y","/x"]}}"#, Some(&["y", "x"])),
            ("[2,3]", r#","_NCZARR_ARRAY":{"dimrefs":["/y","/x"]}"#, "{}", Some(&["y", "x"])),
            ("[1]", "", r#"{"_nczarr_array":{"dimension_references":["/_scalar_"]}}"#, Some(&[])),
            ("[1]", r#","_NCZARR_ARRAY":{"dimrefs":["/_scalar_"]}"#, "{}", Some(&[])),
            ("[]", "", r#"{"_ARRAY_DIMENSIONS":[]}"#, Some(&[])),
            ("[]", "", "{}", Some(&[])),
            ("[2,3]", "", r#"{"_ARRAY_DIMENSIONS":["x"]}"#, None),
            ("[2,3]", "", r#"{"_ARRAY_DIMENSIONS":["y",1]}"#, None),
            ("[2,3]", r#","_NCZARR_ARRAY":{"dimrefs":["/x"]}"#, "{}", None),
            ("[2,3]", "", "{}", None),
        ] {
            let found = dimensions(&format2(shape, member, attributes)).map(|dimensions| dimensions.names);
            let wanted = names.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            assert_eq!(found.ok(), wanted, "{shape} {member} {attributes}");
        }
    }

    #[test]
    fn names_of_format_3_come_from_the_document() {
        let array = |names: &[Option<&str>]| {
            let names = names.iter().map(|name| name.map(str::to_owned));
            ArrayMeta::builder([2, 3], zarr_meta::DataType::Int8)
                .chunks([2, 3])
                .attributes(
                    json!({ "_ARRAY_DIMENSIONS": ["a", "b"], "_ncx": 1, "_NCProperties": "p", "n": 1 }),
                )
                .dimension_names(names)
                .build()
                .unwrap()
        };
        let named = array(&[Some("y"), Some("x")]);
        assert_eq!(dimensions(&named).unwrap().names, ["y", "x"]);
        let visible = visible_attributes(&named);
        let visible: Vec<_> = visible.members().map(|member| member.name_lossy().into_owned()).collect();
        assert_eq!(visible, ["_ARRAY_DIMENSIONS", "n"]);
        assert!(dimensions(&array(&[Some("y"), None])).is_err());
    }

    #[test]
    fn a_name_has_one_length() {
        let of = |names: &[&str], shape: &[u64]| Dimensions {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            shape: shape.to_vec(),
        };
        let (t, u) = (of(&["y", "x"], &[2, 3]), of(&["x"], &[4]));
        let error = format!("{:#}", lengths([("t", &t), ("u", &u)]).unwrap_err());
        for part in ["\"x\"", "\"t\"", "\"u\"", "3", "4"] {
            assert!(error.contains(part), "{error:#}");
        }
        let found = lengths([("t", &t)]).unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("x".to_owned(), 3), ("y".to_owned(), 2)]);
    }
}
