//! Finds durations and timestamps in free text, completely or not at all.

use crate::time::{Duration, Instant, TimestampError, Virtual, parse_duration, parse_timestamp};

/// Spelled-out numbers. They are not parsed, so a duration next to one is only part of what was meant.
const NUMBERS: [&str; 18] = [
    "half", "quarter", "couple", "few", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "twenty", "thirty",
];
const JOINTS: [&str; 4] = ["and", "plus", "a", "an"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found<T> {
    Nothing,
    One(T),
    /// There are several, or one is only partly understood.
    Unclear,
}

impl<T> Found<T> {
    pub(super) const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }
}

/// Finds the only duration of a text: `2h`, `2 hours`, `1 week, 2 days and 30 minutes`.
pub(super) fn duration_in(text: &str) -> Found<Duration> {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    let mut found = Found::Nothing;
    let mut at = 0;
    while at < words.len() {
        let Some((duration, end)) = duration_at(&words, at) else {
            at += 1;
            continue;
        };
        let is_part = !found.is_nothing() || begins_in(&words[..at]) || goes_on_in(&words[end..]);
        if is_part {
            return Found::Unclear;
        }
        found = Found::One(duration);
        at = end;
    }
    found
}

/// Finds the only timestamp of a text, or else the only one that follows `to`.
pub(super) fn timestamp_in(text: &str) -> Found<Instant<Virtual>> {
    let words: Vec<&str> = text.split_whitespace().map(bare).collect();
    let read = |word: &str| -> Result<Instant<Virtual>, TimestampError> { parse_timestamp(word) };
    let all: Vec<(usize, Instant<Virtual>)> =
        words.iter().enumerate().filter_map(|(at, word)| Some((at, read(word).ok()?))).collect();
    let mut targets =
        all.iter().filter(|(at, _)| at.checked_sub(1).is_some_and(|before| words[before].eq_ignore_ascii_case("to")));
    match (all.as_slice(), targets.next(), targets.next()) {
        ([], ..) => Found::Nothing,
        ([(_, one)], ..) | (_, Some((_, one)), None) => Found::One(*one),
        _ => Found::Unclear,
    }
}

/// Returns a word without the punctuation after it.
pub(super) fn bare(word: &str) -> &str {
    word.trim_end_matches([',', ';', '.', '!', '?'])
}

/// Parses the duration that starts at a word, and returns where it ends.
fn duration_at(words: &[&str], start: usize) -> Option<(Duration, usize)> {
    let (mut sum, mut end) = part_at(words, start)?;
    loop {
        let next = end + usize::from(words.get(end).is_some_and(|word| word.eq_ignore_ascii_case("and")));
        let Some((more, after)) = part_at(words, next) else { return Some((sum, end)) };
        sum = sum.checked_add(more)?;
        end = after;
    }
}

/// Parses one word such as `2h`, or two such as `2 hours`.
fn part_at(words: &[&str], at: usize) -> Option<(Duration, usize)> {
    let first = words.get(at)?;
    if let Ok(duration) = parse_duration(first) {
        return Some((duration, at + 1));
    }
    let duration = parse_duration(&format!("{first} {}", words.get(at + 1)?)).ok()?;
    Some((duration, at + 2))
}

/// Returns whether the words before a duration are part of it, as in `two hours 30 minutes`.
fn begins_in(words: &[&str]) -> bool {
    let last = words.iter().rev().find(|word| !is_joint(word));
    last.is_some_and(|word| is_number(word) || parse_duration(&format!("1 {word}")).is_ok())
}

/// Returns whether the words after a duration are part of it, as in `2 hours and a half`.
fn goes_on_in(words: &[&str]) -> bool {
    words.iter().find(|word| !is_joint(word)).is_some_and(|word| is_number(word))
}

fn is_joint(word: &str) -> bool {
    JOINTS.iter().any(|joint| word.eq_ignore_ascii_case(joint))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|first: char| first.is_numeric() || matches!(first, '+' | '-' | '.'))
        || NUMBERS.iter().any(|number| word.eq_ignore_ascii_case(number))
}
