//! `zarr cat`: prints the elements of an array, or of a part of it.

pub(crate) mod decoded;
mod delimited;
mod frame;
#[cfg(feature = "image")]
mod image;
#[cfg(feature = "arrow")]
mod table;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::Object;
use zarr_hierarchy::ChildState;
use zarr_xarray::blocking::Dataset;

use crate::args::decode::{Decode, Shown};
use crate::args::labels::{Around, Chosen, Part};
use crate::args::level::Level;
use crate::args::stores::Stores;
use crate::args::target::Target;
use crate::elements::Elements;
use crate::exit::{Exit, Failure, Outcome, say};
pub(crate) use crate::out::column;
use crate::out::nested::Nested;
use crate::out::npy::{self, Padding};
use crate::out::output::Output;
#[cfg(feature = "image")]
use crate::out::picture;
use crate::out::progress::Progress;
use crate::out::render::Render;
use crate::out::screen::Screen;
use crate::pick::Pick;
use crate::slabs::{Budget, Slabs};
use crate::visit::Source;

/// Print the elements of an array, or a group as a table.
///
/// A group in the format csv or tsv is a table, decoded: a row for each element of the variables that have the same
/// dimensions, with their coordinates, and a column for each variable. Variables with other dimensions are named in a
/// note. A table of AnnData (obs, var) has its columns in their order, and categories by name.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The array or group: a directory with a metadata document.
    #[arg(value_name = "STORE[/PATH]")]
    store: PathBuf,
    /// The format of the output; by default that of the extension of --output. On a terminal the first elements as text. In
    /// a pipe raw with a note, and text in a later release.
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// Write a file, which appears when it is complete; `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    decode: Decode,
    /// Do not say that raw bytes are printed because no format was chosen.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    level: Level,
    #[cfg(feature = "image")]
    #[command(flatten)]
    picture: picture::Options,
}

const EXAMPLES: &str = "\
Examples:
  zarr cat -f text -s 0:24,:,5 weather.zarr/t2m
  zarr cat -f csv -s time=2020-01,lat=~41.3 weather.zarr/t2m
  zarr cat -f csv --stored -s 0 weather.zarr/t2m
  zarr cat -f raw weather.zarr/t2m > t2m.i16
  zarr cat -f json -s '-1, ::10, ::10' weather.zarr/t2m
  zarr cat -s 0 -o day.npy weather.zarr/t2m
  zarr cat -f json -s ':,[3,5],::-1' weather.zarr/t2m
  zarr cat -f csv -s lat=~41.3,lon=~2.2 weather.zarr
  zarr cat -f csv cells.zarr/obs
  zarr cat -o cells.png cells.ome.zarr
  zarr cat --level 3 -o small.npy cells.ome.zarr

Chunks that are not stored are printed as the fill value. Memory use is bounded for arrays of any size.
In text, csv, tsv, json and png elements are as the attributes say: scale_factor, add_offset, _FillValue and the units of
times are applied. Raw, npy, arrow and parquet have elements as they are stored, unless --decode is given.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Bytes in C order, little-endian, without a header; booleans are bytes 0 and 1.
    Raw,
    /// Nested lists; NaN and infinities are strings, complex numbers pairs, byte strings base64.
    Json,
    /// One element per line.
    Text,
    /// A NumPy file; strings get the width of the longest, for which the elements are read twice.
    Npy,
    /// A table with commas: a row per element, with its coordinates, or its positions if it has none.
    Csv,
    /// A table with tabs.
    Tsv,
    /// A file of Arrow, with a row for each element: its position in each dimension, and the element or its fields.
    #[cfg(feature = "arrow")]
    Arrow,
    /// A stream of Arrow, with the same rows.
    #[cfg(feature = "arrow")]
    Arrows,
    /// A Parquet file, with the same rows.
    #[cfg(feature = "parquet")]
    Parquet,
    /// A picture of a plane, or of an image in several resolutions, in the level that fits; NaN is transparent.
    #[cfg(feature = "image")]
    Png,
}

/// The number of lines that a terminal gets if no format was chosen.
const LINES: usize = 40;

impl Format {
    /// Whether people read it, so that elements are decoded.
    fn is_for_people(self) -> bool {
        #[cfg(feature = "image")]
        if self == Self::Png {
            return true;
        }
        matches!(self, Self::Json | Self::Text | Self::Csv | Self::Tsv)
    }

    /// Whether a terminal would show nothing that can be read.
    fn is_binary(self) -> bool {
        !matches!(self, Self::Raw | Self::Json | Self::Text | Self::Csv | Self::Tsv)
    }

    /// The character between the fields of a table.
    fn delimiter(self) -> Option<u8> {
        match self {
            Self::Csv => Some(b','),
            Self::Tsv => Some(b'\t'),
            _ => None,
        }
    }

    /// Returns the format of a file by its extension.
    fn of(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "raw" | "bin" => Self::Raw,
            "json" => Self::Json,
            "txt" => Self::Text,
            "npy" => Self::Npy,
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            #[cfg(feature = "arrow")]
            "arrow" | "feather" => Self::Arrow,
            #[cfg(feature = "arrow")]
            "arrows" => Self::Arrows,
            #[cfg(feature = "parquet")]
            "parquet" => Self::Parquet,
            #[cfg(feature = "image")]
            "png" => Self::Png,
            _ => return None,
        })
    }
}

impl Args {
    /// Makes the arguments that print all elements of the array at `store`, one per line.
    pub(crate) fn lines_of(store: PathBuf) -> Self {
        Self {
            store,
            format: Some(Format::Text),
            output: None,
            decode: Decode::STORED,
            quiet: true,
            part: Part::default(),
            level: Level::default(),
            #[cfg(feature = "image")]
            picture: picture::Options::default(),
        }
    }

    /// Whether the first elements are shown on a terminal, because nothing else was asked for.
    fn is_glance(&self) -> bool {
        self.format.is_none() && self.output.is_none() && Screen::of_stdout().is_some()
    }

    /// Opens the output.
    fn open(&self) -> Result<Output, Failure> {
        let is_stdout = self.output.as_deref().is_none_or(|path| path == Path::new("-"));
        if self.format.is_none() && is_stdout && !self.is_glance() && !self.quiet {
            say("note: raw bytes; a later release prints text here: give -f raw or -f text");
        }
        if self.is_glance() { Output::first_lines(LINES) } else { Output::open(self.output.as_deref()) }
    }

    fn format(&self) -> Result<Format, Failure> {
        let file = self.output.as_deref().filter(|path| *path != Path::new("-"));
        match (self.format, file) {
            (Some(format), None) if format.is_binary() && Screen::of_stdout().is_some() => Err(Failure::usage(
                "this format is not for a terminal: give -o FILE, or a pipe",
            )),
            (Some(format), _) => Ok(format),
            (None, None) if self.is_glance() => Ok(Format::Text),
            (None, None) => Ok(Format::Raw),
            (None, Some(path)) => Format::of(path).ok_or_else(|| {
                Failure::usage(format!(
                    "{path:?} has no extension of a known format, such as .csv, .json, .npy, .png, .tsv or .txt; give it with \
                     --format"
                ))
            }),
        }
    }
}

pub(crate) fn run(args: &Args, stores: &Stores) -> Outcome {
    let format = args.format()?;
    let target = Target::find(&args.store, stores)?;
    #[cfg(feature = "image")]
    if format == Format::Png
        && let Some(exit) = image::print(args, &target)?
    {
        return Ok(exit);
    }
    let target = args.level.of(target)?;
    if let (Some(delimiter), ChildState::Node(NodeMeta::Group(meta))) =
        (format.delimiter(), target.look()?.found)
    {
        return table_of(args, &meta.attributes(), &target, delimiter);
    }
    let array = target.array()?;
    let in_array = |e: Failure| in_array(e, &target, &array);
    if format.is_for_people() || args.decode.decode {
        let select = &args.part.select;
        let shown = if format.delimiter().is_some() { Shown::Table(select) } else { Shown::Elements(select) };
        let around = args.decode.around_target(&array, shown, &args.store, &target, stores);
        if let Some(around) = around.map_err(in_array)? {
            return decode(args, format, &target, &array, &around).map_err(in_array);
        }
    }
    let picks = args.part.picks(&args.store, &target, &array, stores)?;
    let mut output = args.open()?;
    let printed = match format {
        Format::Csv => delimited::stored(&array, &picks, b',', &mut output),
        Format::Tsv => delimited::stored(&array, &picks, b'\t', &mut output),
        #[cfg(feature = "arrow")]
        Format::Arrow => table::print(table::Kind::File, &array, None, &picks, &mut output),
        #[cfg(feature = "arrow")]
        Format::Arrows => table::print(table::Kind::Stream, &array, None, &picks, &mut output),
        #[cfg(feature = "parquet")]
        Format::Parquet => table::print(table::Kind::Parquet, &array, None, &picks, &mut output),
        #[cfg(feature = "image")]
        Format::Png => {
            let plane = picture::Stored { array: &array, picks: &picks };
            picture::print(&args.picture, &plane, &mut output)
        }
        format => plain(format, &array, &picks, &mut output),
    };
    printed.map_err(|e| if e.exit() == Exit::Ok { e } else { target.fail(e) })?;
    Ok(Exit::Ok)
}

/// Prints a group as a table: of AnnData, or of the variables with the same dimensions.
fn table_of(args: &Args, attributes: &Object, target: &Target, delimiter: u8) -> Outcome {
    if args.decode.stored {
        return Err(Failure::usage("--stored is for an array: the table of a group is decoded"));
    }
    let is_frame =
        attributes.get("encoding-type").and_then(|of| of.as_text()).as_deref() == Some("dataframe");
    if is_frame {
        let Chosen::Positions(select) = &args.part.select else {
            return Err(Failure::usage("-s: a table of AnnData is selected by position"));
        };
        let mut output = args.open()?;
        frame::print(target, attributes, select, delimiter, &mut output)?;
        return Ok(Exit::Ok);
    }
    let dataset = Dataset::open(target.group(Source::default())?).map_err(|e| target.fail(e))?;
    let (names, others) = delimited::alike(&dataset);
    let Some((first, rest)) = names.split_first() else {
        return Err(target.fail(Failure::unsupported("the group has no variables with named dimensions")));
    };
    let around = Around { dataset, name: first.clone() };
    let part = decoded::Part::of(&around, &args.part.select, target).map_err(|e| target.fail(e))?;
    let rest = rest.iter().map(|name| around.dataset.variable(name)).collect::<Result<Vec<_>, _>>();
    let rest = rest.map_err(|e| target.fail(e))?;
    let array = target.at_path(&format!("{}/{first}", target.path.trim_end_matches('/'))).array()?;
    let mut output = args.open()?;
    if !others.is_empty() {
        say(&format!("note: not in the table, because of other dimensions: {}", others.join(", ")));
    }
    let done = delimited::decoded(&around.dataset, &part, &rest, &array, delimiter, &mut output);
    done.map_err(|e| if e.exit() == Exit::Ok { e } else { target.fail(e) })?;
    Ok(Exit::Ok)
}

/// Returns a failure that names the array.
fn in_array(e: Failure, target: &Target, array: &Array) -> Failure {
    match e.exit() {
        Exit::Ok => e,
        _ => target.fail(e.within(format_args!("array {:?}", array.path()))),
    }
}

/// Prints the elements as the attributes of the variable say.
fn decode(args: &Args, format: Format, target: &Target, array: &Array, around: &Around) -> Outcome {
    let part = decoded::Part::of(around, &args.part.select, target)?;
    let mut output = args.open()?;
    match (format, format.delimiter()) {
        #[cfg(feature = "image")]
        (Format::Png, _) => {
            picture::print(&args.picture, &decoded::Plane { part: &part, array }, &mut output)
        }
        #[cfg(feature = "arrow")]
        (Format::Arrow, _) => {
            table::print(table::Kind::File, array, Some(&part.variable), &part.picks, &mut output)
        }
        #[cfg(feature = "arrow")]
        (Format::Arrows, _) => {
            table::print(table::Kind::Stream, array, Some(&part.variable), &part.picks, &mut output)
        }
        #[cfg(feature = "parquet")]
        (Format::Parquet, _) => {
            table::print(table::Kind::Parquet, array, Some(&part.variable), &part.picks, &mut output)
        }
        (_, Some(delimiter)) => {
            delimited::decoded(&around.dataset, &part, &[], array, delimiter, &mut output)
        }
        (_, None) => part.print(format, array, &mut output),
    }?;
    Ok(Exit::Ok)
}

/// Prints the elements one after the other.
fn plain(format: Format, array: &Array, picks: &[Pick], output: &mut Output) -> Result<(), Failure> {
    let padding = if format == Format::Npy { Padding::measure(array, picks)? } else { None };
    let printer = Printer::new(format, array.data_type(), picks, padding, output);
    print(array, picks, printer.map_err(|e| e.within(format_args!("array {:?}", array.path())))?)
}

/// Prints the parts one by one. Printing begins after the first part is read, so most errors leave no output.
fn print(array: &Array, picks: &[Pick], mut printer: Printer<'_>) -> Result<(), Failure> {
    let size = array.data_type().memory_size();
    let all = picks.iter().fold(size as u64, |bytes, pick| bytes.saturating_mul(pick.count));
    let progress = Progress::new(all, printer.out.is_stdout());
    for slab in Slabs::new(picks, array.chunk_grid(), size, Budget::DEFAULT) {
        printer.elements(Elements::read(array, slab.selection(picks))?)?;
        progress.add(slab.count.iter().fold(size as u64, |bytes, count| bytes.saturating_mul(*count)));
    }
    printer.end()
}

/// Prints elements.
struct Printer<'a> {
    out: &'a mut Output,
    /// Printed before the first element.
    header: Vec<u8>,
    form: Form,
    data_type: DataType,
}

enum Form {
    Bytes,
    Lines(Render),
    Lists(Render, Nested),
    Padded(Padding),
}

/// The approximate size of a piece of printed text.
const PIECE: usize = 256 << 10;

impl<'a> Printer<'a> {
    fn new(
        format: Format,
        data_type: &DataType,
        picks: &[Pick],
        padding: Option<Padding>,
        out: &'a mut Output,
    ) -> Result<Self, Failure> {
        let shape: Vec<u64> = picks.iter().filter(|p| p.keep).map(|p| p.count).collect();
        let unknown =
            || Failure::unsupported(format!("data type {data_type} cannot be printed in this format"));
        let (header, form) = match format {
            Format::Raw if data_type.size().is_none() => {
                let message =
                    format!("elements of data type {data_type} have different lengths; use --format json");
                return Err(Failure::unsupported(message));
            }
            Format::Raw => (Vec::new(), Form::Bytes),
            Format::Npy => {
                let header = npy::header(data_type, padding, &shape).ok_or_else(unknown)?;
                (header, padding.map_or(Form::Bytes, Form::Padded))
            }
            Format::Text => (Vec::new(), Form::Lines(Render::text(data_type).ok_or_else(unknown)?)),
            Format::Json => {
                let render = Render::json(data_type).ok_or_else(unknown)?;
                (Vec::new(), Form::Lists(render, Nested::new(&shape)))
            }
            // The others are printed by modules of their own.
            _ => return Err(unknown()),
        };
        Ok(Self { out, header, form, data_type: data_type.clone() })
    }

    fn elements(&mut self, elements: Elements) -> Result<(), Failure> {
        self.out.write(&std::mem::take(&mut self.header))?;
        let size = self.data_type.memory_size();
        let out = &mut *self.out;
        let mut text = Vec::with_capacity(PIECE + 64);
        match &mut self.form {
            Form::Bytes => {
                let Elements::Fixed(mut bytes) = elements else { return Ok(()) };
                if cfg!(target_endian = "big") {
                    self.data_type.swap_bytes(&mut bytes);
                }
                return out.write(&bytes);
            }
            Form::Lines(render) => elements.each(size, |element| {
                render.element(element, &mut text)?;
                text.push(b'\n');
                flush_at(PIECE, out, &mut text)
            })?,
            Form::Padded(padding) => elements.each(size, |element| {
                padding.put(element, &mut text)?;
                flush_at(PIECE, out, &mut text)
            })?,
            Form::Lists(render, lists) => elements.each(size, |element| {
                lists.before(&mut text);
                render.element(element, &mut text)?;
                flush_at(PIECE, out, &mut text)
            })?,
        }
        flush_at(0, out, &mut text)
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.out.write(&std::mem::take(&mut self.header))?;
        if let Form::Lists(_, lists) = &mut self.form {
            let mut text = Vec::new();
            let mut left = lists.hollow();
            while left > 0 {
                lists.before(&mut text);
                text.extend_from_slice(b"[]");
                left -= 1;
                flush_at(PIECE, self.out, &mut text)?;
            }
            lists.end(&mut text);
            self.out.write(&text)?;
        }
        self.out.finish()
    }
}

fn flush_at(length: usize, out: &mut Output, text: &mut Vec<u8>) -> Result<(), Failure> {
    if text.len() >= length {
        out.write(text)?;
        text.clear();
    }
    Ok(())
}
