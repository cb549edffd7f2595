//! How near to the speed of its memory a GPU deforms: `cargo run --release -p supple-gpu --example bandwidth -- 1000000`.

use std::error::Error;
use std::io::Write;
use supple::characters::{self, Character};
use supple::deform::{DirectDeltaMush, MushSource};
use supple::mush::{Mush, MushOptions};
use supple::{Method, Normals, Palette, Rig, Skin};
use supple_gpu::{Format, Gpu, GpuSkin, time_copy, time_frame};

const ROUNDS: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let vertices = std::env::args()
        .nth(1)
        .map_or(Ok(1_000_000), |n| n.parse())?;
    let instances = std::env::args().nth(2).map_or(Ok(1), |n| n.parse())?;
    let gpu = Gpu::new()?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", gpu.name())?;
    let asset = characters::build(Character::Figure, vertices)?;
    let clip = asset.clips.first().ok_or("no clip")?;
    let pose = asset.pose_at(clip, clip.start() + 0.4 * clip.duration());
    let palettes: Vec<Palette> = vec![asset.rig.skeleton().palette(&pose); instances];
    for most in [4, 8] {
        let weights = asset.rig.weights().limited(most);
        let rig = Rig::new(
            asset.rig.mesh().clone(),
            asset.rig.skeleton().clone(),
            weights,
        )?;
        let options = MushOptions {
            max_influences: Some(most),
            ..MushOptions::DEFAULT
        };
        let mush = std::sync::Arc::new(Mush::bake(&rig, &options)?.mush);
        for name in [
            "linear",
            "dual-quaternion",
            "cor",
            "ddm",
            "ddm-v2",
            "ddm-v4",
        ] {
            let method = match name.parse()? {
                Method::DirectDeltaMush(DirectDeltaMush { variant, .. }) => {
                    let source = MushSource::Known(mush.clone());
                    Method::DirectDeltaMush(DirectDeltaMush { variant, source })
                }
                other => other,
            };
            let skin = Skin::bake(&rig, &method, Normals::Transported)?;
            let mut on_gpu = GpuSkin::new(&gpu, &skin, Format::default(), instances)?;
            on_gpu.pose(&gpu, &palettes)?;
            let time = time_frame(&gpu, &on_gpu, ROUNDS)?;
            let copy = time_copy(&gpu, on_gpu.bytes() / 2, ROUNDS)?;
            let all = (skin.vertex_count() * instances) as f64;
            writeln!(
                out,
                "{most} {name}: {:.4} ns, {:.0} bytes per vertex, {:.0} GB/s, copy {:.0} GB/s, {:.0} %",
                time.as_nanos() as f64 / all,
                on_gpu.bytes() as f64 / all,
                on_gpu.bytes() as f64 / time.as_nanos() as f64,
                on_gpu.bytes() as f64 / copy.as_nanos() as f64,
                100.0 * copy.as_secs_f64() / time.as_secs_f64(),
            )?;
        }
    }
    Ok(())
}
