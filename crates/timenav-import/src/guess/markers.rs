//! Numbers that mean "missing", as written by archives.

/// Only these are recognized, because others may be values.
const MARKERS: [f64; 3] = [-99.0, -999.0, -9999.0];
/// How many times larger than all values a marker must be if these may be negative.
const FAR: f64 = 10.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Markers {
    /// How often each marker occurs, and how its first occurrence is written.
    found: [Option<(String, usize)>; MARKERS.len()],
    /// The number of other numbers, the number of other texts, and the range of the numbers.
    numbers: usize,
    others: usize,
    least: f64,
    largest: f64,
}

impl Markers {
    pub(super) fn note(&mut self, text: &str) {
        let text = text.trim();
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        let Some(number) = number else {
            self.others += usize::from(!text.is_empty());
            return;
        };
        if let Some(place) = MARKERS.iter().position(|marker| number.total_cmp(marker).is_eq()) {
            self.found[place].get_or_insert_with(|| (text.to_owned(), 0)).1 += 1;
            return;
        }
        self.numbers += 1;
        self.least = self.least.min(number);
        self.largest = self.largest.max(number.abs());
    }

    /// Returns the texts that mean "missing" with their number of occurrences. No value of the column is near them.
    pub(super) fn found(&self) -> impl Iterator<Item = (&str, usize)> {
        let is_numeric = self.numbers > 0 && self.others * 10 <= self.numbers;
        let found = self.found.iter().zip(MARKERS).filter_map(|(found, marker)| Some((found.as_ref()?, marker)));
        let far =
            found.filter(move |(_, marker)| is_numeric && (self.least >= 0.0 || self.largest * FAR <= marker.abs()));
        far.map(|((text, count), _)| (text.as_str(), *count))
    }
}
