//! Reasons of refusals.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::process::ExitCode;

pub enum Refusal {
    NotImplemented(String),
    Failed(String),
}

impl Refusal {
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::NotImplemented(_) => 89,
            Self::Failed(_) => 1,
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::NotImplemented(text) | Self::Failed(text)) = self;
        f.write_str(text.lines().next().unwrap_or("it failed"))
    }
}

impl<E: Error> From<E> for Refusal {
    fn from(error: E) -> Self {
        let text = format!("{error:#}");
        if is_lacking(&text) { Self::NotImplemented(text) } else { Self::Failed(text) }
    }
}

/// Whether zarrs lacks a registered feature. It prints `codec zfp is not supported`, also for unknown names.
fn is_lacking(text: &str) -> bool {
    let Some((before, _)) = text.split_once(" is not supported") else { return false };
    let name = before.rsplit(' ').next().unwrap_or_default();
    is_registered(name.trim_matches(['`', '"', '\'']))
}

/// Whether a name is in the registry. Only registered names count as not implemented.
fn is_registered(name: &str) -> bool {
    let registry: BTreeMap<String, Vec<String>> =
        serde_json::from_str(include_str!("../../registered.json")).unwrap_or_default();
    let short = name.strip_prefix("numcodecs.").unwrap_or(name);
    registry.values().flatten().any(|registered| registered == short) || is_raw(name) || is_numpy(name)
}

/// Strings, structs and times of format 2.
fn is_numpy(name: &str) -> bool {
    let letter = name.strip_prefix(['<', '>', '|']).and_then(|rest| rest.chars().next());
    letter.is_some_and(|letter| "SUVMmO".contains(letter))
}

fn is_raw(name: &str) -> bool {
    let bits: Option<u64> = name.strip_prefix('r').and_then(|bits| bits.parse().ok());
    bits.is_some_and(|bits| bits > 0 && bits % 8 == 0)
}
