//! The page of the server, below a path that is no key: keys with hidden names are not served.

use std::str::FromStr;
use std::sync::Arc;

use zarr_array::block_on;
use zarr_array::meta::DocumentName;
use zarr_array::meta::json::Object;
use zarr_array::traits::{Prefix, StoreError, StoreErrorKind, StoreResult};

use super::path::{decoded, has_hidden, is_outside};
use super::pool::Pool;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, say};
use crate::out::json;
use crate::scene::Scenes;
use crate::verbs::page::{self, Asked, CSS};

/// The path of the page.
pub(super) const PATH: &str = "/.page/";

/// The sources that the page may load: its own files and answers, and pictures in the answers.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
                                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The largest number of chunks in the map of an array.
const CHUNKS: usize = 100_000;

/// The largest number of observations that are drawn as points.
const POINTS: u64 = 100_000;

/// The threads that planes take: one plane at a time, because each takes memory.
const DRAWING: usize = 1;

/// The threads that trees, nodes and maps of chunks take.
const LOOKING: usize = 4;

/// The threads that the page takes.
pub(super) const THREADS: usize = DRAWING + LOOKING;

/// The largest number of planes that wait, and of other answers. A page asks for a few at a time.
const QUEUE: usize = 8;

/// The served node, and the pools in which the page is answered.
#[derive(Debug)]
pub(super) struct Page {
    target: Target,
    scenes: Scenes,
    pub(super) drawing: Pool,
    looking: Pool,
}

/// An answer to the page: the content type and the text, or the reason why there is none.
pub(super) enum Reply {
    Text(&'static str, String),
    Failed(Exit, String),
    /// Too many others wait for theirs.
    Busy,
}

/// Answers a request below the path of the page. Returns `None` if there is nothing.
pub(super) async fn reply(page: &Arc<Page>, what: &str, query: &str) -> StoreResult<Option<Reply>> {
    let text = |kind, text: &str| Ok(Some(Reply::Text(kind, text.to_owned())));
    match what {
        "" => text("text/html; charset=utf-8", &page::html()),
        "page.css" => text("text/css; charset=utf-8", CSS),
        "page.js" => text("text/javascript; charset=utf-8", page::script()),
        "tree" | "look" | "node" | "chunks" | "plane" | "points" | "column" => {
            let (page, what, query) = (page.clone(), what.to_owned(), query.to_owned());
            let pools = page.clone();
            let is_drawn = ["plane", "points", "column"].contains(&&*what);
            let pool = if is_drawn { &pools.drawing } else { &pools.looking };
            let made = pool.run(move || Ok(page.answer(&what, &Query::parse(&query)))).await?;
            Ok(Some(match made {
                None => Reply::Busy,
                Some(Ok(object)) => Reply::Text("application/json", json::line(&object.into())),
                Some(Err(e)) => failed(&e)?,
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
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            scenes: Scenes::new(None),
            drawing: Pool::new(DRAWING, QUEUE),
            looking: Pool::new(LOOKING, QUEUE),
        }
    }

    fn answer(&self, what: &str, query: &Query) -> Result<Object, Failure> {
        match what {
            "tree" => return page::tree(&self.target, |path| !has_hidden(path)),
            "look" => return Ok(page::look()),
            _ => {}
        }
        let here = self.node(query.get("path").unwrap_or("/"))?;
        match what {
            "node" => page::node(&self.scenes, &here),
            "chunks" => page::chunks(&here.array()?, CHUNKS),
            "points" => page::points(&here, query.get("of"), POINTS),
            "column" => {
                let by = query.get("by").ok_or_else(|| Failure::usage("the parameter by is wrong"))?;
                // Columns have the rules of nodes.
                self.node(&format!("{}/obs/{by}", query.get("path").unwrap_or("/").trim_end_matches('/')))?;
                page::column(&here, by, POINTS)
            }
            _ => page::plane(&self.scenes, &here, &asked(query)?),
        }
    }

    /// Returns the node at a path below the served one.
    fn node(&self, below: &str) -> Result<Target, Failure> {
        let below = Prefix::of_node(below).map_err(|e| Failure::usage(format!("{e:#}")))?;
        let root = self.target.prefix()?;
        let path = Prefix::new(format!("{root}{below}")).map_err(|e| Failure::usage(format!("{e:#}")))?;
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
        let key = node.key(DocumentName::Node.as_str()).map_err(|e| Failure::usage(format!("{e:#}")))?;
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
    let one = |name: &str| match query.get(name) {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| wrong(name)),
    };
    let along = one("along")?.map(usize::try_from).transpose().map_err(|_| wrong("along"))?;
    let [level, of] = ["level", "of"].map(|name| query.get(name).map(str::to_owned));
    let zoom = match query.get("zoom") {
        None => None,
        Some(text) => Some(numbers(text).and_then(zoom).ok_or_else(|| wrong("zoom"))?),
    };
    Ok(Asked { sides, at, of, along, side: one("side")?, zoom, level, is_coarse: false })
}

/// Returns a part of a plane, which is not empty and within its sides.
fn zoom(numbers: Vec<f64>) -> Option<[f64; 4]> {
    let zoom: [f64; 4] = numbers.try_into().ok()?;
    let is_part = |first: f64, last: f64| first >= 0.0 && last <= 1.0 && last - first > 1e-12;
    (is_part(zoom[0], zoom[1]) && is_part(zoom[2], zoom[3])).then_some(zoom)
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
