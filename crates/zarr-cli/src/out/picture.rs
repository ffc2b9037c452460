//! Planes of numbers as PNG pictures.

mod png;

use std::io::{self, Write};

use clap::ValueEnum;
use colorous::Gradient;
use half::f16;
use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_array::traits::number::{NumberType, with_primitive};

use crate::elements::Elements;
use crate::exit::Failure;
use crate::out::output::Output;
use crate::out::progress::Progress;
use crate::pick::Pick;
use crate::slabs::{Budget, Slab, Slabs};
use png::{Channels, Png};

/// The options of pictures.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Options {
    /// The colours of a picture; shades of gray by default.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) colormap: Option<Colormap>,
    /// The elements that get the first and the last colour of a picture; by default the smallest and the largest, and
    /// 0 and 255 for uint8. Finding them reads the elements twice.
    #[arg(long, value_name = "MIN,MAX", allow_hyphen_values = true, value_parser = range)]
    pub(crate) range: Option<(f64, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colormap {
    Blues,
    Cividis,
    Cool,
    Gray,
    Greens,
    Inferno,
    Magma,
    Plasma,
    #[value(name = "rdbu")]
    RdBu,
    Reds,
    Sinebow,
    Spectral,
    Turbo,
    Viridis,
}

impl Colormap {
    /// The name.
    #[cfg(feature = "page")]
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns the colours, or `None` for shades of gray.
    fn gradient(self) -> Option<Gradient> {
        Some(match self {
            Self::Gray => return None,
            Self::Blues => colorous::BLUES,
            Self::Cividis => colorous::CIVIDIS,
            Self::Cool => colorous::COOL,
            Self::Greens => colorous::GREENS,
            Self::Inferno => colorous::INFERNO,
            Self::Magma => colorous::MAGMA,
            Self::Plasma => colorous::PLASMA,
            Self::RdBu => colorous::RED_BLUE,
            Self::Reds => colorous::REDS,
            Self::Sinebow => colorous::SINEBOW,
            Self::Spectral => colorous::SPECTRAL,
            Self::Turbo => colorous::TURBO,
            Self::Viridis => colorous::VIRIDIS,
        })
    }
}

/// Reads `MIN,MAX`.
pub(crate) fn range(text: &str) -> Result<(f64, f64), String> {
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|n| n.is_finite());
    let both = text.split_once(',').and_then(|(min, max)| Some((number(min)?, number(max)?)));
    both.filter(|(min, max)| min < max).ok_or_else(|| format!("{text:?} is not MIN,MAX, with MIN below MAX"))
}

/// Returns an element as a number.
pub(crate) type Number = fn(&[u8]) -> f64;

#[allow(
    clippy::cast_lossless,
    clippy::unnecessary_cast,
    reason = "a colour needs no more digits, and one form suits all types"
)]
pub(crate) fn number(data_type: &DataType) -> Option<Number> {
    Some(match data_type.number()? {
        NumberType::Bool => |element| element.first().copied().unwrap_or_default().into(),
        NumberType::Float16 => |element| f16::from_ne_bytes(element.try_into().unwrap_or_default()).to_f64(),
        number => with_primitive!(
            number,
            T => |element| T::from_ne_bytes(element.try_into().unwrap_or_default()) as f64,
            return None
        ),
    })
}

/// The elements of a picture.
pub(crate) trait Plane {
    /// The data type of the elements.
    fn data_type(&self) -> Result<DataType, Failure>;
    /// Returns the selection in each dimension.
    fn picks(&self) -> &[Pick];
    /// Cuts the plane into slabs that fit into memory.
    fn slabs(&self) -> Slabs<'_>;
    /// Reads the elements of a slab.
    fn read(&self, slab: &Slab) -> Result<Elements, Failure>;
}

/// Elements as they are stored.
pub(crate) struct Stored<'a> {
    pub(crate) array: &'a Array,
    pub(crate) picks: &'a [Pick],
}

impl Plane for Stored<'_> {
    fn data_type(&self) -> Result<DataType, Failure> {
        Ok(self.array.data_type().clone())
    }

    fn picks(&self) -> &[Pick] {
        self.picks
    }

    fn slabs(&self) -> Slabs<'_> {
        let size = self.array.data_type().memory_size();
        Slabs::new(self.picks, self.array.chunk_grid(), size, Budget::DEFAULT)
    }

    fn read(&self, slab: &Slab) -> Result<Elements, Failure> {
        Elements::read(self.array, slab.selection(self.picks))
    }
}

/// Prints the elements of a plane as a picture.
pub(crate) fn print(options: &Options, plane: &impl Plane, output: &mut Output) -> Result<(), Failure> {
    match write(options, plane, &mut *output) {
        Ok(_) => output.finish(),
        Err(Error::Elements(e)) => Err(e),
        Err(Error::Picture(e)) => Err(output.failure(e)),
    }
}

/// Writes the picture of a plane, which has two dimensions: rows from top to bottom, and columns. NaN is transparent.
/// Returns the numbers with the first and the last colour.
pub(crate) fn write(options: &Options, plane: &impl Plane, out: impl Write) -> Result<Scale, Error> {
    let data_type = plane.data_type()?;
    let number = number(&data_type)
        .ok_or_else(|| Failure::unsupported(format!("elements of data type {data_type} have no colour")))?;
    let sides: Vec<u64> = plane.picks().iter().filter(|pick| pick.keep).map(|pick| pick.count).collect();
    let side = |length: u64| u32::try_from(length).ok().filter(|length| (1..=1 << 30).contains(length));
    let &[height, width] = &sides[..] else {
        let message = format!(
            "a picture has two dimensions, the selection has {}; select a plane with -s",
            sides.len()
        );
        return Err(Failure::usage(message).into());
    };
    let (Some(height), Some(width)) = (side(height), side(width)) else {
        return Err(Failure::usage(format!("a picture cannot have {height} × {width} elements")).into());
    };
    let scale = Scale::new(options, plane, &data_type, number)?;
    let gradient = options.colormap.and_then(Colormap::gradient);
    let may_be_nan = matches!(data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
    let channels = match (gradient, may_be_nan) {
        (None, false) => Channels::Gray,
        (None, true) => Channels::GrayAlpha,
        (Some(_), false) => Channels::Rgb,
        (Some(_), true) => Channels::Rgba,
    };
    let pixel = |element: &[u8], out: &mut Vec<u8>| {
        let (part, alpha) = match number(element) {
            n if n.is_nan() => (0.0, 0),
            n => (scale.part(n), 255),
        };
        match gradient {
            None => out.push(gray(part)),
            Some(gradient) => out.extend(colour(gradient, part)),
        }
        if may_be_nan {
            out.push(alpha);
        }
    };
    draw(plane, data_type.memory_size(), || Png::new(out, width, height, channels), pixel)?;
    Ok(scale)
}

/// Returns a shade for a part between 0 and 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
fn gray(part: f64) -> u8 {
    (part * 255.0).round() as u8
}

fn colour(gradient: Gradient, part: f64) -> [u8; 3] {
    let colour = gradient.eval_continuous(part);
    [colour.r, colour.g, colour.b]
}

/// Returns the names of all colour maps with their 256 colours, of three bytes each.
#[cfg(feature = "page")]
pub(crate) fn tables() -> impl Iterator<Item = (String, Vec<u8>)> {
    Colormap::value_variants().iter().map(|map| {
        let parts = (0..=255_u8).map(|at| f64::from(at) / 255.0);
        let colours = parts.flat_map(|part| map.gradient().map_or([gray(part); 3], |of| colour(of, part)));
        (map.name(), colours.collect())
    })
}

/// Writes pixels of red, green and blue.
pub(crate) fn write_rgb(pixels: &[u8], [height, width]: [u64; 2], out: impl Write) -> io::Result<()> {
    let side = |length: u64| u32::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge);
    let mut picture = Png::new(out, side(width)?, side(height)?, Channels::Rgb)?;
    picture.write(pixels)?;
    picture.finish()
}

/// A failure while a picture is drawn.
pub(crate) enum Error {
    Elements(Failure),
    Picture(io::Error),
}

impl From<Failure> for Error {
    fn from(e: Failure) -> Self {
        Self::Elements(e)
    }
}

impl From<io::Error> for Error {
    fn from(e: io::Error) -> Self {
        Self::Picture(e)
    }
}

/// Draws all pixels. Begins the picture after the first elements are read, so most errors leave no output.
fn draw<W: Write>(
    plane: &impl Plane,
    size: usize,
    begin: impl FnOnce() -> io::Result<Png<W>>,
    pixel: impl Fn(&[u8], &mut Vec<u8>),
) -> Result<(), Error> {
    let read = |slab: Slab| plane.read(&slab).map_err(Error::Elements);
    let mut slabs = plane.slabs();
    let mut next = slabs.next().map(read).transpose()?;
    let all = plane.picks().iter().fold(size as u64, |bytes, pick| bytes.saturating_mul(pick.count));
    let progress = Progress::new(all, false);
    let mut picture = begin()?;
    let mut pixels = Vec::new();
    while let Some(elements) = next {
        let mut bytes = 0;
        pixels.clear();
        let drawn = elements.each(size, |element| {
            pixel(element, &mut pixels);
            bytes += size as u64;
            Ok(())
        });
        drawn.map_err(Error::Elements)?;
        picture.write(&pixels)?;
        progress.add(bytes);
        next = slabs.next().map(read).transpose()?;
    }
    Ok(picture.finish()?)
}

/// The numbers that get the first and the last colour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale(pub(crate) f64, pub(crate) f64);

impl Scale {
    fn new(
        options: &Options,
        plane: &impl Plane,
        data_type: &DataType,
        number: Number,
    ) -> Result<Self, Failure> {
        match (options.range, data_type) {
            (Some((min, max)), _) => return Ok(Self(min, max)),
            (None, DataType::UInt8) => return Ok(Self(0.0, 255.0)),
            (None, DataType::Bool) => return Ok(Self(0.0, 1.0)),
            _ => {}
        }
        let mut scale = Self(f64::INFINITY, f64::NEG_INFINITY);
        for slab in plane.slabs() {
            plane.read(&slab)?.each(data_type.memory_size(), |element| {
                let n = number(element);
                if n.is_finite() {
                    scale = Self(scale.0.min(n), scale.1.max(n));
                }
                Ok(())
            })?;
        }
        Ok(scale)
    }

    /// Returns the place of a number between both, from 0 to 1.
    fn part(self, n: f64) -> f64 {
        let Self(min, max) = self;
        // Half of each, because the difference may be infinite.
        let part = (n / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0);
        if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_cut_at_the_ends_of_the_range() {
        let scale = Scale(-10.0, 30.0);
        let parts = [-50.0, -10.0, 10.0, 30.0, f64::INFINITY].map(|n| scale.part(n));
        assert_eq!(parts, [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(Scale(5.0, 5.0).part(5.0), 0.0);
        assert_eq!(Scale(f64::MIN, f64::MAX).part(0.0), 0.5);
        assert_eq!([range("-1,2.5"), range("3e2,4e2")], [Ok((-1.0, 2.5)), Ok((300.0, 400.0))]);
        assert!(["", "1", "2,1", "a,b", "0,inf"].into_iter().all(|text| range(text).is_err()));
    }
}
