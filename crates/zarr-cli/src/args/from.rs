//! `--from`: elements in a file or on standard input.
//!
//! All input is checked before the first element is stored. Standard input, and text once it is parsed, goes to an unnamed
//! temporary file, so any part of it can be read with little memory.

mod cells;
mod csv;
mod lines;
mod lists;
mod reader;
mod table;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use zarr_array::DataType;
use zarr_xarray::DecodedType;
use zarr_xarray::blocking::Variable;

use crate::args::data_type;
use crate::args::decode::Decode;
use crate::exit::Failure;
use crate::out::npy::read::{MAGIC, header};
use crate::out::table::product;
use cells::{Cells, Made, PLACE};
pub(crate) use reader::Reader;
pub(crate) use table::Layout;

/// The options of the verbs that take elements.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// The file with the elements, or `-` for standard input: a NumPy file, raw bytes, a table, text or JSON. Tables, text and
    /// JSON are encoded as the attributes say, as `zarr cat` prints them.
    #[arg(long, value_name = "FILE|-")]
    from: Option<PathBuf>,
    /// The format of the input; by default by its first bytes and its extension.
    #[arg(long, value_enum, value_name = "FORMAT", requires = "from", hide_short_help = true)]
    from_format: Option<Kind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A NumPy file.
    Npy,
    /// Bytes in C order without a header, little-endian unless the type string says otherwise.
    Raw,
    /// Rows of numbers, separated by commas; a first row that has no numbers is a header. Or the table of `zarr cat -f csv`.
    Csv,
    /// As CSV, separated by tabs.
    Tsv,
    /// One element per line.
    Text,
    /// Nested lists.
    Json,
}

/// What the elements of an input become.
#[derive(Default)]
pub(crate) struct Wanted<'a> {
    /// The data type of the array. Only a NumPy file needs none.
    pub(crate) data_type: Option<&'a DataType>,
    /// Whether raw bytes are big-endian.
    pub(crate) is_big: bool,
    /// The variable that says how elements are encoded, unless they are stored as they are.
    pub(crate) variable: Option<&'a Variable>,
    /// The rows that a table must have.
    pub(crate) layout: Option<&'a Layout>,
}

impl Options {
    /// Whether there is input.
    pub(crate) fn is_given(&self) -> bool {
        self.from.is_some()
    }

    /// Whether the input is a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.kind(&[]), Ok(Kind::Csv | Kind::Tsv))
    }

    /// Whether elements are decoded: those that people read, or all with `--decode`.
    pub(crate) fn is_decoded(&self, decode: Decode) -> bool {
        let is_text = matches!(self.kind(&[]), Ok(Kind::Csv | Kind::Tsv | Kind::Text | Kind::Json));
        self.is_given() && (is_text || decode.decode)
    }

    /// Opens the input.
    ///
    /// # Errors
    /// If the input cannot be read, is too short or too long, or is not what its format says.
    pub(crate) fn open(&self, wanted: &Wanted<'_>) -> Result<Input, Failure> {
        let Some(path) = &self.from else { return Err(Failure::usage("--from is needed")) };
        let name = if path == Path::new("-") { "standard input".to_owned() } else { format!("{path:?}") };
        self.opened(path, &name, wanted).map_err(|e| e.within(&name))
    }

    fn opened(&self, path: &Path, name: &str, wanted: &Wanted<'_>) -> Result<Input, Failure> {
        let failed = |e: io::Error| Failure::io(&e, "cannot read it");
        let mut file = match path == Path::new("-") {
            true => spooled(&mut io::stdin().lock())?,
            false => {
                let mut file = File::open(path).map_err(failed)?;
                if path.is_dir() {
                    return Err(Failure::usage(
                        "this is a directory, and --from reads files: name a store as SRC",
                    ));
                }
                if file.metadata().map_err(failed)?.is_file() { file } else { spooled(&mut file)? }
            }
        };
        let mut magic = Vec::new();
        (&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(failed)?;
        file.rewind().map_err(failed)?;
        let name = name.to_owned();
        match (self.kind(&magic)?, wanted.data_type) {
            (Kind::Npy, _) => Input::npy(name, file, wanted),
            (Kind::Raw, Some(data_type)) => Input::raw(name, file, data_type, wanted),
            (Kind::Raw, None) => Err(Failure::usage("raw bytes have no data type, give it with --dtype")),
            (kind, data_type) => {
                Input::text(name, &file, kind, data_type.unwrap_or(&DataType::Float64), wanted)
            }
        }
    }

    /// Returns the format, by the first bytes and the extension if none is given.
    fn kind(&self, magic: &[u8]) -> Result<Kind, Failure> {
        let extension = self.from.as_ref().and_then(|path| path.extension());
        let extension = extension.map(|extension| extension.to_ascii_lowercase());
        Ok(match (self.from_format, extension.as_ref().and_then(|extension| extension.to_str())) {
            (Some(kind), _) => kind,
            _ if magic == MAGIC => Kind::Npy,
            (None, Some("csv")) => Kind::Csv,
            (None, Some("tsv")) => Kind::Tsv,
            (None, Some("txt")) => Kind::Text,
            (None, Some("json")) => Kind::Json,
            (None, Some("npy")) => return Err(Failure::usage("it is not a NumPy file")),
            _ => Kind::Raw,
        })
    }
}

/// Copies a stream to a temporary file.
fn spooled(stream: &mut impl Read) -> Result<File, Failure> {
    let failed = |e: io::Error| Failure::io(&e, "cannot be kept in a temporary file");
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(stream, &mut file).map_err(failed)?;
    file.rewind().map_err(failed)?;
    Ok(file)
}

/// Elements in a file.
#[derive(Debug)]
pub(crate) struct Input {
    /// The name in messages.
    name: String,
    file: File,
    /// The contents of elements of variable length, whose places are in `file`.
    contents: Option<File>,
    /// The offset of the first element.
    start: u64,
    /// The size of an element in the file.
    size: u64,
    /// The number of elements.
    count: u64,
    pub(crate) data_type: DataType,
    is_big: bool,
    is_fortran: bool,
    /// The shape, if the format has one.
    pub(crate) shape: Option<Vec<u64>>,
    /// Whether the input has an element per line.
    is_lines: bool,
    /// The variable as which elements in the file are encoded.
    variable: Option<Variable>,
}

impl Input {
    fn npy(name: String, mut file: File, wanted: &Wanted<'_>) -> Result<Self, Failure> {
        let header = header(&mut file)?;
        let (data_type, is_big) = data_type::named(&header.dtype)?;
        let size = size_of(&data_type)?;
        let count = product(&header.shape).and_then(|count| u64::try_from(count).ok());
        let bytes = count.and_then(|count| count.checked_mul(size));
        let length = length_of(&file)?.saturating_sub(header.length);
        if bytes != Some(length) {
            let bytes = bytes.map_or("more".to_owned(), |bytes| bytes.to_string());
            let message = format!("{length} bytes follow the header of the NumPy file, expected {bytes}");
            return Err(Failure::usage(message));
        }
        Ok(Self {
            name,
            file,
            contents: None,
            start: header.length,
            size,
            count: count.unwrap_or(0),
            data_type,
            is_big,
            is_fortran: header.is_fortran,
            shape: Some(header.shape),
            is_lines: false,
            variable: wanted.variable.cloned(),
        })
    }

    fn raw(name: String, file: File, data_type: &DataType, wanted: &Wanted<'_>) -> Result<Self, Failure> {
        let data_type = match wanted.variable.map(|variable| variable.data_type()) {
            None => data_type.clone(),
            Some(DecodedType::Numbers(of)) => of.into(),
            Some(DecodedType::Booleans) => DataType::Bool,
            Some(other) => {
                let message = format!("decoded elements of type {other:?} have no raw form");
                return Err(Failure::unsupported(message));
            }
        };
        let (size, length) = (size_of(&data_type)?, length_of(&file)?);
        if !length.is_multiple_of(size) {
            let message = format!(
                "{length} bytes are not whole elements of {size} bytes; it is read as raw bytes, --from-format names another \
                 format"
            );
            return Err(Failure::usage(message));
        }
        Ok(Self {
            name,
            file,
            contents: None,
            start: 0,
            size,
            count: length / size,
            data_type,
            is_big: wanted.is_big,
            is_fortran: false,
            shape: None,
            is_lines: false,
            variable: wanted.variable.cloned(),
        })
    }

    /// Reads a format of text. The elements are encoded.
    fn text(
        name: String,
        file: &File,
        kind: Kind,
        data_type: &DataType,
        wanted: &Wanted<'_>,
    ) -> Result<Self, Failure> {
        let mut cells = Cells::new(data_type, wanted.variable)?;
        let shape = match kind {
            Kind::Json => Some(lists::parsed(file, &mut cells)?),
            Kind::Text => {
                lines::parsed(file, &mut cells)?;
                None
            }
            Kind::Tsv => csv::parsed(file, b'\t', &mut cells, wanted.layout)?,
            _ => csv::parsed(file, b',', &mut cells, wanted.layout)?,
        };
        let Made { elements, contents, count } = cells.finish()?;
        Ok(Self {
            name,
            size: if contents.is_some() { PLACE } else { size_of(data_type)? },
            file: elements,
            contents,
            start: 0,
            count,
            data_type: data_type.clone(),
            is_big: cfg!(target_endian = "big"),
            is_fortran: false,
            shape,
            is_lines: kind == Kind::Text,
            variable: None,
        })
    }

    /// The shape of the input: its own, or that of one dimension for lines.
    pub(crate) fn own_shape(&self) -> Option<Vec<u64>> {
        self.shape.clone().or_else(|| self.is_lines.then(|| vec![self.count]))
    }

    /// The number of elements.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns a reader of the elements as those of an array of `data_type`, in `shape`. Lengths of 1 do not matter.
    /// With `may_reshape` only the number of elements must fit.
    ///
    /// # Errors
    /// If the elements are of another data type or number, or some are not valid.
    pub(crate) fn reader(
        self,
        data_type: &DataType,
        shape: &[u64],
        may_reshape: bool,
    ) -> Result<Reader, Failure> {
        let name = self.name.clone();
        let check = || {
            if product(shape) != Some(u128::from(self.count)) {
                let message = format!("there are {} elements, {} are needed", self.count, shown(shape));
                return Err(Failure::usage(message));
            }
            let long =
                |shape: &[u64]| shape.iter().copied().filter(|length| *length != 1).collect::<Vec<_>>();
            let is_other = self.shape.as_ref().is_some_and(|own| long(own) != long(shape));
            if is_other && (self.is_fortran || !may_reshape) {
                let own = self.shape.as_deref().unwrap_or_default();
                return Err(Failure::usage(format!("the elements have shape {own:?}, {shape:?} is needed")));
            }
            Ok(())
        };
        check().and_then(|()| Reader::new(self, data_type, shape)).map_err(|e| e.within(name))
    }
}

fn shown(shape: &[u64]) -> String {
    format!("{} for shape {shape:?}", crate::out::table::number(shape))
}

fn size_of(data_type: &DataType) -> Result<u64, Failure> {
    let size = data_type.size().filter(|size| *size > 0);
    size.map(|size| size as u64).ok_or_else(|| {
        Failure::unsupported(format!(
            "elements of data type {data_type} have different lengths; the input must be text or a NumPy file of strings"
        ))
    })
}

fn length_of(file: &File) -> Result<u64, Failure> {
    file.metadata().map(|found| found.len()).map_err(|e| Failure::io(&e, "cannot read it"))
}
