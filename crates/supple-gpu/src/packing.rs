//! Baked skins as shaders read them: slices of vertices, word by word.

use crate::format::{Format, PAIR, Width, in_pairs, vertex_words};
use crate::shader::LANES;
use glam::{Vec2, Vec3, Vec4};
use supple::Skin;
use supple::deform::{StreamLayout, VertexStream};
use supple::exec;
use supple::mesh::Shape;
use supple::normals::octahedral;
use supple::weights::whole_steps;

/// A skin in slices.
pub(crate) struct Slices {
    /// The start of the further influences of each slice, in pairs of words, and the largest number
    /// of influences of one of its vertices.
    pub(crate) starts: Vec<[u32; 2]>,
    /// The words that every vertex has, slice after slice.
    first: Vec<u32>,
    /// The words of further influences.
    further: Vec<u32>,
    /// The largest absolute number of an influence; zero if numbers are not rounded.
    pub(crate) number_range: f32,
}

impl Slices {
    pub(crate) fn of(skin: &Skin, layout: &StreamLayout, format: Format) -> Slices {
        let empty = Slices {
            starts: Vec::new(),
            first: Vec::new(),
            further: Vec::new(),
            number_range: match format.numbers {
                Width::Full => 0.0,
                Width::Short => largest_number(skin),
            },
        };
        let slice_count = skin.vertex_count().div_ceil(LANES);
        let parts = exec::map_chunks(slice_count, |slices| {
            let mut part = Slices {
                starts: Vec::with_capacity(slices.len()),
                first: Vec::new(),
                further: Vec::new(),
                ..empty
            };
            let mut vertices = vec![VertexStream::default(); LANES];
            for slice in slices {
                let first = slice * LANES;
                let count = LANES.min(skin.vertex_count() - first);
                for (lane, vertex) in vertices[..count].iter_mut().enumerate() {
                    skin.stream_vertex(first + lane, vertex);
                }
                part.push(&vertices[..count], layout, format);
            }
            part
        });
        let first: usize = parts.iter().map(|part| part.first.len()).sum();
        parts.into_iter().fold(empty, |mut all, part| {
            let before = ((first + all.further.len()) / PAIR) as u32;
            let starts = part.starts.iter();
            all.starts
                .extend(starts.map(|&[start, influences]| [before + start, influences]));
            all.first.extend_from_slice(&part.first);
            all.further.extend_from_slice(&part.further);
            all
        })
    }

    /// All words of the skin, as shaders read them.
    pub(crate) fn words(&self) -> Vec<u32> {
        [&self.first[..], &self.further[..]].concat()
    }

    fn push(&mut self, vertices: &[VertexStream], layout: &StreamLayout, format: Format) {
        let counts = vertices.iter().map(|vertex| vertex.influences.len());
        let influences = counts.max().unwrap_or(0);
        let start = self.further.len();
        self.starts.push([(start / PAIR) as u32, influences as u32]);
        let per_influence = format.influence_words(layout);
        let first_influences = format.first_influences(layout);
        let first_words = format.first_words(layout);
        let further_influences = influences.saturating_sub(first_influences);
        let further = in_pairs(further_influences * per_influence) * LANES;
        self.further.resize(start + further, 0);
        let first = self.first.len();
        self.first.resize(first + first_words * LANES, 0);
        let further = &mut self.further[start..];
        let first = &mut self.first[first..];
        let per_range = self.number_range.recip();
        let short_weights = format.has_short_weights(layout.kernel);
        for (lane, vertex) in vertices.iter().enumerate() {
            let mut put = |place: usize, word: u32| match place.checked_sub(first_words) {
                None => first[place_of(place, lane)] = word,
                Some(place) => further[place_of(place, lane)] = word,
            };
            for (place, number) in vertex.numbers.iter().enumerate() {
                put(place, number.to_bits());
            }
            let place_of_influence =
                |influence: usize| vertex_words(layout) + influence * per_influence;
            let steps = match short_weights {
                true => weights_in_steps(&vertex.influences),
                false => Vec::new(),
            };
            for (influence, &(joint, weight)) in vertex.influences.iter().enumerate() {
                let place = place_of_influence(influence);
                if short_weights {
                    put(place, u32::from(joint) | u32::from(steps[influence]) << 16);
                } else {
                    put(place, u32::from(joint));
                    put(place + 1, weight.to_bits());
                }
                let place = place + format.weight_words(layout.kernel);
                let own = influence * layout.per_influence;
                let numbers = &vertex.influence_numbers[own..own + layout.per_influence];
                match format.numbers {
                    Width::Full => {
                        for (number, value) in numbers.iter().enumerate() {
                            put(place + number, value.to_bits());
                        }
                    }
                    Width::Short => {
                        for (pair, values) in numbers.chunks(2).enumerate() {
                            let second = values.get(1).copied().unwrap_or(0.0);
                            let values = Vec2::new(values[0], second) * per_range;
                            put(place + pair, signed_pair(values));
                        }
                    }
                }
            }
            // Missing influences have a weight of zero and name the vertex's own joint, since zero
            // times a joint that is not finite is not zero.
            if let Some(&(own, _)) = vertex.influences.first() {
                for influence in vertex.influences.len()..influences.max(first_influences) {
                    put(place_of_influence(influence), u32::from(own));
                }
            }
        }
    }
}

/// The rest surface in slices.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedRest {
    pub(crate) words: Vec<u32>,
    /// The lowest corner and the size of the box around it.
    pub(crate) low: Vec3,
    pub(crate) size: Vec3,
}

impl PackedRest {
    /// Packs a surface. One with as many vertices as the last allocates nothing.
    pub(crate) fn pack(&mut self, shape: &Shape<'_>, format: Format) {
        let places = || shape.positions.iter().copied();
        self.low = places().reduce(Vec3::min).unwrap_or(Vec3::ZERO);
        let high = places().reduce(Vec3::max).unwrap_or(Vec3::ZERO);
        self.size = high - self.low;
        let per_vertex = format.rest_words();
        let slices = shape.positions.len().div_ceil(LANES);
        self.words.clear();
        self.words.resize(slices * per_vertex * LANES, 0);
        for (vertex, &position) in shape.positions.iter().enumerate() {
            let normal = shape.normals[vertex];
            let tangent = shape.tangents.map_or(Vec4::ZERO, |all| all[vertex]);
            let all: [u32; 10] = match format.rest {
                Width::Full => {
                    let [x, y, z] = position.to_array().map(f32::to_bits);
                    let [nx, ny, nz] = normal.to_array().map(f32::to_bits);
                    let [tx, ty, tz, tw] = tangent.to_array().map(f32::to_bits);
                    [x, y, z, nx, ny, nz, tx, ty, tz, tw]
                }
                Width::Short => {
                    let place =
                        (position - self.low) / self.size.max(Vec3::splat(f32::MIN_POSITIVE));
                    let side = if tangent.w > 0.0 { 1.0 } else { 0.0 };
                    let pairs = [
                        share_pair(Vec2::new(place.x, place.y)),
                        share_pair(Vec2::new(place.z, side)),
                        signed_pair(octahedral(normal)),
                        signed_pair(octahedral(tangent.truncate())),
                    ];
                    let mut all = [0; 10];
                    all[..4].copy_from_slice(&pairs);
                    all
                }
            };
            let start = vertex / LANES * per_vertex * LANES;
            for (word, value) in all.iter().take(per_vertex).enumerate() {
                self.words[start + place_of(word, vertex % LANES)] = *value;
            }
        }
    }
}

/// The index of a word of a vertex within its slice: pair by pair, the vertices side by side.
fn place_of(word: usize, lane: usize) -> usize {
    (word / PAIR * LANES + lane) * PAIR + word % PAIR
}

/// The largest absolute number of an influence.
fn largest_number(skin: &Skin) -> f32 {
    let parts = exec::map_chunks(skin.vertex_count(), |vertices| {
        let mut stream = VertexStream::default();
        let mut most = 0f32;
        for vertex in vertices {
            skin.stream_vertex(vertex, &mut stream);
            let numbers = stream.influence_numbers.iter();
            most = numbers.fold(most, |most, number| most.max(number.abs()));
        }
        most
    });
    parts.into_iter().fold(0.0, f32::max)
}

/// The number of steps from 0 to 1 in `unpack2x16unorm`.
const UNSIGNED_STEPS: f32 = 65535.0;

/// The number of steps from 0 to 1 in `unpack2x16snorm`.
const SIGNED_STEPS: f32 = 32767.0;

/// Rounds weights to steps of 1/65535 with the same sum, up to half a step.
///
/// [`supple::Weights::in_16_bits`] rounds by the same rule to other steps, which are exact as
/// `f32`. These are those that shaders unpack.
fn weights_in_steps(influences: &[(u16, f32)]) -> Vec<u16> {
    let steps = f64::from(UNSIGNED_STEPS);
    let weights = influences.iter();
    let numbers: Vec<f64> = weights
        .map(|&(_, weight)| f64::from(weight) * steps)
        .collect();
    let total = numbers.iter().sum::<f64>().round() as i64;
    let short = |steps: i64| steps.clamp(0, i64::from(u16::MAX)) as u16;
    whole_steps(&numbers, total)
        .into_iter()
        .map(short)
        .collect()
}

/// Packs numbers from −1 to 1, as `unpack2x16snorm` reads them.
fn signed_pair(pair: Vec2) -> u32 {
    let short = |number: f32| (number.clamp(-1.0, 1.0) * SIGNED_STEPS).round() as i16 as u16;
    u32::from(short(pair.x)) | u32::from(short(pair.y)) << 16
}

/// Packs numbers from 0 to 1, as `unpack2x16unorm` reads them.
fn share_pair(pair: Vec2) -> u32 {
    let short = |number: f32| (number.clamp(0.0, 1.0) * UNSIGNED_STEPS).round() as u16;
    u32::from(short(pair.x)) | u32::from(short(pair.y)) << 16
}
