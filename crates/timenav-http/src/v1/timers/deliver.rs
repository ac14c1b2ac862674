use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use timenav_core::ids::QueueId;
use timenav_engine::{Delivery, TimerRow, WebhookTarget};
#[cfg(feature = "schema")]
use timenav_import::EventRecord;
#[cfg(feature = "schema")]
use utoipa::PartialSchema;
#[cfg(feature = "schema")]
use utoipa::openapi::schema::Schema;
#[cfg(feature = "schema")]
use utoipa::openapi::{ObjectBuilder, RefOr};

use crate::schema::ToSchema;
use zeroize::Zeroizing;

use crate::response::problem::Failure;
use crate::v1::events::draft;
use crate::wire::Text;

/// Fields of an event that its firing determines: id and time. A fixed end would be the same for every firing.
const OF_FIRING: [(&str, &str); 3] = [
    ("event_id", "the id of the firing is the id of the event"),
    ("time", "the moment of the firing is the time of the event"),
    ("end_time", "each firing records an event at its own moment"),
];

/// The delivery of firings.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliverRequest {
    /// `queue`: a worker claims the firings. `timeline`: each firing records an event at once. `webhook`: the service
    /// sends each firing to an address.
    to: DeliveryKind,
    /// The queue, with `to: queue`. Defaults to `default`.
    #[schema(value_type = Option<String>, format = "id", example = "billing")]
    queue: Option<Text<QueueId>>,
    /// The event that each firing records, with `to: timeline`. Its id is that of the firing, and its time the due
    /// time. Its `source` defaults to `timer:` with the id of the timer. Up to 8,192 bytes.
    #[schema(value_type = TimerEvent, required = false)]
    event: Option<Value>,
    /// The address for the POST of each firing, with `to: webhook`. The operator must allow it.
    #[schema(max_length = 2_048, example = "https://hooks.example.com/timenav")]
    url: Option<String>,
    /// The signing secret, in the form of Standard Webhooks: `whsec_` and the base64 of 24 to 64 bytes. It is never
    /// shown again. Without it, requests are not signed.
    #[schema(value_type = Option<String>, write_only, max_length = 94)]
    #[serde(default, deserialize_with = "secret")]
    secret: Option<Zeroizing<String>>,
}

fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Zeroizing<String>>, D::Error> {
    let text = Option::<String>::deserialize(deserializer).map(|text| text.map(Zeroizing::new));
    // An invalid value is not repeated: it may be a secret with a typo.
    text.map_err(|_| de::Error::custom("a secret must be a string"))
}

/// The delivery of firings.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeliveryKind {
    /// They wait in a queue.
    Queue,
    /// Each records an event.
    Timeline,
    /// The service sends each to an address.
    Webhook,
}

/// The event that a firing records. The schema for the OpenAPI document; the event is parsed by hand.
#[cfg(feature = "schema")]
pub(crate) enum TimerEvent {}

#[cfg(feature = "schema")]
impl ToSchema for TimerEvent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        EventRecord::schemas(schemas);
    }
}

#[cfg(feature = "schema")]
impl PartialSchema for TimerEvent {
    fn schema() -> RefOr<Schema> {
        let mut schema = EventRecord::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.description = Some("An event without an id and a time.".to_owned());
            object.properties.retain(|name, _| OF_FIRING.iter().all(|(field, _)| field != name));
            object.required.retain(|name| OF_FIRING.iter().all(|(field, _)| field != name));
        }
        schema
    }
}

/// The delivery of firings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeliverBody {
    /// `queue`, `timeline` or `webhook`.
    #[schema(value_type = String)]
    to: &'static str,
    /// The queue of the firings.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    /// The event that each firing records, without an id and a time.
    #[schema(schema_with = any_object, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Value>,
    /// The address of the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Whether these requests are signed. Only with `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<bool>,
}

#[cfg(feature = "schema")]
fn any_object() -> ObjectBuilder {
    let description = "The event that each firing records, without an id and a time.";
    ObjectBuilder::new().description(Some(description))
}

impl DeliverRequest {
    /// Fails if a field does not apply to `to`, or for a fault of the event.
    pub(crate) fn read(self) -> Result<Delivery, Failure> {
        let Self { to, queue, event, url, secret } = self;
        let is_there = |field: &str| match field {
            "queue" => queue.is_some(),
            "event" => event.is_some(),
            "url" => url.is_some(),
            _ => secret.is_some(),
        };
        if let Some((field, why)) = to.foreign().iter().find(|(field, _)| is_there(field)) {
            return Err(Failure::invalid(format!("deliver/{field}"), format!("{why}; leave it out")));
        }
        match to {
            DeliveryKind::Queue => Ok(Delivery::Queue(queue.map_or_else(QueueId::unnamed, |queue| queue.0))),
            DeliveryKind::Timeline => {
                let missing = || Failure::invalid("deliver/event", "give the event that each firing records");
                event_of(event.ok_or_else(missing)?).map(Delivery::Timeline)
            }
            DeliveryKind::Webhook => {
                let missing = || Failure::invalid("deliver/url", "give the address that each firing is sent to");
                Ok(Delivery::Webhook(WebhookTarget { url: url.ok_or_else(missing)?, secret }))
            }
        }
    }
}

impl DeliveryKind {
    const fn foreign(self) -> &'static [(&'static str, &'static str)] {
        const NO_EVENT: &str = "only `\"to\": \"timeline\"` records an event";
        const NO_QUEUE: &str = "only `\"to\": \"queue\"` puts firings in a queue";
        const NO_URL: &str = "only `\"to\": \"webhook\"` sends firings to an address";
        match self {
            Self::Queue => &[("event", NO_EVENT), ("url", NO_URL), ("secret", NO_URL)],
            Self::Timeline => &[("queue", NO_QUEUE), ("url", NO_URL), ("secret", NO_URL)],
            Self::Webhook => &[("queue", NO_QUEUE), ("event", NO_EVENT)],
        }
    }
}

fn event_of(event: Value) -> Result<Arc<timenav_core::event::EventDraft>, Failure> {
    let Value::Object(mut fields) = event else {
        return Err(Failure::invalid("deliver/event", "the event must be a JSON object"));
    };
    for (field, why) in OF_FIRING {
        if fields.contains_key(field) {
            return Err(Failure::invalid(format!("deliver/event/{field}"), format!("{why}; leave it out")));
        }
    }
    // The parser requires a time. The firing replaces it.
    fields.insert("time".to_owned(), Value::String("1970-01-01T00:00:00Z".to_owned()));
    Ok(Arc::new(draft(Value::Object(fields).to_string().as_bytes(), "deliver/event")?))
}

impl DeliverBody {
    pub(crate) fn of(row: &TimerRow) -> Self {
        let nothing = Self { to: "queue", queue: None, event: None, url: None, signed: None };
        if let Some(event) = row.event() {
            let event = Some(serde_json::from_str(event.get()).unwrap_or_default());
            return Self { to: "timeline", event, ..nothing };
        }
        if let Some(webhook) = row.webhook() {
            return Self { to: "webhook", url: Some(webhook.url), signed: Some(webhook.sealed.is_some()), ..nothing };
        }
        Self { queue: Some(row.queue.to_string()), ..nothing }
    }
}
