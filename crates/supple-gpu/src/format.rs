//! What is deformed, and how much room it takes.

use supple::deform::{Kernel, StreamLayout};

/// How many bits a number takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Width {
    /// 32, as it is.
    #[default]
    Full,
    /// 16, rounded.
    Short,
}

/// What is deformed beside positions, and how what is read for it is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// Unit normals.
    pub normals: bool,
    /// Unit tangents, with the side of the bitangent.
    pub tangents: bool,
    /// Weights: in 16 bits they still sum to one, in steps of 1/65535. Weights of animation space,
    /// which are no shares, stay in 32.
    pub weights: Width,
    /// What is baked for each influence, such as the matrices of direct delta mush: in 16 bits, in
    /// steps of 1/32767 of the largest of them.
    pub numbers: Width,
    /// The rest surface: in 16 bits, positions are in steps of 1/65535 of its box, normals and
    /// tangents on an octahedron.
    pub rest: Width,
}

impl Default for Format {
    fn default() -> Format {
        Format {
            normals: true,
            tangents: false,
            weights: Width::Full,
            numbers: Width::Full,
            rest: Width::Full,
        }
    }
}

impl Format {
    /// All that can be in 16 bits.
    pub const SHORT: Format = Format {
        normals: true,
        tangents: false,
        weights: Width::Short,
        numbers: Width::Short,
        rest: Width::Short,
    };

    pub(crate) fn has_short_weights(self, kernel: Kernel) -> bool {
        self.weights == Width::Short && kernel != Kernel::AnimationSpace
    }

    /// The words of joint and weight.
    pub(crate) fn weight_words(self, kernel: Kernel) -> usize {
        if self.has_short_weights(kernel) { 1 } else { 2 }
    }

    /// The words of an influence: one, or pairs.
    pub(crate) fn influence_words(self, layout: &StreamLayout) -> usize {
        let numbers = match self.numbers {
            Width::Full => layout.per_influence,
            Width::Short => layout.per_influence.div_ceil(2),
        };
        match self.weight_words(layout.kernel) + numbers {
            1 => 1,
            words => in_pairs(words),
        }
    }

    /// How many influences every vertex has room for where they are found without being looked up:
    /// a pair, or one where it is large and room for nothing would cost much.
    pub(crate) fn first_influences(self, layout: &StreamLayout) -> usize {
        match self.influence_words(layout) {
            ..=PAIR => 2,
            _ => 1,
        }
    }

    /// The words of what is found like that.
    pub(crate) fn first_words(self, layout: &StreamLayout) -> usize {
        vertex_words(layout) + self.first_influences(layout) * self.influence_words(layout)
    }

    /// The words of a rest vertex.
    pub(crate) fn rest_words(self) -> usize {
        in_pairs(match (self.rest, self.normals, self.tangents) {
            (Width::Full, _, true) => 10,
            (Width::Full, true, false) => 6,
            (Width::Full, false, false) => 3,
            (Width::Short, _, true) => 4,
            (Width::Short, true, false) => 3,
            (Width::Short, false, false) => 2,
        })
    }
}

/// Memory is read in pairs of words: half as many reads as with single ones, each for two.
pub(crate) const PAIR: usize = 2;

/// So many words in whole pairs.
pub(crate) fn in_pairs(words: usize) -> usize {
    words.next_multiple_of(PAIR)
}

/// The words of a vertex beside its influences.
pub(crate) fn vertex_words(layout: &StreamLayout) -> usize {
    in_pairs(layout.per_vertex)
}
