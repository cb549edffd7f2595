//! Merges list items with equal keys.

/// Sorts a list by keys and merges items with equal keys: the later ones are added to the first, in
/// the order given.
pub(crate) fn merge_by_key<T, K: Ord>(
    items: &mut Vec<T>,
    key: impl Fn(&T) -> K,
    add: impl Fn(&mut T, &T),
) {
    // Stable, so that what is summed is summed in the order given.
    items.sort_by_key(&key);
    items.dedup_by(|next, kept| {
        let same = key(next) == key(kept);
        if same {
            add(kept, next);
        }
        same
    });
}
