//! The output of `zarr diff`.

use zarr_array::meta::json::{Object, Value};

use super::values::Values;
use crate::colour::{Look, on_stdout};
use crate::exit::line;
use crate::out::json;
use crate::out::table::count;

/// All nodes that differ.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) nodes: Vec<Node>,
    /// The number of nodes of both sides together.
    pub(super) compared: usize,
}

/// The differences of a node.
#[derive(Debug)]
pub(super) struct Node {
    /// The path relative to the compared nodes, with a slash in front.
    pub(super) path: String,
    pub(super) found: Vec<Difference>,
    pub(super) values: Option<Values>,
    /// Why no elements are compared.
    pub(super) not_compared: Option<&'static str>,
}

/// A member of the metadata, or an attribute, that differs.
#[derive(Debug)]
pub(super) struct Difference {
    what: &'static str,
    /// The name of an attribute.
    name: Option<String>,
    /// The values, `None` where there is none.
    a: Option<Value>,
    b: Option<Value>,
}

impl Difference {
    pub(super) fn new<T: Into<Value>>(what: &'static str, a: Option<T>, b: Option<T>) -> Self {
        Self { what, name: None, a: a.map(Into::into), b: b.map(Into::into) }
    }

    pub(super) fn attribute(name: &str, a: Option<Value>, b: Option<Value>) -> Self {
        Self { name: Some(name.to_owned()), ..Self::new("attribute", a, b) }
    }

    fn to_text(&self) -> String {
        let value = |value: &Option<Value>| value.as_ref().map_or("none".to_owned(), Value::to_compact);
        let name = self.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
        let text = match (self.what, &self.a, &self.b) {
            ("node", Some(a), None) => format!("only in A: {}", a.to_text().unwrap_or_default()),
            ("node", None, Some(b)) => format!("only in B: {}", b.to_text().unwrap_or_default()),
            (what, a, b) => format!("{what}{name}: {} in A, {} in B", value(a), value(b)),
        };
        format!("  {}\n", line(&text))
    }

    fn to_json(&self) -> Object {
        let mut object = json::object([("difference", self.what.into())]);
        if let Some(name) = &self.name {
            object.set("name", name);
        }
        for (side, value) in [("a", &self.a), ("b", &self.b)] {
            if let Some(value) = value {
                object.set(side, value);
            }
        }
        object
    }
}

impl Node {
    pub(super) fn new(below: &str) -> Self {
        Self { path: format!("/{below}"), found: Vec::new(), values: None, not_compared: None }
    }

    pub(super) fn is_equal(&self) -> bool {
        self.found.is_empty() && self.values.as_ref().is_none_or(|values| values.different == 0)
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{}\n", on_stdout(Look::Heading, &line(&self.path)));
        text.extend(self.found.iter().map(Difference::to_text));
        if let Some(values) = self.values.as_ref().filter(|values| values.different > 0) {
            text += &format!("  {}\n", line(&values.to_text()));
        }
        if let Some(why) = self.not_compared {
            text += &format!("  elements are not compared: {why}\n");
        }
        text
    }

    fn to_json(&self) -> Object {
        let mut object = json::object([
            ("path", (&self.path).into()),
            ("differences", self.found.iter().map(Difference::to_json).collect()),
        ]);
        if let Some(values) = &self.values {
            object.set("elements", values.to_json());
        }
        if let Some(why) = self.not_compared {
            object.set("not_compared_because", why);
        }
        object
    }
}

impl Report {
    /// Returns the last line of the text.
    pub(super) fn end(&self) -> String {
        match self.nodes.len() {
            0 => format!("{}, no difference\n", count(self.compared, "node")),
            differ => format!("{differ} of {} differ\n", count(self.compared, "node")),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        json::document([
            ("equal", self.nodes.is_empty().into()),
            ("compared_nodes", self.compared.into()),
            ("nodes", self.nodes.iter().map(Node::to_json).collect()),
        ])
        .into()
    }
}
