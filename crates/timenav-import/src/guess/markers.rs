//! Numbers that stand for nothing: what archives write where nothing was measured.

/// Such numbers. No other is taken for one, since it may be a value.
const MARKERS: [f64; 3] = [-99.0, -999.0, -9999.0];
/// How many times as large as all values a marker is where these may be below 0.
const FAR: f64 = 10.0;

/// What a column of numbers has in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Markers {
    /// How many texts are each of the markers, and how the first of them is written.
    found: [Option<(String, usize)>; MARKERS.len()],
    /// How many are other numbers, how many are no numbers, and how far the others go.
    numbers: usize,
    others: usize,
    least: f64,
    largest: f64,
}

impl Markers {
    /// Looks at a text of the column.
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

    /// Returns the texts that stand for nothing, each with how often it is there: what no value of the column is near.
    pub(super) fn found(&self) -> impl Iterator<Item = (&str, usize)> {
        let is_numeric = self.numbers > 0 && self.others * 10 <= self.numbers;
        let found = self.found.iter().zip(MARKERS).filter_map(|(found, marker)| Some((found.as_ref()?, marker)));
        let far =
            found.filter(move |(_, marker)| is_numeric && (self.least >= 0.0 || self.largest * FAR <= marker.abs()));
        far.map(|((text, count), _)| (text.as_str(), *count))
    }
}
