//! Skinning methods on the command line.

use super::arap::{KNOWN_WORDS, WordFault, options_from_words, words};
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
    let text = value.to_string_lossy();
    let (name, option) = match text.split_once(':') {
        Some((name, option)) => (name, Some(option)),
        None => (&*text, None),
    };
    let refused = |problem: String| Err(wrong_method(command, &problem));
    match (name.parse::<Method>(), option) {
        (Ok(Method::Arap(_)), Some(words)) => match options_from_words(words) {
            Ok(options) => Ok(Method::Arap(options)),
            Err(WordFault::Unknown) => refused(format!(
                "the method 'arap' has no option '{words}'; known: {KNOWN_WORDS}"
            )),
            Err(WordFault::Invalid(problem)) => refused(format!(
                "the method 'arap' does not accept '{words}': {problem}"
            )),
        },
        // The error of a plain list offers what is near.
        (Err(UnknownMethod::Name(_)), _) => {
            let names = PossibleValuesParser::new(offered.map(Method::name));
            let refused = names.parse_ref(command, argument, value);
            Err(refused.err().unwrap_or_else(|| wrong_method(command, "")))
        }
        _ => text
            .parse()
            .or_else(|error: UnknownMethod| refused(error.to_string())),
    }
}

/// A method as it is written on the command line, with its options.
pub(crate) fn method_text(method: &Method) -> String {
    match method {
        Method::Arap(options) => match words(options) {
            Some(words) => format!("{method}:{words}"),
            None => method.to_string(),
        },
        _ => method.to_string(),
    }
}

/// What may follow the name of a method and a colon; `None` if nothing may.
pub(crate) fn options_text(method: &Method) -> Option<&'static str> {
    match method {
        Method::Arap(_) => Some(KNOWN_WORDS),
        _ => method.options(),
    }
}

/// What a list of methods leaves to `supple methods`.
pub(super) fn known_methods() -> String {
    let names: Vec<&str> = Method::ALL.iter().map(Method::name).collect();
    format!(
        "Methods: {}. 'supple methods' describes them, with their papers, costs and options",
        names.join(", ")
    )
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
