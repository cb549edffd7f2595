//! The weights of one point while they are being edited: joints with shares, the joints rising, the
//! shares summing to one.

use crate::merging::merge_by_key;

/// The shares of a point's joints.
pub(super) type Row = Vec<(u16, f64)>;

/// A joint's share.
pub(super) fn share_of(row: &Row, joint: u16) -> f64 {
    let found = row.binary_search_by_key(&joint, |&(joint, _)| joint);
    found.map_or(0.0, |at| row[at].1)
}

/// `Σ factor · row` of some rows.
pub(super) fn blend<'a>(parts: impl IntoIterator<Item = (&'a Row, f64)>) -> Row {
    let mut sum = Row::new();
    for (row, factor) in parts {
        let scaled = row.iter().map(|&(joint, share)| (joint, factor * share));
        sum.extend(scaled);
    }
    merged(sum)
}

/// Shares in any order, a joint possibly more than once, as a row.
pub(super) fn merged(mut row: Row) -> Row {
    merge_by_key(&mut row, |entry| entry.0, |kept, next| kept.1 += next.1);
    row
}
