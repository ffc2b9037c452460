//! CDL: groups, dimensions, variables and attributes in the text form of netCDF, as `ncdump -h` prints them.
//!
//! Specification: [CDL](https://docs.unidata.ucar.edu/nug/current/_c_d_l.html), the NetCDF Users Guide.

mod words;

use std::fmt::Write;

use zarr_meta::json::{Object, Value};
use zarr_meta::{ArrayMeta, Format};

use crate::attribute::number;
use crate::blocking;
use crate::dataset::Dataset;
use crate::dimensions::{dimensions, lengths, visible_attributes, without_netcdf};
use crate::element_kind::ElementKind;
use crate::fill_value::{Missing, read_fill_value};
use crate::number::{NumberType, Scalar};
use crate::shared::Shared;
use crate::tree::DataTree;

use words::{attribute_values, identifier, literal};

/// The attributes whose numbers have the data type of their variable, as CF demands.
const OF_THE_TYPE: [&str; 7] =
    ["missing_value", "valid_min", "valid_max", "valid_range", "actual_range", "flag_values", "flag_masks"];

impl Dataset {
    /// Returns the dimensions, variables and attributes of the dataset as CDL. A variable that netCDF cannot describe is a
    /// comment.
    ///
    /// ```
    /// # use zarr_xarray::Dataset;
    /// # fn example(dataset: Dataset) {
    /// print!("{}", dataset.to_cdl("weather")); // netcdf weather { … }
    /// # }
    /// ```
    pub fn to_cdl(&self, name: &str) -> String {
        let mut cdl = Cdl::begin(name);
        cdl.content(&self.shared);
        cdl.end()
    }
}

impl DataTree {
    /// Returns all groups as CDL.
    pub fn to_cdl(&self, name: &str) -> String {
        let mut cdl = Cdl::begin(name);
        self.write_group("/", &mut cdl);
        cdl.end()
    }

    /// Writes a group with those below it. The recursion is as deep as the groups of the tree, which opening bounds.
    fn write_group(&self, path: &str, cdl: &mut Cdl) {
        if let Some(dataset) = self.nodes.get(path) {
            cdl.content(&dataset.shared);
        }
        let start = format!("{}/", path.trim_end_matches('/'));
        let below = |other: &&String| {
            other.strip_prefix(&start).is_some_and(|rest| !rest.is_empty() && !rest.contains('/'))
        };
        for child in self.nodes.keys().filter(below) {
            let name = identifier(&child[start.len()..]);
            cdl.line("");
            cdl.line(&format!("group: {name} {{"));
            cdl.indent += 1;
            self.write_group(child, cdl);
            cdl.line(&format!("}} // group {name}"));
            cdl.indent -= 1;
        }
    }
}

impl blocking::Dataset {
    /// Returns the dimensions, variables and attributes of the dataset as CDL.
    pub fn to_cdl(&self, name: &str) -> String {
        self.clone().into_async().to_cdl(name)
    }
}

impl blocking::DataTree {
    /// Returns all groups as CDL.
    pub fn to_cdl(&self, name: &str) -> String {
        self.as_async().to_cdl(name)
    }
}

/// The text so far.
struct Cdl {
    text: String,
    /// The number of groups around the next line.
    indent: usize,
}

impl Cdl {
    fn begin(name: &str) -> Self {
        Self { text: format!("netcdf {} {{\n", identifier(name)), indent: 0 }
    }

    fn end(self) -> String {
        self.text + "}\n"
    }

    fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&"  ".repeat(self.indent));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// Writes the dimensions, variables and attributes of a group.
    fn content(&mut self, group: &Shared) {
        let variables: Vec<_> =
            group.arrays.iter().map(|(name, stored)| Variable::new(name, &stored.meta)).collect();
        let named = variables.iter().filter_map(|variable| variable.as_ref().ok());
        let dimensions: Vec<_> =
            named.clone().flat_map(|variable| variable.dimensions.iter().cloned()).collect();
        let mut known: Vec<(String, u64)> = Vec::new();
        for dimension in dimensions {
            if !known.iter().any(|(name, _)| *name == dimension.0) {
                known.push(dimension);
            }
        }
        if !known.is_empty() {
            self.line("dimensions:");
        }
        for (name, length) in &known {
            self.line(&match length {
                0 => format!("\t{} = UNLIMITED ; // (0 currently)", identifier(name)),
                _ => format!("\t{} = {length} ;", identifier(name)),
            });
        }
        if !variables.is_empty() {
            self.line("variables:");
        }
        for variable in &variables {
            match variable {
                Ok(variable) => self.variable(variable),
                Err(reason) => self.comment(reason),
            }
        }
        let attributes = without_netcdf(group.group.attributes());
        if !attributes.is_empty() {
            self.line("");
            self.line(if self.indent == 0 { "// global attributes:" } else { "// group attributes:" });
        }
        for member in attributes.members() {
            self.attribute("", &member.name_lossy(), &member.value(), None);
        }
    }

    fn variable(&mut self, variable: &Variable<'_>) {
        let name = identifier(variable.name);
        let dimensions: Vec<_> = variable.dimensions.iter().map(|(name, _)| identifier(name)).collect();
        let list = if dimensions.is_empty() { String::new() } else { format!("({})", dimensions.join(", ")) };
        self.line(&format!("\t{} {name}{list} ;", variable.cdl_type));
        if let Some(fill) = &variable.fill {
            self.line(&format!("\t\t{name}:_FillValue = {fill} ;"));
        }
        if variable.kind == ElementKind::Boolean {
            self.line(&format!("\t\t{name}:dtype = \"bool\" ;"));
        }
        for member in variable.attributes.members() {
            let attribute = member.name_lossy();
            let of = OF_THE_TYPE.contains(&&*attribute).then_some(variable.kind);
            self.attribute(&name, &attribute, &member.value(), of);
        }
    }

    /// Writes an attribute. `of` is the kind of its numbers, if it is that of the variable.
    fn attribute(&mut self, variable: &str, name: &str, value: &Value, of: Option<ElementKind>) {
        let of = if let Some(ElementKind::Number(of)) = of { Some(of) } else { None };
        let name = identifier(name);
        match attribute_values(value, of) {
            Some((prefix, values)) => {
                self.line(&format!("\t\t{prefix}{variable}:{name} = {values} ;"));
            }
            None => self.comment(&format!("attribute {variable}:{name}: {value} has no netCDF type")),
        }
    }

    fn comment(&mut self, text: &str) {
        let mut line = String::from("\t// ");
        for c in text.chars() {
            if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
        }
        self.line(&line);
    }
}

/// A variable in terms of netCDF.
struct Variable<'a> {
    name: &'a str,
    cdl_type: &'static str,
    kind: ElementKind,
    /// Names and lengths.
    dimensions: Vec<(String, u64)>,
    /// The value of `_FillValue`.
    fill: Option<String>,
    /// All other attributes.
    attributes: Object,
}

impl<'a> Variable<'a> {
    /// Returns an array as a variable, or the reason why netCDF cannot describe it.
    fn new(name: &'a str, meta: &ArrayMeta) -> Result<Self, String> {
        let data_type = meta.document().data_type();
        let kind = ElementKind::of(data_type);
        let failed = |reason: &str| format!("variable {}: {reason}", identifier(name));
        let own = dimensions(meta).map_err(|error| failed(&format!("{error:#}")))?;
        lengths([(name, &own)]).map_err(|error| failed(&format!("{error:#}")))?;
        let mut dimensions: Vec<_> = own.names.into_iter().zip(own.shape).collect();
        if let ElementKind::Bytes { length: Some(length @ 2..) } = kind {
            dimensions.push((format!("string{length}"), length));
        }
        let unknown = || failed(&format!("netCDF has no data type {data_type}"));
        let mut attributes = visible_attributes(meta);
        let fill = fill(meta, kind, &mut attributes);
        Ok(Self { name, cdl_type: cdl_type(kind).ok_or_else(unknown)?, kind, dimensions, fill, attributes })
    }
}

/// Returns the value of `_FillValue`, which is an attribute, or the fill value of the array before format 3. Removes the
/// attribute.
fn fill(meta: &ArrayMeta, kind: ElementKind, attributes: &mut Object) -> Option<String> {
    let own = attributes.remove("_FillValue");
    let is_mask = meta.format() != Format::V3 && !meta.fill_is_undefined();
    let value = if is_mask { Some(meta.document().fill_value().clone()) } else { own }?;
    match (read_fill_value(kind, &value, &mut Vec::new()).ok()??, kind) {
        (Missing::Number(scalar), ElementKind::Number(of)) => literal(of, scalar),
        (Missing::Boolean(truth), ElementKind::Boolean) => Some(format!("{}b", u8::from(truth))),
        (Missing::Text(text), ElementKind::Text) => Some(words::quoted(&text)),
        _ => None,
    }
}

/// Returns the type of netCDF for elements, or `None` if it has no such type.
fn cdl_type(kind: ElementKind) -> Option<&'static str> {
    Some(match kind {
        ElementKind::Number(of) => match of {
            NumberType::Int8 => "byte",
            NumberType::UInt8 => "ubyte",
            NumberType::Int16 => "short",
            NumberType::UInt16 => "ushort",
            NumberType::Int32 => "int",
            NumberType::UInt32 => "uint",
            NumberType::Int64 => "int64",
            NumberType::UInt64 => "uint64",
            NumberType::Float16 | NumberType::Float32 => "float",
            NumberType::Float64 => "double",
            NumberType::Bool | NumberType::Complex64 | NumberType::Complex128 => return None,
        },
        ElementKind::Boolean => "byte",
        ElementKind::Text => "string",
        ElementKind::Bytes { length: Some(_) } => "char",
        // Counts of a unit that the data type names.
        ElementKind::NumpyTime => "int64",
        ElementKind::Bytes { length: None } | ElementKind::Other => return None,
    })
}

#[cfg(test)]
mod tests;
