use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;
use timenav_core::limits::RADIUS_METERS_DEFAULT;
use timenav_core::place::{LocationQuery, parse_location};
use timenav_core::time::Zone;

use crate::engine::Engine;
use crate::events::event_columns::name_key;
use crate::events::event_content::event_draft;
use crate::events::location::point_of;
use crate::ledger::head::Layer;
use crate::ports::gazetteer::KnownPlace;
use crate::ports::lookups::OneFact as _;
use crate::ports::rows::KnownEvent;
use crate::ports::store::Pattern;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

const NEAR_SPELLINGS_MAX: usize = 5;

#[derive(Clone, Debug, PartialEq)]
pub enum Understood {
    /// By its form: anywhere, coordinates, a box.
    Form(LocationQuery),
    /// As an event, by its id or its name, to find events in the same place.
    Event {
        event_id: EventId,
        /// The location of that event, if it has one.
        location: Option<LocationQuery>,
    },
    /// As a place in the gazetteer, and as the location text of events.
    Place { text: String, place: KnownPlace },
    /// As the location text of events.
    Text(String),
}

impl Understood {
    pub(crate) fn patterns(&self) -> Vec<Pattern> {
        match self {
            Self::Form(query) => vec![Pattern::Location(query.clone())],
            Self::Event { event_id, location } => {
                let place = location.clone().map(Pattern::Location);
                std::iter::once(Pattern::Event(event_id.clone())).chain(place).collect()
            }
            Self::Place { text, place } => {
                vec![Pattern::Location(place.location.clone()), Pattern::Location(LocationQuery::Named(text.clone()))]
            }
            Self::Text(text) => vec![Pattern::Location(LocationQuery::Named(text.clone()))],
        }
    }
}

impl Engine {
    /// Resolves a location: by its form, else as an event by its id or its name, else as a known place, else as the
    /// location text of events.
    pub(crate) async fn understand(&self, layers: &Arc<[Layer]>, query: LocationQuery) -> Result<Understood, Refusal> {
        let LocationQuery::Named(text) = query else { return Ok(Understood::Form(query)) };
        if let Some((event_id, known)) = self.event_called(layers, &text).await? {
            let current = known.current().and_then(|version| event_draft(&version.content));
            let location = current.as_ref().and_then(|draft| self.place_of(draft));
            return Ok(Understood::Event { event_id, location });
        }
        let place = self.ports().gazetteer.as_ref().and_then(|gazetteer| gazetteer.find(&text));
        Ok(match place {
            Some(place) => Understood::Place { text, place },
            None => Understood::Text(text),
        })
    }

    /// Also returns similarly spelled places for an unknown name; `None` for a zone or coordinates.
    #[boxed]
    pub async fn place_called(&self, caller: &Caller, location: &str) -> Option<(Understood, Vec<String>)> {
        if Zone::named(location).is_some() {
            return None;
        }
        let text = match parse_location(location) {
            Ok(LocationQuery::Named(text)) => text,
            Ok(LocationQuery::Near { .. }) => return None,
            // Not a valid location of a clock: a box, or invalid coordinates, such as with the longitude first.
            Ok(LocationQuery::Anywhere | LocationQuery::Within(_) | LocationQuery::Area(_)) | Err(_) => {
                return Some((Understood::Text(location.to_owned()), Vec::new()));
            }
        };
        let understood = match self.ports().gazetteer.as_ref()?.find(&text) {
            Some(place) => return Some((Understood::Place { text, place }, Vec::new())),
            None => Understood::Text(text),
        };
        // The travel has succeeded, even if the search for similar names fails.
        let near = self.suggestions(caller, &understood).await.unwrap_or_default();
        Some((understood, near))
    }

    /// Examines a large number of names, in the caller's turn.
    pub(crate) async fn suggestions(&self, caller: &Caller, understood: &Understood) -> Result<Vec<String>, Refusal> {
        let (Understood::Text(text), Some(gazetteer)) = (understood, &self.ports().gazetteer) else {
            return Ok(Vec::new());
        };
        let (text, gazetteer) = (text.clone(), Arc::clone(gazetteer));
        self.long_work().in_turn(caller, async move { Ok(gazetteer.suggestions(&text, NEAR_SPELLINGS_MAX)) }).await
    }

    /// Finds the current event with an id, or else the earliest with a name.
    pub(crate) async fn event_called(
        &self,
        layers: &Arc<[Layer]>,
        text: &str,
    ) -> Result<Option<(EventId, KnownEvent)>, Refusal> {
        if let Ok(event_id) = EventId::new(text)
            && let Some(known) = self.versions_of(layers, &event_id).await?
        {
            return Ok(Some((event_id, known)));
        }
        for event_id in self.store().events_named(Arc::clone(layers), name_key(text), 1).await? {
            if let Some(known) = self.versions_of(layers, &event_id).await? {
                return Ok(Some((event_id, known)));
            }
        }
        Ok(None)
    }

    pub(crate) async fn versions_of(
        &self,
        layers: &Arc<[Layer]>,
        event_id: &EventId,
    ) -> Result<Option<KnownEvent>, Refusal> {
        let mut known = self.store().event_versions(Arc::clone(layers), vec![event_id.clone()]).await?;
        Ok(known.remove(event_id))
    }

    fn place_of(&self, draft: &EventDraft) -> Option<LocationQuery> {
        let near = |center| LocationQuery::Near { center, radius_m: RADIUS_METERS_DEFAULT };
        if let Some(geo) = draft.geo {
            let radius_m = geo.radius_m.unwrap_or(0.0).max(RADIUS_METERS_DEFAULT);
            return Some(LocationQuery::Near { center: geo.point, radius_m });
        }
        let text = draft.location.as_ref()?;
        let point = point_of(self.ports().gazetteer.as_deref(), draft);
        Some(point.map_or_else(|| LocationQuery::Named(text.clone()), near))
    }
}
