//! Event rows for a scan over the whole table, with few allocations per page.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenEvent<'a> {
    pub event_id: &'a str,
    pub position: u64,
    pub until: Option<u64>,
    /// In microseconds since 1970.
    pub time_micros: i64,
    /// Latitude and longitude.
    pub point: Option<(f64, f64)>,
    pub cell: Option<i64>,
    pub place: Option<&'a str>,
    pub name_key: Option<&'a str>,
    pub length_class: Option<i64>,
    pub parties: Option<&'a str>,
    pub content: &'a str,
}

/// The location of a row: the columns by which stores order rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventAt {
    pub event_id: String,
    pub position: u64,
    pub time_micros: i64,
    pub cell: Option<i64>,
}

/// Rows of the table of events, with concatenated texts.
#[derive(Debug, Default)]
pub struct SeenEvents {
    texts: String,
    rows: Vec<PageRow>,
}

/// A row with the end offsets of its texts; each begins at the end of the previous one.
#[derive(Debug)]
struct PageRow {
    position: u64,
    until: Option<u64>,
    time_micros: i64,
    point: Option<(f64, f64)>,
    cell: Option<i64>,
    event_id: usize,
    place: Option<usize>,
    name_key: Option<usize>,
    length_class: Option<i64>,
    parties: Option<usize>,
    content: usize,
}

impl SeenEvent<'_> {
    #[must_use]
    pub fn at(&self) -> EventAt {
        let Self { event_id, position, time_micros, cell, .. } = *self;
        EventAt { event_id: event_id.to_owned(), position, time_micros, cell }
    }
}

impl SeenEvents {
    pub fn push(&mut self, row: &SeenEvent<'_>) {
        let SeenEvent { position, until, time_micros, point, cell, length_class, .. } = *row;
        let mut add = |text: &str| {
            self.texts.push_str(text);
            self.texts.len()
        };
        let event_id = add(row.event_id);
        let (place, name_key) = (row.place.map(&mut add), row.name_key.map(&mut add));
        let (parties, content) = (row.parties.map(&mut add), add(row.content));
        self.rows.push(PageRow {
            position,
            until,
            time_micros,
            point,
            cell,
            event_id,
            place,
            name_key,
            length_class,
            parties,
            content,
        });
    }

    #[must_use]
    pub const fn bytes_count(&self) -> usize {
        self.texts.len()
    }

    #[must_use]
    pub const fn rows_count(&self) -> usize {
        self.rows.len()
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    #[must_use]
    pub fn last(&self) -> Option<EventAt> {
        self.iter().last().map(|row| row.at())
    }

    pub fn iter(&self) -> impl Iterator<Item = SeenEvent<'_>> {
        let mut next = 0;
        self.rows.iter().map(move |row| {
            let mut up_to = |end: usize| &self.texts[std::mem::replace(&mut next, end)..end];
            let PageRow { position, until, time_micros, point, cell, length_class, .. } = *row;
            let event_id = up_to(row.event_id);
            let (place, name_key) = (row.place.map(&mut up_to), row.name_key.map(&mut up_to));
            let (parties, content) = (row.parties.map(&mut up_to), up_to(row.content));
            SeenEvent {
                event_id,
                position,
                until,
                time_micros,
                point,
                cell,
                place,
                name_key,
                length_class,
                parties,
                content,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_rows_are_returned_as_added() {
        let row = |place, name_key| SeenEvent {
            event_id: "e1",
            position: 7,
            until: Some(9),
            time_micros: -3,
            point: Some((1.5, -2.0)),
            cell: Some(41),
            place,
            name_key,
            length_class: name_key.map(|_| 39),
            parties: name_key.map(|_| "[]"),
            content: "{}",
        };
        let rows = [
            row(None, None),
            row(Some("Rome"), None),
            row(None, Some("the fall")),
            row(Some(""), Some("é")),
            SeenEvent { event_id: "", until: None, point: None, cell: None, content: "", ..row(None, None) },
        ];
        let mut page = SeenEvents::default();
        assert!(page.is_empty());
        for row in &rows {
            page.push(row);
        }
        assert_eq!(page.iter().collect::<Vec<_>>(), rows);
        assert_eq!(
            page.bytes_count(),
            4 * "e1".len() + 4 * "{}".len() + "Rome".len() + "the fall".len() + "é".len() + 4
        );
        assert_eq!(page.last(), Some(rows[4].at()));
    }
}
