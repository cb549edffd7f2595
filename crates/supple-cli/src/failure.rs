//! Errors of the command: one message, and a hint where something can be done.

use crate::wording::{printable, short_sentence};
use anstyle::{AnsiColor, Style};
use std::path::Path;
use supple::centers::CenterError;
use supple::characters::CharacterError;
use supple::deform::DeformError;
use supple::inverse_kinematics::ReachError;
use supple::mush::MushError;
use supple::weights::WeightsError;
use supple::{NodeCountError, OptionError, RigError};
use supple_io::LoadError;
use supple_io::gltf::SaveError;
use supple_io::whole_file::{check_folder_writable, check_writable};

/// An error that ends the command.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    exit_status: u8,
}

impl Failure {
    /// An error with exit status 1.
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure {
            message: short_sentence(&message.into()),
            hint: None,
            exit_status: 1,
        }
    }

    /// An error about a file, whose path is shown in full.
    pub(crate) fn about(path: &Path, message: impl AsRef<str>) -> Failure {
        Failure::preceded_by(&format!("{}: ", path.display()), message.as_ref())
    }

    fn preceded_by(words: &str, message: &str) -> Failure {
        Failure {
            message: printable(words) + &short_sentence(message),
            hint: None,
            exit_status: 1,
        }
    }

    /// An error in the command line, with exit status 2.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(message).into_usage()
    }

    /// The same error as one in the command line.
    pub(crate) fn into_usage(self) -> Failure {
        Failure {
            exit_status: 2,
            ..self
        }
    }

    /// The error for an output file with the wrong extension.
    pub(crate) fn wrong_ending(path: &Path, known: &str) -> Failure {
        Failure::about(path, format!("the extension must be {known}")).into_usage()
    }

    /// The error for a file that cannot be written.
    pub(crate) fn writing(path: &Path, error: impl std::fmt::Display) -> Failure {
        let words = format!("cannot write {}: ", path.display());
        Failure::preceded_by(&words, &error.to_string())
    }

    /// Checks that a file can be written, before the work starts.
    pub(crate) fn unless_writable(path: &Path) -> Result<(), Failure> {
        check_writable(path).map_err(|error| Failure::writing(path, error))
    }

    /// Checks that a file can be written into a folder, which need not exist.
    pub(crate) fn unless_writable_in(folder: &Path, file: &str) -> Result<(), Failure> {
        check_folder_writable(folder).map_err(|error| Failure::writing(folder, error))?;
        match folder.is_dir() {
            true => Failure::unless_writable(&folder.join(file)),
            false => Ok(()),
        }
    }

    /// Adds a hint on what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(short_sentence(&hint.into()));
        self
    }

    pub(crate) fn exit_status(&self) -> u8 {
        self.exit_status
    }

    /// The message as a line for the terminal, and the hint as another.
    pub(crate) fn to_styled_text(&self) -> String {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let dim = Style::new().dimmed();
        let mut text = format!("{red}error:{red:#} {}", self.message);
        if let Some(hint) = &self.hint {
            text += &format!("\n  {dim}{hint}{dim:#}");
        }
        text
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        match error {
            LoadError::Io { path, source } => Failure::about(&path, source.to_string()),
            LoadError::Malformed {
                path,
                place,
                problem,
            } => Failure::about(&path, format!("{place}: {problem}")),
            error => Failure::new(error.to_string()),
        }
    }
}

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<DeformError> for Failure {
    fn from(error: DeformError) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<CharacterError> for Failure {
    fn from(error: CharacterError) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<WeightsError> for Failure {
    fn from(error: WeightsError) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<ReachError> for Failure {
    fn from(error: ReachError) -> Failure {
        let failure = Failure::usage(error.to_string());
        match error {
            ReachError::NothingToTurn { joint, .. } => failure.hint(format!(
                "--chain '{joint}=N' turns joints above a branch as well; \
                 --move moves the joint itself"
            )),
            ReachError::TurnedForAnother { end, .. } => {
                failure.hint(format!("--chain '{end}=N' makes the other chain shorter"))
            }
            _ => failure,
        }
    }
}

impl From<NodeCountError> for Failure {
    fn from(error: NodeCountError) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<RigError> for Failure {
    fn from(error: RigError) -> Failure {
        Failure::new(error.to_string())
    }
}

impl From<OptionError> for Failure {
    fn from(error: OptionError) -> Failure {
        Failure::usage(error.to_string())
    }
}

impl From<MushError> for Failure {
    fn from(error: MushError) -> Failure {
        match error {
            MushError::Option(error) => error.into(),
            _ => Failure::new(error.to_string()),
        }
    }
}

impl From<CenterError> for Failure {
    fn from(error: CenterError) -> Failure {
        Failure::new(error.to_string())
    }
}
