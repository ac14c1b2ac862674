/// Each synonym with the field names it may mean, likeliest first.
const SYNONYMS: [(&str, &[&str]); 60] = [
    ("when", &["destination_time", "timestamp", "time", "time_range"]),
    ("time", &["destination_time", "timestamp", "time_range"]),
    ("date", &["destination_time", "timestamp", "time", "time_range"]),
    ("datetime", &["destination_time", "timestamp", "time", "time_range"]),
    ("timestamp", &["destination_time", "time", "time_range"]),
    ("moment", &["destination_time", "timestamp", "time", "as_of"]),
    ("at", &["destination_time", "timestamp", "time", "as_of"]),
    ("to", &["destination_time", "time", "time_range"]),
    ("target", &["destination_time"]),
    ("target_time", &["destination_time"]),
    ("destination", &["destination_time"]),
    ("new_time", &["destination_time"]),
    ("current_time", &["destination_time"]),
    ("timezone", &["location"]),
    ("time_zone", &["location"]),
    ("tz", &["location"]),
    ("zone", &["location"]),
    ("place", &["location"]),
    ("where", &["location"]),
    ("city", &["location"]),
    ("position", &["location"]),
    ("coordinates", &["location"]),
    ("lat", &["location", "geo"]),
    ("lon", &["location", "geo"]),
    ("timeline", &["timeline_id"]),
    ("timelineId", &["timeline_id"]),
    ("range", &["time_range"]),
    ("timeframe", &["time_range"]),
    ("period", &["time_range", "duration"]),
    ("from", &["time_range"]),
    ("start", &["time_range", "time"]),
    ("start_time", &["time_range", "time"]),
    ("since", &["time_range"]),
    ("until", &["time_range", "end_time"]),
    ("end", &["time_range", "end_time"]),
    ("by", &["duration"]),
    ("amount", &["duration"]),
    ("delta", &["duration"]),
    ("interval", &["duration", "time_range"]),
    ("seconds", &["duration"]),
    ("minutes", &["duration"]),
    ("hours", &["duration"]),
    ("days", &["duration"]),
    ("speed", &["rate"]),
    ("factor", &["rate"]),
    ("multiplier", &["rate"]),
    ("id", &["event_id", "anchor_id", "timeline_id", "user_id", "data_id", "key_id"]),
    ("event", &["event_id", "significant_event"]),
    ("anchor", &["anchor_id"]),
    ("user", &["user_id"]),
    ("username", &["user_id"]),
    ("level", &["restriction_level"]),
    ("key", &["encryption_key"]),
    ("passphrase", &["encryption_key"]),
    ("title", &["name", "description", "label"]),
    ("text", &["description", "action"]),
    ("message", &["description", "action"]),
    ("note", &["description", "action", "label"]),
    ("depth", &["scan_depth"]),
    ("page_size", &["limit"]),
];

/// The first known name that `name` is a synonym of.
#[must_use]
pub fn canonical_name<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let (_, canonical) = SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(name))?;
    canonical.iter().find_map(|one| known.iter().find(|known| *known == one)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternative_parameter_names_are_known() {
        let travel = ["destination_time", "location", "timeline_id"];
        assert_eq!(canonical_name("when", &travel), Some("destination_time"));
        assert_eq!(canonical_name("TZ", &travel), Some("location"));
        assert_eq!(canonical_name("speed", &travel), None);
        assert_eq!(canonical_name("when", &["time", "description"]), Some("time"));
        for (index, (name, canonical)) in SYNONYMS.iter().enumerate() {
            assert!(!canonical.contains(name) && !canonical.is_empty(), "{name}");
            assert!(SYNONYMS[..index].iter().all(|(other, _)| other != name), "{name}");
        }
    }
}
