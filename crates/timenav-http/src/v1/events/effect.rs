use crate::schema::ToSchema;
use serde::{Deserialize, Serialize};
use timenav_core::intervention::Effect;
use timenav_core::place::{Geo, Point};
use timenav_core::time::{Duration, Instant, Virtual};

use crate::response::problem::Failure;
use crate::wire::Text;

/// The effect on an event.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum EffectRequest {
    /// The event is canceled.
    Cancel {},
    /// The event is restored, as last recorded.
    Restore {},
    /// The event is delayed.
    Delay {
        /// The length of time.
        #[schema(value_type = String, format = "duration", example = "2h")]
        duration: Text<Duration>,
    },
    /// The event is moved earlier.
    Advance {
        /// The length of time.
        #[schema(value_type = String, format = "duration", example = "P1D")]
        duration: Text<Duration>,
    },
    /// The event is moved to another time.
    Move {
        /// The new time.
        #[schema(value_type = String, format = "timestamp", example = "1969-07-20T20:17:40Z")]
        time: Text<Instant<Virtual>>,
    },
    /// The event is moved to another place.
    Relocate {
        /// The place, in words.
        #[schema(min_length = 1, max_length = 512)]
        location: String,
        /// The coordinates.
        geo: Option<timenav_import::GeoRecord>,
    },
    /// The description is replaced.
    Describe {
        /// The new description.
        #[schema(max_length = 16_384)]
        description: String,
    },
    /// The name is replaced.
    Rename {
        /// The new name.
        #[schema(min_length = 1, max_length = 256)]
        name: String,
    },
    /// A note without an effect.
    Note {},
}

/// The effect of an intervention.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct EffectBody {
    /// `cancel`, `restore`, `delay`, `advance`, `move`, `relocate`, `describe`, `rename` or `note`.
    #[schema(value_type = String)]
    kind: &'static str,
    /// The length of the delay or advance.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<String>,
    /// The new time.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    /// The new place.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    /// The new description.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The new name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl EffectRequest {
    pub(crate) fn read(self) -> Result<Effect, Failure> {
        Ok(match self {
            Self::Cancel {} => Effect::Cancel,
            Self::Restore {} => Effect::Restore,
            Self::Delay { duration } => Effect::Delay(duration.0),
            Self::Advance { duration } => Effect::Advance(duration.0),
            Self::Move { time } => Effect::Move(time.0),
            Self::Relocate { location, geo } => {
                Effect::Relocate { location, geo: geo.as_ref().map(read_geo).transpose()? }
            }
            Self::Describe { description } => Effect::Describe(description),
            Self::Rename { name } => Effect::Rename(name),
            Self::Note {} => Effect::Note,
        })
    }
}

fn read_geo(geo: &timenav_import::GeoRecord) -> Result<Geo, Failure> {
    let point = geo.lat.zip(geo.lon).and_then(|(lat, lon)| Point::new(lat, lon));
    let detail = "a place has a `lat` from -90 to 90 and a `lon` from -180 to 180 degrees";
    let point = point.ok_or_else(|| Failure::invalid("effect/geo", detail))?;
    Ok(Geo { point, radius_m: geo.radius_m })
}

impl EffectBody {
    pub(crate) fn of(effect: &Effect) -> Self {
        let mut body = Self { kind: effect.as_str(), ..Self::default() };
        match effect {
            Effect::Cancel | Effect::Restore | Effect::Note => {}
            Effect::Delay(by) | Effect::Advance(by) => body.duration = Some(by.to_string()),
            Effect::Move(to) => body.time = Some(to.to_string()),
            Effect::Relocate { location, .. } => body.location = Some(location.clone()),
            Effect::Describe(text) => body.description = Some(text.clone()),
            Effect::Rename(name) => body.name = Some(name.clone()),
        }
        body
    }
}
