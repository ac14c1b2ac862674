//! One module per subcommand, each with the same parts in order: arguments, `run`, helpers, tests.

mod serve;
mod witness;
mod signing_key;
mod rotate_signing_key;
mod accept_rollback;
mod backup;
mod restore;
mod compact;
mod migrate;
mod upgrade;
mod clock;
mod confirmed;
mod fault;
mod followers;
mod timer;
mod anchor;
mod filter;
mod events;
mod import;
mod import_git;
mod mapping;
mod export;
mod timeline;
mod prune;
mod erase_reads;
mod access;
mod data;
mod paradoxes;
mod key;
mod user;
mod profile;
mod sntp;
mod sql_clock;
mod status;
mod stream;
mod exec;
mod sweep;
mod demo;
mod mcp;
mod proof;
mod entries;
mod verify;
mod doctor;
mod limits;
mod api;
mod operations;
mod openapi;
mod completions;
pub(crate) mod completing;
mod man;
mod markdown_help;
mod arguments;
mod pages;
mod checked_copy;
mod of_file;
mod copy_bar;
mod work_folder;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::styling::Styles;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::exit::{Exit, Failure, told};
use crate::output::{self, OutputFormat};
use crate::redaction::redact;
use crate::surroundings::Surroundings;

/// A controllable clock for whole systems.
///
/// `timenav serve` runs the service. Most other commands are its clients, with the API key in `TIMENAV_API_KEY` or in
/// the data folder.
#[derive(Debug, Parser)]
#[command(name = "timenav", version, max_term_width = 100, styles = Styles::plain(), after_help = Exit::help())]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeCommand),
    Witness(witness::WitnessCommand),
    SigningKey(signing_key::SigningKeyCommand),
    RotateSigningKey(rotate_signing_key::RotateSigningKeyCommand),
    AcceptRollback(accept_rollback::AcceptRollbackCommand),
    Backup(backup::BackupCommand),
    Restore(restore::RestoreCommand),
    Compact(compact::CompactCommand),
    Migrate(migrate::MigrateCommand),
    Upgrade(upgrade::UpgradeCommand),
    Status(status::StatusCommand),
    Clock(clock::ClockCommand),
    Followers(followers::FollowersCommand),
    Fault(fault::FaultCommand),
    Timer(timer::TimerCommand),
    Anchor(anchor::AnchorCommand),
    Events(events::EventsCommand),
    Paradoxes(paradoxes::ParadoxesCommand),
    Import(import::ImportCommand),
    ImportGit(import_git::ImportGitCommand),
    Mapping(mapping::MappingCommand),
    Export(export::ExportCommand),
    Timeline(timeline::TimelineCommand),
    Prune(prune::PruneCommand),
    EraseReads(erase_reads::EraseReadsCommand),
    Access(access::AccessCommand),
    Data(data::DataCommand),
    Key(key::KeyCommand),
    User(user::UserCommand),
    Profile(profile::ProfileCommand),
    Stream(stream::StreamCommand),
    Exec(exec::ExecCommand),
    Sweep(sweep::SweepCommand),
    Demo(demo::DemoCommand),
    Sntp(sntp::SntpCommand),
    SqlClock(sql_clock::SqlClockCommand),
    Mcp(mcp::McpCommand),
    Proof(proof::ProofCommand),
    Entries(entries::EntriesCommand),
    Verify(verify::VerifyCommand),
    Doctor(doctor::DoctorCommand),
    Limits(limits::LimitsCommand),
    Api(api::ApiCommand),
    Openapi(openapi::OpenapiCommand),
    Completions(completions::CompletionsCommand),
    Man(man::ManCommand),
    #[command(hide = true)]
    MarkdownHelp(markdown_help::MarkdownHelpCommand),
}

/// Parses the command line and determines the output format. The error shows no password.
pub(crate) fn parse() -> Result<(Cli, OutputFormat), clap::Error> {
    let parsed = Cli::command().try_get_matches().and_then(|matches| {
        let format = output_format(&matches);
        Cli::from_arg_matches(&matches).map(|cli| (cli, format))
    });
    parsed.map_err(|error| redact(error, &Cli::command()))
}

/// Prints help or a usage error, as JSON if that is the output format.
pub(crate) fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && asks_for_json(std::env::args_os()) {
        let text = error.render().to_string();
        let text = text.trim().trim_start_matches("error: ");
        output::note(output::pretty(&told("usage", text, Exit::Usage).to_string()).trim_end());
    } else {
        // There is no other place to report a failure.
        let _ = error.print();
    }
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Ok.into() }
}

fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let arguments: Vec<OsString> = arguments.take_while(|argument| argument != "--").collect();
    let is_json = |word: &OsString| word == "json" || word == "ndjson";
    arguments
        .iter()
        .any(|argument| argument == "--json" || argument == "--output=json" || argument == "--output=ndjson")
        || arguments.windows(2).any(|pair| pair[0] == "--output" && is_json(&pair[1]))
}

fn output_format(matches: &ArgMatches) -> OutputFormat {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    match innermost.try_get_one::<bool>("json") {
        Ok(Some(true)) => OutputFormat::Json,
        Ok(_) | Err(_) => innermost.try_get_one("output").ok().flatten().copied().unwrap_or_default(),
    }
}

pub(crate) fn run(cli: Cli, surroundings: &Surroundings) -> Result<(), Failure> {
    match cli.command {
        Command::Serve(command) => serve::run(command),
        Command::Witness(command) => witness::run(command),
        Command::SigningKey(command) => signing_key::run(command),
        Command::RotateSigningKey(command) => rotate_signing_key::run(command),
        Command::AcceptRollback(command) => accept_rollback::run(command),
        Command::Backup(command) => backup::run(command),
        Command::Restore(command) => restore::run(command),
        Command::Compact(command) => compact::run(command),
        Command::Migrate(command) => migrate::run(&command),
        Command::Upgrade(command) => upgrade::run(command),
        Command::Status(command) => status::run(&command, surroundings),
        Command::Clock(command) => clock::run(command, surroundings),
        Command::Followers(command) => followers::run(&command, surroundings),
        Command::Fault(command) => fault::run(&command, surroundings),
        Command::Timer(command) => timer::run(command, surroundings),
        Command::Anchor(command) => anchor::run(command, surroundings),
        Command::Events(command) => events::run(command, surroundings),
        Command::Paradoxes(command) => paradoxes::run(command, surroundings),
        Command::Import(command) => import::run(&command, surroundings),
        Command::ImportGit(command) => import_git::run(&command, surroundings),
        Command::Mapping(command) => mapping::run(command, surroundings),
        Command::Export(command) => export::run(command, surroundings),
        Command::Timeline(command) => timeline::run(command, surroundings),
        Command::Prune(command) => prune::run(command, surroundings),
        Command::EraseReads(command) => erase_reads::run(command, surroundings),
        Command::Access(command) => access::run(command, surroundings),
        Command::Data(command) => data::run(command, surroundings),
        Command::Key(command) => key::run(command, surroundings),
        Command::User(command) => user::run(command, surroundings),
        Command::Profile(command) => profile::run(command, surroundings),
        Command::Stream(command) => stream::run(command, surroundings),
        Command::Exec(command) => exec::run(&command, surroundings),
        Command::Sweep(command) => sweep::run(&command, surroundings),
        Command::Demo(command) => demo::run(&command, surroundings),
        Command::Sntp(command) => sntp::run(&command, surroundings),
        Command::SqlClock(command) => sql_clock::run(&command, surroundings),
        Command::Mcp(command) => mcp::run(&command, surroundings),
        Command::Proof(command) => proof::run(&command, surroundings),
        Command::Entries(command) => entries::run(&command, surroundings),
        Command::Verify(command) => verify::run(&command, surroundings),
        Command::Doctor(command) => doctor::run(command, surroundings),
        Command::Limits(command) => limits::run(&command, surroundings),
        Command::Api(command) => api::run(command, surroundings),
        Command::Openapi(command) => openapi::run(&command),
        Command::Completions(command) => completions::run(&command),
        Command::Man(command) => man::run(&command),
        Command::MarkdownHelp(command) => markdown_help::run(&command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_format_is_taken_from_the_called_command() {
        for (line, expected) in [
            ("clock now", OutputFormat::Table),
            ("clock now --json", OutputFormat::Json),
            ("clock --json now", OutputFormat::Json),
            ("events find --output csv", OutputFormat::Csv),
            ("doctor --security --json", OutputFormat::Json),
            ("openapi", OutputFormat::Table),
        ] {
            let words = std::iter::once("timenav").chain(line.split(' '));
            assert_eq!(output_format(&Cli::command().try_get_matches_from(words).unwrap()), expected, "{line}");
        }
        for (line, expected) in
            [("x --json", true), ("x --output ndjson", true), ("x --output=json", true), ("x --output csv", false)]
        {
            assert_eq!(asks_for_json(line.split(' ').map(OsString::from)), expected, "{line}");
        }
        assert!(!asks_for_json(["x", "--", "--json"].into_iter().map(OsString::from)));
    }

    #[test]
    fn command_line_definition_is_valid() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_argument_takes_a_secret() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments() {
                let name = argument.get_id().as_str();
                // Arguments are visible to other users; the contents of a file are not.
                if name.ends_with("_file") {
                    continue;
                }
                assert!(!name.contains("api_key") && !name.contains("secret"), "{}: {name}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
