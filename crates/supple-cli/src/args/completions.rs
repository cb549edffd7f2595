//! Arguments of `supple completions`.

use clap::Args;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  supple completions bash > ~/.local/share/bash-completion/completions/supple
  supple completions zsh  > ~/.zfunc/_supple
  supple completions fish > ~/.config/fish/completions/supple.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
