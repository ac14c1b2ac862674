//! Suggestions for unknown words on the command line: what users of similar tools type.

mod words;

use std::ffi::OsString;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use self::words::{LISTING, NESTED, TOP_LEVEL};
use super::reference::operations::OPERATIONS;
use super::service::verify::VERIFIER_KEY_COMMAND;

const SUGGESTIONS_MAX: usize = 4;
/// Flags that other programs have. A key in an argument would be visible to other users of the machine.
const KEY_FLAGS: [&str; 4] = ["--api-key", "--api-token", "--key", "--token"];
const KEY_TIP: &str = "set the API key in `TIMENAV_API_KEY`, or store it with `timenav profile add`";

/// Adds what was probably meant to an error about an unknown word, and the source of a missing key.
pub(super) fn suggest(mut error: clap::Error, root: &Command, line: &[OsString]) -> clap::Error {
    let invalid = match error.kind() {
        ErrorKind::InvalidSubcommand => error.get(ContextKind::InvalidSubcommand),
        ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument => error.get(ContextKind::InvalidArg),
        _ => None,
    };
    let tip = match invalid {
        Some(ContextValue::String(word)) if KEY_FLAGS.contains(&word.as_str()) => Some(KEY_TIP.to_owned()),
        Some(ContextValue::String(word)) => tip(&commands_for(root, &words_before(root, line, word))),
        Some(ContextValue::Strings(missing)) if missing.iter().any(|one| one.starts_with("--verifier-key ")) => {
            Some(format!("`{VERIFIER_KEY_COMMAND}` prints the `verifier_key`"))
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

fn tip(commands: &[String]) -> Option<String> {
    let quoted: Vec<String> = commands.iter().map(|command| format!("`timenav {command}`")).collect();
    let (last, others) = quoted.split_last()?;
    Some(if others.is_empty() { format!("use {last}") } else { format!("use {} or {last}", others.join(", ")) })
}

/// Returns the commands of the line, the unknown word, and the word after it, without options.
fn words_before(root: &Command, line: &[OsString], unknown: &str) -> Vec<String> {
    let mut command = root;
    let mut words: Vec<String> = Vec::new();
    let mut is_past = false;
    let mut line = line.iter().skip(1).map(|word| word.to_string_lossy());
    while let Some(word) = line.next() {
        if let Some(flag) = word.strip_prefix("--") {
            let argument = command.get_arguments().find(|argument| argument.get_long() == Some(flag));
            if argument.is_some_and(|argument| argument.get_action().takes_values()) {
                line.next();
            }
            continue;
        }
        words.push(word.to_lowercase());
        if is_past {
            break;
        }
        match command.find_subcommand(&*word) {
            Some(below) => command = below,
            None => is_past = word == unknown,
        }
    }
    words
}

/// Returns commands for a line: known commands, an unknown word, and perhaps one more word.
fn commands_for(root: &Command, line: &[String]) -> Vec<String> {
    let mut command = root;
    let mut known: Vec<&str> = Vec::new();
    let mut rest = line;
    while let Some((word, after)) = rest.split_first()
        && let Some(below) = command.find_subcommand(word)
    {
        known.push(word);
        (command, rest) = (below, after);
    }
    let Some((unknown, after)) = rest.split_first() else { return Vec::new() };
    match known[..] {
        [] => top_level(root, unknown, after.first().map(String::as_str)),
        [group] if command.has_subcommands() => nested(group, unknown),
        _ if LISTING.contains(&unknown.as_str()) => vec![known.join(" ")],
        _ => Vec::new(),
    }
}

/// Returns the commands for an unknown first word, such as `freeze` or `event`, and the word after it.
fn top_level(root: &Command, word: &str, next: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    for (command, _) in TOP_LEVEL.iter().filter(|(_, words)| words.contains(&word)) {
        match (root.find_subcommand(command), next) {
            (Some(group), Some(next)) if group.find_subcommand(next).is_some() => {
                add(&mut found, &format!("{command} {next}"));
            }
            (Some(_), Some(next)) if !nested(command, next).is_empty() => {
                for below in nested(command, next) {
                    add(&mut found, &below);
                }
            }
            _ => add(&mut found, command),
        }
    }
    // The name of an operation with several words, such as `fast-forward`.
    let is_operation = |name: &str| word.contains('-') && name.rsplit('/').next() == Some(word);
    for operation in OPERATIONS.iter().filter(|operation| is_operation(operation.name) && operation.command != "api") {
        add(&mut found, operation.command);
    }
    if !found.is_empty() {
        return found;
    }
    for (command, words) in NESTED {
        if words.contains(&word) || command.ends_with(&format!(" {word}")) {
            add(&mut found, command);
        }
    }
    // A word such as `list` fits most groups.
    if found.len() > SUGGESTIONS_MAX { Vec::new() } else { found }
}

fn add(found: &mut Vec<String>, command: &str) {
    if !found.iter().any(|known| known == command) {
        found.push(command.to_owned());
    }
}

/// Returns the commands of a group for an unknown word, such as `find` for `events list`.
fn nested(group: &str, word: &str) -> Vec<String> {
    let of_group = NESTED.iter().filter(|(command, _)| command.split(' ').next() == Some(group));
    of_group.filter(|(_, words)| words.contains(&word)).map(|(command, _)| (*command).to_owned()).collect()
}

#[cfg(test)]
mod tests;
