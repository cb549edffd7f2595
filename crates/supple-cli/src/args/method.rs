//! Skinning methods on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::ffi::OsStr;
use supple::Method;
use supple::deform::UnknownMethod;

/// A parser for the name of a method, with its options after a colon.
#[derive(Clone)]
pub(crate) struct MethodParser;

impl TypedValueParser for MethodParser {
    type Value = Method;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Method, clap::Error> {
        parse_method(Method::ALL.iter(), command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Method::ALL.iter().map(possible_method)))
    }
}

/// Reads any method; the error for an unknown name lists the offered ones.
pub(super) fn parse_method(
    offered: impl Iterator<Item = &'static Method>,
    command: &clap::Command,
    argument: Option<&clap::Arg>,
    value: &OsStr,
) -> Result<Method, clap::Error> {
    match value.to_string_lossy().parse::<Method>() {
        Ok(method) => Ok(method),
        // The error of a plain list offers what is near.
        Err(UnknownMethod::Name(_)) => {
            let names = PossibleValuesParser::new(offered.map(Method::name));
            let refused = names.parse_ref(command, argument, value);
            Err(refused.err().unwrap_or_else(|| wrong_method(command, "")))
        }
        Err(error) => Err(wrong_method(command, &error.to_string())),
    }
}

pub(super) fn possible_method(method: &Method) -> PossibleValue {
    PossibleValue::new(method.name())
        .aliases(method.aliases())
        .help(method.summary())
}

pub(super) fn wrong_method(command: &clap::Command, message: &str) -> clap::Error {
    let kind = clap::error::ErrorKind::InvalidValue;
    clap::Error::raw(kind, format!("{message}\n")).with_cmd(command)
}
