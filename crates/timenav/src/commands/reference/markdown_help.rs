//! `timenav markdown-help`: prints the command line reference, `docs/command-line.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use crate::background::following::faults::WRONG_CLOCK;
use crate::commands::Cli;
use crate::commands::reference::operations::OPERATIONS;
use crate::commands::service::doctor::AS_FOR_SERVE;
use crate::config::ServeOptions;
use crate::exit::{Exit, Failure};
use crate::output;

const INTRODUCTION: &str = "\
# The command line

<!-- Written by `timenav markdown-help > docs/command-line.md`; a test compares. -->

`timenav` is both the service and its client. Commands print sentences and tables for people, and other formats for
programs (`--output`). Responses go to stdout; errors, warnings and the log of the service go to stderr.

With `--json` or `--output ndjson`, an error on stderr is one JSON object with `code` and `exit_code`. An error from the
service has its code and `http_status`. Other errors have the code `missing_api_key`, `unreachable`, `records_rejected`,
`ledger_mismatch`, `sweep_failed`, `usage` or `failed`.

An API key is never passed on the command line, where other users of the machine could see it. Clients use the first of
these services and keys:

1. `--url`, with `TIMENAV_API_KEY` or the key in the folder of `--data`.
2. `--profile`, with its own key.
3. The service of `--data`, on any port.
4. The default profile.
5. The service of `./timenav-data`.
6. `http://127.0.0.1:8080`.

A key in a profile or a folder is sent only to its service. `TIMENAV_API_KEY` overrides the key in a folder; an empty
value is an error. `timenav status` shows the service and the source of the key.
";

/// Prints the command line as a page of Markdown.
#[derive(Debug, clap::Args)]
pub(crate) struct MarkdownHelpCommand {}

pub(crate) fn run(_command: &MarkdownHelpCommand) -> Result<(), Failure> {
    output::write(&page())
}

/// Options that several commands share, and that the page explains at one of them.
struct Group {
    heading: &'static str,
    /// The command that explains them.
    command: &'static str,
    sentence: &'static str,
}

impl Group {
    fn repeats(&self, argument: &Arg, command: &str) -> bool {
        argument.get_help_heading() == Some(self.heading) && command != self.command
    }
}

const DOCUMENTED_ELSEWHERE: [Group; 2] = [
    Group {
        heading: AS_FOR_SERVE,
        command: "timenav serve",
        sentence: "The options of `timenav serve` work here too.",
    },
    Group {
        heading: WRONG_CLOCK,
        command: "timenav fault",
        sentence: "The options of `timenav fault` for a wrong clock, such as `--offset`, work here too.",
    },
];

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
    text.push_str("`timenav api` sends all other requests.\n\n");
    text.push_str("| operation | command |\n| --- | --- |\n");
    for operation in OPERATIONS.iter().filter(|operation| operation.command != "api") {
        let _ = writeln!(text, "| `{}` | `timenav {}` |", operation.name, operation.command);
    }
    text.push_str("\n## The configuration file\n\n`timenav serve --config FILE` reads TOML. Its keys: ");
    let keys: Vec<String> = ServeOptions::keys().iter().map(|key| format!("`{key}`")).collect();
    let keys = keys.join(", ");
    let _ = writeln!(text, "{keys}.\nEach is the flag of the same name. An unknown key is an error.");
    text.push_str(
        "\n## Options of all clients\n\nThey can come before or after the command. `--timeline` applies \
                   to commands that act on a timeline.\n\n",
    );
    let mut sections: Vec<&str> = Vec::new();
    for argument in
        visible_subcommands(&cli).flat_map(Command::get_arguments).filter(|argument| argument.is_global_set())
    {
        if !sections.contains(&argument.get_id().as_str()) {
            sections.push(argument.get_id().as_str());
            text.push_str(&item(argument));
        }
    }
    for command in visible_subcommands(&cli) {
        section(&mut text, command, 2, &mut BTreeMap::new());
    }
    text
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

/// Writes a command and its subcommands. Options with an earlier explanation are only listed.
fn section(text: &mut String, command: &Command, level: usize, explained: &mut BTreeMap<String, String>) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let about = command.get_long_about().or_else(|| command.get_about());
    let _ = write!(
        text,
        "\n{} `{name}`\n\n{}\n",
        "#".repeat(level),
        prose(&about.map(ToString::to_string).unwrap_or_default())
    );
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let is_obvious =
        ["", " [OPTIONS]", " <COMMAND>", " [OPTIONS] <COMMAND>"].iter().any(|rest| usage == format!("{name}{rest}"));
    if !is_obvious {
        let _ = write!(text, "\n```text\n{usage}\n```\n");
    }
    let leads_on = visible_subcommands(command).next().is_some();
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version"))
        .filter(|argument| !argument.is_global_set())
        .collect();
    let mut items = String::new();
    let mut repeated: Vec<String> = Vec::new();
    for argument in &arguments {
        if DOCUMENTED_ELSEWHERE.iter().any(|group| group.repeats(argument, name)) {
            continue;
        }
        let (option, explanation) = (label(argument), item(argument));
        if explained.get(&option) == Some(&explanation) {
            // The usage line has the arguments that are not flags.
            repeated.extend(argument.get_long().map(|long| format!("`--{long}`")));
        } else {
            items.push_str(&explanation);
            explained.insert(option, explanation);
        }
    }
    if !repeated.is_empty() {
        let _ = writeln!(items, "- As above: {}.", repeated.join(", "));
    }
    if !items.is_empty() {
        let _ = write!(text, "\n{items}");
    }
    for group in DOCUMENTED_ELSEWHERE {
        if arguments.iter().any(|argument| group.repeats(argument, name)) {
            let _ = write!(text, "\n{}\n", group.sentence);
        }
    }
    if leads_on {
        for subcommand in visible_subcommands(command) {
            section(text, subcommand, level + 1, explained);
        }
    }
}

fn label(argument: &Arg) -> String {
    format!("`{}`", argument.to_string().trim())
}

fn item(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = prose(&help.map(ToString::to_string).unwrap_or_default()).replace("\n\n", "\n\n  ");
    let variable = argument.get_env().map(|variable| format!(", `{}`", variable.to_string_lossy())).unwrap_or_default();
    let mut text = format!("- {}{variable}: {help}", label(argument));
    let takes_values = argument.get_action().takes_values();
    if takes_values && !argument.is_hide_possible_values_set() {
        let possible = argument.get_possible_values();
        one_of(&mut text, "One of", possible.iter().map(|value| value.get_name().to_owned()));
    }
    if takes_values {
        let defaults = argument.get_default_values().iter();
        one_of(&mut text, "Default:", defaults.map(|value| value.to_string_lossy().into_owned()));
    }
    text.push('\n');
    text
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
        let stored = std::fs::read_to_string(path).unwrap();
        assert!(stored == page(), "docs/command-line.md is old: timenav markdown-help > docs/command-line.md");
    }

    #[test]
    fn page_contains_every_visible_command() {
        fn check(page: &str, command: &Command) {
            for subcommand in visible_subcommands(command) {
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
