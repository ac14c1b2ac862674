//! Where firings of a timer go, as entries and rows tell it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, QueueId, TimerId};
use timenav_core::time::{Instant, Virtual};

use crate::event_content::{event_content, event_draft};
use crate::json::{json, raw, read};
use crate::timer_rows::{FiringRow, TimerRow};

/// What an event has of its firing, and not of its timer.
const OF_FIRING: [&str; 2] = ["event_id", "time"];

/// Where firings of a timer go.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// They wait in a queue for whoever claims them.
    Queue(QueueId),
    /// Each records this event on the timeline: under its own id, at its own moment. What the draft says of both is not
    /// looked at.
    Timeline(Arc<EventDraft>),
}

/// Where firings go.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DeliverRecord<'a> {
    to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    /// The event that each firing records, without what it has of the firing.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    event: Option<&'a RawValue>,
}

impl DeliverRecord<'_> {
    const QUEUE: &'static str = "queue";
    const TIMELINE: &'static str = "timeline";

    /// Returns the queue that firings wait in.
    pub(crate) fn queue(&self) -> Option<QueueId> {
        match (self.to.as_str(), &self.queue, self.event) {
            (Self::QUEUE, Some(queue), None) => QueueId::new(queue).ok(),
            (Self::TIMELINE, None, Some(_)) => Some(QueueId::of_timeline()),
            _ => None,
        }
    }
}

impl Delivery {
    /// Returns the queue that its firings are kept under.
    pub(crate) fn queue(&self) -> QueueId {
        match self {
            Self::Queue(queue) => queue.clone(),
            Self::Timeline(_) => QueueId::of_timeline(),
        }
    }

    /// Returns how it is kept, as JSON.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Queue(queue) => {
                let queue = Some(queue.to_string());
                json(&DeliverRecord { to: DeliverRecord::QUEUE.to_owned(), queue, event: None })
            }
            Self::Timeline(draft) => {
                let template = template(draft);
                json(&DeliverRecord { to: DeliverRecord::TIMELINE.to_owned(), queue: None, event: raw(&template) })
            }
        }
    }
}

/// Returns an event as JSON, without what it has of a firing.
fn template(draft: &EventDraft) -> String {
    let Ok(none) = EventId::new("none") else { return String::new() };
    let content = event_content(&none, draft);
    let mut fields: BTreeMap<&str, &RawValue> = read(content.as_bytes()).unwrap_or_default();
    for name in OF_FIRING {
        fields.remove(name);
    }
    json(&fields)
}

impl TimerRow {
    /// Returns the event that each firing records, as JSON without an id and a time; `None` where firings wait in a queue.
    #[must_use]
    pub fn event(&self) -> Option<&RawValue> {
        read::<DeliverRecord<'_>>(self.deliver.as_bytes())?.event
    }

    /// Returns the event that a firing of the timer records. `None` where it records none that can be read.
    pub(crate) fn event_of(&self, event_id: &EventId, due: Instant<Virtual>) -> Option<EventDraft> {
        let (event_id, time) = (json(&event_id.as_str()), json(&due.to_string()));
        let mut fields: BTreeMap<&str, &RawValue> = read(self.event()?.get().as_bytes())?;
        fields.extend(OF_FIRING.into_iter().zip([raw(&event_id)?, raw(&time)?]));
        let draft = event_draft(&json(&fields))?;
        let source = draft.source.unwrap_or_else(|| source_of(&self.timer_id));
        Some(EventDraft { source: Some(source), ..draft })
    }
}

impl FiringRow {
    /// Returns whether the firing is an event of the timeline, and nobody's to claim.
    #[must_use]
    pub fn records_event(&self) -> bool {
        self.queue == QueueId::of_timeline()
    }
}

/// Returns the source of an event whose timer names none.
fn source_of(timer_id: &TimerId) -> String {
    format!("timer:{timer_id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use timenav_core::event::Assertion;

    fn timer(deliver: &str) -> TimerRow {
        TimerRow {
            position: 3,
            timer_id: TimerId::new("renew-42").unwrap(),
            next: None,
            round: 0,
            is_cancelled: false,
            schedule: "{}".into(),
            deliver: deliver.into(),
            queue: QueueId::of_timeline(),
            order_key: None,
            payload: "null".into(),
            set_by: "ada".to_owned(),
            set_at: Instant::EPOCH,
        }
    }

    #[test]
    fn an_event_has_its_id_and_its_time_of_the_firing_and_the_rest_of_the_timer() {
        let asserts = vec![Assertion { subject: "s".into(), predicate: "p".into(), value: r#"{"a":1e21}"#.into() }];
        let attributes = Some(r#"{"b":[null,"é"]}"#.to_owned());
        let draft =
            EventDraft { name: Some("Renewal".to_owned()), asserts, attributes, ..EventDraft::at(Instant::MAX, "d") };
        let text = Delivery::Timeline(Arc::new(draft.clone())).text();
        assert!(!text.contains("event_id") && !text.contains("time\":"), "{text}");
        assert_eq!(read::<DeliverRecord<'_>>(text.as_bytes()).unwrap().queue(), Some(QueueId::of_timeline()));
        let (event_id, due) = (EventId::new("firing_1").unwrap(), Instant::from_micros(7).unwrap());
        let source = Some("timer:renew-42".to_owned());
        let expected = EventDraft { event_id: Some(event_id.clone()), time: due, source, ..draft.clone() };
        assert_eq!(timer(&text).event_of(&event_id, due), Some(expected));
        let named = EventDraft { source: Some("billing".to_owned()), ..draft };
        let text = Delivery::Timeline(Arc::new(named)).text();
        assert_eq!(timer(&text).event_of(&event_id, due).unwrap().source.as_deref(), Some("billing"));
    }

    #[test]
    fn what_is_no_delivery_is_not_read() {
        for text in [
            "{}",
            r#"{"to":"queue"}"#,
            r#"{"to":"timeline"}"#,
            r#"{"to":"timeline","queue":"q","event":{}}"#,
            r#"{"to":"queue","queue":"q","event":{}}"#,
            r#"{"to":"webhook","queue":"q"}"#,
        ] {
            let queue = read::<DeliverRecord<'_>>(text.as_bytes()).and_then(|record| record.queue());
            assert_eq!(queue, None, "{text}");
        }
        let queue = QueueId::new("billing").unwrap();
        let text = Delivery::Queue(queue.clone()).text();
        assert_eq!(text, r#"{"to":"queue","queue":"billing"}"#);
        assert_eq!(read::<DeliverRecord<'_>>(text.as_bytes()).unwrap().queue(), Some(queue));
        assert!(timer(&text).event().is_none());
    }
}
