//! Names the command that lists things, for the error that one was not found.

/// What the service calls a thing, and the command that lists its kind.
const LISTS: [(&str, &str); 10] = [
    ("API key", "key list"),
    ("anchor", "anchor list"),
    ("event", "events find"),
    ("firing", "timer firings"),
    ("follower", "followers"),
    ("hold", "timer holds"),
    ("session", "user sessions"),
    ("timeline", "timeline list"),
    ("timer", "timer list"),
    ("user", "user list"),
];

/// Returns a hint for an error detail such as ``there is no anchor `a` ``.
pub(super) fn hint(detail: &str) -> Option<String> {
    let thing = detail.strip_prefix("there is no ")?;
    let is_named = |thing: &str, name: &str| thing.strip_prefix(name).is_some_and(|rest| rest.starts_with(" `"));
    let (name, command) = LISTS.into_iter().find(|(name, _)| is_named(thing, name))?;
    Some(format!("to list {name}s: timenav {command}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::commands::Cli;

    #[test]
    fn missing_things_have_a_command_that_lists_them() {
        for (name, command) in LISTS {
            let detail = format!("there is no {name} `x`, or you don't have access to it");
            assert_eq!(hint(&detail), Some(format!("to list {name}s: timenav {command}")));
            let line = format!("timenav {command}");
            assert!(Cli::command().try_get_matches_from(line.split(' ')).is_ok(), "{line}");
        }
        assert_eq!(hint("there is no eventual `x`"), None);
        assert_eq!(hint("write a timestamp"), None);
    }
}
