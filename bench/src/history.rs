//! A generated history: many places with many events each, identical in every run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use serde_json::json;
use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;
use timenav_core::place::{BBox, Geo, Point};
use timenav_core::time::{Instant, Virtual};

const PLACES: u64 = 500;
/// Start of the history: 1 January 1950, in microseconds since 1970.
const BEGIN_MICROS: i64 = -631_152_000_000_000;
/// Duration of the history: 75 years, in seconds.
const LENGTH_SECS: u64 = 75 * 31_556_952;

const COLUMNS: &str = "time=when,description=what,location=where,geo.lat=y,geo.lon=x,event_id=key";

#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    Ndjson,
    Csv,
}

impl Format {
    pub(crate) fn path(self) -> String {
        match self {
            Self::Ndjson => "/v1/import-events?format=ndjson".to_owned(),
            Self::Csv => format!("/v1/import-events?format=csv&map={}", COLUMNS.replace('=', "%3D")),
        }
    }

    pub(crate) const fn content_type(self) -> &'static str {
        match self {
            Self::Ndjson => "application/x-ndjson",
            Self::Csv => "text/csv",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct History {
    /// Whether its events have ids. Otherwise the service assigns them.
    pub(crate) named: bool,
}

impl Default for History {
    fn default() -> Self {
        Self { named: true }
    }
}

impl History {
    pub(crate) fn draft(self, number: u64) -> EventDraft {
        let place = self.place_of(number);
        let (lat, lon) = near(corner(place), number);
        let micros = BEGIN_MICROS + i64::try_from(mix(number ^ 0x5eed) % LENGTH_SECS).unwrap_or(0) * 1_000_000;
        let description = format!("Sensor {} at place {place} reports reading {}.", number % 97, mix(number) % 100_000);
        EventDraft {
            event_id: if self.named { EventId::new(&format!("reading-{number}")).ok() } else { None },
            location: Some(format!("Place {place}")),
            geo: Point::new(lat, lon).map(|point| Geo { point, radius_m: None }),
            ..EventDraft::at(Instant::from_micros(micros).unwrap_or(Instant::EPOCH), description)
        }
    }

    pub(crate) fn json(self, number: u64) -> String {
        let draft = self.draft(number);
        let mut object = json!({
            "time": draft.time.to_string(),
            "description": draft.description,
            "location": draft.location,
        });
        if let Some(geo) = draft.geo {
            object["geo"] = json!({ "lat": geo.point.lat(), "lon": geo.point.lon() });
        }
        if let Some(event_id) = draft.event_id {
            object["event_id"] = json!(event_id.as_str());
        }
        object.to_string()
    }

    /// Returns the event with this number as a CSV row. No value needs quotes.
    fn row(self, number: u64) -> String {
        let EventDraft { time, description, location, geo, event_id, .. } = self.draft(number);
        let (lat, lon) = geo.map_or((0.0, 0.0), |geo| (geo.point.lat(), geo.point.lon()));
        let (location, event_id) =
            (location.unwrap_or_default(), event_id.map(|id| id.to_string()).unwrap_or_default());
        format!("{event_id},{time},{description},{location},{lat},{lon}")
    }

    pub(crate) fn write(self, path: &Path, format: Format, events_count: u64) -> anyhow::Result<()> {
        self.write_range(path, format, 0..events_count)
    }

    pub(crate) fn write_range(self, path: &Path, format: Format, numbers: Range<u64>) -> anyhow::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        if matches!(format, Format::Csv) {
            writeln!(file, "key,when,what,where,y,x")?;
        }
        for number in numbers {
            let line = match format {
                Format::Ndjson => self.json(number),
                Format::Csv => self.row(number),
            };
            writeln!(file, "{line}")?;
        }
        file.flush()?;
        Ok(())
    }

    #[expect(clippy::unused_self, reason = "reads as a fact about the history, beside the others")]
    pub(crate) fn moment(self, number: u64) -> Instant<Virtual> {
        // In the first half, so that many events follow.
        let secs = i64::try_from(mix(number ^ 0x71e5) % (LENGTH_SECS / 2)).unwrap_or(0);
        Instant::from_micros(BEGIN_MICROS + secs * 1_000_000).unwrap_or(Instant::EPOCH)
    }

    /// Returns a box around all events of one place, within one degree.
    #[expect(clippy::unused_self, reason = "reads as a fact about the history, beside the others")]
    pub(crate) fn bbox(self, number: u64) -> Option<BBox> {
        let (south, west) = corner(mix(number ^ 0xb0c5) % PLACES);
        BBox::new(west + 0.01, south + 0.01, west + 0.99, south + 0.99)
    }

    pub(crate) fn box_of_place(self, number: u64) -> String {
        let edges = self.bbox(number).map_or([-180.0, -90.0, 180.0, 90.0], BBox::edges);
        let [west, south, east, north] = edges.map(|edge| format!("{edge:.2}"));
        format!("bbox:{west},{south},{east},{north}")
    }

    #[expect(clippy::unused_self, reason = "reads as a fact about the history, beside the others")]
    fn place_of(self, number: u64) -> u64 {
        mix(number ^ 0x9_1ace) % PLACES
    }
}

/// Returns the south-western corner of a place, in whole degrees. All are different.
#[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
fn corner(place: u64) -> (f64, f64) {
    let (row, column) = (place / 25, place % 25);
    (row as f64 * 6.0 - 60.0, column as f64 * 14.0 - 170.0)
}

/// Returns a point in the one-degree cell with this corner.
#[expect(clippy::cast_precision_loss, reason = "small whole numbers")]
fn near((south, west): (f64, f64), number: u64) -> (f64, f64) {
    let part = |salt: u64| 0.02 + (mix(number ^ salt) % 96_000) as f64 / 100_000.0;
    (south + part(0x1a7), west + part(0x10e))
}

/// Returns a pseudorandom number derived from this one (`SplitMix64`).
pub(crate) const fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_within_the_box_of_their_place() {
        let history = History::default();
        for number in 0..2_000 {
            let draft = history.draft(number);
            assert_eq!(draft.check(), Ok(()));
            let point = draft.geo.unwrap().point;
            let (south, west) = corner(history.place_of(number));
            assert!(BBox::new(west + 0.01, south + 0.01, west + 0.99, south + 0.99).unwrap().contains(point));
        }
    }

    #[test]
    fn json_line_matches_the_event_draft() {
        let line: serde_json::Value = serde_json::from_str(&History::default().json(3)).unwrap();
        assert_eq!(line["event_id"], "reading-3");
        let draft = History::default().draft(3);
        assert_eq!(line["time"], draft.time.to_string());
        assert!(!History { named: false }.json(3).contains("event_id"));
    }
}
