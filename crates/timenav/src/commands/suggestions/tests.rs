use std::collections::BTreeSet;

use clap::CommandFactory as _;

use super::*;
use crate::commands::Cli;

fn suggested(line: &str) -> Vec<String> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    commands_for(&Cli::command(), &words)
}

/// Returns the commands without subcommands, except hidden ones.
fn leaves(command: &Command, path: &str, all: &mut BTreeSet<String>) {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        let path = format!("{path} {}", below.get_name()).trim().to_owned();
        if below.has_subcommands() {
            leaves(below, &path, all);
        } else {
            all.insert(path);
        }
    }
}

#[test]
fn common_words_suggest_their_command() {
    for (line, expected) in [
        ("events list", &["events find"][..]),
        ("events search", &["events find"]),
        ("event list", &["events find"]),
        ("ledger", &["entries", "verify"]),
        ("scan", &["events scan"]),
        ("freeze", &["clock pause"]),
        ("jump", &["clock travel", "anchor return"]),
        ("events rm", &["events intervene", "events erase"]),
        ("timers", &["timer"]),
        ("timers list", &["timer list"]),
        ("timers delete renewal", &["timer cancel"]),
        ("search", &["events find"]),
        ("log", &["access log", "entries"]),
        ("run", &["serve", "exec"]),
        ("fast-forward", &["clock forward"]),
        ("monitor-events", &["events find"]),
        ("clock start", &["clock resume"]),
        ("followers list", &["followers"]),
        ("permissions", &["access"]),
        ("tokens rm", &["key revoke"]),
        ("xyzzy", &[]),
        ("events xyzzy", &[]),
        ("list", &[]),
        ("followers xyzzy", &[]),
    ] {
        assert_eq!(suggested(line), expected, "{line}");
    }
}

#[test]
fn suggested_commands_exist_and_their_words_do_not() {
    let root = Cli::command();
    let command = |path: &str| path.split(' ').try_fold(&root, |command, word| command.find_subcommand(word));
    for (path, words) in TOP_LEVEL {
        assert!(command(path).is_some(), "{path}");
        for word in *words {
            assert!(command(word).is_none(), "`{word}` is a command");
            assert!(suggested(word).iter().any(|command| command == path), "{word}: {path}");
        }
    }
    for (path, words) in NESTED {
        assert!(command(path).is_some(), "{path}");
        let (group, _) = path.split_once(' ').unwrap();
        for word in *words {
            let line = format!("{group} {word}");
            assert!(command(&line).is_none(), "`{line}` is a command");
            assert!(suggested(&line).iter().any(|command| command == path), "{line}: {path}");
        }
    }
}

#[test]
fn every_command_has_a_synonym() {
    let mut all = BTreeSet::new();
    leaves(&Cli::command(), "", &mut all);
    let rows: BTreeSet<String> = TOP_LEVEL.iter().chain(NESTED).map(|(command, _)| (*command).to_owned()).collect();
    let missing: Vec<&String> = all.difference(&rows).collect();
    assert!(all.len() > 80 && missing.is_empty(), "{missing:?}");
    let root = Cli::command();
    for group in root.get_subcommands().filter(|command| command.has_subcommands()) {
        assert!(rows.contains(group.get_name()), "{}", group.get_name());
    }
}

#[test]
fn error_shows_the_suggestion_and_no_secret() {
    let text = |words: &[&str]| {
        let line: Vec<OsString> = std::iter::once("timenav").chain(words.iter().copied()).map(OsString::from).collect();
        let error = Cli::command().try_get_matches_from(&line).unwrap_err();
        suggest(error, &Cli::command(), &line).render().to_string()
    };
    assert!(text(&["events", "--timeline", "list", "list"]).contains("tip: use `timenav events find`\n"));
    assert!(text(&["event", "list"]).contains("tip: use `timenav events find`\n"));
    assert!(text(&["followers", "ls"]).contains("tip: use `timenav followers`\n"));
    assert!(text(&["ledger"]).contains("tip: use `timenav entries` or `timenav verify`\n"));
    // A typo keeps the suggestion of the parser.
    assert!(text(&["evnts"]).contains("similar subcommands exist: 'entries', 'events'"));
    let with_key = text(&["clock", "now", "--api-key=tnk_x"]);
    assert!(with_key.contains("TIMENAV_API_KEY") && !with_key.contains("tnk_x"), "{with_key}");
    assert!(
        text(&["verify", "p.txt"]).contains("/checkpoint -H 'Accept: application/json'` prints the `verifier_key`")
    );
}
