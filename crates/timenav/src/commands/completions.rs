//! `timenav completions`: prints what a shell needs to complete commands.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use crate::exit::Failure;
use crate::output;

/// Prints a completion script for a shell.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsCommand {
    /// The shell.
    shell: Shell,
}

/// Prints the script.
///
/// # Errors
/// Stdout cannot be written.
pub(crate) fn run(command: &CompletionsCommand) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(command.shell, &mut Cli::command(), "timenav", &mut script);
    output::write(&String::from_utf8_lossy(&script))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn each_shell_learns_the_commands() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "timenav", &mut script);
            assert!(String::from_utf8(script).unwrap().contains("import"), "{shell}");
        }
    }
}
