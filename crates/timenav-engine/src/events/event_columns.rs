use timenav_core::event::EventDraft;
use timenav_core::place::{Cell, Point};
use timenav_core::time::{Instant, Virtual};

use crate::events::length_class::LengthClass;
use crate::events::participants::parties_text;

/// Computed only here: a store keeps the columns as they are, and a scan compares stored ones with them.
#[derive(Clone, Debug, PartialEq)]
pub struct EventColumns {
    pub time: Instant<Virtual>,
    /// The point to find it by: its own, or that of its named place.
    pub point: Option<Point>,
    pub cell: Option<Cell>,
    pub place: Option<String>,
    /// Its name in search form, as returned by [`name_key`].
    pub name_key: Option<String>,
    /// The class of its duration, to find events that last into a range.
    pub length_class: Option<LengthClass>,
    /// Source and actors as JSON; `None` if that is too long, so that the event itself has to be read.
    pub parties: Option<String>,
}

impl EventColumns {
    #[must_use]
    pub fn of(draft: &EventDraft, point: Option<Point>) -> Self {
        let parties = parties_text(draft.source.as_deref(), &draft.actors);
        let times = (draft.time, draft.end_time);
        Self::made_of(times, draft.name.as_deref(), draft.location.as_deref(), (point, parties))
    }

    pub(crate) fn made_of(
        (time, end_time): (Instant<Virtual>, Option<Instant<Virtual>>),
        name: Option<&str>,
        place: Option<&str>,
        (point, parties): (Option<Point>, Option<String>),
    ) -> Self {
        let (place, name_key) = (place.map(str::to_owned), name.map(name_key));
        let length_class = LengthClass::of(time, end_time);
        Self { time, point, cell: point.map(Cell::of), place, name_key, length_class, parties }
    }

    /// Returns the columns of a row that hides an inherited event. No query finds it by them.
    pub(crate) const fn of_nothing() -> Self {
        Self {
            time: Instant::EPOCH,
            point: None,
            cell: None,
            place: None,
            name_key: None,
            length_class: None,
            parties: None,
        }
    }
}

/// Returns the search form of a name, which ignores case.
#[must_use]
pub fn name_key(name: &str) -> String {
    name.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_columns_hold_time_point_place_and_name() {
        let at = Instant::from_micros(7).unwrap();
        let (name, location) = (Some("  The Fall ".to_owned()), Some("Rome".to_owned()));
        let (source, actors) = (Some("Livy".to_owned()), vec!["Odoacer".to_owned()]);
        let end_time = Some(Instant::from_micros(12).unwrap());
        let draft = EventDraft { end_time, name, location, source, actors, ..EventDraft::at(at, "told") };
        let rome = Point::new(41.9, 12.5).unwrap();
        let columns = EventColumns::of(&draft, Some(rome));
        assert_eq!((columns.time, columns.point, columns.cell), (at, Some(rome), Some(Cell::of(rome))));
        assert_eq!((columns.place.as_deref(), columns.name_key.as_deref()), (Some("Rome"), Some("the fall")));
        assert_eq!(columns.length_class.map(LengthClass::number), Some(2), "five microseconds");
        assert_eq!(columns.parties.as_deref(), Some(r#""Livy"["Odoacer"]"#));
        let nowhere = EventColumns::of(&EventDraft::at(Instant::EPOCH, ""), None);
        assert_eq!(nowhere, EventColumns { parties: Some(String::new()), ..EventColumns::of_nothing() });
    }

    #[test]
    fn name_key_ignores_case_and_spaces_around_in_any_alphabet() {
        for (name, key) in [("The Fall ", "the fall"), (" ÉTÉ", "été"), ("ΑΘΗΝΑ", "αθηνα"), ("Москва", "москва")]
        {
            assert_eq!(name_key(name), key);
        }
    }
}
