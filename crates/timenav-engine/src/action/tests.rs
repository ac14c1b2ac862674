//! Every action has a word, and the page on logging tells of each.

use super::*;

#[test]
fn every_action_has_a_word_of_its_own() {
    for action in Action::ALL {
        assert_eq!(Action::parse(action.word()), Some(*action));
    }
    for word in ["", "Travel", "travel ", "unauthorized_access", "shrink"] {
        assert_eq!(Action::parse(word), None, "{word}");
    }
}

#[test]
fn the_page_on_logging_lists_every_action_and_no_other() {
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
