//! Destinations of a deformed surface: slices of vectors, or vertex buffers in an engine's layout.

use super::error::DeformError;
use super::lanes::BLOCK;
use crate::normals::octahedral;
use glam::{Vec3, Vec4};

/// Destination of a deformed surface: slices with one entry per vertex.
#[derive(Debug)]
pub struct Output<'a> {
    /// Posed positions.
    pub positions: &'a mut [Vec3],
    /// Posed unit normals, if wanted.
    pub normals: Option<&'a mut [Vec3]>,
    /// Posed unit tangents (handedness in `w`), if wanted; only for shapes with tangents.
    pub tangents: Option<&'a mut [Vec4]>,
}

/// Vertex buffers of an engine: attributes interleaved in one buffer or in up to three separate
/// ones, packed or not.
///
/// Numbers are written in native byte order, as graphics APIs expect.
///
/// ```
/// use supple::deform::{BufferOffset, NormalFormat, VertexBuffer, VertexBuffers};
///
/// // 16 bytes per vertex: a position, then a normal of four bytes.
/// let mut bytes = vec![0; 16 * 100];
/// let buffers = VertexBuffers {
///     buffers: &mut [VertexBuffer { bytes: &mut bytes, stride: 16 }],
///     position: BufferOffset { buffer: 0, offset: 0 },
///     normal: Some((BufferOffset { buffer: 0, offset: 12 }, NormalFormat::Snorm8)),
///     tangent: None,
/// };
/// # let _ = buffers;
/// ```
#[derive(Debug)]
pub struct VertexBuffers<'a, 'b> {
    /// The buffers, at most three.
    pub buffers: &'b mut [VertexBuffer<'a>],
    /// The place of positions: three `f32` each.
    pub position: BufferOffset,
    /// The place and format of unit normals, if wanted.
    pub normal: Option<(BufferOffset, NormalFormat)>,
    /// The place and format of unit tangents, if wanted; the sign of the bitangent is the last
    /// component.
    pub tangent: Option<(BufferOffset, TangentFormat)>,
}

/// A buffer with room for every vertex.
#[derive(Debug)]
pub struct VertexBuffer<'a> {
    /// The bytes of all vertices. The last vertex needs none after its attributes.
    pub bytes: &'a mut [u8],
    /// The number of bytes from one vertex to the next.
    pub stride: usize,
}

/// The place of an attribute within the bytes of each vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferOffset {
    /// The index of the buffer.
    pub buffer: usize,
    /// The number of bytes from the start of the vertex.
    pub offset: usize,
}

/// Format of a normal in a vertex buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NormalFormat {
    /// Three `f32`: twelve bytes.
    #[default]
    Float32,
    /// Four `i16` in units of 1/32767, the last one zero: eight bytes.
    Snorm16,
    /// Four `i8` in units of 1/127, the last one zero: four bytes.
    Snorm8,
    /// Two `i16` in units of 1/32767: octahedral coordinates (see [`octahedral`]). Four bytes, and
    /// a thousand times as precise as [`NormalFormat::Snorm8`].
    Octahedral16,
}

/// Format of a tangent in a vertex buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TangentFormat {
    /// Four `f32`: sixteen bytes.
    #[default]
    Float32,
    /// Four `i16` in units of 1/32767: eight bytes.
    Snorm16,
    /// Four `i8` in units of 1/127: four bytes.
    Snorm8,
}

const POSITION_BYTES: usize = 12;

impl NormalFormat {
    /// The number of bytes of a normal.
    pub fn bytes(self) -> usize {
        match self {
            NormalFormat::Float32 => 12,
            NormalFormat::Snorm16 => 8,
            NormalFormat::Snorm8 | NormalFormat::Octahedral16 => 4,
        }
    }

    fn write(self, normal: Vec3, bytes: &mut [u8]) {
        match self {
            NormalFormat::Float32 => write_floats(normal.to_array(), bytes),
            NormalFormat::Snorm16 => write_snorm16(normal.extend(0.0).to_array(), bytes),
            NormalFormat::Snorm8 => write_snorm8(normal.extend(0.0), bytes),
            NormalFormat::Octahedral16 => write_snorm16(octahedral(normal).to_array(), bytes),
        }
    }
}

impl TangentFormat {
    /// The number of bytes of a tangent.
    pub fn bytes(self) -> usize {
        match self {
            TangentFormat::Float32 => 16,
            TangentFormat::Snorm16 => 8,
            TangentFormat::Snorm8 => 4,
        }
    }

    fn write(self, tangent: Vec4, bytes: &mut [u8]) {
        match self {
            TangentFormat::Float32 => write_floats(tangent.to_array(), bytes),
            TangentFormat::Snorm16 => write_snorm16(tangent.to_array(), bytes),
            TangentFormat::Snorm8 => write_snorm8(tangent, bytes),
        }
    }
}

#[inline]
fn write_floats<const N: usize>(numbers: [f32; N], bytes: &mut [u8]) {
    for (number, bytes) in numbers.into_iter().zip(bytes.as_chunks_mut::<4>().0) {
        *bytes = number.to_ne_bytes();
    }
}

#[inline]
fn write_snorm16<const N: usize>(numbers: [f32; N], bytes: &mut [u8]) {
    for (number, bytes) in numbers.into_iter().zip(bytes.as_chunks_mut::<2>().0) {
        *bytes = ((number * 32767.0).round() as i16).to_ne_bytes();
    }
}

#[inline]
fn write_snorm8(numbers: Vec4, bytes: &mut [u8]) {
    for (number, byte) in numbers.to_array().into_iter().zip(bytes) {
        *byte = ((number * 127.0).round() as i8).cast_unsigned();
    }
}

impl VertexBuffers<'_, '_> {
    /// Checks the layout, and the sizes for a number of vertices.
    pub(super) fn check(&self, vertices: usize) -> Result<(), DeformError> {
        let position = Some(("positions", self.position, POSITION_BYTES));
        let normal = self
            .normal
            .map(|(place, format)| ("normals", place, format.bytes()));
        let tangent = self
            .tangent
            .map(|(place, format)| ("tangents", place, format.bytes()));
        let attributes = [position, normal, tangent];
        for (what, place, bytes) in attributes.into_iter().flatten() {
            let bad = |why: String| Err(DeformError::Layout { what, why });
            let Some(buffer) = self.buffers.get(place.buffer) else {
                let count = self.buffers.len();
                return bad(format!(
                    "buffer {} is asked for, but there are {count}",
                    place.buffer
                ));
            };
            let end = place.offset.saturating_add(bytes);
            if end > buffer.stride {
                return bad(format!(
                    "bytes {} to {end} of each vertex, but a vertex has {} in buffer {}",
                    place.offset, buffer.stride, place.buffer
                ));
            }
            let needed = vertices
                .checked_sub(1)
                .map_or(Some(0), |last| last.checked_mul(buffer.stride))
                .and_then(|start| start.checked_add(if vertices == 0 { 0 } else { end }));
            if needed.is_none_or(|needed| buffer.bytes.len() < needed) {
                return bad(format!(
                    "buffer {} has {} bytes, too few for {vertices} vertices of {} each",
                    place.buffer,
                    buffer.bytes.len(),
                    buffer.stride
                ));
            }
            for (other, other_place, other_bytes) in attributes.into_iter().flatten() {
                let apart = other_place.buffer != place.buffer
                    || other_place.offset >= end
                    || other_place.offset.saturating_add(other_bytes) <= place.offset;
                if other != what && !apart {
                    return bad(format!("they overlap the {other}"));
                }
            }
        }
        if self.buffers.len() > MOST_BUFFERS {
            return Err(DeformError::Layout {
                what: "buffers",
                why: format!("{}, but {MOST_BUFFERS} are the most", self.buffers.len()),
            });
        }
        Ok(())
    }
}

/// One buffer per attribute.
const MOST_BUFFERS: usize = 3;

/// The output of the vertex loop for a run of vertices.
#[derive(Debug)]
pub(super) enum Sink<'a> {
    Slices(Output<'a>),
    Buffers(BufferSink<'a>),
}

/// Buffers with a checked layout.
#[derive(Debug)]
pub(super) struct BufferSink<'a> {
    bytes: [&'a mut [u8]; 3],
    layout: Layout,
}

#[derive(Clone, Copy, Debug)]
struct Layout {
    strides: [usize; 3],
    position: BufferOffset,
    normal: Option<(BufferOffset, NormalFormat)>,
    tangent: Option<(BufferOffset, TangentFormat)>,
}

impl<'b> From<VertexBuffers<'_, 'b>> for Sink<'b> {
    fn from(buffers: VertexBuffers<'_, 'b>) -> Sink<'b> {
        let mut bytes = [&mut [][..], &mut [], &mut []];
        let mut strides = [0; 3];
        for (at, buffer) in buffers.buffers.iter_mut().take(3).enumerate() {
            bytes[at] = buffer.bytes;
            strides[at] = buffer.stride;
        }
        let layout = Layout {
            strides,
            position: buffers.position,
            normal: buffers.normal,
            tangent: buffers.tangent,
        };
        Sink::Buffers(BufferSink { bytes, layout })
    }
}

impl BufferSink<'_> {
    #[inline]
    fn at(&mut self, place: BufferOffset, vertex: usize, bytes: usize) -> &mut [u8] {
        let start = vertex * self.layout.strides[place.buffer] + place.offset;
        &mut self.bytes[place.buffer][start..start + bytes]
    }
}

impl<'a> Sink<'a> {
    /// Splits off the first vertices.
    pub(super) fn split_at(self, vertices: usize) -> (Sink<'a>, Sink<'a>) {
        match self {
            Sink::Slices(output) => {
                let (first, others) = output.split_at(vertices);
                (Sink::Slices(first), Sink::Slices(others))
            }
            Sink::Buffers(BufferSink { bytes, layout }) => {
                let mut strides = layout.strides.iter();
                let [(a, x), (b, y), (c, z)] = bytes.map(|bytes| {
                    let stride = strides.next().copied().unwrap_or(0);
                    // Only the strides of buffers in use are checked.
                    let at = vertices.saturating_mul(stride);
                    let at = at.min(bytes.len());
                    bytes.split_at_mut(at)
                });
                let [first, others] =
                    [[a, b, c], [x, y, z]].map(|bytes| Sink::Buffers(BufferSink { bytes, layout }));
                (first, others)
            }
        }
    }
}

impl BufferSink<'_> {
    pub(super) fn wants_normals(&self) -> bool {
        self.layout.normal.is_some()
    }

    pub(super) fn wants_tangents(&self) -> bool {
        self.layout.tangent.is_some()
    }

    /// Writes the wanted attributes of a run of vertices, from the first vertex of the sink.
    pub(super) fn put(&mut self, surface: &Output<'_>) {
        let position = self.layout.position;
        for (vertex, value) in surface.positions.iter().enumerate() {
            write_floats(value.to_array(), self.at(position, vertex, POSITION_BYTES));
        }
        if let (Some((place, format)), Some(normals)) = (self.layout.normal, &surface.normals) {
            for (vertex, &normal) in normals.iter().enumerate() {
                format.write(normal, self.at(place, vertex, format.bytes()));
            }
        }
        if let (Some((place, format)), Some(tangents)) = (self.layout.tangent, &surface.tangents) {
            for (vertex, &tangent) in tangents.iter().enumerate() {
                format.write(tangent, self.at(place, vertex, format.bytes()));
            }
        }
    }
}

impl<'a> From<Output<'a>> for Sink<'a> {
    fn from(output: Output<'a>) -> Sink<'a> {
        Sink::Slices(output)
    }
}

/// A deformed surface to be copied into vertex buffers.
#[derive(Debug, Default)]
pub(super) struct WholeSurface {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Vec<Vec4>,
}

impl WholeSurface {
    /// Slices for a number of vertices.
    pub(super) fn sized(&mut self, vertices: usize, normals: bool, tangents: bool) -> Output<'_> {
        self.positions.resize(vertices, Vec3::ZERO);
        self.normals.resize(vertices, Vec3::ZERO);
        self.tangents.resize(vertices, Vec4::ZERO);
        Output {
            positions: &mut self.positions,
            normals: normals.then_some(&mut self.normals),
            tangents: tangents.then_some(&mut self.tangents),
        }
    }
}

/// The vertices of a block to be copied into vertex buffers; they fit into the L1 cache.
#[derive(Debug)]
pub(super) struct BlockSurface {
    positions: [Vec3; BLOCK],
    normals: [Vec3; BLOCK],
    tangents: [Vec4; BLOCK],
}

impl Default for BlockSurface {
    fn default() -> BlockSurface {
        BlockSurface {
            positions: [Vec3::ZERO; BLOCK],
            normals: [Vec3::ZERO; BLOCK],
            tangents: [Vec4::ZERO; BLOCK],
        }
    }
}

impl BlockSurface {
    /// Slices for a number of vertices, with the attributes that a sink wants.
    pub(super) fn output(&mut self, vertices: usize, sink: &BufferSink<'_>) -> Output<'_> {
        let normals = &mut self.normals[..vertices];
        let tangents = &mut self.tangents[..vertices];
        Output {
            positions: &mut self.positions[..vertices],
            normals: sink.wants_normals().then_some(normals),
            tangents: sink.wants_tangents().then_some(tangents),
        }
    }
}

impl<'a> Output<'a> {
    /// The same slices with a shorter lifetime.
    pub(super) fn reborrowed(&mut self) -> Output<'_> {
        Output {
            positions: self.positions,
            normals: self.normals.as_deref_mut(),
            tangents: self.tangents.as_deref_mut(),
        }
    }

    /// Splits off the first vertices.
    pub(super) fn split_at(self, vertices: usize) -> (Output<'a>, Output<'a>) {
        let (positions, other_positions) = self.positions.split_at_mut(vertices);
        let normals = self.normals.map(|normals| normals.split_at_mut(vertices));
        let tangents = self
            .tangents
            .map(|tangents| tangents.split_at_mut(vertices));
        let (normals, other_normals) = normals.unzip();
        let (tangents, other_tangents) = tangents.unzip();
        (
            Output {
                positions,
                normals,
                tangents,
            },
            Output {
                positions: other_positions,
                normals: other_normals,
                tangents: other_tangents,
            },
        )
    }
}
