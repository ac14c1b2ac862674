use std::collections::HashMap;
use std::sync::LazyLock;

/// Names and IANA zones, one pair per line, from Unicode CLDR (`windowsZones`, territory 001).
const TABLE: &str = include_str!("../../../data/windows-zones.tsv");

static ZONES: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    let pairs = TABLE.lines().filter_map(|line| line.split_once('\t'));
    pairs.map(|(name, zone)| (name.to_ascii_lowercase(), zone)).collect()
});

/// Returns the IANA zone of a Windows name, such as `Tokyo Standard Time`.
pub(super) fn zone_of(name: &str) -> Option<&'static str> {
    // Some programs write the name of daylight saving time.
    let name = name.trim().to_ascii_lowercase().replace("daylight time", "standard time");
    ZONES.get(&name).copied()
}

#[cfg(test)]
mod tests {
    use timenav_core::time::Zone;

    use super::*;

    #[test]
    fn every_windows_zone_name_maps_to_a_zone() {
        assert!(ZONES.len() > 130);
        for (name, zone) in ZONES.iter() {
            assert!(Zone::named(zone).is_some(), "{name}: {zone}");
        }
        assert_eq!(zone_of("W. Europe Standard Time"), Some("Europe/Berlin"));
        assert_eq!(zone_of("eastern daylight time"), Some("America/New_York"));
        assert_eq!(zone_of("UTC"), Some("Etc/UTC"));
        assert_eq!(zone_of("Middle Earth Standard Time"), None);
    }
}
