//! How often the first look at a file proposes the right mapping.
//!
//! Each file has the shape of one that a real program, archive or agency writes, and its right answer: when and where
//! each event was, what the guess has to say about it, and how many records are refused. A guess is *right* if all of
//! that holds. If it is not, it may *ask*: there is no mapping, or something is said about what is wrong. Otherwise it
//! is *silently wrong*, which no guess may be.

use std::fmt::Write as _;

use timenav_import::{Format, Guess};

use super::items;

/// Cases, each of a name (`#`), the file, its events (`>`), parts of the notes (`?`), the number of rejected records (`!`)
/// and the format of its extension (`=`). Lines of a file are joined. Events are `time/end @lat,lon in location`, as far
/// as each is there; locations are compared only if expected.
const CASES: &str = include_str!("guess_corpus.txt");

#[derive(Default)]
struct Case {
    name: &'static str,
    extension: Option<Format>,
    file: Vec<u8>,
    events: Vec<&'static str>,
    rejected: usize,
    notes: Vec<&'static str>,
}

impl Case {
    fn parse(text: &'static str) -> Self {
        let mut case = Self::default();
        for line in text.lines() {
            let (mark, value) = line.split_at(2);
            match mark {
                "# " => case.name = value,
                "  " => case.file.extend(unescaped(value)),
                "> " => case.events = value.split("; ").collect(),
                "? " => case.notes = value.split("; ").collect(),
                "! " => case.rejected = value.parse().unwrap(),
                "= " => case.extension = Some(value.parse().unwrap()),
                _ => panic!("{line}"),
            }
        }
        case
    }
}

/// Replaces `\n`, `\r`, `\t`, `\\` and bytes such as `\xED`.
fn unescaped(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend(plain.bytes());
        let (byte, length) = match escape.as_bytes()[0] {
            b'n' => (b'\n', 1),
            b'r' => (b'\r', 1),
            b't' => (b'\t', 1),
            b'x' => (u8::from_str_radix(&escape[1..3], 16).unwrap(), 3),
            other => (other, 1),
        };
        bytes.push(byte);
        rest = &escape[length..];
    }
    bytes.extend(rest.bytes());
    bytes
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    Asks,
    SilentlyWrong,
}

fn judge(case: &Case) -> (Verdict, String) {
    let guess = match Guess::of_file(&case.file, case.extension) {
        Ok(guess) => guess,
        Err(detail) if case.events.is_empty() => {
            let is_noted = case.notes.iter().all(|note| detail.contains(note));
            return (if is_noted { Verdict::Right } else { Verdict::Asks }, detail);
        }
        Err(detail) => return (Verdict::Asks, detail),
    };
    let (found, outcome) = items(guess.format, guess.mapping.as_deref().unwrap_or_default(), case.file.as_slice());
    let with_location: Vec<bool> = case.events.iter().map(|event| event.contains(" in ")).collect();
    let mut events = Vec::new();
    for draft in found.iter().filter_map(|item| item.event.as_ref().ok()) {
        let mut text = draft.time.to_string();
        if let Some(end) = draft.end_time {
            let _ = write!(text, "/{end}");
        }
        if let Some(geo) = draft.geo {
            let _ = write!(text, " @{},{}", geo.point.lat(), geo.point.lon());
        }
        if let (Some(true), Some(location)) = (with_location.get(events.len()), &draft.location) {
            let _ = write!(text, " in {location}");
        }
        events.push(text);
    }
    let rejected = found.iter().filter(|item| item.event.is_err()).count();
    let unsure = guess.unsure.join("\n  ");
    let is_equal = events.iter().eq(case.events.iter()) && rejected == case.rejected && outcome.is_ok();
    let notes = case.notes.iter().filter(|note| unsure.contains(**note)).count();
    let mapping = guess.mapping.unwrap_or_default();
    let detail = format!("{}: {mapping}\n  {events:?}, {rejected} rejected\n  {unsure}", guess.format.as_str());
    let verdict = match (is_equal, notes == case.notes.len()) {
        (true, true) => Verdict::Right,
        (false, _) if notes > 0 || guess.counts.1 > 0 || guess.counts.0 == 0 => Verdict::Asks,
        // What is said, if anything, is about something else.
        (true | false, _) => Verdict::SilentlyWrong,
    };
    (verdict, detail)
}

/// At least so many of a hundred are right.
const RIGHT_PERCENT_MIN: usize = 95;

#[test]
fn guess_is_right_for_most_files_and_never_silently_wrong() {
    let cases: Vec<Case> = CASES.split("\n\n").map(Case::parse).collect();
    let (mut right, mut asks, mut wrong) = (0, 0, Vec::new());
    for case in &cases {
        let (verdict, detail) = judge(case);
        match verdict {
            Verdict::Right => right += 1,
            Verdict::Asks => {
                asks += 1;
                println!("asks: {}: {detail}", case.name);
            }
            Verdict::SilentlyWrong => wrong.push(format!("{}: {detail}", case.name)),
        }
    }
    println!("{right} of {} right, {asks} ask, {} silently wrong", cases.len(), wrong.len());
    assert!(wrong.is_empty(), "silently wrong:\n{}", wrong.join("\n"));
    assert!(right * 100 >= cases.len() * RIGHT_PERCENT_MIN, "{right} of {}", cases.len());
}
