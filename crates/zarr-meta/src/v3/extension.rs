//! Extension objects: a name, a configuration, and whether the extension must be understood.

use std::fmt::{self, Write as _};

use zarr_traits::extension::Spec;
use zarr_traits::{DataType, Limits};

use crate::diagnostic::{Below, Code, Diagnostic, Sink};
use crate::error::{MetaError, MetaResult};
use crate::json::{Object, Value, ValueKind, pointer};

/// The value at one of the five extension points: `data_type`, `chunk_grid`, `chunk_key_encoding`, a codec or a storage
/// transformer. It is read, but not interpreted.
///
/// A plain string is short for an object with that name. A missing configuration is the same as an empty one. Two
/// extensions are equal if their names, configurations and `must_understand` are.
///
/// ```
/// use zarr_meta::v3::Extension;
///
/// let gzip = Extension::new("gzip").with("level", 5);
/// assert_eq!(gzip.to_value().as_raw(), r#"{"name":"gzip","configuration":{"level":5}}"#);
/// assert_eq!(gzip.to_string(), "gzip(level=5)");
/// ```
#[derive(Clone)]
pub struct Extension {
    name: String,
    configuration: Option<Value>,
    must_understand: Option<bool>,
    value: Value,
}

impl Extension {
    /// Returns the extension of this name, without configuration.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let mut object = Object::new();
        object.set("name", &name);
        Self { name, configuration: None, must_understand: None, value: object.into() }
    }

    /// Sets a member of the configuration.
    #[must_use]
    pub fn with(self, member: &str, value: impl Into<Value>) -> Self {
        let mut configuration = self.configuration();
        configuration.set(member, value);
        self.with_configuration(&configuration)
    }

    /// Replaces the configuration.
    #[must_use]
    pub fn with_configuration(mut self, configuration: &Object) -> Self {
        let configuration = configuration.to_value();
        let mut object = self.value.as_object().unwrap_or_else(|| {
            let mut object = Object::new();
            object.set("name", &self.name);
            object
        });
        object.set("configuration", &configuration);
        self.value = object.into();
        self.configuration = Some(configuration);
        self
    }

    /// Reads an extension. Pointers of errors and reports are relative to it.
    ///
    /// # Errors
    /// If `value` is neither a string nor an object with a string `name`, an optional object `configuration` and an
    /// optional bool `must_understand`.
    pub fn parse(value: &Value, sink: &mut dyn Sink) -> MetaResult<Self> {
        Self::parse_with(value, None, sink)
    }

    /// Like [`parse`](Self::parse), but without a report about the member `beside`, which is left to resolving.
    pub(super) fn parse_with(value: &Value, beside: Option<&str>, sink: &mut dyn Sink) -> MetaResult<Self> {
        if value.kind() == ValueKind::String {
            let name = value.to_text()?.into_owned();
            return Ok(Self { name, configuration: None, must_understand: None, value: value.clone() });
        }
        let members = value.members().ok_or_else(|| value.expected("a string or an object with a name"))?;
        let (mut name, mut configuration, mut must_understand) = (None, None, None);
        for member in members {
            let value = member.value();
            match &*member.name_lossy() {
                "name" => name = Some(value),
                "configuration" => configuration = Some(value),
                "must_understand" => must_understand = Some(value),
                other if beside == Some(other) => {}
                other => {
                    let message = "only name, configuration and must_understand are defined here, ignored";
                    sink.report(Diagnostic::new(Code::ExtensionMember, pointer::join("", other), message))?;
                }
            }
        }
        let name = name.ok_or_else(|| value.expected("an object with a name"))?;
        let name = name.to_text().map_err(|e| e.at("/name"))?.into_owned();
        if let Some(configuration) = &configuration
            && configuration.kind() != ValueKind::Object
        {
            return Err(configuration.expected("an object").at("/configuration").into());
        }
        let must_understand = must_understand
            .map(|v| v.as_bool().ok_or_else(|| v.expected("true or false").at("/must_understand")))
            .transpose()?;
        Ok(Self { name, configuration, must_understand, value: value.clone() })
    }

    /// Returns the name as it is spelled.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the configuration; empty if there is none.
    pub fn configuration(&self) -> Object {
        self.configuration.as_ref().and_then(Value::as_object).unwrap_or_default()
    }

    /// Whether a reader that does not know the extension must stop; true by default.
    pub fn must_understand(&self) -> bool {
        self.must_understand.unwrap_or(true)
    }

    /// Returns the extension in the form that a registry takes.
    pub fn to_spec(&self) -> Spec {
        let configuration = self.configuration.as_ref().and_then(Value::as_object).unwrap_or_default();
        Spec::named(self.name.clone()).configuration(configuration).must_understand(self.must_understand())
    }

    /// Returns `must_understand` if the document has it.
    pub fn explicit_must_understand(&self) -> Option<bool> {
        self.must_understand
    }

    /// Whether the extension is given as a plain string.
    pub fn is_short_hand(&self) -> bool {
        self.value.kind() == ValueKind::String
    }

    /// Returns the member `name` of the extension object itself, where drafts of version 3 had some.
    pub(crate) fn beside(&self, name: &str) -> Option<Value> {
        self.value.get(name)
    }

    /// Returns the extension with defined members only. The member `beside` of the extension object, where drafts of
    /// version 3 had one, becomes a member of the configuration, unless that has it.
    pub(crate) fn restated(&self, beside: Option<&str>) -> Self {
        let members = self.value.as_object().unwrap_or_default();
        let is_defined = |name: &str| matches!(name, "name" | "configuration" | "must_understand");
        if members.members().all(|member| is_defined(&member.name_lossy())) {
            return self.clone();
        }
        let mut object = members.clone();
        for member in members.members().filter(|member| !is_defined(&member.name_lossy())) {
            object.remove(&member.name_lossy());
        }
        let plain = Self { value: object.into(), ..self.clone() };
        match beside.and_then(|name| Some((name, members.get(name)?))) {
            Some((name, value)) if !self.configuration().contains(name) => plain.with(name, value),
            _ => plain,
        }
    }

    /// Returns the value in the spelling of the document.
    pub fn to_value(&self) -> Value {
        self.value.clone()
    }
}

/// Two extensions are equal if they mean the same: their configurations have the same members in any order.
impl PartialEq for Extension {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.must_understand() == other.must_understand()
            && self.configuration().is_same(&other.configuration())
    }
}

impl Eq for Extension {}

impl From<&str> for Extension {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<&DataType> for Extension {
    fn from(data_type: &DataType) -> Self {
        let name = data_type.name().into_owned();
        // A name without a configuration is written as a string.
        let value = Value::from(&name);
        let extension = Self { name, configuration: None, must_understand: None, value };
        match data_type {
            DataType::Extension(t) if !t.configuration().is_empty() => {
                extension.with_configuration(&t.configuration())
            }
            _ => extension,
        }
    }
}

impl From<DataType> for Extension {
    fn from(data_type: DataType) -> Self {
        Self::from(&data_type)
    }
}

impl From<&Extension> for Value {
    fn from(extension: &Extension) -> Self {
        extension.to_value()
    }
}

impl From<Extension> for Value {
    fn from(extension: Extension) -> Self {
        extension.value
    }
}

/// Prints the name and the members of the configuration in one line: `zstd(level=5, checksum=false)`. A line that is
/// longer than 4 KiB ends with `…`.
impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = Line(String::new());
        let whole = called(&mut line, &self.name, &self.configuration());
        f.write_str(&line.0)?;
        if whole.is_err() { f.write_char('…') } else { Ok(()) }
    }
}

/// The beginning of a text. Writing fails where it ends.
struct Line(String);

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const LONGEST: usize = 4096;
        let room = LONGEST - self.0.len();
        let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        self.0.push_str(&text[..end.unwrap_or(0)]);
        if text.len() > room { Err(fmt::Error) } else { Ok(()) }
    }
}

fn called(line: &mut Line, name: &str, configuration: &Object) -> fmt::Result {
    line.write_str(name)?;
    let mut before = "(";
    for member in configuration.members() {
        write!(line, "{before}{}=", member.name_lossy())?;
        show(line, &member.value())?;
        before = ", ";
    }
    if before == "(" { Ok(()) } else { line.write_char(')') }
}

/// Writes a value for display: text without quotes, nested extensions like outer ones.
fn show(line: &mut Line, value: &Value) -> fmt::Result {
    if let Some(elements) = value.elements() {
        let mut before = "[";
        for element in elements {
            line.write_str(before)?;
            show(line, &element)?;
            before = ", ";
        }
        return line.write_str(if before == "[" { "[]" } else { "]" });
    }
    let object = value.as_object();
    let name = object.as_ref().and_then(|object| object.get("name"));
    match (value.to_text(), name.as_ref().map(Value::to_text)) {
        (Ok(text), _) => line.write_str(&text),
        (_, Some(Ok(name))) => {
            let configuration = object.and_then(|object| object.get("configuration")?.as_object());
            called(line, &name, &configuration.unwrap_or_default())
        }
        _ => line.write_str(&value.to_compact()),
    }
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extension({})", self.value.to_compact())
    }
}

/// Reads a list of extensions, each a string or an object.
pub(super) fn extensions(
    value: &Value,
    place: &str,
    limits: &Limits,
    sink: &mut dyn Sink,
) -> MetaResult<Vec<Extension>> {
    let elements = value.elements().ok_or_else(|| value.expected("an array").at(place))?;
    let mut extensions = Vec::new();
    for (i, element) in elements.enumerate() {
        if i >= limits.chain_length {
            return Err(
                MetaError::limit(format!("expected at most {} elements", limits.chain_length)).at(place)
            );
        }
        let extension = Extension::parse(&element, &mut Below::element(place, i, &mut *sink));
        extensions.push(extension.map_err(|e| e.at(&pointer::element(place, i)))?);
    }
    Ok(extensions)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::*;

    #[test]
    fn an_extension_is_shown_in_one_line() {
        for (text, line) in [
            (r#""bytes""#, "bytes"),
            (r#"{"name":"bytes","configuration":{}}"#, "bytes"),
            (
                r#"{"name":"a","configuration":{"b":[],"c":[1,"d"],"e":{"f":null}}}"#,
                r#"a(b=[], c=[1, d], e={"f":null})"#,
            ),
            (
                r#"{"name":"a","configuration":{"b":[{"name":"c","configuration":{"d":1.0}}]}}"#,
                "a(b=[c(d=1.0)])",
            ),
        ] {
            let extension = Extension::parse(&Value::parse(text).unwrap(), &mut crate::Ignore).unwrap();
            assert_eq!(extension.to_string(), line);
        }
    }

    #[test]
    fn a_long_configuration_is_cut() {
        for element in ["1", "é", "long text"] {
            let list: Value = std::iter::repeat_n(element, 100_000).map(Value::from).collect();
            let line = Extension::new("a").with("b", &list).to_string();
            assert!(line.starts_with("a(b=[") && line.ends_with('…'), "{element}");
            assert!((4090..4100).contains(&line.len()), "{element}: {}", line.len());
        }
    }
}
