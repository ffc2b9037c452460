//! SQL over a labelled dataset in Zarr: two days are selected by their labels, and DataFusion computes means.

use std::error::Error;

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use zarr_store::MemoryStore;
use zarr_xarray::zarr_array::{NdVec, Storage, standard};
use zarr_xarray::{Calendar, Dataset, Group, Labels, NewDataset, NewVariable, TimeUnit, Times};

const DAY: i64 = 86_400;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let storage = Storage::from(MemoryStore::new());
    create(storage.clone()).await?;

    let dataset = Dataset::open(Group::open(storage, "/", &standard()).await?).await?;
    let days = dataset.sel([("time", Labels::between("2024-06-02", "2024-06-03"))]).await?;
    let table = days.read_table(["t2m"]).await?;

    let session = SessionContext::new();
    session.register_batch("weather", zarr_arrow::arrow_59::record_batch(&table)?)?;
    let sql =
        "SELECT station, count(t2m) AS days, avg(t2m) AS mean FROM weather GROUP BY station ORDER BY station";
    println!("{}", pretty_format_batches(&session.sql(sql).await?.collect().await?)?);
    Ok(())
}

/// Creates a dataset of temperatures of four days at two stations. One temperature is missing.
async fn create(storage: Storage) -> Result<(), Box<dyn Error>> {
    let first = 19_875 * DAY; // 2024-06-01
    let times =
        Times::new(Calendar::Standard, TimeUnit::Seconds, (0..4).map(|day| first + day * DAY).collect());
    let t2m = NdVec::new([4, 2], vec![10.0, 20.0, 11.0, 21.0, 13.0, f64::NAN, 99.0, 99.0])?;
    let new = NewDataset::new()
        .coordinate("time", NewVariable::new(["time"], times))
        .coordinate("station", NewVariable::new(["station"], vec!["Oslo".to_owned(), "Quito".to_owned()]))
        .variable("t2m", NewVariable::new(["time", "station"], t2m));
    Dataset::create(storage, "/", new, &standard()).await?;
    Ok(())
}
