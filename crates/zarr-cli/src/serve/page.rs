//! The page of the server, below a path that is no key: keys with hidden names are not served.

use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use zarr_array::block_on;
use zarr_array::meta::DocumentName;
use zarr_array::meta::json::Object;
use zarr_array::traits::{Prefix, StoreError, StoreErrorKind, StoreResult};

use super::answer::is_outside;
use super::object::waiting;
use super::path::{decoded, has_hidden};
use crate::exit::{Exit, Failure, say};
use crate::json;
use crate::page::{self, Asked, CSS, JS};
use crate::picture::{Colormap, Options, range};
use crate::target::Target;

/// The path of the page.
pub(super) const PATH: &str = "/.page/";

/// What the page may load: its own files and answers, and pictures that are in the answers.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The largest number of chunks in the map of an array.
const CHUNKS: usize = 100_000;

/// The served node, and the permission to draw: one plane at a time, because each takes memory.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) target: Target,
    pub(super) drawing: Mutex<()>,
}

/// An answer to the page: the content type and the text, or the reason why there is none.
pub(super) enum Reply {
    Text(&'static str, String),
    Failed(Exit, String),
}

/// Answers a request below the path of the page. Returns `None` if there is nothing.
pub(super) async fn reply(page: &Arc<Page>, what: &str, query: &str) -> StoreResult<Option<Reply>> {
    let text = |kind, text: &str| Ok(Some(Reply::Text(kind, text.to_owned())));
    match what {
        "" => text("text/html; charset=utf-8", &page::html()),
        "page.css" => text("text/css; charset=utf-8", CSS),
        "page.js" => text("text/javascript; charset=utf-8", JS),
        "tree" | "node" | "chunks" | "plane" => {
            let (page, what, query) = (page.clone(), what.to_owned(), query.to_owned());
            let made = waiting(move || Ok(page.answer(&what, &Query::parse(&query)))).await?;
            Ok(Some(match made {
                Ok(object) => Reply::Text("application/json", json::line(&object.into())),
                Err(e) => failed(&e)?,
            }))
        }
        _ => Ok(None),
    }
}

/// Returns the reason of a failure. What may name places of this machine goes to stderr.
fn failed(e: &Failure) -> StoreResult<Reply> {
    match e.exit() {
        Exit::Io | Exit::Unavailable | Exit::PermissionDenied => {
            say(&format!("note: {}", e.message()));
            let kind = match e.exit() {
                Exit::Unavailable => StoreErrorKind::Unavailable,
                Exit::PermissionDenied => StoreErrorKind::PermissionDenied,
                _ => StoreErrorKind::Io,
            };
            Err(StoreError::new(kind, "the page could not be answered"))
        }
        exit => Ok(Reply::Failed(exit, e.message().to_owned())),
    }
}

impl Page {
    fn answer(&self, what: &str, query: &Query) -> Result<Object, Failure> {
        if what == "tree" {
            return page::tree(&self.target, |path| !has_hidden(path));
        }
        let here = self.node(query.get("path").unwrap_or("/"))?;
        match what {
            "node" => page::node(&here),
            "chunks" => page::chunks(&here.array()?, CHUNKS),
            _ => {
                let asked = asked(query)?;
                let array = here.array()?;
                let _drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner);
                page::plane(&array, &asked)
            }
        }
    }

    /// Returns the node at a path below the served one.
    fn node(&self, below: &str) -> Result<Target, Failure> {
        let below = Prefix::of_node(below).map_err(|e| Failure::usage(e.to_string()))?;
        let root = self.target.prefix()?;
        let path = Prefix::new(format!("{root}{below}")).map_err(|e| Failure::usage(e.to_string()))?;
        if has_hidden(below.as_str()) || self.is_refused(&path)? {
            return Err(Failure::new(Exit::NotFound, format!("there is no node at {:?}", below.node_path())));
        }
        Ok(if below.is_root() { self.target.clone() } else { self.target.at_path(&path.node_path()) })
    }

    /// Whether the directory of the store refuses keys of a node: its name is that of a writer's file, or its path has a link
    /// that leads outside.
    fn is_refused(&self, node: &Prefix) -> Result<bool, Failure> {
        if self.target.root.is_none() {
            return Ok(false);
        }
        let key = node.key(DocumentName::Node.as_str()).map_err(|e| Failure::usage(e.to_string()))?;
        let looked = block_on(self.target.storage.head(&key));
        Ok(looked.is_err_and(|e| e.kind() == StoreErrorKind::InvalidArgument || is_outside(&e)))
    }
}

/// Returns the plane that a query asks for.
fn asked(query: &Query) -> Result<Asked, Failure> {
    let wrong = |name: &str| Failure::usage(format!("the parameter {name} is wrong"));
    let sides = match query.get("sides") {
        None => None,
        Some(text) => {
            Some(numbers(text).and_then(|sides| sides.try_into().ok()).ok_or_else(|| wrong("sides"))?)
        }
    };
    let at = query.get("at").map_or(Some(Vec::new()), numbers).ok_or_else(|| wrong("at"))?;
    let colormap = query.get("colormap").map(|name| Colormap::from_str(name, false));
    let colormap = colormap.transpose().map_err(|_| wrong("colormap"))?;
    let range = query.get("range").map(range).transpose().map_err(Failure::usage)?;
    Ok(Asked { sides, at, options: Options { colormap, range } })
}

fn numbers<T: FromStr>(text: &str) -> Option<Vec<T>> {
    text.split(',').map(|number| number.parse().ok()).collect()
}

/// The parameters of a URL.
struct Query(Vec<(String, String)>);

impl Query {
    /// Reads `name=value&…`. Malformed pairs are left out.
    fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        Self(pairs.filter_map(|(name, value)| Some((decoded(name)?, decoded(value)?))).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|pair| pair.0 == name)
            .map(|pair| pair.1.as_str())
            .filter(|value| !value.is_empty())
    }
}
