//! The members of an object in order, and edits that do not change other members.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use crate::error::JsonResult;
use crate::layout::{self, Indent};
use crate::source::{Mark, Source};
use crate::split::{Parts, Walk};
use crate::string;
use crate::value::{Value, ValueKind, text_of};

/// A member of an object, with the white space around it.
#[derive(Clone)]
pub struct Member {
    source: Arc<Source>,
    parts: Parts,
}

impl Member {
    /// Returns the name.
    ///
    /// # Errors
    /// If the name has a lone surrogate escape, so it is not text.
    pub fn name(&self) -> JsonResult<Cow<'_, str>> {
        text_of(self.inner())
    }

    /// Returns the name, with U+FFFD in place of lone surrogates.
    pub fn name_lossy(&self) -> Cow<'_, str> {
        if !self.parts.escaped {
            return Cow::Borrowed(self.inner());
        }
        Cow::Owned(string::unescape(self.inner()).to_string_lossy().into_owned())
    }

    /// Returns the name as a JSON string. A name with a lone surrogate has the spelling of the document.
    ///
    /// ```
    /// # use zarr_json::{DEPTH, Document};
    /// let text = r#"{"\u00e9": 1, "\ud800": 2}"#;
    /// let document = Document::parse(text.as_bytes(), DEPTH, &mut Vec::new())?;
    /// let object = document.root.as_object().unwrap_or_default();
    /// let names: Vec<String> = object.members().map(|member| member.name_value().to_string()).collect();
    /// assert_eq!(names, [r#""é""#, r#""\ud800""#]);
    /// # Ok::<(), zarr_json::JsonError>(())
    /// ```
    pub fn name_value(&self) -> Value {
        let spelled = |_| Value::slice(&self.source, self.parts.name, self.parts.name_end);
        self.name().map_or_else(spelled, |name| Value::from(&*name))
    }

    /// Returns the value.
    pub fn value(&self) -> Value {
        let Parts { value, value_end, mark, .. } = self.parts;
        Value::marked(&self.source, value, value_end, mark)
    }

    /// Returns the name as it is spelled between its quotes.
    fn inner(&self) -> &str {
        &self.source[self.parts.name + 1..self.parts.name_end - 1]
    }

    #[inline]
    fn is(&self, name: &str) -> bool {
        is_named(&self.source, &self.parts, name)
    }

    /// Returns the text from the white space before the name to the comma after the value.
    fn text(&self) -> &str {
        &self.source[self.parts.lead..self.parts.end]
    }

    fn lead(&self) -> &str {
        &self.source[self.parts.lead..self.parts.name]
    }

    fn colon(&self) -> &str {
        &self.source[self.parts.name_end..self.parts.value]
    }

    fn new(lead: &str, quoted: &str, colon: &str, value: &str, trail: &str) -> Self {
        let name = lead.len();
        let name_end = name + quoted.len();
        let start = name_end + colon.len();
        let value_end = start + value.len();
        let end = value_end + trail.len();
        let source = Arc::new(Source::from([lead, quoted, colon, value, trail].concat()));
        let escaped = quoted.contains('\\');
        let mark = Mark::NONE;
        Self { source, parts: Parts { lead: 0, name, name_end, escaped, value: start, value_end, mark, end } }
    }

    /// Returns the member with another value; everything else keeps its spelling.
    fn with_value(&self, value: &str) -> Self {
        let quoted = &self.source[self.parts.name..self.parts.name_end];
        let trail = &self.source[self.parts.value_end..self.parts.end];
        Self::new(self.lead(), quoted, self.colon(), value, trail)
    }
}

/// Whether a member has this name.
#[inline]
fn is_named(source: &Source, parts: &Parts, name: &str) -> bool {
    // The lengths of most other names differ.
    let is_possible = parts.escaped || parts.name_end - parts.name == name.len() + 2;
    is_possible && has_text(source, parts, name)
}

fn has_text(source: &Source, parts: &Parts, name: &str) -> bool {
    let (start, end) = (parts.name + 1, parts.name_end - 1);
    match parts.escaped {
        false => source.as_bytes()[start..end] == *name.as_bytes(),
        true => string::text(&source[start..end]).is_some_and(|n| n == name),
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().trim())
    }
}

/// The members of a JSON object in the order and spelling of the document.
///
/// Lookup is a linear search, because documents have about ten members. The last of several members with one name
/// counts.
///
/// **Editing.** [`set`](Object::set), [`edit`](Object::edit) and [`remove`](Object::remove) change only the bytes of
/// the member that they name. White space between the others stays as it was. A new value takes the layout of the
/// object around it: one line for each member with its indentation, or a single line.
#[derive(Clone, Default)]
pub struct Object {
    members: Vec<Member>,
    /// The white space before the closing brace.
    tail: String,
    /// The layout of a new member in an object without members.
    style: Option<Style>,
}

/// The most white space around a member, in bytes, that a new member copies.
const LONGEST_SPACE: usize = 1 << 10;

/// The white space around members of an object.
#[derive(Clone)]
struct Style {
    lead: String,
    colon: String,
    tail: String,
}

impl Style {
    const COMPACT: Style = Style { lead: String::new(), colon: String::new(), tail: String::new() };

    /// Returns the indentation that one level of nesting adds.
    fn unit(&self) -> &str {
        let end = |s: &str| s.rfind('\n').map_or(0, |i| i + 1);
        let (inside, outside) = (&self.lead[end(&self.lead)..], &self.tail[end(&self.tail)..]);
        inside.strip_prefix(outside).filter(|u| !u.is_empty()).unwrap_or("  ")
    }

    /// Returns the style of an object that is a member of an object of this style.
    fn deeper(&self) -> Style {
        if !self.lead.contains('\n') {
            return Style { tail: String::new(), ..self.clone() };
        }
        let lead = format!("{}{}", self.lead, self.unit());
        Style { lead, colon: self.colon.clone(), tail: self.lead.clone() }
    }

    /// Returns the text of `value` in this style.
    fn lay(&self, value: &Value) -> String {
        let mut out = String::new();
        match self.lead.rfind('\n') {
            Some(line) => {
                let indent = Indent { base: &self.lead[line + 1..], unit: self.unit() };
                layout::pretty(value.as_raw(), indent, &mut out);
            }
            None => layout::compact(value.as_raw(), &mut out),
        }
        out
    }
}

impl Object {
    /// Returns an object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads an object.
    fn read(value: &Value) -> Self {
        let source = &value.source;
        let (mut walk, mut members, mut tail) =
            (Walk::new(source, value.start, value.mark), Vec::with_capacity(12), value.start + 1);
        while let Some(parts) = walk.member(source) {
            tail = parts.value_end;
            members.push(Member { source: Arc::clone(source), parts });
        }
        Self { members, tail: source[tail..value.end - 1].to_owned(), style: None }
    }

    /// Returns the number of members. Repeated members count each time.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether the object has no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Iterates over all members in order, including repeated ones.
    pub fn members(&self) -> impl DoubleEndedIterator<Item = &Member> + ExactSizeIterator {
        self.members.iter()
    }

    /// Returns the members that count, in order: of several with one name only the last.
    pub fn distinct(&self) -> Vec<&Member> {
        let mut seen = HashSet::new();
        let mut members: Vec<&Member> =
            self.members().rev().filter(|m| seen.insert(m.name_lossy())).collect();
        members.reverse();
        members
    }

    /// Returns the value of the last member of this name.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.members.iter().rev().find(|m| m.is(name)).map(Member::value)
    }

    /// Whether the object has a member of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.members.iter().any(|m| m.is(name))
    }

    /// Sets the value of the member `name`. A new member is put last; of repeated members only the last remains.
    /// Setting an equal value does not change the text.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if self.get(name).is_some_and(|old| old == value) {
            return self.keep_last(name);
        }
        let text = self.style().lay(&value);
        self.put(name, &text);
    }

    /// Edits the object that is the value of the member `name`. Its members that are not changed keep their spelling.
    /// If the member is absent or not an object, the edit starts with an empty object.
    pub fn edit<R>(&mut self, name: &str, change: impl FnOnce(&mut Object) -> R) -> R {
        let mut object = self.get(name).and_then(|v| v.as_object()).unwrap_or_default();
        if object.is_empty() {
            object.style = Some(self.style().deeper());
        }
        let result = change(&mut object);
        self.put(name, object.to_value().as_raw());
        result
    }

    /// Removes all members of this name and returns the value of the last one.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let value = self.get(name)?;
        let style = self.style();
        self.members.retain(|m| !m.is(name));
        if self.members.is_empty() {
            self.tail.clear();
            self.style = Some(style);
        }
        Some(value)
    }

    /// Returns the object as a value.
    pub fn to_value(&self) -> Value {
        // Metadata of very many nodes are long.
        let texts: usize = self.members.iter().map(|member| member.text().len() + 1).sum();
        let mut out = String::with_capacity(texts + self.tail.len() + 2);
        out.push('{');
        for (i, member) in self.members.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            out.push_str(member.text());
        }
        out.push_str(&self.tail);
        out.push('}');
        Value::from_valid(out)
    }

    /// Replaces the text of a value, or appends a member.
    fn put(&mut self, name: &str, text: &str) {
        self.keep_last(name);
        if let Some(member) = self.members.iter_mut().find(|m| m.is(name)) {
            *member = member.with_value(text);
            return;
        }
        let Style { lead, colon, tail } = self.style();
        let mut quoted = String::new();
        string::quote(name, &mut quoted);
        if self.members.is_empty() {
            self.tail = tail;
        }
        let colon = if colon.is_empty() { ":" } else { &colon };
        self.members.push(Member::new(&lead, &quoted, colon, text, ""));
    }

    fn keep_last(&mut self, name: &str) {
        let Some(last) = self.members.iter().rposition(|m| m.is(name)) else { return };
        let mut i = 0;
        self.members.retain(|m| {
            i += 1;
            i > last || !m.is(name)
        });
    }

    /// Returns the white space around a new member, copied from the last member.
    fn style(&self) -> Style {
        match (self.members.last(), &self.style) {
            // More would be copied to every line of a new value.
            (Some(m), _) if m.lead().len() + m.colon().len() + self.tail.len() > LONGEST_SPACE => {
                Style::COMPACT
            }
            (Some(m), _) => {
                Style { lead: m.lead().to_owned(), colon: m.colon().to_owned(), tail: self.tail.clone() }
            }
            (None, Some(style)) => style.clone(),
            (None, None) => Style::COMPACT,
        }
    }
}

impl Value {
    /// Returns the value of the last member of this name. Returns `None` also if the value is not an object.
    pub fn get(&self, name: &str) -> Option<Value> {
        let mut walk = self.walk()?;
        let mut found = None;
        while let Some(parts) = walk.member(&self.source) {
            if is_named(&self.source, &parts, name) {
                found = Some(parts);
            }
        }
        let Parts { value, value_end, mark, .. } = found?;
        Some(Self::marked(&self.source, value, value_end, mark))
    }

    /// Iterates over the members of an object in order, including repeated ones. Each is found on access, so that a large
    /// object takes no memory.
    ///
    /// ```
    /// let value = zarr_json::json!({ "a": 1, "b": 2 });
    /// let names: Vec<_> = value.members().into_iter().flatten().map(|m| m.name_lossy().into_owned()).collect();
    /// assert_eq!(names, ["a", "b"]);
    /// ```
    pub fn members(&self) -> Option<Members> {
        Some(Members { source: Arc::clone(&self.source), walk: self.walk()? })
    }

    /// Returns the place of the first member of an object.
    fn walk(&self) -> Option<Walk> {
        (self.kind() == ValueKind::Object).then(|| Walk::new(&self.source, self.start, self.mark))
    }

    /// Returns the members of an object.
    pub fn as_object(&self) -> Option<Object> {
        (self.kind() == ValueKind::Object).then(|| Object::read(self))
    }
}

/// An iterator over the members of an object.
#[derive(Debug, Clone)]
pub struct Members {
    source: Arc<Source>,
    walk: Walk,
}

impl Iterator for Members {
    type Item = Member;

    fn next(&mut self) -> Option<Member> {
        let parts = self.walk.member(&self.source)?;
        Some(Member { source: Arc::clone(&self.source), parts })
    }
}

impl std::iter::FusedIterator for Members {}

/// Writes the members without white space.
impl<N: AsRef<str>, V: Into<Value>> FromIterator<(N, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let member = |(name, value): (N, V)| {
            let mut quoted = String::new();
            string::quote(name.as_ref(), &mut quoted);
            Member::new("", &quoted, ":", &value.into().to_compact(), "")
        };
        Self { members: members.into_iter().map(member).collect(), ..Self::default() }
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.to_value() == other.to_value()
    }
}

impl Eq for Object {}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_value().as_raw())
    }
}
