//! One module per subcommand, each with the same parts in order: arguments, `run`, helpers, tests.

pub(crate) mod reference;
pub(crate) mod ledger;
pub(crate) mod programs;
pub(crate) mod service;
mod clock;
mod confirmed;
mod timer;
mod anchor;
mod events;
mod timeline;
mod access;
mod data;
mod profile;
mod status;
mod mcp;
mod arguments;
mod leading_options;
mod pages;
mod suggestions;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::styling::Styles;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::exit::{Exit, Failure, problem_json};
use crate::output::{self, OutputFormat};
use crate::telemetry::redaction::redact;
use crate::wiring::surroundings::Surroundings;

/// A controllable clock for whole systems.
///
/// `timenav serve` runs the service. Most other commands are its clients, with the API key in `TIMENAV_API_KEY` or in
/// the data folder. Options of clients, such as `--json` and `--url`, can come before or after the command.
#[derive(Debug, Parser)]
#[command(name = "timenav", version, max_term_width = 100, styles = Styles::plain(), after_help = Exit::help())]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(service::serve::ServeCommand),
    Witness(service::witness::WitnessCommand),
    SigningKey(service::signing_key::SigningKeyCommand),
    RotateSigningKey(service::rotate_signing_key::RotateSigningKeyCommand),
    AcceptRollback(service::accept_rollback::AcceptRollbackCommand),
    Backup(service::backup::BackupCommand),
    Restore(service::restore::RestoreCommand),
    Compact(service::compact::CompactCommand),
    Migrate(service::migrate::MigrateCommand),
    Upgrade(service::upgrade::UpgradeCommand),
    Status(status::StatusCommand),
    Clock(clock::ClockCommand),
    Followers(clock::followers::FollowersCommand),
    Fault(clock::fault::FaultCommand),
    Timer(timer::TimerCommand),
    Anchor(anchor::AnchorCommand),
    Events(events::EventsCommand),
    Paradoxes(events::paradoxes::ParadoxesCommand),
    Import(events::import::ImportCommand),
    ImportGit(events::import_git::ImportGitCommand),
    Mapping(events::mapping::MappingCommand),
    Export(events::export::ExportCommand),
    Timeline(timeline::TimelineCommand),
    Prune(timeline::prune::PruneCommand),
    EraseReads(timeline::erase_reads::EraseReadsCommand),
    Access(access::AccessCommand),
    Data(data::DataCommand),
    Key(access::key::KeyCommand),
    User(access::user::UserCommand),
    Profile(profile::ProfileCommand),
    Stream(events::stream::StreamCommand),
    Exec(programs::exec::ExecCommand),
    Sweep(programs::sweep::SweepCommand),
    Demo(service::demo::DemoCommand),
    Sntp(programs::sntp::SntpCommand),
    SqlClock(programs::sql_clock::SqlClockCommand),
    Mcp(mcp::McpCommand),
    Proof(ledger::proof::ProofCommand),
    Entries(ledger::entries::EntriesCommand),
    Verify(service::verify::VerifyCommand),
    Doctor(service::doctor::DoctorCommand),
    Limits(reference::limits::LimitsCommand),
    Api(reference::api::ApiCommand),
    Openapi(reference::openapi::OpenapiCommand),
    Completions(reference::completions::CompletionsCommand),
    Man(reference::man::ManCommand),
    #[command(hide = true)]
    MarkdownHelp(reference::markdown_help::MarkdownHelpCommand),
}

/// Parses the command line and determines the output format. The error shows no password.
pub(crate) fn parse() -> Result<(Cli, OutputFormat), clap::Error> {
    let line = leading_options::moved(std::env::args_os().collect());
    let parsed = Cli::command().try_get_matches_from(&line).and_then(|matches| {
        let format = output_format(&matches);
        Cli::from_arg_matches(&matches).map(|cli| (cli, format))
    });
    let root = Cli::command();
    parsed.map_err(|error| redact(suggestions::suggest(error, &root, &line), &root))
}

/// Prints help or a usage error, as JSON if that is the output format.
pub(crate) fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && asks_for_json(std::env::args_os()) {
        let text = error.render().to_string();
        let text = text.trim().trim_start_matches("error: ");
        output::note(output::pretty(&problem_json("usage", text, Exit::Usage).to_string()).trim_end());
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
        Command::Serve(command) => service::serve::run(command),
        Command::Witness(command) => service::witness::run(command),
        Command::SigningKey(command) => service::signing_key::run(command),
        Command::RotateSigningKey(command) => service::rotate_signing_key::run(command),
        Command::AcceptRollback(command) => service::accept_rollback::run(command),
        Command::Backup(command) => service::backup::run(command),
        Command::Restore(command) => service::restore::run(command),
        Command::Compact(command) => service::compact::run(command),
        Command::Migrate(command) => service::migrate::run(&command),
        Command::Upgrade(command) => service::upgrade::run(command),
        Command::Status(command) => status::run(&command, surroundings),
        Command::Clock(command) => clock::run(command, surroundings),
        Command::Followers(command) => clock::followers::run(&command, surroundings),
        Command::Fault(command) => clock::fault::run(&command, surroundings),
        Command::Timer(command) => timer::run(command, surroundings),
        Command::Anchor(command) => anchor::run(command, surroundings),
        Command::Events(command) => events::run(command, surroundings),
        Command::Paradoxes(command) => events::paradoxes::run(command, surroundings),
        Command::Import(command) => events::import::run(&command, surroundings),
        Command::ImportGit(command) => events::import_git::run(&command, surroundings),
        Command::Mapping(command) => events::mapping::run(command, surroundings),
        Command::Export(command) => events::export::run(command, surroundings),
        Command::Timeline(command) => timeline::run(command, surroundings),
        Command::Prune(command) => timeline::prune::run(command, surroundings),
        Command::EraseReads(command) => timeline::erase_reads::run(command, surroundings),
        Command::Access(command) => access::run(command, surroundings),
        Command::Data(command) => data::run(command, surroundings),
        Command::Key(command) => access::key::run(command, surroundings),
        Command::User(command) => access::user::run(command, surroundings),
        Command::Profile(command) => profile::run(command, surroundings),
        Command::Stream(command) => events::stream::run(command, surroundings),
        Command::Exec(command) => programs::exec::run(&command, surroundings),
        Command::Sweep(command) => programs::sweep::run(&command, surroundings),
        Command::Demo(command) => service::demo::run(&command, surroundings),
        Command::Sntp(command) => programs::sntp::run(&command, surroundings),
        Command::SqlClock(command) => programs::sql_clock::run(&command, surroundings),
        Command::Mcp(command) => mcp::run(&command, surroundings),
        Command::Proof(command) => ledger::proof::run(&command, surroundings),
        Command::Entries(command) => ledger::entries::run(&command, surroundings),
        Command::Verify(command) => service::verify::run(&command, surroundings),
        Command::Doctor(command) => service::doctor::run(command, surroundings),
        Command::Limits(command) => reference::limits::run(&command, surroundings),
        Command::Api(command) => reference::api::run(command, surroundings),
        Command::Openapi(command) => reference::openapi::run(&command),
        Command::Completions(command) => reference::completions::run(&command),
        Command::Man(command) => reference::man::run(&command),
        Command::MarkdownHelp(command) => reference::markdown_help::run(&command),
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
                if name.ends_with("_file") || !argument.get_action().takes_values() {
                    continue;
                }
                assert!(!name.contains("api_key") && !name.contains("secret"), "{}: {name}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
