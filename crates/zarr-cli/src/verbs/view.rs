//! `zarr view`: writes a page that shows a store into one file, and opens it.

mod browser;

use std::fs;
use std::path::{Path, PathBuf};

use zarr_array::meta::json::{Object, Value};

use crate::args::decode::Decode;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::exit::{Exit, Failure, Outcome};
use crate::out::output::Output;
use crate::out::picture::Options;
use crate::out::progress::Progress;
use crate::out::{json, stdout};
use crate::scene::Scenes;
use crate::verbs::page::{Asked, alone, chunks, column, look, node, plane, points, tree};

/// Show a store in a browser: a page in one HTML file that needs nothing else.
///
/// Without --output the page is written to a temporary file and opened in the browser.
///
/// The page shows groups as cards, planes of arrays as maps and images, and arrays of one dimension as curves: decoded, with
/// missing elements hatched, and with the labels of the coordinates. Images of OME-Zarr are shown with the colours and
/// windows of their channels, in the level that fits the picture. Planes are shown at up to eight positions along the longest
/// other dimension; `zarr serve` shows the same page with all positions.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The store or the node: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// The file to write; `-` is stdout. By default a temporary file, which is opened in the browser.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The largest number of megabytes that pictures and chunk maps take. The page says what was left out.
    #[arg(long, value_name = "MB", default_value_t = 10)]
    max_size: u32,
    /// The level of images in several resolutions: its path or its number from 0 on. By default the one that fits.
    #[arg(long, value_name = "LEVEL")]
    level: Option<String>,
    #[command(flatten)]
    decode: Decode,
    #[command(flatten)]
    picture: Options,
}

const EXAMPLES: &str = "\
Examples:
  zarr view weather.zarr
  zarr view weather.zarr -o weather.html
  zarr view --colormap magma --range 250,300 s3://bucket/weather.zarr/t2m -o t2m.html";

/// The number of positions at which planes of an array are shown.
const POSITIONS: u64 = 8;

/// The largest number of chunks in the map of an array.
const CHUNKS: usize = 20_000;

/// The largest number of observations of AnnData that are drawn as points, and those of embeddings and of columns.
const POINTS: u64 = 20_000;
const EMBEDDINGS: usize = 3;
const COLUMNS: usize = 12;

/// Extensions of other formats, which this verb does not write.
const OTHERS: [&str; 9] = ["png", "jpg", "jpeg", "gif", "svg", "pdf", "tif", "tiff", "csv"];

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    if let Some(name) = args.output.as_deref().filter(|path| is_other(path)) {
        let message =
            format!("{name:?}: `zarr view` writes a page of HTML; `zarr cat -o FILE.png` writes a picture");
        return Err(Failure::usage(message));
    }
    let target = Target::find(&args.store, stores)?.quiet();
    let page = Writer::new(args, stores, target)?.page()?;
    let file = match &args.output {
        Some(file) => file.clone(),
        None => temporary(&args.store)?,
    };
    let mut output = Output::open(Some(&file))?;
    output.write(page.as_bytes())?;
    output.finish()?;
    if args.output.is_none() {
        stdout::print(&format!("{}\n", file.display()))?;
        browser::open(&file);
    }
    Ok(Exit::Ok)
}

fn is_other(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| OTHERS.contains(&&*extension.to_ascii_lowercase()))
}

/// Returns the name of a new file in a folder of its own, which stays.
fn temporary(store: &Path) -> Result<PathBuf, Failure> {
    let unable = |e| Failure::io(&e, "cannot make a temporary file");
    let folder = tempfile::Builder::new().prefix("zarr-view-").tempdir().map_err(unable)?.keep();
    let name = store.file_stem().map_or_else(|| "store".into(), |name| name.to_string_lossy());
    let name: String =
        name.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect();
    fs::create_dir_all(&folder).map_err(unable)?;
    Ok(folder.join(format!("{name}.html")))
}

/// Asks the questions of the page, and keeps the answers as long as there is room.
struct Writer<'a> {
    args: &'a Args,
    target: Target,
    scenes: Scenes,
    room: u64,
    nodes: Object,
    maps: Object,
    points: Object,
}

/// A node of which pictures are shown.
struct Pictured {
    below: String,
    here: Target,
    planes: Vec<Object>,
    /// The number of the plane that is shown first.
    first: usize,
    problem: Option<Object>,
}

impl<'a> Writer<'a> {
    fn new(args: &'a Args, stores: &Stores, target: Target) -> Result<Self, Failure> {
        // An array alone is shown with the coordinates of the group around it.
        let is_root_array = target.path == "/" && target.array().is_ok();
        let around = is_root_array.then(|| Target::to_change(&args.store, stores).ok()).flatten();
        let room = u64::from(args.max_size).saturating_mul(1_000_000);
        Ok(Self {
            args,
            target,
            scenes: Scenes::new(around).stored(args.decode.stored),
            room,
            nodes: Object::new(),
            maps: Object::new(),
            points: Object::new(),
        })
    }

    fn page(mut self) -> Result<String, Failure> {
        let all = tree(&self.target, |_| true)?;
        let progress = Progress::objects();
        let mut pictured: Vec<Pictured> = Vec::new();
        for listed in all.get("nodes").iter().flat_map(|nodes| nodes.elements().into_iter().flatten()) {
            let text = |name: &str| listed.get(name).and_then(|text| text.as_text()).unwrap_or_default();
            let (below, kind) = (text("path"), text("node_type"));
            progress.at(&below);
            progress.add(1);
            let here = match below.as_str() {
                "/" => self.target.clone(),
                below => self.target.at_path(&format!("{}{below}", self.target.path.trim_end_matches('/'))),
            };
            if !["array", "group"].contains(&kind.as_str()) {
                continue;
            }
            self.nodes.set(&below, answer(node(&self.scenes, &here)));
            if text("what") == "anndata" {
                let held = self.embedded(&here);
                self.points.set(&below, held);
            }
            if kind == "array" || text("what") == "image" {
                pictured.push(self.first(&below, here));
            }
        }
        for one in &mut pictured {
            self.more(one);
        }
        for one in &pictured {
            let Ok(array) = one.here.array() else { continue };
            if let Some(map) = kept(&mut self.room, || chunks(&array, CHUNKS)) {
                self.maps.set(&one.below, map);
            }
        }
        drop(progress);
        let mut planes = Object::new();
        for one in pictured {
            planes.set(&one.below.clone(), one.answer());
        }
        let mut look = look();
        look.set("colormap", self.args.picture.colormap.map(|map| map.name()));
        look.set(
            "range",
            self.args
                .picture
                .range
                .map(|(min, max)| [min, max].into_iter().map(json::float).collect::<Value>()),
        );
        Ok(alone(&json::object([
            ("tree", all.into()),
            ("look", look.into()),
            ("node", self.nodes.into()),
            ("chunks", self.maps.into()),
            ("plane", planes.into()),
            ("points", self.points.into()),
        ])))
    }

    fn asked(&self, at: Vec<u64>) -> Asked {
        Asked { at, level: self.args.level.clone(), is_coarse: true, ..Asked::default() }
    }

    /// Returns the first embeddings of a group of AnnData, and its first columns that are numbers or categories.
    fn embedded(&mut self, here: &Target) -> Object {
        let Some(first) = kept(&mut self.room, || points(here, None, POINTS)) else { return left_out() };
        if !is(&first, "points") {
            return first;
        }
        let texts = |name: &str| -> Vec<String> {
            first
                .get(name)
                .iter()
                .flat_map(Value::elements)
                .flatten()
                .filter_map(|name| name.as_text())
                .collect()
        };
        let (names, columns) = (texts("names"), texts("columns"));
        let (mut held, mut by) = (Object::new(), Object::new());
        for name in names.iter().take(EMBEDDINGS).skip(1) {
            let made = kept(&mut self.room, || points(here, Some(name), POINTS));
            if let Some(made) = made.filter(|made| is(made, "points")) {
                held.set(name, made);
            }
        }
        for name in &columns {
            if by.members().count() == COLUMNS {
                break;
            }
            let made = kept(&mut self.room, || column(here, name, POINTS));
            if let Some(made) = made.filter(|made| is(made, "column")) {
                by.set(name, made);
            }
        }
        let mut shown = json::object([("held", held.into()), ("by", by.into())]);
        shown.set("first", first);
        shown
    }

    /// Returns the picture of a node that is shown first.
    fn first(&mut self, below: &str, here: Target) -> Pictured {
        let asked = self.asked(Vec::new());
        let shown = match self.room {
            0 => left_out(),
            _ => answer(plane(&self.scenes, &here, &asked)),
        };
        let (mut planes, mut problem) = (Vec::new(), None);
        match self.room.checked_sub(size(&shown)) {
            _ if shown.contains("error") => problem = Some(shown),
            Some(rest) => {
                self.room = rest;
                planes.push(shown);
            }
            None => problem = Some(left_out()),
        }
        Pictured { below: below.to_owned(), here, planes, first: 0, problem }
    }

    /// Adds the pictures at other positions of the longest dimension that has no side.
    fn more(&mut self, one: &mut Pictured) {
        let Some(first) = one.planes.first().filter(|first| is(first, "plane")) else { return };
        let list = |name: &str| -> Vec<u64> {
            first
                .get(name)
                .and_then(|list| list.elements())
                .into_iter()
                .flatten()
                .filter_map(|n| n.as_u64())
                .collect()
        };
        let (lengths, at) = (list("lengths"), list("at"));
        let dimension = |of: &str| first.get(of)?.get("dimension")?.as_u64();
        let taken =
            [dimension("rows"), dimension("columns"), first.get("channels").and_then(|dim| dim.as_u64())];
        let is_free = |dim: &usize| !taken.contains(&Some(*dim as u64)) && lengths[*dim] > 1;
        let longest = (0..lengths.len()).rev().filter(is_free).max_by_key(|dim| lengths[*dim]);
        // Levels are shown with their image.
        let is_level = first.contains("level") && one.here.array().is_ok();
        let Some(dim) = longest.filter(|_| !is_level) else { return };
        let (length, own) = (lengths[dim], at[dim]);
        let (shown, mut planes) = (length.min(POSITIONS), Vec::new());
        let position = |number: u64| {
            u64::try_from(u128::from(length - 1) * u128::from(number) / u128::from(shown - 1)).unwrap_or(0)
        };
        // The position that is shown first replaces the one that is next to it.
        let nearest = (0..shown).min_by_key(|number| position(*number).abs_diff(own)).unwrap_or(0);
        for number in 0..shown {
            if number == nearest {
                one.first = planes.len();
                planes.extend(one.planes.pop());
                continue;
            }
            let mut at = at.clone();
            at[dim] = position(number);
            let asked = self.asked(at);
            let made = kept(&mut self.room, || plane(&self.scenes, &one.here, &asked));
            planes.extend(made.filter(|made| is(made, "plane")).map(|mut made| {
                // These are the same for all positions.
                for member in ["rows", "columns", "names", "lengths", "levels", "label_colors"] {
                    made.remove(member);
                }
                made
            }));
        }
        one.planes = planes;
    }
}

impl Pictured {
    fn answer(self) -> Object {
        match self.problem {
            Some(problem) => problem,
            None => json::object([
                ("planes", self.planes.into_iter().collect()),
                ("first", (self.first as u64).into()),
            ]),
        }
    }
}

/// Returns an answer if there is room for it.
fn kept(room: &mut u64, make: impl FnOnce() -> Result<Object, Failure>) -> Option<Object> {
    if *room == 0 {
        return None;
    }
    let made = answer(make());
    *room = room.checked_sub(size(&made))?;
    Some(made)
}

fn is(shown: &Object, kind: &str) -> bool {
    shown.get("kind").and_then(|kind| kind.as_text()).as_deref() == Some(kind)
}

fn size(answer: &Object) -> u64 {
    answer.to_value().to_compact().len() as u64
}

fn left_out() -> Object {
    json::object([("error", "left out: the page has reached its size (--max-size)".into())])
}

/// Returns the answer, or the error as one.
fn answer(made: Result<Object, Failure>) -> Object {
    made.unwrap_or_else(|e| json::object([("error", e.message().into())]))
}
