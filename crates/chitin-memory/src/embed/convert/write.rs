//! The words that were kept, as the bytes of a table.

use super::super::layout::header;
use super::axes::Moments;
use super::kept::Kept;
use super::{Common, ConvertError, Converted, TableOptions, frequency, weight};
use sha2::{Digest, Sha256};
use std::io::Write;

/// The largest number of a row.
const LARGEST: f32 = 127.0;

pub(super) fn write(
    kept: &Kept,
    options: &TableOptions,
    out: &mut dyn Write,
) -> Result<Converted, ConvertError> {
    let all = kept.in_order();
    let source = kept.dimensions();
    let dimensions = options.dimensions.min(source);
    let (common, axes) = directions(&all, source, dimensions, options);

    let mut out = Summed {
        out,
        sum: Sha256::new(),
        bytes: 0,
    };
    let blob: usize = all.iter().map(|(word, ..)| word.len()).sum();
    let sizes = [
        dimensions,
        all.len(),
        blob,
        options.name.len(),
        options.origin.len(),
    ];
    let sizes = sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    out.put(&header(sizes))?;
    out.put(options.name.as_bytes())?;
    out.put(options.origin.as_bytes())?;
    for number in &common {
        out.put(&number.to_le_bytes())?;
    }
    let mut offset = 0_u32;
    out.put(&offset.to_le_bytes())?;
    for (word, ..) in &all {
        offset = offset.saturating_add(u32::try_from(word.len()).unwrap_or(u32::MAX));
        out.put(&offset.to_le_bytes())?;
    }
    for (word, ..) in &all {
        out.put(word.as_bytes())?;
    }
    // Rows are turned and rounded one at a time, once for their scales and once for themselves: they are never all held twice.
    let mut turned = vec![0.0; dimensions];
    for (.., row) in &all {
        turn(row, axes.as_deref(), &mut turned);
        out.put(&scale(&turned).to_le_bytes())?;
    }
    for (_, rank, _) in &all {
        let weight = single(weight(*rank, options.weighting));
        out.put(&weight.to_le_bytes())?;
    }
    let mut bytes = vec![0; dimensions];
    for (.., row) in &all {
        turn(row, axes.as_deref(), &mut turned);
        let scale = scale(&turned);
        for (byte, number) in bytes.iter_mut().zip(&turned) {
            *byte = rounded(number / scale).cast_unsigned();
        }
        out.put(&bytes)?;
    }
    out.finish(all.len(), dimensions)
}

/// Returns the direction that all texts share, and the directions to turn to when vectors become shorter.
fn directions(
    all: &[(&str, u32, &[f32])],
    source: usize,
    dimensions: usize,
    options: &TableOptions,
) -> (Vec<f32>, Option<Vec<Vec<f64>>>) {
    let mut moments = Moments::new(source);
    for (_, rank, row) in all {
        moments.add(row, frequency(*rank) * weight(*rank, options.weighting));
    }
    let mut axes = moments.axes();
    axes.truncate(dimensions);
    let shortened = dimensions < source;
    let common = match (options.common, shortened) {
        (Common::Kept, _) => vec![0.0; dimensions],
        // After the turn, the strongest direction is the first number.
        (Common::Removed, true) => (0..dimensions)
            .map(|at| if at == 0 { 1.0 } else { 0.0 })
            .collect(),
        (Common::Removed, false) => axes[0].iter().map(|number| single(*number)).collect(),
    };
    (common, shortened.then_some(axes))
}

/// Turns a row to the axes, if there are any.
fn turn(row: &[f32], axes: Option<&[Vec<f64>]>, turned: &mut [f32]) {
    let Some(axes) = axes else {
        turned.copy_from_slice(row);
        return;
    };
    for (number, axis) in turned.iter_mut().zip(axes) {
        let sum: f64 = row.iter().zip(axis).map(|(a, b)| f64::from(*a) * b).sum();
        *number = single(sum);
    }
}

/// Returns what one step of a row's small numbers stands for.
fn scale(row: &[f32]) -> f32 {
    let largest = row
        .iter()
        .fold(0.0_f32, |most, number| most.max(number.abs()));
    // A row of zeros has any scale.
    if largest > 0.0 {
        largest / LARGEST
    } else {
        1.0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it is between -127 and 127"
)]
fn rounded(number: f32) -> i8 {
    number.round().clamp(-LARGEST, LARGEST) as i8
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "numbers are reckoned in double precision and kept in single"
)]
const fn single(number: f64) -> f32 {
    number as f32
}

/// Where the bytes go, with their checksum.
struct Summed<'o> {
    out: &'o mut dyn Write,
    sum: Sha256,
    bytes: u64,
}

impl Summed<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), ConvertError> {
        self.sum.update(bytes);
        self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(self.out.write_all(bytes)?)
    }

    fn finish(self, words: usize, dimensions: usize) -> Result<Converted, ConvertError> {
        let sum = self.sum.finalize();
        self.out.write_all(&sum)?;
        self.out.flush()?;
        Ok(Converted {
            words,
            dimensions,
            bytes: self.bytes + u64::try_from(sum.len()).unwrap_or_default(),
        })
    }
}
