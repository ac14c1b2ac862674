//! What is said beside a file: its mapping, with which no file is read wrongly, and its format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_fuzz::{check_clipped_message, check_import};
use timenav_import::limits::MAPPING_BYTES_MAX;
use timenav_import::{Format, Mapping};

const CSV: &str = concat!(
    "id,time,when,a,b,lat,lon\r\n",
    "x,2024-07-20T20:17:40Z,1721506660,\"1;2, 3\",{b},12.5,-0.001\r\n",
    "y,-000043-03-15T11:00:00Z,-5e3,,é,,\r\n",
);
const GEOJSON: &str = concat!(
    r#"{"type":"FeatureCollection","features":[{"type":"Feature","id":7,"geometry":null,"#,
    r#""properties":{"time":1721506660125,"a":["x"],"b":"1;2, 3","when":"2024-07-20T20:17:40Z"}}]}"#,
);

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Mapping::parse(text) {
        Ok(mapping) => {
            assert!(text.len() <= MAPPING_BYTES_MAX);
            assert_eq!(mapping.is_automatic(), mapping == Mapping::default());
            check_import(Format::Csv, &mapping, CSV.as_bytes());
            check_import(Format::GeoJson, &mapping, GEOJSON.as_bytes());
        }
        Err(error) => check_clipped_message(&error),
    }
    match text.parse::<Format>() {
        Ok(format) => assert_eq!(format.as_str(), text),
        Err(error) => check_clipped_message(&error),
    }
    let essence = Format::from_content_type(text);
    assert_eq!(Format::from_content_type(&format!(" {text};charset=utf-8")), essence, "parameters say nothing");
});
