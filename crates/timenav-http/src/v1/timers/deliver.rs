//! Where firings of a timer go, as requests and answers tell it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use timenav_core::ids::QueueId;
use timenav_engine::{Delivery, TimerRow};
use timenav_import::EventRecord;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::problem::Failure;
use crate::v1::events::draft;
use crate::wire::Text;

/// What the event of a firing has of it: its id, and its moment. An end would be the same for each of them.
const OF_FIRING: [(&str, &str); 3] = [
    ("event_id", "the id of the firing is the id of the event"),
    ("time", "the moment of the firing is the time of the event"),
    ("end_time", "each firing records an event at its own moment"),
];

/// Where firings go.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliverRequest {
    /// `queue`: they wait for whoever claims them. `timeline`: each is recorded as an event of the timeline at once.
    to: DeliverTo,
    /// The queue, with `to: queue`. Defaults to `default`.
    #[schema(value_type = Option<String>, format = "id", example = "billing")]
    queue: Option<Text<QueueId>>,
    /// The event that each firing records, with `to: timeline`. Its id is that of the firing, its time the moment, and its
    /// `source`, if none is given, `timer:` with the id of the timer. At most 8,192 bytes.
    #[schema(value_type = TimerEvent, required = false)]
    event: Option<Value>,
}

/// How firings are delivered.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeliverTo {
    /// They wait in a queue.
    Queue,
    /// Each records an event.
    Timeline,
}

/// The event that a firing records: says in the OpenAPI document what is read by hand.
pub(crate) enum TimerEvent {}

impl ToSchema for TimerEvent {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        EventRecord::schemas(schemas);
    }
}

impl PartialSchema for TimerEvent {
    fn schema() -> RefOr<Schema> {
        let mut schema = EventRecord::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.description = Some("An event, without an id and a time of its own.".to_owned());
            object.properties.retain(|name, _| OF_FIRING.iter().all(|(field, _)| field != name));
            object.required.retain(|name| OF_FIRING.iter().all(|(field, _)| field != name));
        }
        schema
    }
}

/// Where firings go.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeliverBody {
    /// `queue` or `timeline`.
    #[schema(value_type = String)]
    to: &'static str,
    /// The queue that they wait in.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    /// The event that each firing records, without an id and a time of its own.
    #[schema(schema_with = any_object, required = false)]
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Value>,
}

fn any_object() -> ObjectBuilder {
    let description = "The event that each firing records, without an id and a time of its own.";
    ObjectBuilder::new().description(Some(description))
}

impl DeliverRequest {
    /// Returns where firings go.
    ///
    /// # Errors
    /// A field that does not go with `to`, or what is wrong with the event.
    pub(crate) fn read(self) -> Result<Delivery, Failure> {
        match (self.to, self.queue, self.event) {
            (DeliverTo::Queue, queue, None) => {
                Ok(Delivery::Queue(queue.map_or_else(QueueId::unnamed, |queue| queue.0)))
            }
            (DeliverTo::Queue, _, Some(_)) => {
                let detail =
                    "firings that wait in a queue record no event; use `\"to\": \"timeline\"`, or leave it out";
                Err(Failure::invalid("deliver/event", detail))
            }
            (DeliverTo::Timeline, Some(_), _) => {
                let detail = "firings that are recorded on the timeline wait in no queue; leave it out";
                Err(Failure::invalid("deliver/queue", detail))
            }
            (DeliverTo::Timeline, None, None) => {
                Err(Failure::invalid("deliver/event", "say which event each firing records"))
            }
            (DeliverTo::Timeline, None, Some(event)) => event_of(event).map(Delivery::Timeline),
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
    // It is read as any other event, which has a time. The firing has another one.
    fields.insert("time".to_owned(), Value::String("1970-01-01T00:00:00Z".to_owned()));
    Ok(Arc::new(draft(Value::Object(fields).to_string().as_bytes(), "deliver/event")?))
}

impl DeliverBody {
    pub(crate) fn of(row: &TimerRow) -> Self {
        match row.event() {
            Some(event) => {
                Self { to: "timeline", queue: None, event: Some(serde_json::from_str(event.get()).unwrap_or_default()) }
            }
            None => Self { to: "queue", queue: Some(row.queue.to_string()), event: None },
        }
    }
}
