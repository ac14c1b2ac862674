//! The command line: one file for each subcommand.
//!
//! Each file has the same parts in the same order: what may be written on the line, `run`, what
//! it needs, tests.

mod serve;
mod rotate_signing_key;
mod backup;
mod restore;
mod compact;
mod clock;
mod anchor;
mod filter;
mod events;
mod import;
mod import_git;
mod export;
mod timeline;
mod prune;
mod erase_reads;
mod key;
mod user;
mod stream;
mod proof;
mod entries;
mod verify;
mod doctor;
mod openapi;
mod completions;
mod markdown_help;
mod arguments;
mod pages;
mod checked_copy;
mod copy_bar;
mod work_folder;

use clap::builder::styling::Styles;
use clap::{Parser, Subcommand};

use crate::exit::{Exit, Failure};
use crate::surroundings::Surroundings;

/// One clock and one history that a whole system can share.
///
/// `timenav serve` runs the service, `timenav backup` and `timenav restore` copy its data folder and bring it back, and
/// `timenav compact` and `timenav rotate-signing-key` work on that of a stopped one. The other commands talk to a
/// running one, found by --url or `TIMENAV_URL`, with the API key in `TIMENAV_API_KEY` or in the data folder.
#[derive(Debug, Parser)]
#[command(name = "timenav", version, max_term_width = 100, styles = Styles::plain(), after_help = Exit::help())]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeCommand),
    RotateSigningKey(rotate_signing_key::RotateSigningKeyCommand),
    Backup(backup::BackupCommand),
    Restore(restore::RestoreCommand),
    Compact(compact::CompactCommand),
    Clock(clock::ClockCommand),
    Anchor(anchor::AnchorCommand),
    Events(events::EventsCommand),
    Import(import::ImportCommand),
    ImportGit(import_git::ImportGitCommand),
    Export(export::ExportCommand),
    Timeline(timeline::TimelineCommand),
    Prune(prune::PruneCommand),
    EraseReads(erase_reads::EraseReadsCommand),
    Key(key::KeyCommand),
    User(user::UserCommand),
    Stream(stream::StreamCommand),
    Proof(proof::ProofCommand),
    Entries(entries::EntriesCommand),
    Verify(verify::VerifyCommand),
    Doctor(doctor::DoctorCommand),
    Openapi(openapi::OpenapiCommand),
    Completions(completions::CompletionsCommand),
    #[command(hide = true)]
    MarkdownHelp(markdown_help::MarkdownHelpCommand),
}

/// Does what the command line says.
///
/// # Errors
/// It could not be done.
pub(crate) fn run(cli: Cli, surroundings: &Surroundings) -> Result<(), Failure> {
    match cli.command {
        Command::Serve(command) => serve::run(command),
        Command::RotateSigningKey(command) => rotate_signing_key::run(command),
        Command::Backup(command) => backup::run(command),
        Command::Restore(command) => restore::run(command),
        Command::Compact(command) => compact::run(command),
        Command::Clock(command) => clock::run(command, surroundings),
        Command::Anchor(command) => anchor::run(command, surroundings),
        Command::Events(command) => events::run(command, surroundings),
        Command::Import(command) => import::run(command, surroundings),
        Command::ImportGit(command) => import_git::run(command, surroundings),
        Command::Export(command) => export::run(command, surroundings),
        Command::Timeline(command) => timeline::run(command, surroundings),
        Command::Prune(command) => prune::run(command, surroundings),
        Command::EraseReads(command) => erase_reads::run(command, surroundings),
        Command::Key(command) => key::run(command, surroundings),
        Command::User(command) => user::run(command, surroundings),
        Command::Stream(command) => stream::run(command, surroundings),
        Command::Proof(command) => proof::run(command, surroundings),
        Command::Entries(command) => entries::run(command, surroundings),
        Command::Verify(command) => verify::run(&command, surroundings),
        Command::Doctor(command) => doctor::run(command, surroundings),
        Command::Openapi(command) => openapi::run(&command),
        Command::Completions(command) => completions::run(&command),
        Command::MarkdownHelp(command) => markdown_help::run(&command),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_takes_a_secret() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments() {
                let name = argument.get_id().as_str();
                assert!(!name.contains("api_key") && !name.contains("secret"), "{}: {name}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
