use serde_json::value::RawValue;

use super::ExportError;
use super::stored::{Stored, write_object};

pub(super) fn feature(event: &Stored<'_>, out: &mut String) -> Result<(), ExportError> {
    let place = event.place()?;
    out.push_str("{\"type\":\"Feature\"");
    if let Some(id) = event.event_id {
        out.push_str(",\"id\":");
        out.push_str(id.get());
    }
    out.push_str(",\"geometry\":");
    match &place {
        None => out.push_str("null"),
        Some(place) => {
            // Longitude first (§3.1.1).
            out.push_str("{\"type\":\"Point\",\"coordinates\":[");
            out.push_str(place.lon.get());
            out.push(',');
            out.push_str(place.lat.get());
            out.push_str("]}");
        }
    }
    out.push_str(",\"properties\":");
    let radius_m = place.as_ref().and_then(|place| place.radius_m);
    let is_said = |(name, value): &(&str, Option<&RawValue>)| match *name {
        // Included in the feature itself.
        "event_id" | "geo" => false,
        // An empty property would be imported as an attribute.
        "description" => value.is_some_and(|text| text.get() != "\"\""),
        _ => true,
    };
    let own = event.members().into_iter().filter(is_said);
    let members = own.chain([("radius_m", radius_m)]).filter_map(|(name, value)| Some((name, value?)));
    write_object(members, out);
    out.push('}');
    Ok(())
}
