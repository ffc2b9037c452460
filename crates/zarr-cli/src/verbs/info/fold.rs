//! The children of a group, with long runs of arrays alike in one line.

use crate::listed::Listed;
use crate::out::number::grouped;
use crate::out::table::Table;

/// The largest number of children alike that have a line each.
const FEW: usize = 5;

/// A run of children that differ only in their names.
#[derive(Debug)]
struct Run {
    /// The names of the first ones.
    first: Vec<String>,
    last: String,
    count: usize,
    /// The cells of a line without the name: kind or type, shape, dimensions, problem.
    cells: [String; 4],
}

/// The children of a group, in their order.
#[derive(Debug, Default)]
pub(super) struct Folded {
    runs: Vec<Run>,
    pub(super) arrays: usize,
    pub(super) groups: usize,
    pub(super) broken: usize,
}

impl Folded {
    pub(super) fn add(&mut self, name: &str, child: &Listed) {
        *match child.kind {
            "array" => &mut self.arrays,
            "group" => &mut self.groups,
            _ => &mut self.broken,
        } += 1;
        let problem = child.problem.clone().unwrap_or_default();
        let cells = match &child.array {
            None => [child.kind().to_owned(), String::new(), String::new(), problem],
            Some(array) => {
                let names = array.dimension_names();
                let names = match names.matches(',').count() {
                    _ if names.is_empty() => names,
                    0 => format!("dimension {names}"),
                    _ => format!("dimensions {names}"),
                };
                [array.data_type(), array.shape(), names, problem]
            }
        };
        match self.runs.last_mut().filter(|run| run.cells == cells) {
            Some(run) => {
                run.count += 1;
                if run.first.len() < FEW {
                    run.first.push(name.to_owned());
                }
                name.clone_into(&mut run.last);
            }
            None => {
                let (first, last) = (vec![name.to_owned()], name.to_owned());
                self.runs.push(Run { first, last, count: 1, cells });
            }
        }
    }

    /// Returns the number of children by kind: `5,000 arrays, 1 group`; empty without children.
    pub(super) fn counts(&self) -> String {
        let of = |count: usize, what: &str| {
            let ending = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{} {what}{ending}", grouped(count as u64)))
        };
        let unreadable = (self.broken > 0).then(|| format!("{} unreadable", grouped(self.broken as u64)));
        let parts = [of(self.arrays, "array"), of(self.groups, "group"), unreadable];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns a line for each child, and one for each long run.
    pub(super) fn to_text(&self, indent: &str) -> String {
        let mut table = Table::default();
        for Run { first, last, count, cells } in &self.runs {
            let [kind, shape, names, problem] = cells;
            if *count > FEW {
                let (all, alike) =
                    (format!("{} … {last}", first[0]), format!("({} alike)", grouped(*count as u64)));
                table.row([&all, kind, shape, names, &alike, problem]);
            } else {
                for name in first {
                    table.row([name, kind, shape, names, "", problem]);
                }
            }
        }
        table.to_text(indent)
    }
}
