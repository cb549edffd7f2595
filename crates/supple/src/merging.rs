//! Lists in which the same thing stands more than once.

/// Sorts a list by keys and makes one of all items of a key, by adding the later ones to the first,
/// in the order given.
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
