//! The weights of a point during an edit: joints in rising order, with shares that sum to one.

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

/// Builds a row from shares in any order, in which a joint may occur more than once.
pub(super) fn merged(mut row: Row) -> Row {
    merge_by_key(&mut row, |entry| entry.0, |kept, next| kept.1 += next.1);
    row
}
