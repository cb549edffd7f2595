//! Disjoint sets: union-find with deterministic representatives.

/// Union-find whose representatives are the lowest member of each set.
pub(crate) struct DisjointSets {
    parent: Vec<u32>,
}

impl DisjointSets {
    /// Creates sets of one member each.
    pub(crate) fn new(count: usize) -> DisjointSets {
        DisjointSets {
            parent: (0..count as u32).collect(),
        }
    }

    /// The representative of a member's set.
    pub(crate) fn find(&mut self, item: usize) -> usize {
        let mut item = item as u32;
        while self.parent[item as usize] != item {
            let grandparent = self.parent[self.parent[item as usize] as usize];
            self.parent[item as usize] = grandparent;
            item = grandparent;
        }
        item as usize
    }

    /// Merges two sets.
    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }
}
