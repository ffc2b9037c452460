//! `--from`: elements in a file or on standard input.
//!
//! All input is checked before the first element is stored. Standard input, and CSV once it is parsed, goes to an unnamed
//! temporary file, so any part of it can be read with little memory.

mod csv;
mod reader;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use zarr_array::DataType;

use crate::args::data_type;
use crate::exit::Failure;
use crate::out::npy::read::{MAGIC, header};
use crate::out::table::product;
pub(crate) use reader::Reader;

/// The options of the verbs that take elements.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// The file with the elements, or `-` for standard input: a NumPy file, raw bytes, or CSV with numbers.
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
    /// Rows of numbers, separated by commas; a first row that has no numbers is a header.
    Csv,
    /// As CSV, separated by tabs.
    Tsv,
}

impl Options {
    /// Whether there is input.
    pub(crate) fn is_given(&self) -> bool {
        self.from.is_some()
    }

    /// Opens the input. `wanted` is the data type of its elements and whether raw bytes are big-endian; only a NumPy
    /// file needs none.
    ///
    /// # Errors
    /// If the input cannot be read, is too short or too long, or is not what its format says.
    pub(crate) fn open(&self, wanted: Option<&(DataType, bool)>) -> Result<Input, Failure> {
        let Some(path) = &self.from else { return Err(Failure::usage("--from is needed")) };
        let name = if path == Path::new("-") { "standard input".to_owned() } else { format!("{path:?}") };
        self.opened(path, &name, wanted).map_err(|e| e.within(&name))
    }

    fn opened(&self, path: &Path, name: &str, wanted: Option<&(DataType, bool)>) -> Result<Input, Failure> {
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
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
        let kind = match (self.from_format, extension.as_ref().and_then(|extension| extension.to_str())) {
            (Some(kind), _) => kind,
            _ if magic == MAGIC => Kind::Npy,
            (None, Some("csv")) => Kind::Csv,
            (None, Some("tsv")) => Kind::Tsv,
            (None, Some("npy")) => return Err(Failure::usage("it is not a NumPy file")),
            _ => Kind::Raw,
        };
        let name = name.to_owned();
        match (kind, wanted) {
            (Kind::Npy, _) => Input::npy(name, file),
            (Kind::Raw, Some((data_type, is_big))) => Input::raw(name, file, data_type, *is_big),
            (Kind::Raw, None) => Err(Failure::usage("raw bytes have no data type, give it with --dtype")),
            (Kind::Csv, _) => Input::csv(name, &file, b',', wanted),
            (Kind::Tsv, _) => Input::csv(name, &file, b'\t', wanted),
        }
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
    /// The offset of the first element.
    start: u64,
    /// The number of elements.
    count: u64,
    pub(crate) data_type: DataType,
    is_big: bool,
    is_fortran: bool,
    /// The shape, if the format has one.
    pub(crate) shape: Option<Vec<u64>>,
}

impl Input {
    fn npy(name: String, mut file: File) -> Result<Self, Failure> {
        let header = header(&mut file)?;
        let (data_type, is_big) = data_type::named(&header.dtype)?;
        let size = size_of(&data_type)?;
        let count = product(&header.shape).and_then(|count| u64::try_from(count).ok());
        let wanted = count.and_then(|count| count.checked_mul(size));
        let length = length_of(&file)?.saturating_sub(header.length);
        if wanted != Some(length) {
            let wanted = wanted.map_or("more".to_owned(), |wanted| wanted.to_string());
            let message = format!("{length} bytes follow the header of the NumPy file, expected {wanted}");
            return Err(Failure::usage(message));
        }
        Ok(Self {
            name,
            file,
            start: header.length,
            count: count.unwrap_or(0),
            data_type,
            is_big,
            is_fortran: header.is_fortran,
            shape: Some(header.shape),
        })
    }

    fn raw(name: String, file: File, data_type: &DataType, is_big: bool) -> Result<Self, Failure> {
        let (size, length) = (size_of(data_type)?, length_of(&file)?);
        if !length.is_multiple_of(size) {
            let message = format!(
                "{length} bytes are not whole elements of {size} bytes; it is read as raw bytes, --from-format names another \
                 format"
            );
            return Err(Failure::usage(message));
        }
        let data_type = data_type.clone();
        Ok(Self {
            name,
            file,
            start: 0,
            count: length / size,
            data_type,
            is_big,
            is_fortran: false,
            shape: None,
        })
    }

    fn csv(
        name: String,
        file: &File,
        delimiter: u8,
        wanted: Option<&(DataType, bool)>,
    ) -> Result<Self, Failure> {
        let data_type = wanted.map_or(DataType::Float64, |(data_type, _)| data_type.clone());
        let (file, shape) = csv::parsed(file, delimiter, &data_type)?;
        Ok(Self {
            name,
            file,
            start: 0,
            count: shape.iter().product(),
            data_type,
            is_big: cfg!(target_endian = "big"),
            is_fortran: false,
            shape: Some(shape),
        })
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
            "elements of data type {data_type} have different lengths; the input must be a NumPy file of strings"
        ))
    })
}

fn length_of(file: &File) -> Result<u64, Failure> {
    file.metadata().map(|found| found.len()).map_err(|e| Failure::io(&e, "cannot read it"))
}
