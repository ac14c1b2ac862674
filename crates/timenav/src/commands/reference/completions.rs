use anyhow::Context as _;
use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::exit::Failure;
use crate::output;

/// The environment variable by which a shell requests completions.
const VARIABLE: &str = "COMPLETE";

/// Prints a completion script for commands, flags, and the names of timelines, anchors, events and profiles.
///
/// For bash, put `source <(timenav completions bash)` into `~/.bashrc`. Completing a name is a logged read.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsCommand {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(command: &CompletionsCommand) -> Result<(), Failure> {
    output::write_bytes(&script(command.shell)?)
}

fn script(shell: Shell) -> anyhow::Result<Vec<u8>> {
    let name = shell.to_string();
    let shells = Shells::builtins();
    let shell = shells.completer(&name).with_context(|| format!("there is no script for {name}"))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "timenav", "timenav", "timenav", &mut script)?;
    Ok(script)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn each_shell_has_a_script() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell).unwrap()).unwrap();
            assert!(script.contains("timenav") && script.contains(VARIABLE), "{shell}");
        }
    }
}
