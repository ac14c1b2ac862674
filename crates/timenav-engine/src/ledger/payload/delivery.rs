use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::event::EventDraft;
use timenav_core::ids::{EventId, QueueId, TimerId};
use timenav_core::time::{Instant, Virtual};
use zeroize::Zeroizing;

use crate::events::event_content::{event_content, event_draft};
use crate::ports::timer_rows::{FiringRow, TimerRow};
use crate::requests::json::{json, raw, read};

/// Fields that an event gets from its firing, not from its timer.
const OF_FIRING: [&str; 2] = ["event_id", "time"];

/// A webhook to which the service sends firings.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookTarget {
    pub url: String,
    /// The signing secret as in Standard Webhooks; `None` if requests are not signed.
    pub secret: Option<Zeroizing<String>>,
}

impl std::fmt::Debug for WebhookTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookTarget").field("is_signed", &self.secret.is_some()).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub url: String,
    /// The sealed signing secret; `None` if requests are not signed.
    pub sealed: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// They wait in a queue until a worker claims them.
    Queue(QueueId),
    /// Each records this event on the timeline, with its own id and due time. The id and time of the draft are ignored.
    Timeline(Arc<EventDraft>),
    Webhook(WebhookTarget),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DeliverRecord<'a> {
    to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    /// The event that each firing records, without the fields it gets from the firing.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    event: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<String>,
}

impl DeliverRecord<'_> {
    const QUEUE: &'static str = "queue";
    const TIMELINE: &'static str = "timeline";
    const WEBHOOK: &'static str = "webhook";

    fn to(to: &str) -> Self {
        Self { to: to.to_owned(), queue: None, event: None, url: None, sealed: None }
    }

    pub(crate) fn queue(&self) -> Option<QueueId> {
        match (self.to.as_str(), &self.queue, self.event, &self.url, &self.sealed) {
            (Self::QUEUE, Some(queue), None, None, None) => QueueId::new(queue).ok(),
            (Self::TIMELINE, None, Some(_), None, None) => Some(QueueId::of_timeline()),
            (Self::WEBHOOK, None, None, Some(_), _) => Some(QueueId::of_webhooks()),
            _ => None,
        }
    }
}

impl Delivery {
    pub(crate) fn queue(&self) -> QueueId {
        match self {
            Self::Queue(queue) => queue.clone(),
            Self::Timeline(_) => QueueId::of_timeline(),
            Self::Webhook(_) => QueueId::of_webhooks(),
        }
    }

    /// A secret is only stored sealed.
    pub(crate) fn text(&self, sealed: Option<String>) -> String {
        match self {
            Self::Queue(queue) => {
                let queue = Some(queue.to_string());
                json(&DeliverRecord { queue, ..DeliverRecord::to(DeliverRecord::QUEUE) })
            }
            Self::Timeline(draft) => {
                let template = template(draft);
                json(&DeliverRecord { event: raw(&template), ..DeliverRecord::to(DeliverRecord::TIMELINE) })
            }
            Self::Webhook(WebhookTarget { url, .. }) => {
                json(&DeliverRecord { url: Some(url.clone()), sealed, ..DeliverRecord::to(DeliverRecord::WEBHOOK) })
            }
        }
    }
}

impl Webhook {
    pub(crate) fn of(deliver: &str) -> Option<Self> {
        let DeliverRecord { to, url, sealed, .. } = read(deliver.as_bytes())?;
        (to == DeliverRecord::WEBHOOK).then_some(Self { url: url?, sealed })
    }
}

/// Returns an event as JSON, without the fields it gets from a firing.
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
    /// Returns the event that each firing records, as JSON without id and time; `None` if firings wait in a queue.
    #[must_use]
    pub fn event(&self) -> Option<&RawValue> {
        read::<DeliverRecord<'_>>(self.deliver.as_bytes())?.event
    }

    #[must_use]
    pub fn webhook(&self) -> Option<Webhook> {
        Webhook::of(&self.deliver)
    }

    /// Returns the event that a firing of the timer records. `None` if there is none that can be parsed.
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
    /// Returns whether the firing is recorded as an event, and cannot be claimed.
    #[must_use]
    pub fn records_event(&self) -> bool {
        self.queue == QueueId::of_timeline()
    }
}

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
    fn timer_event_takes_id_and_time_from_its_firing() {
        let asserts = vec![Assertion { subject: "s".into(), predicate: "p".into(), value: r#"{"a":1e21}"#.into() }];
        let attributes = Some(r#"{"b":[null,"é"]}"#.to_owned());
        let draft =
            EventDraft { name: Some("Renewal".to_owned()), asserts, attributes, ..EventDraft::at(Instant::MAX, "d") };
        let text = Delivery::Timeline(Arc::new(draft.clone())).text(None);
        assert!(!text.contains("event_id") && !text.contains("time\":"), "{text}");
        assert_eq!(read::<DeliverRecord<'_>>(text.as_bytes()).unwrap().queue(), Some(QueueId::of_timeline()));
        let (event_id, due) = (EventId::new("firing_1").unwrap(), Instant::from_micros(7).unwrap());
        let source = Some("timer:renew-42".to_owned());
        let expected = EventDraft { event_id: Some(event_id.clone()), time: due, source, ..draft.clone() };
        assert_eq!(timer(&text).event_of(&event_id, due), Some(expected));
        let named = EventDraft { source: Some("billing".to_owned()), ..draft };
        let text = Delivery::Timeline(Arc::new(named)).text(None);
        assert_eq!(timer(&text).event_of(&event_id, due).unwrap().source.as_deref(), Some("billing"));
    }

    #[test]
    fn malformed_delivery_is_not_read() {
        for text in [
            "{}",
            r#"{"to":"queue"}"#,
            r#"{"to":"timeline"}"#,
            r#"{"to":"timeline","queue":"q","event":{}}"#,
            r#"{"to":"queue","queue":"q","event":{}}"#,
            r#"{"to":"webhook"}"#,
            r#"{"to":"webhook","queue":"q"}"#,
            r#"{"to":"webhook","url":"https://a/","queue":"q"}"#,
            r#"{"to":"queue","queue":"q","url":"https://a/"}"#,
            r#"{"to":"queue","queue":"q","sealed":"x"}"#,
        ] {
            let queue = read::<DeliverRecord<'_>>(text.as_bytes()).and_then(|record| record.queue());
            assert_eq!(queue, None, "{text}");
        }
        let queue = QueueId::new("billing").unwrap();
        let text = Delivery::Queue(queue.clone()).text(None);
        assert_eq!(text, r#"{"to":"queue","queue":"billing"}"#);
        assert_eq!(read::<DeliverRecord<'_>>(text.as_bytes()).unwrap().queue(), Some(queue));
        assert!(timer(&text).event().is_none());
    }

    #[test]
    fn webhook_is_stored_with_a_sealed_secret_or_none() {
        let url = "https://hooks.example/in".to_owned();
        let target = WebhookTarget { url: url.clone(), secret: Some("whsec_open".to_owned().into()) };
        assert!(!format!("{target:?}").contains("open"));
        let deliver = Delivery::Webhook(target);
        for (sealed, expected) in [
            (Some("c2VhbGVk".to_owned()), r#"{"to":"webhook","url":"https://hooks.example/in","sealed":"c2VhbGVk"}"#),
            (None, r#"{"to":"webhook","url":"https://hooks.example/in"}"#),
        ] {
            let text = deliver.text(sealed.clone());
            assert_eq!(text, expected);
            let queue = read::<DeliverRecord<'_>>(text.as_bytes()).unwrap().queue();
            assert_eq!(queue, Some(QueueId::of_webhooks()));
            assert_eq!(timer(&text).webhook(), Some(Webhook { url: url.clone(), sealed }));
        }
        assert!(timer(r#"{"to":"queue","queue":"q"}"#).webhook().is_none());
    }
}
