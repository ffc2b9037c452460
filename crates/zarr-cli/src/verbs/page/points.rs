//! The observations of AnnData as points: where an embedding puts them, and a column that colours them.

use std::collections::BTreeSet;

use zarr_array::DataType;
use zarr_array::blocking::Array;
use zarr_array::meta::NodeMeta;
use zarr_array::meta::json::{Object, Value};
use zarr_hierarchy::ChildState;

use super::pack::pack;
use super::plane::{afford, decoded_lengths};
use crate::args::target::Target;
use crate::exit::{Exit, Failure};
use crate::frame::{Column, texts};
use crate::out::json;
use crate::pick::{Pick, selection};
use crate::scene::numbers;
use crate::visit::Source;
use crate::walk::walk;

/// Embeddings that come before others, and that are looked for where nodes cannot be listed.
const KNOWN: [&str; 4] = ["X_umap", "X_tsne", "spatial", "X_pca"];

/// The largest number of categories that colours are for.
const CATEGORIES: u64 = 256;

/// Returns the first two columns of an embedding of a group of AnnData, and the names of all embeddings and of the columns of
/// observations. Of more than `most` observations it takes every n-th one. By default the embedding is the first.
pub(crate) fn points(group: &Target, of: Option<&str>, most: u64) -> Result<Object, Failure> {
    let names = embeddings(group);
    let wanted = match of {
        Some(of) => names.iter().find(|name| *name == of),
        None => names.first(),
    };
    let Some(name) = wanted else {
        let reason =
            of.map_or_else(|| "no embedding in obsm".to_owned(), |of| format!("no embedding {of:?}"));
        return Ok(json::document([("kind", "none".into()), ("reason", reason.into())]));
    };
    let array = below(group, &format!("obsm/{name}")).array()?;
    let &[rows, columns] = array.shape() else {
        return Err(Failure::unsupported(format!("the embedding {name:?} does not have two dimensions")));
    };
    let lengths = decoded_lengths(&array);
    let across = 2_u64.min(columns).div_ceil(lengths[1].max(1));
    let chunks = u128::from(rows.div_ceil(lengths[0].max(1))) * u128::from(across);
    afford(&array, chunks, "the embedding has")?;
    let pick = sampled(rows, most);
    let side = |column| numbers(&array, selection([pick.clone(), Pick::range(column..column + 1)]));
    let (x, y) = (side(0)?, side(1)?);
    let columns = columns_of(group);
    Ok(json::document([
        ("kind", "points".into()),
        ("names", names.iter().map(String::as_str).collect()),
        ("columns", columns.into_iter().collect()),
        ("of", name.as_str().into()),
        ("rows", rows.into()),
        ("step", step(rows, most).into()),
        ("x", pack(&x, true).into()),
        ("y", pack(&y, true).into()),
    ]))
}

/// Returns a column of the observations of a group of AnnData, at the rows that [`points`] takes: as numbers, or as numbers of
/// categories with their words.
pub(crate) fn column(group: &Target, by: &str, most: u64) -> Result<Object, Failure> {
    if !columns_of(group).iter().any(|name| name == by) {
        return Err(Failure::new(Exit::NotFound, format!("the observations have no column {by:?}")));
    }
    let column = Column::open(&below(group, "obs"), by, CATEGORIES)?;
    let rows = column
        .length()
        .ok_or_else(|| Failure::unsupported(format!("the column {by:?} does not have one dimension")))?;
    let pick = sampled(rows, most);
    let check = |array: &Array| {
        let lengths = decoded_lengths(array);
        let chunks = rows.div_ceil(lengths.first().copied().unwrap_or(1).max(1));
        afford(array, chunks.into(), "the column has")
    };
    let read = |array: &Array| {
        check(array)?;
        numbers(array, selection([pick.clone()]))
    };
    let (values, words) = match &column {
        Column::Plain(array) if *array.data_type() == DataType::Bool => {
            (read(array)?, Some(vec!["false".to_owned(), "true".to_owned()]))
        }
        Column::Plain(array) if *array.data_type() == DataType::String => {
            check(array)?;
            let (values, words) = categories(by, &texts(array, &pick)?)?;
            (values, Some(words))
        }
        Column::Plain(array) => (read(array)?, None),
        Column::Categorical(codes, words) => {
            let known = |code: f64| if code < 0.0 { f64::NAN } else { code };
            let words = words.iter().map(|word| String::from_utf8_lossy(word).into_owned());
            (read(codes)?.into_iter().map(known).collect(), Some(words.collect()))
        }
        Column::Nullable(values, mask) => {
            let known = |(value, missing): (f64, f64)| if missing == 0.0 { value } else { f64::NAN };
            (read(values)?.into_iter().zip(read(mask)?).map(known).collect(), None)
        }
    };
    let colours = words.as_ref().and_then(|words| colours(group, by, words.len()));
    Ok(json::document([
        ("kind", "column".into()),
        ("by", by.into()),
        ("rows", rows.into()),
        ("values", pack(&values, false).into()),
        ("words", words.map(|words| words.into_iter().collect::<Value>()).into()),
        ("colours", colours.map(|colours| colours.into_iter().collect::<Value>()).into()),
    ]))
}

/// Returns the names of the arrays in `obsm` that have two dimensions and two columns at least.
fn embeddings(group: &Target) -> Vec<String> {
    let is_embedding = |node: &NodeMeta| match node {
        NodeMeta::Array(meta) => matches!(meta.shape(), [_, columns] if *columns >= 2),
        NodeMeta::Group(_) => false,
    };
    let obsm = below(group, "obsm");
    let listed = obsm.lists().then(|| walk(&obsm, Source::default(), 1).ok()).flatten();
    let Some(listed) = listed else {
        let is_there = |name: &&str| below(&obsm, name).node().is_ok_and(|(node, _)| is_embedding(&node));
        return KNOWN.into_iter().filter(is_there).map(str::to_owned).collect();
    };
    let mut names: Vec<String> = listed
        .filter(|visit| matches!(&visit.found, ChildState::Node(node) if is_embedding(node)))
        .filter_map(|visit| Some(visit.path().rsplit_once('/')?.1.to_owned()))
        .filter(|name| !name.starts_with('.'))
        .collect();
    let rank = |name: &String| KNOWN.iter().position(|known| known == name).unwrap_or(KNOWN.len());
    names.sort_by(|one, other| (rank(one), one).cmp(&(rank(other), other)));
    names
}

/// Returns the names of the columns of the observations, in their order.
fn columns_of(group: &Target) -> Vec<String> {
    let Ok((NodeMeta::Group(meta), _)) = below(group, "obs").node() else { return Vec::new() };
    let order = meta.attributes().get("column-order");
    order.iter().flat_map(Value::elements).flatten().filter_map(|name| name.as_text()).collect()
}

/// Returns the colours that `uns` has for the categories of a column, if there is one for each.
fn colours(group: &Target, by: &str, count: usize) -> Option<Vec<String>> {
    let array = below(group, &format!("uns/{by}_colors")).array().ok()?;
    let &[length] = array.shape() else { return None };
    if length < count as u64 || length > CATEGORIES || *array.data_type() != DataType::String {
        return None;
    }
    let colours = texts(&array, &Pick::range(0..count as u64)).ok()?;
    colours.into_iter().map(|colour| String::from_utf8(colour).ok()).collect()
}

/// Returns texts as numbers of categories, and the categories in the order of the alphabet.
fn categories(by: &str, texts: &[Vec<u8>]) -> Result<(Vec<f64>, Vec<String>), Failure> {
    let mut words = BTreeSet::new();
    for text in texts {
        words.insert(text.clone());
        if words.len() as u64 > CATEGORIES {
            let message = format!("the column {by:?} has more than {CATEGORIES} different texts");
            return Err(Failure::new(Exit::LimitExceeded, message));
        }
    }
    let words: Vec<Vec<u8>> = words.into_iter().collect();
    let values = texts.iter().map(|text| words.binary_search(text).map_or(f64::NAN, |at| at as f64));
    Ok((values.collect(), words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect()))
}

/// Returns the distance of the rows that are taken of so many.
fn step(rows: u64, most: u64) -> u64 {
    rows.div_ceil(most.max(1)).max(1)
}

/// Returns the rows that are taken of so many: all, or every n-th one.
fn sampled(rows: u64, most: u64) -> Pick {
    let step = step(rows, most);
    Pick::steps(0, rows.div_ceil(step), step.into())
}

/// Returns a node below a group.
fn below(group: &Target, path: &str) -> Target {
    group.at_path(&format!("{}/{path}", group.path.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_the_limit_are_taken_at_equal_distances() {
        for (rows, most, wanted) in [
            (0, 3, vec![]),
            (3, 3, vec![0, 1, 2]),
            (4, 3, vec![0, 2]),
            (10, 3, vec![0, 4, 8]),
            (u64::MAX, 1, vec![0]),
        ] {
            let pick = sampled(rows, most);
            let taken: Vec<u64> = (0..pick.count).map(|i| pick.position(i)).collect();
            assert_eq!(taken, wanted, "{rows} rows, {most} at most");
        }
    }

    #[test]
    fn texts_become_categories_unless_they_are_too_many() {
        let texts = ["b", "a", "b"].map(|text| text.as_bytes().to_vec());
        let (values, words) = categories("kind", &texts).unwrap();
        assert_eq!((values, words), (vec![1.0, 0.0, 1.0], vec!["a".to_owned(), "b".to_owned()]));
        let many: Vec<Vec<u8>> = (0..=CATEGORIES).map(|i| i.to_string().into_bytes()).collect();
        assert_eq!(categories("name", &many).unwrap_err().exit(), Exit::LimitExceeded);
    }
}
