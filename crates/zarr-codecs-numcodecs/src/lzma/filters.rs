//! The filters of liblzma, as Python writes them into a configuration.

use liblzma::stream::{Error, Filters, LzmaOptions, MatchFinder, Mode};
use zarr_traits::json::{Member, Object, Value};
use zarr_traits::{CodecError, CodecResult};

use super::MEMORY;

const LZMA1: u64 = 0x4000_0000_0000_0001;
const LZMA2: u64 = 0x21;
const DELTA: u64 = 3;
const EXTREME: u64 = 1 << 31;

/// One filter.
#[derive(Debug, Clone)]
pub(super) enum Filter {
    Lzma1(Settings),
    Lzma2(Settings),
    /// Delta: the distance between values in bytes, minus one.
    Delta(u8),
    /// A filter for machine code: the identifier, and the start offset.
    Code(u64, u32),
}

/// Settings of LZMA. A decoder of raw streams needs the first four numbers.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    preset: u32,
    /// `dict_size`, `lc`, `lp`, `pb`, `nice_len`, `depth`.
    numbers: [Option<u32>; 6],
    mode: Option<Mode>,
    finder: Option<MatchFinder>,
}

impl Filter {
    /// Reads an element of the list `filters`.
    pub(super) fn parse(value: &Value) -> CodecResult<Self> {
        let wrong = || CodecError::configuration(format!("filter {value} is unknown or has a wrong member"));
        let members = &value.as_object().ok_or_else(wrong)?;
        let id = members.get("id").and_then(|id| id.as_u64()).ok_or_else(wrong)?;
        let (known, parsed): (&[&str], _) = match id {
            LZMA1 => (&Settings::MEMBERS, Settings::parse(members).map(Self::Lzma1)),
            LZMA2 => (&Settings::MEMBERS, Settings::parse(members).map(Self::Lzma2)),
            DELTA => {
                let distance = number(members, "dist", 1..=256).map(|dist| dist.unwrap_or(1) - 1);
                (&["dist"], distance.and_then(|less| u8::try_from(less).ok()).map(Self::Delta))
            }
            4..=11 => {
                let start = number(members, "start_offset", 0..=u32::MAX).map(Option::unwrap_or_default);
                (&["start_offset"], start.map(|start| Self::Code(id, start)))
            }
            _ => (&[], None),
        };
        // an unknown member may change the meaning of raw bytes
        let strange =
            members.members().map(Member::name_lossy).any(|key| key != "id" && !known.contains(&&*key));
        parsed.filter(|_| !strange).ok_or_else(wrong)
    }

    pub(super) fn is_lzma(&self) -> bool {
        matches!(self, Self::Lzma1(_) | Self::Lzma2(_))
    }

    pub(super) fn is_lzma1(&self) -> bool {
        matches!(self, Self::Lzma1(_))
    }
}

impl Settings {
    const MEMBERS: [&str; 9] = ["preset", "dict_size", "lc", "lp", "pb", "nice_len", "depth", "mode", "mf"];

    fn parse(members: &Object) -> Option<Self> {
        // a raw stream does not contain the dictionary size, so the size is limited here
        let numbers = [
            number(members, "dict_size", 1 << 12..=MEMORY)?,
            number(members, "lc", 0..=4)?,
            number(members, "lp", 0..=4)?,
            number(members, "pb", 0..=4)?,
            number(members, "nice_len", 2..=273)?,
            number(members, "depth", 0..=u32::MAX)?,
        ];
        let mode = match number(members, "mode", 1..=2)? {
            None => None,
            Some(1) => Some(Mode::Fast),
            Some(_) => Some(Mode::Normal),
        };
        let finder = match number(members, "mf", 0..=u32::MAX)? {
            None => None,
            Some(0x03) => Some(MatchFinder::HashChain3),
            Some(0x04) => Some(MatchFinder::HashChain4),
            Some(0x12) => Some(MatchFinder::BinaryTree2),
            Some(0x13) => Some(MatchFinder::BinaryTree3),
            Some(0x14) => Some(MatchFinder::BinaryTree4),
            Some(_) => return None,
        };
        Some(Self { preset: preset(members.get("preset").as_ref())?, numbers, mode, finder })
    }

    pub(super) fn options(&self) -> Result<LzmaOptions, Error> {
        let mut options = LzmaOptions::new_preset(self.preset)?;
        let [dict_size, lc, lp, pb, nice_len, depth] = self.numbers;
        if let Some(n) = dict_size {
            options.dict_size(n);
        }
        if let Some(n) = lc {
            options.literal_context_bits(n);
        }
        if let Some(n) = lp {
            options.literal_position_bits(n);
        }
        if let Some(n) = pb {
            options.position_bits(n);
        }
        if let Some(n) = nice_len {
            options.nice_len(n);
        }
        if let Some(n) = depth {
            options.depth(n);
        }
        if let Some(mode) = self.mode {
            options.mode(mode);
        }
        if let Some(finder) = self.finder {
            options.match_finder(finder);
        }
        Ok(options)
    }
}

/// Returns a chain for liblzma. It contains pointers, so each stream needs its own.
pub(super) fn chain(filters: &[Filter]) -> Result<Filters, Error> {
    let mut chain = Filters::new();
    for filter in filters {
        match filter {
            Filter::Lzma1(settings) => chain.lzma1(&settings.options()?),
            Filter::Lzma2(settings) => chain.lzma2(&settings.options()?),
            Filter::Delta(less) => chain.delta_properties(&[*less])?,
            Filter::Code(id, 0) => code(&mut chain, *id, &[])?,
            Filter::Code(id, start) => code(&mut chain, *id, &start.to_le_bytes())?,
        };
    }
    Ok(chain)
}

fn code<'a>(chain: &'a mut Filters, id: u64, properties: &[u8]) -> Result<&'a mut Filters, Error> {
    match id {
        4 => chain.x86_properties(properties),
        5 => chain.powerpc_properties(properties),
        6 => chain.ia64_properties(properties),
        7 => chain.arm_properties(properties),
        8 => chain.arm_thumb_properties(properties),
        9 => chain.sparc_properties(properties),
        10 => chain.arm64_properties(properties),
        _ => chain.riscv_properties(properties),
    }
}

/// Returns the preset, 6 by default.
pub(super) fn preset(value: Option<&Value>) -> Option<u32> {
    let preset = value.map_or(Some(6), Value::as_u64)?;
    (preset & !EXTREME <= 9).then(|| u32::try_from(preset).ok()).flatten()
}

/// Reads an optional number of a filter. Returns `None` if it is out of range.
fn number(members: &Object, name: &str, range: std::ops::RangeInclusive<u32>) -> Option<Option<u32>> {
    let Some(value) = members.get(name) else { return Some(None) };
    let number = u32::try_from(value.as_u64()?).ok()?;
    range.contains(&number).then_some(Some(number))
}
