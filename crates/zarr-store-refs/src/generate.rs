//! References that a file describes by rules instead of naming each.

use std::collections::HashMap;

use zarr_json::Value as Json;
use zarr_traits::{StoreError, StoreErrorKind, StoreResult};

use crate::error::corrupt;
use crate::expression::Value;
use crate::table::Builder;
use crate::template::Scope;

/// Adds the references of one rule: its templates for each combination of its dimensions.
pub(crate) fn add(rule: &Json, templates: &HashMap<String, String>, table: &mut Builder) -> StoreResult<()> {
    let text = |name: &str| -> StoreResult<Option<String>> {
        match rule.get(name) {
            None => Ok(None),
            Some(value) => match (value.as_text(), value.as_integer()) {
                (Some(text), _) => Ok(Some(text)),
                (None, Some(number)) => Ok(Some(number.to_string())),
                _ => Err(corrupt(format!("{name:?} of a member of \"gen\" must be text"))),
            },
        }
    };
    let needed =
        |name: &str| text(name)?.ok_or_else(|| corrupt(format!("a member of \"gen\" has no {name:?}")));
    let (key, url) = (needed("key")?, needed("url")?);
    let range = match (text("offset")?, text("length")?) {
        (Some(offset), Some(length)) => Some((offset, length)),
        (None, None) => None,
        _ => return Err(corrupt("a member of \"gen\" has only one of \"offset\" and \"length\"".to_owned())),
    };
    let dimensions = rule
        .get("dimensions")
        .and_then(|dimensions| dimensions.as_object())
        .ok_or_else(|| corrupt("\"dimensions\" of a member of \"gen\" must be an object".to_owned()))?;
    let dimensions = dimensions
        .distinct()
        .into_iter()
        .map(|member| Ok((member.name_lossy().into_owned(), Dimension::read(&member.value(), table.left())?)))
        .collect::<StoreResult<Vec<_>>>()?;
    let lengths: Vec<usize> = dimensions.iter().map(|(_, dimension)| dimension.len()).collect();
    let count = lengths.iter().try_fold(1_usize, |count, len| count.checked_mul(*len));
    let Some(count) = count.filter(|count| *count <= table.left()) else {
        let message = "a member of \"gen\" makes more references than accepted";
        return Err(StoreError::new(StoreErrorKind::LimitExceeded, message));
    };
    for number in 0..count {
        let mut left = number;
        let mut own: Vec<(String, Value)> = Vec::with_capacity(dimensions.len());
        for ((name, dimension), len) in dimensions.iter().zip(&lengths).rev() {
            own.push((name.clone(), dimension.value(left % len)));
            left /= len;
        }
        let scope = Scope::new(templates, &own);
        let expand = |template: &str| scope.expand(template).map_err(corrupt);
        let number = |template: &str| {
            let text = expand(template)?;
            text.trim().parse().map_err(|_| corrupt(format!("{text:.200?} is not an offset or a length")))
        };
        let range = match &range {
            Some((offset, length)) => Some((number(offset)?, number(length)?)),
            None => None,
        };
        let (key, url) = (expand(&key)?, expand(&url)?);
        table.target(&key, &url, range)?;
    }
    Ok(())
}

/// The values of a dimension.
enum Dimension {
    List(Vec<Value>),
    Steps { start: i128, step: i128, len: usize },
}

impl Dimension {
    fn read(value: &Json, most: usize) -> StoreResult<Self> {
        let wrong =
            || corrupt("a dimension must be a list, or have \"start\", \"stop\" and \"step\"".to_owned());
        if let Some(elements) = value.elements() {
            let mut list = Vec::new();
            for element in elements.take(most.saturating_add(1)) {
                let value =
                    element.as_integer().map(Value::Integer).or_else(|| element.as_text().map(Value::Text));
                list.push(value.ok_or_else(wrong)?);
            }
            return Ok(Self::List(list));
        }
        let members = value.as_object().ok_or_else(wrong)?;
        let integer = |name: &str, default: Option<i128>| match members.get(name) {
            None => default.ok_or_else(wrong),
            Some(value) => value.as_integer().filter(|n| n.unsigned_abs() < 1 << 100).ok_or_else(wrong),
        };
        let (start, stop, step) =
            (integer("start", Some(0))?, integer("stop", None)?, integer("step", Some(1))?);
        let len = match step {
            0 => return Err(wrong()),
            1.. => (stop - start + step - 1) / step,
            _ => (start - stop - step - 1) / -step,
        };
        Ok(Self::Steps { start, step, len: usize::try_from(len.max(0)).unwrap_or(usize::MAX) })
    }

    fn len(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Steps { len, .. } => *len,
        }
    }

    fn value(&self, index: usize) -> Value {
        match self {
            Self::List(list) => list[index].clone(),
            Self::Steps { start, step, .. } => Value::Integer(start + step * index as i128),
        }
    }
}
