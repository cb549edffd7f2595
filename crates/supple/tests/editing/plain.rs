//! The edits of single rows and smoothing, written as their definitions say, without locks, over
//! all joints of the sheet.

use super::sheet::{COLUMNS, JOINTS, ROWS};

pub type Dense = [f64; JOINTS];

pub fn normalised(row: Dense) -> Dense {
    let sum: f64 = row.iter().sum();
    row.map(|share| share / sum)
}

pub fn pruned(row: Dense, below: f64) -> Dense {
    let heaviest = row.iter().copied().fold(0.0, f64::max);
    normalised(row.map(|share| {
        if share < below && share < heaviest {
            0.0
        } else {
            share
        }
    }))
}

pub fn limited(row: Dense, most: usize) -> Dense {
    let mut order: Vec<usize> = (0..JOINTS).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
    let next = order.get(most).map_or(0.0, |&joint| row[joint]);
    // Between a fifth more than the next and as much, fading turns into taking them as they are.
    let alike = ((next / row[order[0]] - 0.8) / 0.2).clamp(0.0, 1.0);
    let mut kept = [0.0; JOINTS];
    for &joint in order.iter().take(most).filter(|&&joint| row[joint] > 0.0) {
        let faded = row[joint] - next * (next / row[joint]).powi(4);
        kept[joint] = (1.0 - alike) * faded + alike * row[joint];
    }
    normalised(kept)
}

/// A joint at a weight, the others in proportion; alone, its parent (or the root's child) takes the
/// rest.
pub fn with_weight(row: Dense, joint: usize, weight: f64) -> Dense {
    let weight = weight.clamp(0.0, 1.0);
    let others = 1.0 - row[joint];
    let mut painted = [0.0; JOINTS];
    for other in (0..JOINTS).filter(|&other| other != joint) {
        if others > 1e-9 {
            painted[other] = row[other] * (1.0 - weight) / others;
        }
    }
    if others <= 1e-9 {
        painted[if joint > 0 { joint - 1 } else { 1 }] = 1.0 - weight;
    }
    painted[joint] = weight;
    painted
}

/// One step of smoothing on the sheet by cotangents: those of the diagonals are zero, those of
/// outer edges half of those inside.
pub fn smoothed(rows: &[Dense], strength: f64) -> Vec<Dense> {
    let at = |column: usize, row: usize| rows[column * ROWS + row];
    let mut result = Vec::new();
    for column in 0..COLUMNS {
        for row in 0..ROWS {
            let across = if row == 0 || row == ROWS - 1 {
                0.5
            } else {
                1.0
            };
            let along = if column == 0 || column == COLUMNS - 1 {
                0.5
            } else {
                1.0
            };
            let mut around: Vec<(Dense, f64)> = Vec::new();
            if column > 0 {
                around.push((at(column - 1, row), across));
            }
            if column + 1 < COLUMNS {
                around.push((at(column + 1, row), across));
            }
            if row > 0 {
                around.push((at(column, row - 1), along));
            }
            if row + 1 < ROWS {
                around.push((at(column, row + 1), along));
            }
            let total: f64 = around.iter().map(|(_, weight)| weight).sum();
            result.push(std::array::from_fn(|joint| {
                let mean: f64 = around.iter().map(|(row, weight)| row[joint] * weight).sum();
                (1.0 - strength) * at(column, row)[joint] + strength * mean / total
            }));
        }
    }
    result
}
