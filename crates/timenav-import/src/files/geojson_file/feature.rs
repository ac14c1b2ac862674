use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;

use super::geometry;
use crate::assembly;
use crate::attributes;
use crate::content_id::id_of_name;
use crate::json::json_fields::{Fields, Kind, Properties, Scalar};
use crate::mapping::Mapping;
use crate::mapping::field::Field;
use crate::{RecordError, RecordNote};

/// The attribute for the third coordinate of a point.
const ALTITUDE: &str = "coordinates_z";
/// The attribute for the `id` of a feature whose event has another id.
const FEATURE_ID: &str = "feature_id";

#[derive(Default, Deserialize)]
pub(super) struct Feature<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) geometry: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) bbox: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) properties: Option<&'a RawValue>,
}

pub(super) fn draft(mapping: &Mapping, text: &RawValue) -> Result<(EventDraft, Vec<RecordNote>), RecordError> {
    let invalid = |field: &str| RecordError::invalid(field, "a feature must be an object with `\"type\": \"Feature\"`");
    // A struct would also be accepted as an array of its fields.
    if !text.get().starts_with('{') {
        return Err(RecordError { field: None, ..invalid("") });
    }
    let feature: Feature<'_> = serde_json::from_str(text.get())
        .map_err(|error| RecordError::whole(RecordError::INVALID, error.to_string()))?;
    let kind = feature.kind.and_then(|kind| serde_json::from_str::<String>(kind.get()).ok());
    if kind.as_deref() != Some("Feature") {
        return Err(invalid("type"));
    }
    feature.draft(mapping)
}

impl Feature<'_> {
    pub(super) fn draft(&self, mapping: &Mapping) -> Result<(EventDraft, Vec<RecordNote>), RecordError> {
        let feature_id = self.id_text()?;
        let properties = Properties::new(self.properties)?;
        let fields = Fields::new(Kind::Feature, mapping, &properties, feature_id.is_some());
        let (mut draft, mut notes) = assembly::draft(&fields)?;
        let attributes = fields.complete(&mut draft, &mut notes)?;
        let has_attributes = attributes.is_some();
        let mut attributes = attributes.unwrap_or_default();

        let is_mapped = mapping.source(Field::EventId).is_some();
        let name = fields.event_id_text()?.or_else(|| feature_id.clone().filter(|_| !is_mapped));
        draft.event_id = name.as_deref().map(event_id_of);
        let event_id = draft.event_id.as_ref().map(EventId::as_str);
        for original in [feature_id, name].into_iter().flatten() {
            if event_id != Some(original.as_str()) {
                attributes.entry(FEATURE_ID).or_insert(Value::from(original));
            }
        }
        self.place(&fields, &mut draft, &mut attributes)?;
        if has_attributes || !attributes.is_empty() {
            draft.attributes = Some(attributes::canonical(&attributes)?);
        }
        Ok((assembly::finish(draft)?, notes))
    }

    fn place(
        &self,
        fields: &Fields<'_>,
        draft: &mut EventDraft,
        attributes: &mut Map<String, Value>,
    ) -> Result<(), RecordError> {
        if let Some(geometry) = self.geometry {
            let place = geometry::place(geometry, self.bbox)?;
            // Mapped coordinates apply only if there is no geometry (RFC 7946 §3.2).
            draft.geo = place.geo.or(draft.geo);
            if let Some(altitude) = place.altitude {
                attributes.entry(ALTITUDE).or_insert(Value::from(altitude));
            }
        }
        match (&mut draft.geo, fields.radius_m()) {
            (_, None) => {}
            (Some(geo), Some(radius_m)) if geo.radius_m.is_none() => geo.radius_m = Some(radius_m),
            // There is no point for the radius.
            (Some(_) | None, Some(radius_m)) => {
                attributes.entry(Field::RadiusM.as_str()).or_insert(Value::from(radius_m));
            }
        }
        Ok(())
    }

    /// Returns the `id` of the feature, a string or a number (RFC 7946 §3.2).
    fn id_text(&self) -> Result<Option<String>, RecordError> {
        let Some(id) = self.id else { return Ok(None) };
        let text = match Scalar::of(id) {
            Some(Scalar::Text(text)) => text,
            Some(Scalar::Number(digits)) => digits.to_owned(),
            Some(Scalar::Truth(_)) | None => {
                return Err(RecordError::invalid("id", "the id of a feature must be a string or a number"));
            }
        };
        let text = text.trim();
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }
}

/// Returns the name as an id if it is valid, or else a derived id.
fn event_id_of(name: &str) -> EventId {
    EventId::new(name).unwrap_or_else(|_| id_of_name(name))
}
