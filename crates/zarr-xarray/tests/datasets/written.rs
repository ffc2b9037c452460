//! Datasets that this crate writes: their documents and stored elements.

use serde_json::Value;
use zarr_hierarchy::zarr_array::{
    AnyArray, Array, DataType, NdVec, Storage, block_on, standard, traits::Prefix,
};
use zarr_store::MemoryStore;
use zarr_xarray::{
    Calendar, Dataset, DateTime, Decoded, Encoding, Format, Group, NewDataset, NewVariable, Scalar, Spans,
    TimeUnit, Times,
};

use crate::datasets::rows::same;
use crate::datasets::shown::{attributes_of, equal, stored, values};
use crate::vectors::tally::{exact, json_of};

pub(crate) fn check_written(row: &Value) -> Result<(), String> {
    let storage = Storage::from(MemoryStore::new());
    block_on(async {
        let created = Dataset::create(storage.clone(), "/", new(&row["input"], row), &standard()).await;
        if is_refused(row) {
            let nothing = storage.list(&Prefix::root(), None).await.map_err(|error| format!("{error:#}"))?;
            return match created {
                Err(_) if nothing.entries.is_empty() => Ok(()),
                Err(_) => Err("the store is not as it was".to_owned()),
                Ok(_) => Err("it is written".to_owned()),
            };
        }
        let dataset = created.map_err(|error| format!("{error:#}"))?;
        if !dataset.group().is_consolidated() {
            return Err("it is not consolidated".to_owned());
        }
        documents(&storage, row).await?;
        match row.get("result") {
            Some(result) => same(&dataset, result).await,
            None => Ok(()),
        }
    })
}

pub(crate) fn is_refused(row: &Value) -> bool {
    row.get("error").is_some() || row.pointer("/ours/error").is_some()
}

/// Compares all documents and stored elements.
pub(crate) async fn documents(storage: &Storage, row: &Value) -> Result<(), String> {
    for (path, wanted) in row["documents"].as_object().unwrap() {
        if wanted["kind"] == "group" {
            let group =
                Group::open(storage.clone(), path, &standard()).await.map_err(|e| format!("{e:#}"))?;
            equal(path, "attributes", &attributes_of(&group.attributes()), &wanted["attributes"])?;
        } else {
            let array =
                Array::open(storage.clone(), path, &standard()).await.map_err(|e| format!("{e:#}"))?;
            document(&array, path, wanted, row).await?;
        }
    }
    Ok(())
}

async fn document(array: &Array, path: &str, wanted: &Value, row: &Value) -> Result<(), String> {
    let found: Value = exact(&array.metadata().to_text());
    for member in ["shape", "fill_value"] {
        equal(path, member, &found[member], &wanted[member])?;
    }
    if row["format"] == 2 {
        equal(path, "chunks", &found["chunks"], &wanted["chunks"])?;
        equal(path, "dtype", &found["dtype"], &wanted["data_type"])?;
    } else {
        document3(&found, path, wanted)?;
    }
    // The bounds of a time axis have the units of the axis, which xarray does not see to.
    let attributes = attributes_of(&array.attributes());
    if let Some(agreeing) = row.pointer("/ours/attributes_agree")
        && agreeing[1] == path
    {
        let axis = &row["documents"][agreeing[0].as_str().unwrap()]["attributes"];
        return ["units", "calendar"]
            .iter()
            .try_for_each(|name| equal(path, name, &attributes[name], &axis[name]));
    }
    // xarray spells microseconds in reference times of cftime.
    let spelled = wanted["attributes"].to_string().replace(":00.000000\"", ":00\"");
    equal(path, "attributes", &attributes, &exact(&spelled))?;
    let (dtype, elements) = stored(&array.read_any(..).await.map_err(|error| format!("{error:#}"))?);
    equal(path, "stored elements", &elements, &values(&dtype, &wanted["values"]))
}

/// Compares the members of a document of format 3.
fn document3(found: &Value, path: &str, wanted: &Value) -> Result<(), String> {
    equal(path, "data_type", &found["data_type"], &wanted["data_type"])?;
    let names = found.get("dimension_names").unwrap_or(&Value::Null);
    equal(path, "dimension_names", names, &wanted["dimension_names"])?;
    let grid = &found["chunk_grid"]["configuration"]["chunk_shape"];
    if wanted["shards"].is_null() {
        return equal(path, "chunks", grid, &wanted["chunks"]);
    }
    equal(path, "shards", grid, &wanted["shards"])?;
    equal(path, "inner chunks", &found["codecs"][0]["configuration"]["chunk_shape"], &wanted["chunks"])
}

/// The dataset of a row or of one of its steps.
pub(crate) fn new(input: &Value, row: &Value) -> NewDataset {
    let mut new = NewDataset::new();
    if row["format"] == 2 {
        new = new.format(Format::V2);
    }
    for (name, value) in input["attrs"].as_object().unwrap() {
        new = new.attribute(name, member(value));
    }
    for (name, variable) in input["coords"].as_object().unwrap() {
        new = new.coordinate(name, new_variable(variable));
    }
    for (name, variable) in input["data_vars"].as_object().unwrap() {
        new = new.variable(name, new_variable(variable));
    }
    new
}

fn member(value: &Value) -> zarr_meta::json::Value {
    json_of(value)
}

fn new_variable(variable: &Value) -> NewVariable {
    let dimensions = variable["dims"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let mut new = NewVariable::new(dimensions, elements(variable)).encoding(encoding(&variable["encoding"]));
    for (name, value) in variable["attrs"].as_object().unwrap() {
        new = new.attribute(name, member(value));
    }
    new
}

fn encoding(members: &Value) -> Encoding {
    let mut encoding = Encoding::new();
    let lengths = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|length| length.as_u64().unwrap()).collect()
    };
    for (name, value) in members.as_object().unwrap() {
        encoding = match name.as_str() {
            "dtype" if value == "S1" => encoding.texts_as_bytes(),
            "dtype" => {
                let data_type = DataType::core(value.as_str().unwrap()).unwrap();
                encoding.data_type(data_type.number().unwrap())
            }
            "scale_factor" => encoding.scale(value.as_f64().unwrap()),
            "add_offset" => encoding.offset(value.as_f64().unwrap()),
            "_FillValue" if value.is_null() => encoding.without_missing(),
            "_FillValue" => encoding.missing(Scalar::from(value.as_f64().unwrap())),
            "missing_value" => encoding.missing_value(Scalar::from(value.as_f64().unwrap())),
            "coordinates" => encoding.coordinates(value.as_str().unwrap().split(' ')),
            "units" => encoding.units(value.as_str().unwrap()),
            "calendar" => encoding.calendar(value.as_str().unwrap()),
            "chunks" => encoding.chunks(lengths(value)),
            "shards" => encoding.shards(lengths(value)),
            other => panic!("unknown key {other}"),
        };
    }
    encoding
}

/// The elements of a row.
pub(crate) fn elements(variable: &Value) -> Decoded {
    let shape: Vec<u64> = variable["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let list = variable["values"].as_array().unwrap();
    let dtype = variable["dtype"].as_str().unwrap();
    let floats = || list.iter().map(float).collect::<Vec<f64>>();
    let counts =
        || list.iter().map(|count| count.as_i64().unwrap_or(zarr_xarray::NOT_A_TIME)).collect::<Vec<_>>();
    let unit = |prefix: &str| {
        let name = dtype.strip_prefix(prefix)?.strip_suffix(']')?;
        TimeUnit::ALL.into_iter().find(|unit| unit.name() == name)
    };
    macro_rules! numbers {
        ($t:ty) => {
            NdVec::new(shape, floats().into_iter().map(|float| float as $t).collect::<Vec<_>>())
                .unwrap()
                .into()
        };
    }
    if let Some(unit) = unit("datetime64[") {
        return Decoded::Times { shape, times: Times::new(Calendar::ProlepticGregorian, unit, counts()) };
    }
    if let Some(unit) = unit("timedelta64[") {
        return Decoded::Spans { shape, spans: Spans::new(unit, counts()) };
    }
    let other = |data_type, bytes: Vec<u8>| {
        Decoded::Numbers(AnyArray::Other { data_type, shape: shape.clone(), bytes })
    };
    match dtype {
        "cftime" => {
            let calendar = Calendar::from_name(variable["calendar"].as_str().unwrap()).unwrap();
            let counts = list.iter().map(|fields| microseconds(calendar, fields)).collect();
            Decoded::Times { shape, times: Times::new(calendar, TimeUnit::Microseconds, counts) }
        }
        "bool" => {
            NdVec::new(shape, list.iter().map(|truth| truth.as_bool().unwrap()).collect()).unwrap().into()
        }
        "string" => {
            let texts = list.iter().map(|text| text.as_str().map(str::to_owned)).collect();
            Decoded::Texts(NdVec::new(shape, texts).unwrap())
        }
        bytes if bytes.starts_with("bytes") => {
            let elements =
                list.iter().map(|text| crate::datasets::store::bytes(text.as_str().unwrap())).collect();
            NdVec::new(shape, elements).unwrap().into()
        }
        "float16" => {
            let halves = floats().into_iter().flat_map(|float| half::f16::from_f64(float).to_ne_bytes());
            other(DataType::Float16, halves.collect())
        }
        "complex64" => {
            let parts = list.iter().flat_map(|pair| pair.as_array().unwrap());
            other(DataType::Complex64, parts.flat_map(|part| (float(part) as f32).to_ne_bytes()).collect())
        }
        "complex128" => {
            let parts = list.iter().flat_map(|pair| pair.as_array().unwrap());
            other(DataType::Complex128, parts.flat_map(|part| float(part).to_ne_bytes()).collect())
        }
        "int8" => numbers!(i8),
        "int16" => numbers!(i16),
        "int32" => numbers!(i32),
        "int64" => numbers!(i64),
        "uint8" => numbers!(u8),
        "float32" => numbers!(f32),
        "float64" => numbers!(f64),
        other => panic!("unknown type {other}"),
    }
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

fn microseconds(calendar: Calendar, fields: &Value) -> i64 {
    let field = |at: usize| fields[at].as_i64().unwrap();
    let small = |at: usize| u8::try_from(field(at)).unwrap();
    let nanosecond = u32::try_from(field(6) * 1000).unwrap();
    let time = DateTime::midnight(field(0), small(1), small(2)).at(small(3), small(4), small(5), nanosecond);
    i64::try_from(time.to_nanoseconds(calendar).unwrap() / 1000).unwrap()
}
