//! `timenav markdown-help`: prints the command line reference, `docs/command-line.md`.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;
use super::operations::OPERATIONS;
use crate::config::ServeOptions;
use crate::exit::{Exit, Failure};
use crate::output;

const INTRODUCTION: &str = "\
# The command line

<!-- Written by `timenav markdown-help > docs/command-line.md`; a test compares. -->

One program, `timenav`, is both the service and its client. Commands print sentences and tables for people, and other
forms for programs (`--output`). Answers go to stdout; errors, warnings and the service's log go to stderr.

With `--json` or `--output ndjson`, an error on stderr is one JSON object: the problem that the service answered, with
its `code`, or for what went wrong without the service a `code` of `no_key`, `unreachable`, `records_refused`,
`tampered`, `dates_failed`, `usage` or `failed`. Both have `exit_code`, and the service's has `http_status`.

An API key is never given on the command line, where other users of the machine could see it: clients take it from
`TIMENAV_API_KEY`, from a profile (`timenav profile add`), or from `admin.key` in the data folder of a service on the
same machine. `timenav status` says which service is asked, and with which key.

Which service is asked, and which key it is shown: `--url`, with `TIMENAV_API_KEY` or else the key in the folder of
`--data`; `--profile`, with its own key; `--data`, whose service keeps its address there on any port; the default
profile; `./timenav-data`; `http://127.0.0.1:8080`. A key that is kept in a profile or a folder is shown to that service
alone. `TIMENAV_API_KEY` goes before the key in a folder; if it is set and empty, that is an error.
";

/// Prints the command line as a page of Markdown.
#[derive(Debug, clap::Args)]
pub(crate) struct MarkdownHelpCommand {}

/// Prints the page.
///
/// # Errors
/// Stdout cannot be written.
pub(crate) fn run(_command: &MarkdownHelpCommand) -> Result<(), Failure> {
    output::write(&page())
}

fn page() -> String {
    let mut cli = Cli::command();
    // Sets the full name and the inherited options of each subcommand.
    cli.build();
    let mut text = INTRODUCTION.to_owned();
    text.push_str("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n");
    for exit in Exit::ALL {
        let _ = writeln!(text, "| {} | {} |", exit.code(), exit.meaning());
    }
    text.push_str("\n## Operations and commands\n\n");
    text.push_str("`api` sends any request, those without a command of their own too.\n\n");
    text.push_str("| operation | command |\n| --- | --- |\n");
    for operation in OPERATIONS {
        let _ = writeln!(text, "| `{}` | `timenav {}` |", operation.name, operation.command);
    }
    text.push_str("\n## The configuration file\n\n`timenav serve --config FILE` reads TOML. Its keys: ");
    let keys: Vec<String> = ServeOptions::keys().iter().map(|key| format!("`{key}`")).collect();
    let keys = keys.join(", ");
    let _ = writeln!(text, "{keys}.\nEach means what the flag of that name means. An unknown key is an error.");
    text.push_str("\n## Options of all clients\n\n`--timeline` applies to commands that act on a timeline.\n\n");
    let mut told: Vec<&str> = Vec::new();
    for argument in shown(&cli).flat_map(Command::get_arguments).filter(|argument| argument.is_global_set()) {
        if !told.contains(&argument.get_id().as_str()) {
            told.push(argument.get_id().as_str());
            item(&mut text, argument);
        }
    }
    for command in shown(&cli) {
        section(&mut text, command, 2);
    }
    text
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn section(text: &mut String, command: &Command, level: usize) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let about = command.get_long_about().or_else(|| command.get_about());
    let _ = write!(
        text,
        "\n{} `{name}`\n\n{}\n",
        "#".repeat(level),
        prose(&about.map(ToString::to_string).unwrap_or_default())
    );
    let usage = command.clone().render_usage().to_string();
    let _ = write!(text, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    let leads_on = shown(command).next().is_some();
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version"))
        .filter(|argument| !argument.is_global_set())
        .collect();
    if !arguments.is_empty() {
        text.push('\n');
    }
    for argument in arguments {
        item(text, argument);
    }
    if leads_on {
        for subcommand in shown(command) {
            section(text, subcommand, level + 1);
        }
    }
}

fn item(text: &mut String, argument: &Arg) {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = prose(&help.map(ToString::to_string).unwrap_or_default()).replace("\n\n", "\n\n  ");
    let _ = write!(text, "- `{}`: {help}", argument.to_string().trim());
    let takes_values = argument.get_action().takes_values();
    if takes_values && !argument.is_hide_possible_values_set() {
        let possible = argument.get_possible_values();
        one_of(text, "One of", possible.iter().map(|value| value.get_name().to_owned()));
    }
    if takes_values {
        let defaults = argument.get_default_values().iter();
        one_of(text, "Default:", defaults.map(|value| value.to_string_lossy().into_owned()));
    }
    one_of(text, "Also", argument.get_env().map(|variable| variable.to_string_lossy().into_owned()).into_iter());
    text.push('\n');
}

fn one_of(text: &mut String, introduction: &str, words: impl Iterator<Item = String>) {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    if !words.is_empty() {
        let _ = write!(text, " {introduction} {}.", words.join(", "));
    }
}

/// Converts help text to Markdown: complete sentences, with nothing outside code that looks like a tag.
fn prose(help: &str) -> String {
    let mut text = String::new();
    for (index, part) in help.trim().split('`').enumerate() {
        let is_code = index % 2 == 1;
        if is_code {
            let _ = write!(text, "`{part}`");
        } else {
            text.push_str(&part.replace('<', "\\<").replace("[default: ", "Default: ").replace(']', "."));
        }
    }
    if !text.is_empty() && !text.ends_with('.') {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_page_in_docs_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-line.md");
        let kept = std::fs::read_to_string(path).unwrap();
        assert!(kept == page(), "docs/command-line.md is old: timenav markdown-help > docs/command-line.md");
    }

    #[test]
    fn page_contains_every_visible_command() {
        fn check(page: &str, command: &Command) {
            for subcommand in shown(command) {
                let name = subcommand.get_bin_name().unwrap();
                assert!(page.contains(&format!("# `{name}`\n")), "{name}");
                check(page, subcommand);
            }
        }
        let mut cli = Cli::command();
        cli.build();
        let page = page();
        check(&page, &cli);
        assert!(!page.contains("markdown-help`\n\n"), "hidden commands stay hidden");
        assert!(page.contains("`TIMENAV_SHUTDOWN_DEADLINE_SECS`"));
    }
}
