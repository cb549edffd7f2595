//! What was baked, as shaders read it: slices of vertices, word by word.

use crate::shader::LANES;
use crate::skin::Attributes;
use supple::Skin;
use supple::deform::{StreamLayout, VertexStream};

/// The words of a joint and of a weight.
const INFLUENCE: usize = 2;

/// A skin in slices.
pub(crate) struct Slices {
    /// Where the words of each start, and how many influences its richest vertex has.
    pub(crate) starts: Vec<[u32; 2]>,
    pub(crate) words: Vec<u32>,
    /// The rest surface, sliced alike.
    pub(crate) rest: Vec<f32>,
}

impl Slices {
    pub(crate) fn of(skin: &Skin, layout: &StreamLayout, attributes: Attributes) -> Slices {
        let mut slices = Slices {
            starts: Vec::new(),
            words: Vec::new(),
            rest: Vec::new(),
        };
        let mut vertices = vec![VertexStream::default(); LANES];
        for first in (0..skin.vertex_count()).step_by(LANES) {
            let count = LANES.min(skin.vertex_count() - first);
            for (lane, vertex) in vertices[..count].iter_mut().enumerate() {
                skin.stream_vertex(first + lane, vertex);
            }
            slices.push(&vertices[..count], layout);
            slices.push_rest(skin, first..first + count, attributes);
        }
        slices
    }

    fn push(&mut self, vertices: &[VertexStream], layout: &StreamLayout) {
        let counts = vertices.iter().map(|vertex| vertex.influences.len());
        let influences = counts.max().unwrap_or(0);
        let start = self.words.len();
        self.starts.push([start as u32, influences as u32]);
        let per_influence = INFLUENCE + layout.per_influence;
        let words = (layout.per_vertex + influences * per_influence) * LANES;
        self.words.resize(start + words, 0);
        let words = &mut self.words[start..];
        for (lane, vertex) in vertices.iter().enumerate() {
            let mut put = |place: usize, word: u32| words[place * LANES + lane] = word;
            for (place, number) in vertex.numbers.iter().enumerate() {
                put(place, number.to_bits());
            }
            for (influence, &(joint, weight)) in vertex.influences.iter().enumerate() {
                let place = layout.per_vertex + influence * per_influence;
                put(place, u32::from(joint));
                put(place + 1, weight.to_bits());
                let numbers = vertex.influence_numbers.iter();
                let own = numbers.skip(influence * layout.per_influence);
                for (number, value) in own.take(layout.per_influence).enumerate() {
                    put(place + INFLUENCE + number, value.to_bits());
                }
            }
        }
    }

    fn push_rest(&mut self, skin: &Skin, vertices: std::ops::Range<usize>, attributes: Attributes) {
        let start = self.rest.len();
        self.rest
            .resize(start + attributes.rest_numbers() * LANES, 0.0);
        let words = &mut self.rest[start..];
        let shape = skin.rest();
        for (lane, vertex) in vertices.enumerate() {
            let position = shape.positions[vertex].to_array();
            let normal = attributes.normals.then(|| shape.normals[vertex].to_array());
            let tangents = shape.tangents.filter(|_| attributes.tangents);
            let tangent = tangents.map(|tangents| tangents[vertex].to_array());
            let mut put = |first: usize, numbers: &[f32]| {
                for (place, number) in numbers.iter().enumerate() {
                    words[(first + place) * LANES + lane] = *number;
                }
            };
            put(0, &position);
            put(Attributes::NORMAL, normal.as_ref().map_or(&[], |n| n));
            put(Attributes::TANGENT, tangent.as_ref().map_or(&[], |t| t));
        }
    }
}
