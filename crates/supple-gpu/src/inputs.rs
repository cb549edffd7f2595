//! What the buffers of group 0 hold.

use crate::description::bindings;
use crate::device::GpuError;
use crate::format::Format;
use crate::packing::{PackedRest, Slices};
use crate::resources::row;
use crate::shader::LANES;
use crate::smoothing;
use supple::deform::{PoseStream, Workspace};
use supple::{Affine, Normals, Palette, Skin};

/// The parameters of a dispatch, as shaders read them.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Call {
    vertices: u32,
    joints: u32,
    pub(crate) pose_stride: u32,
    pub(crate) stretches: u32,
    pub(crate) low: [f32; 3],
    number_range: f32,
    pub(crate) size: [f32; 3],
    pub(crate) row: u32,
}

impl Call {
    /// The parameters that are the same in every dispatch.
    pub(crate) fn of(skin: &Skin, number_range: f32, rest: &PackedRest) -> Call {
        Call {
            vertices: skin.vertex_count() as u32,
            joints: skin.joint_count() as u32,
            pose_stride: 0,
            stretches: 0,
            low: rest.low.to_array(),
            number_range,
            size: rest.size.to_array(),
            row: row(skin.vertex_count()),
        }
    }
}

/// Writes poses as vectors, instance after instance. Returns the parameters of a dispatch for them.
pub(crate) fn pack_poses(
    constant: &Call,
    streams: &[PoseStream],
    joints: usize,
    vectors: &mut Vec<[f32; 4]>,
) -> Call {
    let stretches = streams.iter().any(|stream| !stream.stretches.is_empty());
    vectors.clear();
    for stream in streams {
        let [x, y, z] = stream.factors;
        vectors.push([x, y, z, 0.0]);
        vectors.extend_from_slice(&stream.joints);
        if stretches {
            for joint in 0..joints {
                let stretch = stream.stretches.get(joint).unwrap_or(&Affine::IDENTITY);
                vectors.extend(stretch.rows.map(|row| row.to_array()));
            }
        }
        vectors.extend_from_slice(&stream.shared);
    }
    Call {
        pose_stride: (vectors.len() / streams.len().max(1)) as u32,
        stretches: u32::from(stretches),
        ..*constant
    }
}

/// A buffer of group 0, for engines that upload it themselves.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputBuffer {
    /// The number of the binding.
    pub binding: u32,
    /// The name in WGSL.
    pub name: &'static str,
    /// `uniform` or `storage`.
    pub usage: &'static str,
    /// The type of the elements, in WGSL.
    pub element: &'static str,
    /// The number of bytes from one element to the next.
    pub stride: usize,
    /// What the buffer holds.
    pub meaning: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The buffers of group 0 that shaders read, filled for a skin and a pose of each instance, in the
/// order of their bindings.
///
/// The passes of delta mush fill another one.
///
/// # Errors
///
/// If the method has no shader, normals or tangents are wanted that the skin has not, or it cannot
/// do a pose.
pub fn input_buffers(
    skin: &Skin,
    format: Format,
    palettes: &[Palette],
) -> Result<Vec<InputBuffer>, GpuError> {
    let layout = skin.stream_layout().ok_or(GpuError::NoShader)?;
    if format.normals && skin.normals() != Normals::Transported {
        return Err(GpuError::Normals(skin.normals()));
    }
    if format.tangents && skin.rest().tangents.is_none() {
        return Err(GpuError::NoTangents);
    }
    let mut workspace = Workspace::default();
    let mut streams = vec![PoseStream::default(); palettes.len()];
    for (palette, stream) in palettes.iter().zip(&mut streams) {
        skin.stream_pose(palette, &mut workspace, stream)?;
    }
    let slices = Slices::of(skin, &layout, format);
    let mut rest = PackedRest::default();
    rest.pack(&skin.rest(), format);
    let mut vectors = Vec::new();
    let constant = Call::of(skin, slices.number_range, &rest);
    let call = pack_poses(&constant, &streams, skin.joint_count(), &mut vectors);
    let smoothed = skin.stream_smoothing();
    let table = smoothed.as_ref().map(smoothing::table);
    let table = table.unwrap_or_else(|| skin.stream_table());
    let contents = [
        bytemuck::bytes_of(&call).to_vec(),
        bytemuck::cast_slice(&vectors).to_vec(),
        bytemuck::cast_slice(&slices.starts).to_vec(),
        bytemuck::cast_slice(&slices.words()).to_vec(),
        bytemuck::cast_slice(&table).to_vec(),
        bytemuck::cast_slice(&rest.words).to_vec(),
    ];
    let bindings = (0..).zip(bindings(&layout, format)).zip(contents);
    let buffers = bindings.map(|((binding, about), bytes)| InputBuffer {
        binding,
        name: about.name,
        usage: about.usage,
        element: about.element,
        stride: about.stride,
        meaning: in_one_line(&about.content),
        bytes,
    });
    Ok(buffers.collect())
}

/// A text of several lines as one: those of a list are separated by semicolons.
fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    lines.fold(String::new(), |text, line| match text.chars().last() {
        None => line.to_owned(),
        Some(':') => format!("{text} {line}"),
        Some(_) => format!("{text}; {line}"),
    })
}

/// The number of workgroups to dispatch for a skin, in each dimension.
pub fn dispatch_size(skin: &Skin, instances: u32) -> [u32; 3] {
    let slices = skin.vertex_count().div_ceil(LANES) as u32;
    let row = row(skin.vertex_count());
    [row, instances, slices.div_ceil(row.max(1))]
}
