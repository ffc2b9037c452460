//! Results as a table for a terminal.

use std::fmt::Write as _;

use super::super::results::{Results, Summary};
use super::super::verdict::Direction;

impl Results {
    /// Returns a table of categories × peers: passed/all, then in brackets unsupported cases, after `~` known failures,
    /// and after `!` unknown failures.
    pub fn to_table(&self) -> String {
        let width = self.peers.iter().map(|p| p.id.len()).max().unwrap_or(0).max(19) + 2;
        let mut text = format!("{:<26}", "");
        for peer in &self.peers {
            let _ = write!(text, "{:>width$}", peer.id);
        }
        text.push('\n');
        for direction in Direction::ALL {
            let categories = self.categories();
            let mut row = |name: &str, of: &dyn Fn(&str) -> Summary| {
                let _ = write!(text, "{name:<26}");
                for peer in &self.peers {
                    let _ = write!(text, "{:>width$}", cell(of(&peer.id)));
                }
                text.push('\n');
            };
            let mut any = false;
            for (_, category) in categories.iter().filter(|(d, _)| *d == direction) {
                any = true;
                row(&format!("{} {category}", direction.name()), &|peer| {
                    self.summary(peer, |a| a.direction == direction && a.case.category == *category)
                });
            }
            if any {
                row(&format!("{}, all", direction.name()), &|peer| {
                    self.summary(peer, |asked| asked.direction == direction)
                });
            }
        }
        text + "\npassed/all (not implemented) ~known to fail !failed\n"
    }
}

fn cell(sum: Summary) -> String {
    if sum.total() == 0 {
        return "-".to_owned();
    }
    let mut text = format!("{}/{}", sum.passed, sum.total());
    if sum.not_implemented > 0 {
        let _ = write!(text, " ({})", sum.not_implemented);
    }
    if sum.known > 0 {
        let _ = write!(text, " ~{}", sum.known);
    }
    if sum.failed > 0 {
        let _ = write!(text, " !{}", sum.failed);
    }
    text
}
