//! Arguments that several commands have in common.

use super::method::{MethodParser, known_methods};
use super::{file_help, file_summary};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use supple::{Method, Normals};
use supple_render::View;

/// The help of an option for one method.
const METHOD_HELP: &str =
    "The skinning method; some take an option after a colon, as in dqs:per-joint or ldb:0.3";

#[derive(Args)]
pub(crate) struct MethodArgument {
    #[arg(
        short,
        long = "method",
        value_name = "METHOD",
        default_value = "linear",
        value_parser = MethodParser,
        hide_possible_values = true,
        help = format!("{METHOD_HELP}; 'supple methods' lists them"),
        long_help = format!("{METHOD_HELP}\n\n{}", known_methods())
    )]
    pub(crate) method: Method,
}

/// A list of skinning methods; each command has its own help text and default for it, by
/// [`methods_help`].
#[derive(Args)]
pub(crate) struct MethodsArgument {
    #[arg(
        short,
        long = "method",
        alias = "methods",
        value_name = "METHOD",
        value_delimiter = ',',
        value_parser = MethodParser,
        hide_possible_values = true
    )]
    pub(crate) methods: Vec<Method>,
}

/// Gives an argument for methods its help; the long one names all methods.
pub(super) fn methods_help(methods: clap::Arg, help: &str) -> clap::Arg {
    let long = format!("{help}\n\n{}", known_methods());
    methods.help(help.to_owned()).long_help(long)
}

/// A character, the moment of its clip, and the device that deforms it.
#[derive(Args)]
pub(crate) struct PosedCharacter {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) normals: NormalsArgument,
    #[command(flatten)]
    pub(crate) moment: Moment,
    #[command(flatten)]
    pub(crate) device: DeviceArgument,
}

/// A moment of a clip.
#[derive(Args)]
pub(crate) struct Moment {
    /// The clip, by name or by number from 0 [default: the first one if a time or a whole clip is
    /// asked for, else the rest pose]
    #[arg(long, value_name = "CLIP")]
    pub(crate) clip: Option<String>,
    /// Time in the clip, in seconds [default: 0]
    #[arg(
        long,
        value_name = "S",
        conflicts_with = "frame",
        value_parser = parse_seconds,
        allow_hyphen_values = true
    )]
    pub(crate) time: Option<f64>,
    /// Frame of the clip, counted from 0, at --fps frames per second
    #[arg(long, value_name = "N")]
    pub(crate) frame: Option<u32>,
    /// Frames per second, for --frame and for whole clips [default: 30]
    #[arg(long, value_name = "F", value_parser = parse_fps)]
    pub(crate) fps: Option<f64>,
}

#[derive(Args)]
pub(crate) struct NormalsArgument {
    /// The kind of normals
    #[arg(
        long,
        value_name = "KIND",
        default_value = "transported",
        value_parser = normals_parser()
    )]
    pub(crate) normals: Normals,
}

fn normals_parser() -> impl TypedValueParser<Value = Normals> {
    let values = Normals::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.summary()));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Normals>())
}

/// The processor that deforms and draws.
#[derive(Args)]
pub(crate) struct DeviceArgument {
    /// The processor that deforms and draws
    #[arg(long, value_name = "DEVICE", value_enum, default_value_t = Device::Cpu)]
    pub(crate) device: Device,
}

/// The processor that deforms and draws.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// The processor, on all threads
    Cpu,
    /// Shaders, on the fastest GPU of this machine (Vulkan, Metal or Direct3D 12)
    Gpu,
}

/// The largest number of influences per vertex; none for no limit.
pub(crate) type Limit = Option<usize>;

pub(super) fn parse_limit(text: &str) -> Result<Limit, String> {
    match text.parse() {
        _ if text == "none" => Ok(None),
        Ok(most) if most > 0 => Ok(Some(most)),
        _ => Err("expected a number of influences above zero, or 'none'".to_owned()),
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() => Ok(seconds),
        _ => Err("expected a number of seconds, such as 0.5".to_owned()),
    }
}

fn parse_fps(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(fps) if (0.1..=1000.0).contains(&fps) => Ok(fps),
        _ => Err("expected frames per second from 0.1 to 1000".to_owned()),
    }
}

pub(super) fn parse_influences(text: &str) -> Result<usize, String> {
    let count = text.parse::<usize>().ok().filter(|&count| count > 0);
    count.ok_or_else(|| "expected a number of joints above zero, such as 4".to_owned())
}

pub(super) fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let side = |text: &str| {
        text.parse::<usize>()
            .ok()
            .filter(|side| (1..=8192).contains(side))
    };
    let sides = text.split_once(['x', 'X', '×']);
    sides
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .ok_or_else(|| {
            "expected WIDTHxHEIGHT with sides from 1 to 8192, such as 800x600".to_owned()
        })
}

pub(super) fn parse_view(text: &str) -> Result<View, String> {
    let degrees = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    match text {
        "front" => Ok(View::FRONT),
        "side" => Ok(View::SIDE),
        "back" => Ok(View::BACK),
        "three-quarter" => Ok(View::THREE_QUARTER),
        _ => {
            let pair = text.split_once(',');
            let view = pair.and_then(|(yaw, pitch)| {
                Some(View {
                    yaw_degrees: degrees(yaw)?,
                    pitch_degrees: degrees(pitch)?,
                })
            });
            view.ok_or_else(|| {
                "expected front, side, back, three-quarter or YAW,PITCH in degrees".to_owned()
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_views_are_read_or_explained() {
        assert_eq!(parse_size("640x480"), Ok((640, 480)));
        for bad in ["640", "0x9", "x", "-1x5", "99999x2"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        let view = parse_view("-30, 15").unwrap();
        assert_eq!((view.yaw_degrees, view.pitch_degrees), (-30.0, 15.0));
        assert!(parse_view("above").is_err());
    }
}
