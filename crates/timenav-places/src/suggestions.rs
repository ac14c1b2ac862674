//! Names that differ from a text by one or two letters.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use fst::{Automaton, IntoStreamer, Streamer};

use crate::layout::{Meaning, Strength, Target};
use crate::spelled::normalized;
use crate::tables::Tables;

/// Longest text for which near spellings are searched, in letters. The cost grows with it.
const LETTERS_MAX: usize = 40;
/// Shortest text in which two letters may differ. In a shorter one, almost everything would match.
const LETTERS_FOR_TWO: usize = 6;

/// Letters of names processed before yielding the processor: a tenth of a millisecond.
const LETTERS_BETWEEN_YIELDS: u32 = 1_024;

/// How near a spelling is, nearest first: number of differing letters, whether the first letter differs, the kind of
/// name, and the population.
type Nearness = (u8, bool, Strength, Reverse<u64>);

/// Accepts names within a maximum edit distance: letters inserted, removed, replaced or swapped.
struct Nearly<'a> {
    text: &'a [u8],
    distance_max: u8,
    letters_read: Cell<u32>,
}

/// The edit distance of each prefix of the text to what was read so far, and to what was read before the last letter.
#[derive(Clone)]
struct Distances {
    now: [u8; LETTERS_MAX + 1],
    before: [u8; LETTERS_MAX + 1],
    last: Option<u8>,
}

impl Automaton for Nearly<'_> {
    type State = Distances;

    fn start(&self) -> Distances {
        let now = std::array::from_fn(|letters| u8::try_from(letters).unwrap_or(u8::MAX));
        Distances { now, before: [u8::MAX; LETTERS_MAX + 1], last: None }
    }

    fn is_match(&self, state: &Distances) -> bool {
        self.distance(state) <= self.distance_max
    }

    fn can_match(&self, state: &Distances) -> bool {
        state.now[..=self.text.len()].iter().any(|&distance| distance <= self.distance_max)
    }

    fn accept(&self, state: &Distances, letter: u8) -> Distances {
        self.let_others_run();
        let mut next = Distances { now: state.now, before: state.now, last: Some(letter) };
        next.now[0] = state.now[0].saturating_add(1);
        for (index, &word) in self.text.iter().enumerate() {
            let replaced = state.now[index].saturating_add(u8::from(word != letter));
            let put_in = state.now[index + 1].saturating_add(1);
            let left_out = next.now[index].saturating_add(1);
            let mut distance = replaced.min(put_in).min(left_out);
            // The text has `ab` and the name has `ba`.
            if index > 0 && state.last == Some(word) && self.text[index - 1] == letter {
                distance = distance.min(state.before[index - 1].saturating_add(1));
            }
            next.now[index + 1] = distance;
        }
        next
    }
}

impl Nearly<'_> {
    /// A search takes milliseconds, which must not delay other threads.
    fn let_others_run(&self) {
        self.letters_read.set(self.letters_read.get().wrapping_add(1));
        if self.letters_read.get().is_multiple_of(LETTERS_BETWEEN_YIELDS) {
            std::thread::yield_now();
        }
    }

    fn distance(&self, state: &Distances) -> u8 {
        state.now[self.text.len()]
    }
}

impl Tables {
    /// Returns at most `count` places with similar names, most likely first.
    pub(crate) fn suggestions(&self, text: &str, count: usize) -> Vec<Meaning> {
        let (name, qualifiers) = text.split_once(',').unwrap_or((text, ""));
        let name = normalized(name);
        if name.is_empty() || name.len() > LETTERS_MAX {
            return Vec::new();
        }
        let distance_max = if name.len() >= LETTERS_FOR_TWO { 2 } else { 1 };
        let nearly = Nearly { text: name.as_bytes(), distance_max, letters_read: Cell::new(0) };
        // Unknown qualifiers may be misspelled too.
        let qualifiers = self.qualifiers(qualifiers).unwrap_or_default();
        let mut nearest: BTreeMap<Target, (Nearness, Meaning)> = BTreeMap::new();
        let mut found = self.names.search_with_state(&nearly).into_stream();
        while let Some((spelling, entry, state)) = found.next() {
            let starts_alike = spelling.first() == name.as_bytes().first();
            let distance = nearly.distance(&state);
            let is_needed = |meaning: &Meaning| {
                meaning.strength != Strength::Code && self.is_within_all(meaning.target, &qualifiers)
            };
            for meaning in Self::meanings(entry).filter(is_needed) {
                let people = Reverse(self.population(meaning.target));
                let nearness = (distance, !starts_alike, meaning.strength, people);
                let best = nearest.entry(meaning.target).or_insert((nearness, meaning));
                *best = (*best).min((nearness, meaning));
            }
        }
        let mut places: Vec<(Nearness, Meaning)> = nearest.into_values().collect();
        places.sort_unstable();
        places.truncate(count);
        places.into_iter().map(|(_, meaning)| meaning).collect()
    }
}
