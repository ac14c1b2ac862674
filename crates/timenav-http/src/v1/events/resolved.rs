use crate::schema::ToSchema;
use serde::Serialize;
use timenav_core::place::LocationQuery;
use timenav_engine::{EventPage, Understood};

/// How a location was resolved.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct ResolvedBody {
    /// `anywhere`, `near`, `box`, `area` or `text`; `event` for an event and others at its place.
    #[schema(value_type = String)]
    kind: &'static str,
    /// The event, for `event`.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    /// The known place and its region. Events with this text as their own location are found too.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// Whether the name may mean another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_ambiguous: Option<bool>,
    /// Other places that the name may mean, most likely first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alternatives: Vec<String>,
    /// Known places with a similar spelling, if nothing was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<String>,
    /// The center, for `near`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lat: Option<f64>,
    /// The center, for `near`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lon: Option<f64>,
    /// The radius in meters, for `near`.
    #[serde(skip_serializing_if = "Option::is_none")]
    radius_m: Option<f64>,
    /// West, south, east, north in degrees, for `box`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bbox: Option<[f64; 4]>,
    /// For `text`, the text of the events' own location; for `area`, the area, such as `country:FR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl ResolvedBody {
    /// Returns how the location of a page was resolved, with similar place names if the page is empty.
    pub(crate) fn of(page: &EventPage) -> Self {
        Self::of_understood(&page.understood, page.suggestions.clone())
    }

    pub(crate) fn of_understood(understood: &Understood, suggestions: Vec<String>) -> Self {
        let understood = match understood {
            Understood::Form(query) => Self::of_query(query),
            Understood::Text(text) => Self { kind: "text", text: Some(text.clone()), ..Self::default() },
            Understood::Event { event_id, location } => Self {
                kind: "event",
                event_id: Some(event_id.to_string()),
                ..location.as_ref().map(Self::of_query).unwrap_or_default()
            },
            Understood::Place { text, place } => {
                let of_place = Self::of_query(&place.location);
                Self {
                    text: of_place.text.or_else(|| Some(text.clone())),
                    place: Some(place.name.clone()),
                    is_ambiguous: Some(place.is_ambiguous),
                    alternatives: place.others.clone(),
                    ..of_place
                }
            }
        };
        Self { suggestions, ..understood }
    }

    /// Returns a warning if the location of a clock may not be the intended one.
    pub(crate) fn caution(&self) -> Option<String> {
        let text = self.text.as_deref().unwrap_or_default();
        match (&self.place, self.is_ambiguous) {
            (Some(place), Some(true)) => {
                Some(format!("The place is {place}. If you meant another of that name, add its country or region."))
            }
            (Some(_), _) => None,
            (None, _) if self.kind != "text" => None,
            (None, _) => Some(match self.suggestions.first() {
                Some(near) => {
                    format!("The place `{text}` is unknown, so months and days are in UTC; did you mean {near}?")
                }
                None => format!("The place `{text}` is unknown, so months and days are in UTC."),
            }),
        }
    }

    fn of_query(query: &LocationQuery) -> Self {
        let nothing = Self { kind: "anywhere", ..Self::default() };
        match query {
            LocationQuery::Anywhere => nothing,
            LocationQuery::Near { center, radius_m } => Self {
                kind: "near",
                lat: Some(center.lat()),
                lon: Some(center.lon()),
                radius_m: Some(*radius_m),
                ..nothing
            },
            LocationQuery::Within(bbox) => Self { kind: "box", bbox: Some(bbox.edges()), ..nothing },
            LocationQuery::Area(area) => Self { kind: "area", text: Some(area.id().to_owned()), ..nothing },
            LocationQuery::Named(text) => Self { kind: "text", text: Some(text.clone()), ..nothing },
        }
    }
}
