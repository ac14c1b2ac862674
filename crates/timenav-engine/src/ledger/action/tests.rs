//! Every action has a unique name and is documented on the logging page.

use timenav_core::ledger::is_erasable;

use super::*;

#[test]
fn every_action_has_its_own_word() {
    for action in Action::ALL {
        assert_eq!(Action::parse(action.word()), Some(*action));
    }
    for word in ["", "Travel", "travel ", "unauthorized_access", "shrink"] {
        assert_eq!(Action::parse(word), None, "{word}");
    }
}

#[test]
fn logging_page_lists_exactly_all_actions() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/logging.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| action |")).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|row| row.split('|').nth(1).unwrap());
    let mut listed: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let mut words: Vec<&str> = Action::ALL.iter().map(|action| action.word()).collect();
    listed.sort_unstable();
    words.sort_unstable();
    assert_eq!(listed, words);
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap();
    rest.split_once(end).unwrap().0
}

#[test]
fn documented_reader_actions_match_the_audience() {
    let file = |name: &str| std::fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let words = |text: &str, mark: char| -> Vec<String> {
        let mut words: Vec<String> = text.split(mark).skip(1).step_by(2).map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    let visible = Action::ALL.iter().filter(|action| action.audience() == Audience::Readers);
    let mut visible: Vec<&str> = visible.map(|action| action.word()).collect();
    visible.sort_unstable();
    let page = file("docs/specs/ledger.md");
    assert_eq!(words(between(&page, "and what was erased: ", "; its admins see everything"), '`'), visible);
    let script = file("examples/verify.py");
    let on_events = between(&script, "\nON_EVENTS = {", "}");
    let others = between(&script, "\nREADER_ACTIONS = ON_EVENTS | {", "}");
    assert_eq!(words(&format!("{on_events}{others}"), '"'), visible);
}

#[test]
fn only_actions_that_change_events_are_erasable() {
    for action in Action::ALL {
        assert_eq!(is_erasable(action.word()), action.changes_events(), "{action:?}");
    }
    assert!(!is_erasable("shrink"));
}
