//! Writes nested JSON lists element by element.

/// The brackets around elements of a shape. The last dimension is written on one line.
#[derive(Debug)]
pub(crate) struct Nested {
    shape: Vec<u64>,
    index: Vec<u64>,
    started: bool,
    /// Whether the leaves are empty lists, because a dimension has length 0. `shape` then ends before that dimension.
    hollow: bool,
}

impl Nested {
    pub(crate) fn new(shape: &[u64]) -> Self {
        let depth = shape.iter().position(|n| *n == 0);
        let shape = shape[..depth.unwrap_or(shape.len())].to_vec();
        Self { index: vec![0; shape.len()], shape, started: false, hollow: depth.is_some() }
    }

    /// Returns the number of empty lists that are leaves.
    pub(crate) fn hollow(&self) -> u128 {
        if self.hollow { self.shape.iter().fold(1, |n, len| n.saturating_mul(u128::from(*len))) } else { 0 }
    }

    /// Writes the separators in front of the next leaf.
    pub(crate) fn before(&mut self, out: &mut Vec<u8>) {
        let rank = self.shape.len();
        if !self.started {
            self.started = true;
            out.resize(out.len() + rank, b'[');
            return;
        }
        let mut dim = rank;
        while dim > 0 {
            dim -= 1;
            self.index[dim] += 1;
            if self.index[dim] < self.shape[dim] {
                break;
            }
            self.index[dim] = 0;
        }
        let closed = rank - 1 - dim;
        out.resize(out.len() + closed, b']');
        out.push(b',');
        if closed > 0 {
            out.push(b'\n');
            out.resize(out.len() + dim + 1, b' ');
            out.resize(out.len() + closed, b'[');
        }
    }

    /// Writes the brackets behind the last leaf.
    pub(crate) fn end(&self, out: &mut Vec<u8>) {
        out.resize(out.len() + self.shape.len(), b']');
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(shape: &[u64]) -> String {
        let mut nested = Nested::new(shape);
        let mut out = Vec::new();
        let leaves: u64 = shape.iter().product();
        for i in 0..leaves {
            nested.before(&mut out);
            out.extend(i.to_string().bytes());
        }
        for _ in 0..nested.hollow() {
            nested.before(&mut out);
            out.extend(b"[]");
        }
        nested.end(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn brackets_follow_the_shape() {
        assert_eq!(written(&[]), "0\n");
        assert_eq!(written(&[3]), "[0,1,2]\n");
        assert_eq!(written(&[2, 2]), "[[0,1],\n [2,3]]\n");
        assert_eq!(written(&[2, 1, 2]), "[[[0,1]],\n [[2,3]]]\n");
        assert_eq!(written(&[2, 2, 1]), "[[[0],\n  [1]],\n [[2],\n  [3]]]\n");
    }

    #[test]
    fn empty_dimensions_leave_empty_lists() {
        assert_eq!(written(&[0]), "[]\n");
        assert_eq!(written(&[0, 3]), "[]\n");
        assert_eq!(written(&[2, 0]), "[[],[]]\n");
        assert_eq!(written(&[2, 2, 0, 5]), "[[[],[]],\n [[],[]]]\n");
    }
}
