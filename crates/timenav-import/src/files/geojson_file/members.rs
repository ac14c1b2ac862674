use std::fmt;
use std::ops::ControlFlow;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use timenav_core::event::EventDraft;

use super::feature::{self, Feature};
use crate::json::meter::Meter;
use crate::limits::FEATURE_BYTES_MAX;
use crate::mapping::Mapping;
use crate::{Item, RecordError, RecordNote, Sink};

pub(super) struct Progress<'p> {
    mapping: &'p Mapping,
    meter: &'p Meter,
    sink: Sink<'p>,
    features: u64,
    is_stopped: bool,
    /// Whether a value was parsed completely, and nothing after it.
    is_ended: bool,
}

impl<'p> Progress<'p> {
    pub(super) fn new(mapping: &'p Mapping, meter: &'p Meter, sink: Sink<'p>) -> Self {
        meter.begin();
        Self { mapping, meter, sink, features: 0, is_stopped: false, is_ended: false }
    }

    pub(super) fn features(&self) -> u64 {
        self.features
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Returns whether parsing stopped after a complete value, and resets this.
    pub(super) fn take_ended(&mut self) -> bool {
        std::mem::take(&mut self.is_ended)
    }

    fn hand_over<E: Error>(&mut self, event: Result<(EventDraft, Vec<RecordNote>), RecordError>) -> Result<(), E> {
        self.features += 1;
        match (self.sink)(Item::noted(self.features, event)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                self.is_stopped = true;
                Err(E::custom("no more is wanted"))
            }
        }
    }
}

pub(super) struct Members<'r, 'p>(pub(super) &'r mut Progress<'p>);

impl<'de> DeserializeSeed<'de> for Members<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let progress = self.0;
        deserializer.deserialize_map(Members(&mut *progress))?;
        progress.is_ended = true;
        Ok(())
    }
}

/// What is known about the outermost object from its members so far.
#[derive(Default)]
struct Outermost {
    kind: Option<String>,
    has_features: bool,
    id: Option<Box<RawValue>>,
    geometry: Option<Box<RawValue>>,
    bbox: Option<Box<RawValue>>,
    properties: Option<Box<RawValue>>,
}

impl<'de> Visitor<'de> for Members<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a GeoJSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let progress = self.0;
        let mut outermost = Outermost::default();
        loop {
            progress.meter.begin();
            let Some(name) = map.next_key::<String>()? else { break };
            match name.as_str() {
                "type" => outermost.kind = Some(map.next_value()?),
                "features" if outermost.has_features => {
                    return Err(A::Error::custom("it has `features` twice"));
                }
                "features" => {
                    outermost.has_features = true;
                    map.next_value_seed(Features(progress))?;
                }
                "id" => outermost.id = map.next_value()?,
                "geometry" => outermost.geometry = map.next_value()?,
                "bbox" => outermost.bbox = map.next_value()?,
                "properties" => outermost.properties = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        match (outermost.kind.as_deref(), outermost.has_features) {
            (Some("FeatureCollection"), true) => Ok(()),
            (Some("FeatureCollection"), false) => {
                Err(A::Error::custom("it lacks `features`, the array of its features"))
            }
            (Some("Feature"), false) => {
                let feature = Feature {
                    kind: None,
                    id: outermost.id.as_deref(),
                    geometry: outermost.geometry.as_deref(),
                    bbox: outermost.bbox.as_deref(),
                    properties: outermost.properties.as_deref(),
                };
                let event = feature.draft(progress.mapping);
                progress.hand_over(event)
            }
            (Some(_), _) => Err(A::Error::custom(
                "its `type` is neither `FeatureCollection` nor `Feature`; a geometry alone has no time",
            )),
            (None, _) => Err(A::Error::custom("its `type` is missing")),
        }
    }
}

struct Features<'r, 'p>(&'r mut Progress<'p>);

impl<'de> DeserializeSeed<'de> for Features<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Features<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut features: A) -> Result<(), A::Error> {
        let progress = self.0;
        loop {
            progress.meter.begin();
            let Some(text) = features.next_element::<Box<RawValue>>()? else { return Ok(()) };
            if text.get().len() > FEATURE_BYTES_MAX {
                progress.meter.use_up();
                return Err(A::Error::custom("the feature is too long"));
            }
            progress.hand_over(feature::draft(progress.mapping, &text))?;
        }
    }
}
