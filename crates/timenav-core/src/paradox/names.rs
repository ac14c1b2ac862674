use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use hashbrown::HashTable;

/// Texts in the order in which they were first seen, in one allocation.
#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    /// The end of each text, which is the start of the next.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
}

impl Names {
    /// Returns the number of a text, assigning one if it has none.
    pub(super) fn number(&mut self, text: &[u8]) -> u32 {
        let hash = hash(text);
        let Self { bytes, ends, numbers } = self;
        if let Some(known) = numbers.find(hash, |&number| slice(bytes, ends, number) == text) {
            return *known;
        }
        // More texts than that do not fit in memory.
        let number = u32::try_from(ends.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(text);
        ends.push(bytes.len());
        self.numbers.insert_unique(hash, number, |&number| self::hash(slice(bytes, ends, number)));
        number
    }

    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        self.numbers.find(hash(text), |&number| self.bytes_of(number) == text).copied()
    }

    pub(super) fn bytes_of(&self, number: u32) -> &[u8] {
        slice(&self.bytes, &self.ends, number)
    }

    pub(super) fn text(&self, number: u32) -> &str {
        str::from_utf8(self.bytes_of(number)).unwrap_or_default()
    }

    /// Returns a hash of a text, which is the same in every view.
    pub(super) fn hash_of(&self, number: u32) -> u64 {
        hash(self.bytes_of(number))
    }

    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn reserve(&mut self, texts: usize, bytes: usize) {
        self.bytes.reserve_exact(bytes);
        self.ends.reserve_exact(texts);
        let Self { bytes, ends, numbers } = self;
        numbers.reserve(texts, |&number| hash(slice(bytes, ends, number)));
    }

    pub(super) fn truncate(&mut self, count: usize) {
        for number in count..self.count() {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let hash = self.hash_of(number);
            if let Ok(entry) = self.numbers.find_entry(hash, |&other| other == number) {
                entry.remove();
            }
        }
        self.ends.truncate(count);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[usize], number: u32) -> &'a [u8] {
    let at = number as usize;
    let start = at.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start..ends[at]]
}

fn hash(text: &[u8]) -> u64 {
    FixedState::with_seed(0).hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_number() {
        let mut names = Names::default();
        let numbers: Vec<u32> = ["a", "b", "", "a", "b"].iter().map(|text| names.number(text.as_bytes())).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 1]);
        assert_eq!((names.text(1), names.text(2), names.find(b"c")), ("b", "", None));
    }

    #[test]
    fn truncated_names_are_forgotten() {
        let mut names = Names::default();
        (0..100).for_each(|number| assert_eq!(names.number(format!("text {number}").as_bytes()), number));
        names.truncate(40);
        assert_eq!((names.count(), names.find(b"text 39"), names.find(b"text 40")), (40, Some(39), None));
        assert_eq!(names.number(b"text 70"), 40);
        assert_eq!(names.text(40), "text 70");
    }
}
