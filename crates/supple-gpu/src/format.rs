//! The format of a GPU skin: deformed attributes, and the packing of input.

use supple::deform::{Kernel, StreamLayout};

/// The number of bits of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Width {
    /// 32 bits, exact.
    #[default]
    Full,
    /// 16 bits, rounded.
    Short,
}

/// The attributes deformed besides positions, and the packing of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    /// True to deform normals, which are unit vectors.
    pub normals: bool,
    /// True to deform tangents: unit vectors, with the side of the bitangent.
    pub tangents: bool,
    /// The width of weights. In 16 bits they are in steps of 1/65535 and still sum to one. The
    /// weights of animation space, which do not, always have 32 bits.
    pub weights: Width,
    /// The width of numbers that are baked for each influence, such as the matrices of direct delta
    /// mush. In 16 bits they are in steps of 1/32767 of the largest of them.
    pub numbers: Width,
    /// The width of the rest surface. In 16 bits, positions are in steps of 1/65535 of its box, and
    /// normals and tangents are on an octahedron.
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
    /// Everything in 16 bits that can be, with normals and without tangents.
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

    /// The number of words of a joint and its weight.
    pub(crate) fn weight_words(self, kernel: Kernel) -> usize {
        if self.has_short_weights(kernel) { 1 } else { 2 }
    }

    /// The number of words of an influence: one, or pairs.
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

    /// The number of influences that every vertex has room for at an offset that needs no lookup: a
    /// pair, or one if influences are large.
    pub(crate) fn first_influences(self, layout: &StreamLayout) -> usize {
        match self.influence_words(layout) {
            ..=PAIR => 2,
            _ => 1,
        }
    }

    /// The number of words of a vertex at an offset that needs no lookup.
    pub(crate) fn first_words(self, layout: &StreamLayout) -> usize {
        vertex_words(layout) + self.first_influences(layout) * self.influence_words(layout)
    }

    /// The number of words of a rest vertex.
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

/// The number of words that are read at once: half as many reads as of single words.
pub(crate) const PAIR: usize = 2;

/// Rounds a number of words up to whole pairs.
pub(crate) fn in_pairs(words: usize) -> usize {
    words.next_multiple_of(PAIR)
}

/// The number of words of a vertex without its influences.
pub(crate) fn vertex_words(layout: &StreamLayout) -> usize {
    in_pairs(layout.per_vertex)
}
