//! Writes posed vertices into an engine's interleaved vertex buffer.
//!
//! `cargo run --example vertex_buffers`

#![allow(clippy::print_stdout)]

use std::error::Error;
use supple::characters::{self, Character};
use supple::deform::{BufferOffset, NormalFormat, VertexBuffer, VertexBuffers};
use supple::{Method, Normals, Skin, Workspace};

/// Bytes per vertex: a position, a normal in 4 bytes, and texture coordinates, which stay.
const STRIDE: usize = 12 + 4 + 8;

fn main() -> Result<(), Box<dyn Error>> {
    let asset = characters::build(Character::Arm, 5_000)?;
    let clip = asset.clips.first().ok_or("no clip")?;
    let skin = Skin::bake(&asset.rig, &Method::Linear, Normals::Transported)?;

    // In an engine, this is mapped GPU memory.
    let mut bytes = vec![0; STRIDE * skin.vertex_count()];
    let at = |offset| BufferOffset { buffer: 0, offset };
    let buffers = VertexBuffers {
        buffers: &mut [VertexBuffer {
            bytes: &mut bytes,
            stride: STRIDE,
        }],
        position: at(0),
        normal: Some((at(12), NormalFormat::Octahedral16)),
        tangent: None,
    };
    let palette = asset.palette_at(clip, 0.5);
    skin.deform_into_buffers(&[palette], &mut Workspace::default(), buffers)?;

    let (numbers, _) = bytes.as_chunks::<4>();
    let [x, y, z] = [0, 1, 2].map(|axis| f32::from_ne_bytes(numbers[axis]));
    println!("the first vertex is at {x:.3}, {y:.3}, {z:.3}");
    Ok(())
}
