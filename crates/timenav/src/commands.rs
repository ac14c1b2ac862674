//! The command line: one file for each subcommand.
//!
//! Each file has the same parts in the same order: what may be written on the line, `run`, what
//! it needs, tests.

mod serve;
mod rotate_signing_key;
mod clock;
mod anchor;
mod events;
mod import;
mod import_git;
mod export;
mod timeline;
mod key;
mod user;
mod stream;
mod proof;
mod verify;
mod doctor;
mod openapi;
mod completions;
mod markdown_help;

use clap::builder::styling::Styles;
use clap::{Parser, Subcommand};
use serde_json::{Map, Value};
use timenav_core::ids::TimelineId;

use crate::client::Client;
use crate::exit::{Exit, Failure};
use crate::output;

/// One clock and one history that a whole system can share.
///
/// `timenav serve` runs the service, and `timenav rotate-signing-key` gives a stopped one another key. The other
/// commands talk to a running one, found by --url or `TIMENAV_URL`, with the API key in `TIMENAV_API_KEY` or in the
/// data folder.
#[derive(Debug, Parser)]
#[command(name = "timenav", version, max_term_width = 100, styles = Styles::plain(), after_help = Exit::help())]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What the process was given beside its command line.
pub(crate) struct Surroundings {
    /// The API key to show to the service.
    pub(crate) api_key: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeCommand),
    RotateSigningKey(rotate_signing_key::RotateSigningKeyCommand),
    Clock(clock::ClockCommand),
    Anchor(anchor::AnchorCommand),
    Events(events::EventsCommand),
    Import(import::ImportCommand),
    ImportGit(import_git::ImportGitCommand),
    Export(export::ExportCommand),
    Timeline(timeline::TimelineCommand),
    Key(key::KeyCommand),
    User(user::UserCommand),
    Stream(stream::StreamCommand),
    Proof(proof::ProofCommand),
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
        Command::Clock(command) => clock::run(command, surroundings),
        Command::Anchor(command) => anchor::run(command, surroundings),
        Command::Events(command) => events::run(command, surroundings),
        Command::Import(command) => import::run(command, surroundings),
        Command::ImportGit(command) => import_git::run(command, surroundings),
        Command::Export(command) => export::run(command, surroundings),
        Command::Timeline(command) => timeline::run(command, surroundings),
        Command::Key(command) => key::run(command, surroundings),
        Command::User(command) => user::run(command, surroundings),
        Command::Stream(command) => stream::run(command, surroundings),
        Command::Proof(command) => proof::run(command, surroundings),
        Command::Verify(command) => verify::run(&command, surroundings),
        Command::Doctor(command) => doctor::run(command, surroundings),
        Command::Openapi(command) => openapi::run(&command),
        Command::Completions(command) => completions::run(&command),
        Command::MarkdownHelp(command) => markdown_help::run(&command),
    }
}

/// Inserts a field into the body of a request, unless there is nothing to say.
fn insert(body: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(name.to_owned(), value.into());
    }
}

/// Reads the name of a timeline on the command line.
fn timeline_id(text: &str) -> Result<TimelineId, String> {
    TimelineId::new(text).map_err(|error| error.to_string())
}

/// Shows every page of a list, one after the other. `human` is told whether a page is the first.
fn show_pages(
    client: &Client,
    path: &[&str],
    mut query: Vec<(&'static str, String)>,
    human: impl Fn(&Value, bool) -> String,
) -> Result<(), Failure> {
    let mut is_first = true;
    loop {
        let page = client.get(path, &query)?;
        client.show(&page, |page| human(page, is_first))?;
        let Some(cursor) = page.value["next_cursor"].as_str() else { return Ok(()) };
        query.retain(|(name, _)| *name != "cursor");
        query.push(("cursor", cursor.to_owned()));
        is_first = false;
    }
}

/// Returns a page of a list as a table, or what the service says where the list is empty.
fn page_text(page: &Value, list: &str, columns: &[(&str, &str)], is_first: bool) -> String {
    match page[list].as_array() {
        Some(items) if !items.is_empty() => output::table(items, columns, is_first),
        Some(_) | None if is_first => output::status(page),
        Some(_) | None => String::new(),
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
