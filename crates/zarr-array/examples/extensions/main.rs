//! Writes an array of each data type, and arrays with the codecs of the registry of extensions, into a folder, for
//! other implementations to read: `cargo run -p zarr-array --example extensions -- FOLDER`.
//!
//! Next to each array it writes the expected elements: `NAME.raw` with their bytes (C order, little endian), or for
//! elements of variable length `NAME.json` with a list.

#![allow(clippy::print_stdout, reason = "an example")]

mod table;

use std::error::Error;
use std::path::Path;

use zarr_array::blocking::Array;
use zarr_array::meta::v3::Extension;
use zarr_array::meta::{ArrayMeta, fill};
use zarr_array::traits::extension::Spec;
use zarr_array::traits::json::{Value, json};
use zarr_array::traits::{CodecError, FillValue};
use zarr_array::{Registry, Storage};
use zarr_store_fs::FsStore;

const LENGTH: usize = 11;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("name a folder")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let registry = table::registry();
    let storage = Storage::from(FsStore::create(folder)?);
    let little = || json!({"name": "bytes", "configuration": {"endian": "little"}});
    let codec = |name: &str, configuration: Value| json!({"name": name, "configuration": configuration});
    for t in table::types() {
        let serializer = match t.name() {
            "string" => json!({"name": "vlen-utf8"}),
            "bytes" => json!({"name": "vlen-bytes"}),
            _ => little(),
        };
        write(
            &storage,
            folder,
            &registry,
            &t,
            t.name(),
            json!([serializer, codec("gzip", json!({"level": 1}))]),
        )?;
        let numeric = t.open(&registry).numeric();
        if numeric.is_some() {
            write(
                &storage,
                folder,
                &registry,
                &t,
                &format!("packbits.{}", t.name()),
                json!([codec("packbits", json!({}))]),
            )?;
        }
    }
    let of = |name: &str| table::types().into_iter().find(|t| t.name() == name).ok_or("no such type");
    let numbers = |data_type: &str, fill: Value, elements: Value| table::Type {
        data_type: Spec::named(data_type),
        fill,
        elements: elements.elements().into_iter().flatten().collect(),
    };
    let mapped =
        json!({"data_type": "uint8", "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}});
    let scaled =
        [codec("scale_offset", json!({"offset": -10, "scale": 0.5})), codec("cast_value", mapped), little()];
    let tens = numbers("float64", json!("NaN"), json!([0.0, 20.0, -8.0, 500.0]));
    write(&storage, folder, &registry, &tens, "scale_offset.cast_value", json!(scaled))?;
    let shifted = numbers("uint16", json!(1000), json!([1000, 1255, 1001]));
    let shift = [
        codec("scale_offset", json!({"offset": 1000})),
        codec("cast_value", json!({"data_type": "uint8"})),
        little(),
    ];
    write(&storage, folder, &registry, &shifted, "scale_offset.uint16", json!(shift))?;
    let round = json!([codec("bitround", json!({"keepbits": 3})), little()]);
    let kept = numbers("float32", json!(0.0), json!([1.25, 12.0, 120.0, 1280.0]));
    write(&storage, folder, &registry, &kept, "bitround.float32", round.clone())?;
    write(
        &storage,
        folder,
        &registry,
        &of("int32")?,
        "bitround.all",
        json!([codec("bitround", json!({"keepbits": 32})), little()]),
    )?;
    let square = json!([codec("reshape", json!({"shape": [2, -1]})), little()]);
    write(&storage, folder, &registry, &of("int32")?, "reshape.int32", square)?;
    for name in ["int32", "int64", "float32", "float64"] {
        let codecs = json!([codec("zfp", json!({"mode": "reversible"}))]);
        write(&storage, folder, &registry, &of(name)?, &format!("zfp.{name}"), codecs)?;
    }
    Ok(())
}

/// Writes an array of one dimension in chunks of 4, and its expected elements.
fn write(
    storage: &Storage,
    folder: &Path,
    registry: &Registry,
    t: &table::Type,
    name: &str,
    codecs: Value,
) -> Result<(), Box<dyn Error>> {
    let extension = |codec| {
        let Spec { name, configuration, .. } = Spec::try_from(&codec)?;
        let extension = Extension::new(name);
        Ok(if configuration.is_empty() { extension } else { extension.with_configuration(&configuration) })
    };
    let codecs: Vec<Extension> =
        codecs.elements().into_iter().flatten().map(extension).collect::<Result<_, CodecError>>()?;
    let metadata = ArrayMeta::builder([LENGTH as u64], t.open(registry))
        .chunks([4])
        .fill(t.fill.clone())
        .codecs(codecs)
        .build()?;
    let array = Array::create(storage.clone(), name, metadata, registry)?;
    let elements = t.elements(registry, LENGTH);
    let data_type = array.data_type().clone();
    match t.name() {
        "string" => {
            let texts: Vec<String> =
                elements.iter().map(|e| String::from_utf8(e.clone())).collect::<Result<_, _>>()?;
            array.write(.., &texts)?;
        }
        "bytes" => array.write(.., &elements)?,
        _ => {
            let mut bytes = elements.concat();
            array.write_bytes(.., bytes.clone())?;
            if cfg!(target_endian = "big") {
                data_type.swap_bytes(&mut bytes);
            }
            std::fs::write(folder.join(format!("{name}.raw")), bytes)?;
            return Ok(());
        }
    }
    let list: Vec<Value> = elements
        .into_iter()
        .map(|e| Ok(fill::write(&data_type, &FillValue::from_bytes(e))?))
        .collect::<Result<_, Box<dyn Error>>>()?;
    std::fs::write(folder.join(format!("{name}.json")), Value::from(list).to_string())?;
    Ok(())
}
