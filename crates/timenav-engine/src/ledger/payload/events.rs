//! The payloads of entries about recorded events. The payload of `record_event` is the event itself.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::InterventionId;
use timenav_core::intervention::Effect;
use timenav_core::time::{parse_duration, parse_timestamp};

use super::parts::is_not;
use crate::events::event_content::{CauseContent, GeoContent};
use crate::requests::stored::{Stored, try_map};

#[derive(Serialize, Deserialize)]
pub(crate) struct Corrected<'a> {
    #[serde(borrow)]
    pub(crate) event: &'a RawValue,
    /// As in [`Intervened`].
    #[serde(default, skip_serializing_if = "is_not")]
    pub(crate) inherited: bool,
}

/// Payload of `manipulate_event`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Intervened<'a> {
    pub(crate) intervention_id: String,
    pub(crate) event_id: String,
    /// A description by the caller.
    pub(crate) action: String,
    /// The virtual time of the intervention.
    pub(crate) time: String,
    pub(crate) effect: EffectRecord,
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<CauseContent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) anchor_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) import_id: Option<String>,
    /// Whether the event was current before.
    #[serde(rename = "stood")]
    pub(crate) was_active: bool,
    /// Whether the intervention changed the current version, or canceled it.
    pub(crate) changed: bool,
    /// Whether the version before was inherited from the timeline that this one was forked from.
    #[serde(default, skip_serializing_if = "is_not")]
    pub(crate) inherited: bool,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<&'a RawValue>,
}

impl Intervened<'_> {
    pub(crate) fn intervention_id(&self) -> Option<InterventionId> {
        InterventionId::new(&self.intervention_id).ok()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EffectRecord {
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    duration: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    geo: Option<GeoContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl EffectRecord {
    pub(crate) fn of(effect: &Effect) -> Self {
        let kind = effect.as_str().to_owned();
        let mut record =
            Self { kind, duration: None, time: None, location: None, geo: None, description: None, name: None };
        match effect {
            Effect::Cancel | Effect::Restore | Effect::Note => {}
            Effect::Delay(by) | Effect::Advance(by) => record.duration = Some(by.to_string()),
            Effect::Move(to) => record.time = Some(to.to_string()),
            Effect::Relocate { location, geo } => {
                record.location = Some(location.clone());
                record.geo = geo.map(GeoContent::of);
            }
            Effect::Describe(text) => record.description = Some(text.clone()),
            Effect::Rename(name) => record.name = Some(name.clone()),
        }
        record
    }

    pub(crate) fn effect(&self) -> Option<Effect> {
        let duration = || parse_duration(self.duration.as_deref()?).ok();
        Some(match self.kind.as_str() {
            "cancel" => Effect::Cancel,
            "restore" => Effect::Restore,
            "note" => Effect::Note,
            "delay" => Effect::Delay(duration()?),
            "advance" => Effect::Advance(duration()?),
            "move" => Effect::Move(parse_timestamp(self.time.as_deref()?).ok()?),
            "relocate" => {
                let geo = try_map(self.geo.as_ref(), GeoContent::geo)?;
                Effect::Relocate { location: self.location.clone()?, geo }
            }
            "describe" => Effect::Describe(self.description.clone()?),
            "rename" => Effect::Rename(self.name.clone()?),
            _ => return None,
        })
    }
}

impl Stored for Effect {
    type Form = EffectRecord;

    fn form(&self) -> EffectRecord {
        EffectRecord::of(self)
    }

    fn of(record: EffectRecord) -> Option<Self> {
        record.effect()
    }
}
