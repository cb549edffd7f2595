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
    let buffers = VertexBuffers {
        buffers: &mut [VertexBuffer {
            bytes: &mut bytes,
            stride: STRIDE,
        }],
        position: BufferOffset {
            buffer: 0,
            offset: 0,
        },
        normal: Some((
            BufferOffset {
                buffer: 0,
                offset: 12,
            },
            NormalFormat::Octahedral16,
        )),
        tangent: None,
    };
    let palette = asset.palette_at(clip, 0.5);
    skin.deform_into_buffers(&[palette], &mut Workspace::default(), buffers)?;

    let first = bytes.first_chunk::<12>().ok_or("no vertex")?;
    let (numbers, _) = first.as_chunks::<4>();
    let [x, y, z] = [0, 1, 2].map(|axis| f32::from_ne_bytes(numbers[axis]));
    println!(
        "{} bytes; the first vertex is at {x:.3}, {y:.3}, {z:.3}",
        bytes.len()
    );
    Ok(())
}
