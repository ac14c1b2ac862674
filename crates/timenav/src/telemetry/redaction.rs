//! Removes passwords in flags, variables and the configuration file from error messages.

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};

const REDACTED: &str = "[redacted]";

/// Returns whether a text may contain a password: user information in a URL, or a parameter of a connection string.
pub(crate) fn may_hold_password(text: &str) -> bool {
    (text.contains("://") && text.contains('@')) || text.to_ascii_lowercase().contains("password=")
}

/// The value of a URL argument is never shown: a malformed URL may contain a password anywhere.
pub(crate) fn redact(mut error: clap::Error, command: &Command) -> clap::Error {
    let of_address = matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(displayed))
        if any_argument(command, &|argument| is_address(argument) && is_displayed_as(argument, displayed)));
    let displayed: Vec<(ContextKind, ContextValue)> =
        error.context().map(|(kind, value)| (kind, value.clone())).collect();
    for (kind, value) in displayed {
        let is_value = of_address && kind == ContextKind::InvalidValue;
        let is_empty = matches!(&value, ContextValue::String(text) if text.is_empty());
        match &value {
            _ if is_empty => {}
            ContextValue::String(text) if is_value || may_hold_password(text) => {
                error.insert(kind, ContextValue::String(REDACTED.to_owned()));
            }
            _ if may_hold_password(&value.to_string()) => _ = error.remove(kind),
            _ => {}
        }
    }
    error
}

fn is_address(argument: &Arg) -> bool {
    let names = argument.get_value_names().unwrap_or_default();
    names.iter().any(|name| name.contains("URL") || name.contains("STORE"))
}

/// Returns whether an error refers to an argument: its flag and value name.
fn is_displayed_as(argument: &Arg, text: &str) -> bool {
    let flag = text.split(' ').next().unwrap_or_default();
    flag.strip_prefix("--").is_some_and(|long| argument.get_long() == Some(long))
}

fn any_argument(command: &Command, test: &dyn Fn(&Arg) -> bool) -> bool {
    command.get_arguments().any(test) || command.get_subcommands().any(|below| any_argument(below, test))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;

    const PASSWORD: &str = "hunter2";

    fn each_argument(command: &Command, path: &[String], call: &dyn Fn(&[String], &Arg)) {
        command.get_arguments().for_each(|argument| call(path, argument));
        for below in command.get_subcommands() {
            each_argument(below, &[path, &[below.get_name().to_owned()]].concat(), call);
        }
    }

    #[test]
    fn malformed_address_is_reported_without_its_password() {
        each_argument(&Cli::command(), &["timenav".to_owned()], &|path, argument| {
            let Some(long) = argument.get_long().filter(|_| is_address(argument)) else { return };
            for address in [
                format!("postgres://ada:{PASSWORD}@@db/time"),
                format!("postgress://ada:{PASSWORD}@db/time"),
                format!("host=db password={PASSWORD}"),
                format!("ada:{PASSWORD}@db"),
                format!("https://ada:{PASSWORD}@db/x?y#z"),
            ] {
                for words in [vec![format!("--{long}"), address.clone()], vec![format!("--{long}={address}")]] {
                    let Err(error) = Cli::command().try_get_matches_from([path, &words].concat()) else { continue };
                    let text = redact(error, &Cli::command()).render().to_string();
                    assert!(!text.contains(PASSWORD), "{path:?} {words:?}: {text}");
                }
            }
        });
    }

    #[test]
    fn address_in_the_wrong_place_is_reported_without_its_password() {
        let address = format!("postgres://ada:{PASSWORD}@db/time");
        for words in [
            vec!["timenav", "serve", &address],
            vec!["timenav", &address],
            vec!["timenav", "serve", &format!("--stroe={address}")],
            vec!["timenav", "serve", "--log-format", &address],
            vec!["timenav", "serve", "--replicas", &address],
        ] {
            let error = Cli::command().try_get_matches_from(&words).unwrap_err();
            let text = redact(error, &Cli::command()).render().to_string();
            assert!(!text.contains(PASSWORD), "{words:?}: {text}");
        }
        let error = Cli::command().try_get_matches_from(["timenav", "serve", "--listen", "nowhere"]).unwrap_err();
        assert!(redact(error, &Cli::command()).render().to_string().contains("'nowhere' for '--listen"));
    }

    #[test]
    fn variable_of_an_address_is_hidden_in_help() {
        each_argument(&Cli::command(), &[], &|path, argument| {
            let is_in_help = argument.get_env().is_some() && !argument.is_hide_env_values_set();
            assert!(!(is_address(argument) && is_in_help), "{path:?} {argument}");
        });
    }
}
