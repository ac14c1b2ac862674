//! Shell completion of timelines, anchors, events and profiles, queried from the service.

use std::ffi::OsStr;

use clap::{Command, CommandFactory as _, Parser};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use serde_json::Value;

use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::commands::Cli;
use crate::output;
use crate::profiles::Profiles;
use crate::wiring::surroundings::Surroundings;

const NAMES_MAX: u32 = 1_000;
/// Flags that select service and timeline, evaluated if they come before the word to complete.
const SERVICE_FLAGS: [&str; 5] = ["--url", "--ca", "--data", "--profile", "--timeline"];

pub(crate) fn command() -> Command {
    with_names(Cli::command())
}

fn with_names(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let names: fn(&OsStr) -> Vec<CompletionCandidate> = match argument.get_id().as_str() {
            "timeline" | "timeline_id" | "default_timeline" | "fork_of" | "base" | "compare" => timelines,
            "anchor_id" => anchors,
            "event_id" | "event_ids" | "event" | "cause" => events,
            "profile" => profiles,
            _ => return argument,
        };
        argument.add(ArgValueCompleter::new(names))
    });
    command.mut_subcommands(with_names)
}

/// What the unfinished line says of the service.
#[derive(Debug, Parser)]
struct PartialCommand {
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

impl PartialCommand {
    /// Parses the line so far. Errors in it are reported when it is run.
    fn read(words: &[String]) -> Option<Self> {
        let mut words_given = vec!["timenav".to_owned()];
        for (index, word) in words.iter().enumerate() {
            if SERVICE_FLAGS.contains(&word.as_str()) {
                // The last word is the one to complete.
                words_given.extend(
                    words.get(index..index + 2).filter(|_| index + 2 < words.len()).unwrap_or_default().to_vec(),
                );
            } else if SERVICE_FLAGS.iter().any(|flag| word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('=')))
            {
                words_given.push(word.clone());
            }
        }
        Self::try_parse_from(words_given).ok()
    }
}

fn timelines(current: &OsStr) -> Vec<CompletionCandidate> {
    listed(current, &["timelines"], false, &[], ("timelines", "timeline_id", "role"))
}

fn anchors(current: &OsStr) -> Vec<CompletionCandidate> {
    listed(current, &["v1", "anchors"], true, &[], ("anchors", "anchor_id", "description"))
}

fn events(current: &OsStr) -> Vec<CompletionCandidate> {
    let all = [("location", "*"), ("time_range", "../..")];
    listed(current, &["v1", "monitor-events"], true, &all, ("events", "event_id", "name"))
}

fn profiles(current: &OsStr) -> Vec<CompletionCandidate> {
    let stored = Profiles::read(Surroundings::of_process().config_folder.as_deref()).unwrap_or_default();
    let names = stored.profiles.into_iter().map(|(name, profile)| (name, profile.url));
    candidates(current, names)
}

/// If the service is unreachable, the list is empty: completion cannot report errors.
fn listed(
    current: &OsStr,
    path: &[&str],
    is_of_timeline: bool,
    query: &[(&'static str, &str)],
    (member, id, about): (&str, &str, &str),
) -> Vec<CompletionCandidate> {
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--").skip(1).collect();
    let page = PartialCommand::read(&words).and_then(|command| {
        let client = Client::new(&command.service, &Surroundings::of_process()).ok()?;
        let mut parameters = if is_of_timeline { command.timeline.query() } else { Vec::new() };
        parameters.extend(query.iter().map(|(name, value)| (*name, (*value).to_owned())));
        parameters.push(("limit", NAMES_MAX.to_string()));
        Some(client.get(path, &parameters).ok()?.value)
    });
    let page = page.unwrap_or_default();
    let items: Vec<&Value> = page[member].as_array().into_iter().flatten().collect();
    candidates(current, items.into_iter().map(|item| (output::member(item, id), output::member(item, about))))
}

fn candidates(current: &OsStr, names: impl Iterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let begin = current.to_string_lossy();
    let fitting = names.filter(|(name, _)| !name.is_empty() && name.starts_with(&*begin));
    let candidate = |(name, about): (String, String)| {
        CompletionCandidate::new(name).help((!about.is_empty()).then(|| about.into()))
    };
    fitting.map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_command_line_yields_the_service_options() {
        let read = |line: &str| PartialCommand::read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap();
        let command = read("timenav events show --timeline billing --data=there --limit 3 x");
        assert_eq!(command.timeline.timeline.as_deref(), Some("billing"));
        assert_eq!(read("timenav clock now --timeline bil").timeline.timeline, None, "that word is completed");
    }
}
