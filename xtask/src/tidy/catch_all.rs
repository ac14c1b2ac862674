//! Rejects catch-all arms in matches on ledger actions, because the compiler would not point out a new action there.

use super::Problem;
use super::tree::{Tree, is_test};

/// Code that writes and reads entries.
const FOLDER: &str = "crates/timenav-engine/src/";
const OF_ACTIONS: &str = "Action::";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let sources = tree.sources(&[".rs"]).filter(|(path, _)| path.starts_with(FOLDER) && !is_test(path));
    sources.flat_map(|(path, text)| in_file(path, text)).collect()
}

/// The code is formatted, so the arms of a match are the lines indented one step more than its last line.
fn in_file(path: &str, text: &str) -> Vec<Problem> {
    let lines: Vec<&str> = text.lines().collect();
    let is_catch_all = |(_, line): &(usize, &&str)| line.split_once("=>").is_some_and(|(arm, _)| catches_all(arm));
    let found = lines.iter().enumerate().filter(is_catch_all).filter(|(number, line)| {
        let arms = arms_before(&lines[..*number], indent(line));
        arms.iter().any(|arm| arm.contains(OF_ACTIONS))
    });
    let message = "a match on an `Action` has a catch-all arm; list the actions, or call a method in `action.rs`";
    found.map(|(number, _)| Problem::new(path, number + 1, message)).collect()
}

fn arms_before(lines: &[&str], indent_of_arms: usize) -> Vec<String> {
    let is_head = |line: &&str| !line.trim().is_empty() && indent(line) < indent_of_arms;
    let head = lines.iter().rposition(is_head).map_or(0, |head| head + 1);
    let (mut arms, mut is_in_pattern) = (Vec::new(), false);
    for line in &lines[head..] {
        let text = line.trim();
        let is_at_arms = indent(line) == indent_of_arms;
        if is_at_arms && !is_in_pattern && !text.starts_with(['}', ')', ']']) && !text.starts_with("//") {
            arms.push(String::new());
            is_in_pattern = true;
        }
        if is_in_pattern && let Some(arm) = arms.last_mut() {
            let (pattern, ends) = text.split_once("=>").map_or((text, false), |(pattern, _)| (pattern, true));
            arm.push_str(pattern);
            is_in_pattern = !ends;
        }
    }
    arms
}

/// Returns whether a pattern matches everything and discards it. A named value is usually passed on.
fn catches_all(pattern: &str) -> bool {
    let is_of_signs = pattern.chars().all(|sign| sign.is_alphanumeric() || " _(),|".contains(sign));
    let words = || pattern.split(|sign: char| !sign.is_alphanumeric() && sign != '_').filter(|word| !word.is_empty());
    let is_any = |word: &str| word.starts_with('_');
    is_of_signs && words().all(|word| matches!(word, "Some" | "None") || is_any(word)) && words().any(is_any)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::super::assert_found;
    use super::check;

    const PATH: &str = "crates/timenav-engine/src/a.rs";

    fn assert_lines(code: &str, expected: &[usize]) {
        let expected: Vec<String> = expected.iter().map(|line| format!("{PATH}:{line}")).collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        assert_found(check, &[(PATH, code)], &expected);
    }

    #[test]
    fn catch_all_arm_for_actions_is_found() {
        for arm in ["_", "_other", "Some(_)", "None | Some(_)", "(_, _)"] {
            let code = format!(
                "fn a() {{\n    match action {{\n        Some(\n            Action::A\n            | Action::B,\n        ) => {{\n            \
                 b();\n        }}\n        {arm} => {{}}\n    }}\n}}\n"
            );
            assert_lines(&code, &[9]);
        }
    }

    #[test]
    fn exhaustive_and_unrelated_matches_are_accepted() {
        assert_lines("match action {\n    Action::A => 1,\n    Action::B | Action::C => 2,\n}\n", &[]);
        assert_lines("match action {\n    Some(Action::A) => 1,\n    None => 2,\n}\n", &[]);
        // An action inside the body of an arm does not count.
        assert_lines("match state {\n    State::A => {\n        b(Action::A)\n    }\n    _ => c(Action::B),\n}\n", &[]);
        assert_lines("match state {\n    State::A => Action::A,\n    _ => Action::B,\n}\n", &[]);
        assert_lines("match a {\n    Action::A => 1,\n}\nmatch b {\n    1 => 2,\n    _ => 3,\n}\n", &[]);
        assert_lines("match action {\n    Some(Action::A) => 1,\n    action => b(action),\n}\n", &[]);
        // An arm with a guard does not match everything.
        assert_lines("match action {\n    Action::A => 1,\n    other if b(other) => 2,\n    Action::B => 3,\n}\n", &[]);
        assert_found(
            check,
            &[("crates/timenav-http/src/a.rs", "match a {\n    Action::A => 1,\n    _ => 2,\n}\n")],
            &[],
        );
    }
}
