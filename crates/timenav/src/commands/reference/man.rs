use std::path::PathBuf;

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::commands::Cli;
use crate::exit::Failure;
use crate::output;

/// Prints the manual page of timenav, or writes the pages of all commands.
///
/// For example, `timenav man | man -l -` or `timenav man --dir ~/.local/share/man/man1`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManCommand {
    /// The folder for all pages, created if it does not exist.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(crate) fn run(command: &ManCommand) -> Result<(), Failure> {
    let cli = Cli::command();
    let Some(dir) = &command.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(cli).render(&mut page).context("the page cannot be created")?;
        return output::write_bytes(&page);
    };
    let cannot = || format!("the pages cannot be written to {}", dir.display());
    std::fs::create_dir_all(dir).with_context(cannot)?;
    clap_mangen::generate_to(cli, dir).with_context(cannot)?;
    Ok(())
}
