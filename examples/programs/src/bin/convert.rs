//! Converts a table in CSV and a picture in TIFF to arrays.

use std::io::Cursor;

use anyhow::{Result, bail};
use tiff::decoder::{Decoder, DecodingResult};
use tiff::encoder::{TiffEncoder, colortype::Gray16};
use zarr_array::blocking::Array;
use zarr_array::{ArrayMeta, DataType, NdVec, codecs, standard};
use zarr_hierarchy::blocking::Group;
use zarr_store_fs::FsStore;

const TABLE: &str = "station,temperature,count\nOslo,1.5,3\nQuito,14.25,9\n";

fn main() -> Result<()> {
    let root = Group::create(FsStore::create("converted.zarr")?, "/", &standard())?;
    let storage = root.storage().clone();

    // A column is an array.
    let rows = csv::Reader::from_reader(TABLE.as_bytes()).into_deserialize();
    let rows: Vec<(String, f64, i64)> = rows.collect::<Result<_, _>>()?;
    let (names, values): (Vec<_>, Vec<_>) = rows.into_iter().map(|(name, t, n)| (name, (t, n))).unzip();
    let (temperatures, counts): (Vec<_>, Vec<_>) = values.into_iter().unzip();
    Array::create_from(storage.clone(), "/table/station", &names, &standard())?;
    Array::create_from(storage.clone(), "/table/temperature", &temperatures, &standard())?;
    Array::create_from(storage, "/table/count", &counts, &standard())?;

    // Strips of a picture do not follow the chunks: the writer collects rows of chunks.
    let mut decoder = Decoder::new(Cursor::new(picture()?))?;
    let (width, height) = decoder.dimensions()?;
    let meta = ArrayMeta::builder([u64::from(height), u64::from(width)], DataType::UInt16)
        .chunks([128, 128])
        .dimension_names(["y", "x"])
        .codecs([codecs::blosc("zstd", 5)]);
    let image = root.create_array("image", meta.build()?)?;
    let mut writer = image.block_writer(0);
    for strip in 0..decoder.strip_count()? {
        let DecodingResult::U16(pixels) = decoder.read_chunk(strip)? else { bail!("expected 16-bit pixels") };
        let rows = pixels.len() as u64 / u64::from(width);
        writer.push(NdVec::new([rows, u64::from(width)], pixels)?)?;
    }
    writer.finish()?;
    let stations: NdVec<String> = root.array("table/station")?.read(..)?;
    println!("{:?}, pixel [150, 7] is {}", stations.as_slice(), image.read::<u16>((150, 7))?.as_slice()[0]);
    Ok(())
}

/// Returns a picture in TIFF.
fn picture() -> Result<Vec<u8>> {
    let mut file = Cursor::new(Vec::new());
    let pixels: Vec<u16> = (0..200_u16).flat_map(|y| (0..300_u16).map(move |x| 10 * y + x)).collect();
    TiffEncoder::new(&mut file)?.write_image::<Gray16>(300, 200, &pixels)?;
    Ok(file.into_inner())
}
