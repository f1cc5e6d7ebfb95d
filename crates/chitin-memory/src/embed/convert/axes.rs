//! The directions in which the vectors of texts lie, the strongest first.
//!
//! Texts are not at hand, so they are guessed: a word occurs as often as its rank says. The strongest direction is then what all
//! texts share; leaving the weakest out makes vectors smaller at little cost.

/// How often all pairs are turned at most. Six or seven times are enough for any matrix of this size.
const SWEEPS: usize = 12;

/// What two directions may have to do with each other, as a part of everything.
const NEGLIGIBLE: f64 = 1e-13;

/// A row or a column of a square matrix.
type Line = Vec<f64>;

/// The sum of the products of all pairs of numbers of some vectors.
pub(super) struct Moments(Vec<Line>);

impl Moments {
    pub(super) fn new(dimensions: usize) -> Self {
        Self(vec![vec![0.0; dimensions]; dimensions])
    }

    /// Adds a vector, as many times as it occurs.
    pub(super) fn add(&mut self, vector: &[f32], times: f64) {
        for (row, line) in self.0.iter_mut().enumerate() {
            let factor = times * vector.get(row).copied().map_or(0.0, f64::from);
            for (cell, number) in line.iter_mut().zip(vector) {
                *cell += factor * f64::from(*number);
            }
        }
    }

    /// Returns the directions, the strongest first, each of length 1, found by Jacobi's rotations.
    pub(super) fn axes(self) -> Vec<Line> {
        let mut matrix = self.0;
        let size = matrix.len();
        let mut axes = vec![vec![0.0; size]; size];
        for (at, axis) in axes.iter_mut().enumerate() {
            axis[at] = 1.0;
        }
        let scale: f64 = (0..size).map(|at| matrix[at][at]).sum();
        for _ in 0..SWEEPS {
            let mut turned = false;
            for p in 0..size {
                for q in p + 1..size {
                    if matrix[p][q].abs() > scale * NEGLIGIBLE {
                        rotate(&mut matrix, &mut axes, p, q);
                        turned = true;
                    }
                }
            }
            if !turned {
                break;
            }
        }
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|a, b| matrix[*b][*b].total_cmp(&matrix[*a][*a]));
        order
            .into_iter()
            .map(|at| std::mem::take(&mut axes[at]))
            .collect()
    }
}

/// Turns two directions so that they have nothing to do with each other.
fn rotate(matrix: &mut [Line], axes: &mut [Line], p: usize, q: usize) {
    let half = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
    let tangent = half.signum() / (half.abs() + (half * half + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    let turn = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
    for line in matrix.iter_mut() {
        (line[p], line[q]) = turn(line[p], line[q]);
    }
    for lines in [matrix, axes] {
        let (before, after) = lines.split_at_mut(q);
        for (a, b) in before[p].iter_mut().zip(&mut after[0]) {
            (*a, *b) = turn(*a, *b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_direction_is_where_the_vectors_lie() {
        let mut moments = Moments::new(3);
        for vector in [[3.0, 4.0, 0.0], [6.0, 8.0, 0.1], [-3.0, -4.0, 0.1]] {
            moments.add(&vector, 1.0);
        }
        let axes = moments.axes();
        let first: Vec<f64> = axes[0].iter().map(|number| number.abs()).collect();
        assert!(
            (first[0] - 0.6).abs() < 0.01 && (first[1] - 0.8).abs() < 0.01,
            "{first:?}"
        );
        for (at, axis) in axes.iter().enumerate() {
            for (other, line) in axes.iter().enumerate() {
                let product: f64 = axis.iter().zip(line).map(|(a, b)| a * b).sum();
                let expected = if at == other { 1.0 } else { 0.0 };
                assert!((product - expected).abs() < 1e-9, "{at} {other} {product}");
            }
        }
    }
}
