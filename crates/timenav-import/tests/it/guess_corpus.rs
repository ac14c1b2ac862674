//! How often the first look at a file proposes the right mapping.
//!
//! Each file has the shape of one that a real program, archive or agency writes, and its right answer: when and where
//! each event was, what the guess has to say about it, and how many records are refused. A guess is *right* if all of
//! that holds. If it is not, it may *ask*: there is no mapping, or something is said about what is wrong. Otherwise it
//! is *silently wrong*, which no guess may be.

mod documents;
mod logs;
mod tables;

use std::borrow::Cow;
use std::fmt::Write as _;

use timenav_import::{Format, Guess};

use super::items;

struct Case {
    name: &'static str,
    extension: Option<Format>,
    file: Cow<'static, [u8]>,
    /// `time/end @lat,lon in location`, as far as each is there. A location that is not expected is not looked at.
    events: &'static [&'static str],
    refused: usize,
    /// What is said about it, in part.
    notes: &'static [&'static str],
}

impl Case {
    fn new(
        name: &'static str,
        file: &'static str,
        events: &'static [&'static str],
        notes: &'static [&'static str],
    ) -> Self {
        Self { name, extension: None, file: Cow::Borrowed(file.as_bytes()), events, refused: 0, notes }
    }

    fn refused(self, refused: usize) -> Self {
        Self { refused, ..self }
    }

    fn named_as(self, format: Format) -> Self {
        Self { extension: Some(format), ..self }
    }
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
            let is_said = case.notes.iter().all(|notes| detail.contains(notes));
            return (if is_said { Verdict::Right } else { Verdict::Asks }, detail);
        }
        Err(detail) => return (Verdict::Asks, detail),
    };
    let (found, outcome) = items(guess.format, guess.mapping.as_deref().unwrap_or_default(), &*case.file);
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
    let refused = found.iter().filter(|item| item.event.is_err()).count();
    let unsure = guess.unsure.join("\n  ");
    let is_equal = events.iter().eq(case.events.iter()) && refused == case.refused && outcome.is_ok();
    let notes = case.notes.iter().filter(|notes| unsure.contains(**notes)).count();
    let mapping = guess.mapping.unwrap_or_default();
    let detail = format!("{}: {mapping}\n  {events:?}, {refused} refused\n  {unsure}", guess.format.as_str());
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
    let cases = cases();
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

fn cases() -> Vec<Case> {
    let parts = [
        tables::tables(),
        tables::places(),
        tables::ends(),
        tables::dates(),
        logs::logs(),
        logs::logs_of_json(),
        documents::documents(),
    ];
    parts.into_iter().flatten().collect()
}
