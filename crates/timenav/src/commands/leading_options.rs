//! Options of clients before the command, as in `timenav --json clock now`.

use std::ffi::OsString;

use clap::{Args as _, Command};

use crate::client::{ServiceOptions, TimelineOptions};

/// Moves options of clients that precede the command to after it. Only some commands have them, so the parser accepts
/// them only there. Without a command they are left out, because help or an error follows.
pub(super) fn moved(line: Vec<OsString>) -> Vec<OsString> {
    let clients = TimelineOptions::augment_args(ServiceOptions::augment_args(Command::new("")));
    let mut words = line.into_iter();
    let mut moved: Vec<OsString> = words.next().into_iter().collect();
    let mut options = Vec::new();
    let mut command = None;
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (name, value) = text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
        let long = name.strip_prefix("--").filter(|long| !long.is_empty());
        let Some(option) = clients.get_arguments().find(|option| long.is_some() && option.get_long() == long) else {
            command = Some(word);
            break;
        };
        let takes_next = value.is_none() && option.get_action().takes_values();
        options.push(word);
        if takes_next {
            options.extend(words.next());
        }
    }
    let has_command = command.as_ref().is_some_and(|word| word != "help" && !word.to_string_lossy().starts_with('-'));
    moved.extend(command);
    if has_command {
        moved.extend(options);
    }
    moved.extend(words);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_client_options_are_moved_after_the_command() {
        for (line, expected) in [
            ("clock now --json", "clock now --json"),
            ("--json clock now", "clock --json now"),
            ("--url http://x --timeline=t clock now", "clock --url http://x --timeline=t now"),
            ("--output csv events find --limit 1", "events --output csv find --limit 1"),
            ("--timeline t exec -- date --json", "exec --timeline t -- date --json"),
            ("--json", ""),
            ("--url", ""),
            ("--json --help", "--help"),
            ("--json help clock", "help clock"),
            ("--verbose clock now", "--verbose clock now"),
            ("-- clock", "-- clock"),
            ("", ""),
        ] {
            let words = |line: &str| -> Vec<OsString> {
                std::iter::once("timenav")
                    .chain(line.split(' ').filter(|word| !word.is_empty()))
                    .map(OsString::from)
                    .collect()
            };
            assert_eq!(moved(words(line)), words(expected), "{line}");
        }
    }
}
