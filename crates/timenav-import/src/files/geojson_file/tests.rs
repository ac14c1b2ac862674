use super::*;
use crate::limits::{FEATURE_BYTES_MAX, GEOMETRY_DEPTH_MAX, RECORD_BYTES_MAX};
use crate::tests::items;
use crate::{Format, Item};

const T: &str = "\"time\":\"2024-07-20T20:17:40Z\"";

/// Checks the events of a collection. `$T` is a time.
#[track_caller]
fn check(map: &str, features: &str, expected: &[&str]) {
    let file = format!("{{\"type\":\"FeatureCollection\",\"features\":[{features}]}}").replace("$T", T);
    let expected: Vec<String> = expected.iter().map(|line| line.replace("$T", T)).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    crate::tests::check(Format::GeoJson, map, &file, &expected);
}

/// Checks the event of a feature with these properties and no geometry.
#[track_caller]
fn check_properties(map: &str, properties: &str, expected: &str) {
    let feature = format!("{{\"type\":\"Feature\",\"geometry\":null,\"properties\":{properties}}}");
    check(map, &feature, &[&format!("1 {expected}")]);
}

/// Checks the location of a feature: `geo` and attributes, or the error.
#[track_caller]
fn check_geometry(geometry: &str, expected: &str) {
    let feature = format!("{{\"type\":\"Feature\",\"geometry\":{geometry},\"properties\":{{{T}}}}}");
    let file = format!("{{\"type\":\"FeatureCollection\",\"features\":[{feature}]}}");
    let (items, outcome) = items(Format::GeoJson, "", file.as_bytes());
    outcome.unwrap();
    let text = crate::tests::item_text(&items[0]);
    let text = text.strip_suffix(&format!("{T}}}")).unwrap_or(&text);
    assert_eq!(text.strip_prefix("1 - {").or(text.strip_prefix("1 ")).unwrap(), expected);
}

fn read_all(file: &str) -> (Vec<Item>, Result<(), ImportError>) {
    items(Format::GeoJson, "", file.as_bytes())
}

#[test]
fn geojson_feature_is_an_event() {
    check(
        "",
        r#"{"type":"Feature","id":"e","geometry":{"type":"Point","coordinates":[-118.5,34.25,26.5]},
            "properties":{"time":1517966773840,"place":"Castaic","title":"M 2","mag":2.0,"felt":null,"ids":[",a,"]}}"#,
        &[concat!(
            r#"1 e {"attributes":{"coordinates_z":26.5,"ids":[",a,"],"mag":2},"description":"M 2","#,
            r#""geo":{"lat":34.25,"lon":-118.5},"location":"Castaic","name":"M 2","#,
            r#""time":"2018-02-07T01:26:13.84Z"}"#,
        )],
    );
    check(
        "",
        r#"{"type":"Feature","properties":{$T}},{"type":"Feature","properties":{$T},"bbox":[1]}"#,
        &["1 - {$T}", "2 - {$T}"],
    );
}

#[test]
fn feature_times_are_found_and_parsed() {
    check_properties("", r#"{"time":"2024-07-20T20:17:40Z"}"#, "- {$T}");
    check_properties("", r#"{"timestamp":1721506660000}"#, "- {$T}");
    check_properties("", r#"{"datetime":1.72150666e12}"#, "- {$T}");
    check_properties("", r#"{"date":1721506660000.0}"#, "- {$T}");
    check_properties("", r#"{"date":"2024-07-20"}"#, r#"- {"precision":"day","time":"2024-07-20T00:00:00Z"}"#);
    check_properties("", r#"{"time":"1721506660000"}"#, "invalid_parameter time");
    check_properties("", r#"{"time":true,"date":1721506660000}"#, r#"- {"attributes":{"time":true},$T}"#);
    check_properties("", r#"{"time":null,"date":1721506660000}"#, "- {$T}");
    check_properties("", "{}", "missing_parameter time");
    check_properties("", "null", "missing_parameter time");
    check_properties("time=t|unix", r#"{"t":1721506660}"#, "- {$T}");
    check_properties("time=t|unix", r#"{"t":"1721506660"}"#, "- {$T}");
    check_properties("time=t", r#"{"t":1721506660000}"#, "- {$T}");
    check_properties("time=t", r#"{"t":"2024-07-20T20:17:40Z"}"#, "- {$T}");
    check_properties("time=t", r#"{"time":1721506660000}"#, "missing_parameter time");
    check_properties("time=t", r#"{"t":[1]}"#, "invalid_parameter time");
    check_properties(
        "time={d}T{h}:17:40Z",
        r#"{"d":"2024-07-20","h":20}"#,
        r#"- {"attributes":{"d":"2024-07-20","h":20},$T}"#,
    );
    check_properties("", r#"{$T,"end_time":1721506660001}"#, r#"- {"end_time":"2024-07-20T20:17:40.001Z",$T}"#);
}

#[test]
fn feature_ids_are_found_or_generated() {
    let check_id = |map: &str, id: &str, properties: &str, expected: &str| {
        let feature = format!("{{\"type\":\"Feature\",{id}\"properties\":{{{properties}$T}}}}");
        check(map, &feature, &[&format!("1 {expected}")]);
    };
    check_id("", r#""id":"f","#, "", "f {$T}");
    check_id("", r#""id":7,"#, "", "7 {$T}");
    check_id("", r#""id":null,"#, "", "- {$T}");
    check_id("", r#""id":" ","#, "", "- {$T}");
    check_id("", r#""id":true,"#, "", "invalid_parameter id");
    check_id("", "", r#""id":"p","#, "p {$T}");
    check_id("", "", r#""id":12,"#, "12 {$T}");
    check_id("", "", r#""id":"p","event_id":"q","#, r#"q {"attributes":{"id":"p"},$T}"#);
    check_id("", r#""id":"f","#, r#""id":"p","#, r#"f {"attributes":{"id":"p"},$T}"#);
    check_id("event_id=code", r#""id":"f","#, r#""code":"c","#, r#"c {"attributes":{"feature_id":"f"},$T}"#);
    check_id("event_id={net}{code}", "", r#""net":"n","code":"c","#, r#"nc {"attributes":{"code":"c","net":"n"},$T}"#);
    let overruled = r#"- {"attributes":{"feature_id":"f"},$T}"#;
    check_id("event_id=", r#""id":"f","#, "", overruled);
    check_id("event_id=code", r#""id":"f","#, "", overruled);
    // The first 16 bytes of SHA-256 of "a/b".
    let made = "sha256-c14cddc033f64b9dea80ea675cf280a0";
    check_id("", r#""id":"a/b","#, "", &format!(r#"{made} {{"attributes":{{"feature_id":"a/b"}},$T}}"#));
    check_id("", "", r#""id":"a/b","#, &format!(r#"{made} {{"attributes":{{"feature_id":"a/b"}},$T}}"#));
}

#[test]
fn geometry_takes_precedence_over_mapped_properties() {
    let feature = |geometry: &str| {
        format!(r#"{{"type":"Feature","geometry":{geometry},"properties":{{"time":"2024-07-20","x":1,"y":2}}}}"#)
    };
    for (geometry, place) in
        [(r#"{"type":"Point","coordinates":[7.5,46.9]}"#, r#""lat":46.9,"lon":7.5"#), ("null", r#""lat":2,"lon":1"#)]
    {
        let event = format!(r#"1 - {{"geo":{{{place}}},"precision":"day","time":"2024-07-20T00:00:00Z"}}"#);
        crate::tests::check(Format::GeoJson, "lat=y,lon=x", &feature(geometry), &[&event]);
    }
}

#[test]
fn feature_properties_are_fields_or_attributes() {
    check_properties("", r#"{$T,"name":"n","title":"t"}"#, r#"- {"description":"t","name":"n",$T}"#);
    check_properties("", r#"{$T,"description":"d","title":"t"}"#, r#"- {"description":"d","name":"t",$T}"#);
    check_properties("", r#"{$T,"name":5,"place":["x"]}"#, r#"- {"attributes":{"place":["x"]},"name":"5",$T}"#);
    check_properties("", r#"{$T,"location":"l","place":"p"}"#, r#"- {"attributes":{"place":"p"},"location":"l",$T}"#);
    check_properties("", r#"{$T,"precision":"day"}"#, r#"- {"precision":"day",$T}"#);
    check_properties("", r#"{$T,"precision":0.1}"#, r#"- {"attributes":{"precision":0.1},$T}"#);
    check_properties("name=", r#"{$T,"name":"n"}"#, r#"- {"attributes":{"name":"n"},$T}"#);
    check_properties(
        "name={a} {b}",
        r#"{$T,"a":1,"b":true}"#,
        r#"- {"attributes":{"a":1,"b":true},"name":"1 true",$T}"#,
    );
    check_properties("name=a", r#"{$T,"a":{}}"#, "invalid_parameter name");
    check_properties("lat=y,lon=x", r#"{$T,"x":1,"y":"2"}"#, r#"- {"geo":{"lat":2,"lon":1},$T}"#);
    check_properties("", r#"{$T,"lat":1,"lon":2}"#, r#"- {"attributes":{"lat":1,"lon":2},$T}"#);
    let causes = r#"- {"causes":[{"event_id":"a","kind":"requires"},{"event_id":"b","kind":"requires"}],$T}"#;
    check_properties("", r#"{$T,"causes":"a b"}"#, causes);
    check_properties("", r#"{$T,"causes":["a",{"event_id":"b"}]}"#, causes);
    check_properties("causes=c|split:+", r#"{$T,"c":"a+b"}"#, causes);
    check_properties("causes=c", r#"{$T,"c":[1]}"#, "invalid_parameter causes");
    check_properties("", r#"{$T,"causes":[1]}"#, r#"- {"attributes":{"causes":[1]},$T}"#);
    check_properties("", r#"{$T,"causes":["a b"]}"#, "invalid_parameter causes/0");
    let asserts = r#"- {"asserts":[{"predicate":"is","subject":"door","value":1}],$T}"#;
    check_properties("", r#"{$T,"asserts":[{"subject":"door","predicate":"is","value":1.0}]}"#, asserts);
    check_properties("", r#"{$T,"asserts":"[{\"subject\":\"door\",\"predicate\":\"is\",\"value\":1}]"}"#, asserts);
    check_properties("", r#"{$T,"asserts":[1]}"#, r#"- {"attributes":{"asserts":[1]},$T}"#);
    check_properties("asserts=a", r#"{$T,"a":[{}]}"#, "missing_parameter asserts/0/value");
    check_properties("", r#"{$T,"actors":["x","y z"]}"#, r#"- {"actors":["x","y z"],$T}"#);
    check_properties("", r#"{$T,"actors":"x; y z"}"#, r#"- {"actors":["x","y z"],$T}"#);
}

#[test]
fn long_integers_keep_their_digits() {
    check_properties(
        "",
        r#"{$T,"a":9007199254740993,"b":-9007199254740993,"c":9007199254740992,"d":100000000000000000001,"e":1e20}"#,
        r#"- {"attributes":{"a":"9007199254740993","b":"-9007199254740993","c":9007199254740992,"d":"100000000000000000001","e":100000000000000000000},$T}"#,
    );
    check_properties("", r#"{$T,"a":[9007199254740993,{"b":100000000000000000001}]}"#, {
        r#"- {"attributes":{"a":["9007199254740993",{"b":"100000000000000000001"}]},$T}"#
    });
}

#[test]
fn invalid_feature_is_rejected_alone() {
    check(
        "",
        r#"1,null,[],["Feature",null,null,{$T}],{},{"type":"Point"},{"type":"Feature","properties":[1]},
           {"type":"Feature","properties":{$T},"geometry":7},{"type":"Feature","properties":{$T,"x":"\ud800"}},
           {"type":"Feature","type":"Feature"},{"type":"Feature","properties":{$T}}"#,
        &[
            "1 invalid_parameter -",
            "2 invalid_parameter -",
            "3 invalid_parameter -",
            "4 invalid_parameter -",
            "5 invalid_parameter type",
            "6 invalid_parameter type",
            "7 invalid_parameter properties",
            "8 invalid_parameter geometry",
            "9 invalid_parameter properties/x",
            "10 invalid_parameter -",
            "11 - {$T}",
        ],
    );
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let feature = format!("{{\"type\":\"Feature\",\"properties\":{{{T},\"a\":{deep}}}}}");
    check("", &feature, &["1 invalid_parameter properties/a"]);
    let feature = format!(
        "{{\"type\":\"Feature\",\"properties\":{{{T}}},\"geometry\":{{\"type\":\"Polygon\",\"coordinates\":{deep}}}}}"
    );
    check("", &feature, &["1 invalid_parameter geometry/coordinates"]);
}

/// Found by fuzzing: 127 nested lists were accepted as a property, but no reader accepts them within attributes.
#[test]
fn properties_too_deep_for_attributes_are_rejected() {
    let list = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let properties = format!("{{{T},\"a\":{list}}}");
    check_properties("", &properties, "invalid_parameter attributes/a");
}

#[test]
fn circles_cover_their_geometries() {
    check_geometry("null", "");
    check_geometry(r#"{"type":"Point","coordinates":[2,1]}"#, r#""geo":{"lat":1,"lon":2},"#);
    check_geometry(r#"{"coordinates":[2,1,null],"type":"Point"}"#, r#""geo":{"lat":1,"lon":2},"#);
    check_geometry(
        r#"{"type":"Point","coordinates":[2,1,-5.5,9]}"#,
        r#""attributes":{"coordinates_z":-5.5},"geo":{"lat":1,"lon":2},"#,
    );
    check_geometry(r#"{"type":"Point","coordinates":[]}"#, "");
    check_geometry(r#"{"type":"MultiPolygon","coordinates":[[[]]]}"#, "");
    check_geometry(r#"{"type":"MultiPoint","coordinates":[[2,1,3]]}"#, r#""geo":{"lat":1,"lon":2},"#);
    // Half a degree of latitude at the equator: 55 287.2 m.
    check_geometry(
        r#"{"type":"LineString","coordinates":[[2,-0.5],[2,0.5]]}"#,
        r#""geo":{"lat":0,"lon":2,"radius_m":55288},"#,
    );
    // Two parts on either side of the antimeridian: half of two degrees at the equator, 111 319.5 m.
    let across = r#""geo":{"lat":0,"lon":180,"radius_m":111320},"#;
    check_geometry(r#"{"type":"MultiLineString","coordinates":[[[179,0],[180,0]],[[-180,0],[-179,0]]]}"#, across);
    check_geometry(
        r#"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[179,0]},{"type":"MultiPoint","coordinates":[[-179,0]]}]}"#,
        across,
    );
    check_geometry(r#"{"type":"MultiPoint","coordinates":[[179,0],[-179,0]]}"#, across);
    // An uncut geometry needs a box to show that it crosses.
    let ring = "[[[177,0],[-177,0],[-177,0],[177,0],[177,0]]]";
    let around = r#""geo":{"lat":0,"lon":180,"radius_m":333959},"#;
    check_geometry(&format!(r#"{{"type":"Polygon","bbox":[177,0,-177,0],"coordinates":{ring}}}"#), around);
    check_geometry(&format!(r#"{{"type":"Polygon","bbox":[177,0,-1,-177,0,1],"coordinates":{ring}}}"#), around);
    let all = r#""geo":{"lat":0,"lon":0,"radius_m":20037508},"#;
    check_geometry(&format!(r#"{{"type":"Polygon","bbox":[-177,0,177,0],"coordinates":{ring}}}"#), all);
    // Without a box a line never crosses, however long.
    check_geometry(
        r#"{"type":"LineString","coordinates":[[-180,0],[180,0]]}"#,
        r#""geo":{"lat":0,"lon":0,"radius_m":20037508},"#,
    );
    check_geometry(
        r#"{"type":"MultiLineString","coordinates":[[[-1,0],[1,0]],[[179,0],[180,0]]]}"#,
        r#""geo":{"lat":0,"lon":89.5,"radius_m":20037508},"#,
    );
    check_geometry(
        r#"{"type":"Polygon","coordinates":[[[-180,-90],[180,-90],[180,90],[-180,90],[-180,-90]]]}"#,
        r#""geo":{"lat":0,"lon":0,"radius_m":20037508},"#,
    );
}

#[test]
fn invalid_geometry_is_rejected() {
    for (geometry, expected) in [
        (r#"{"type":"Point","coordinates":[0,91]}"#, "invalid_parameter geometry/coordinates"),
        (r#"{"type":"Point","coordinates":[181,0]}"#, "invalid_parameter geometry/coordinates"),
        (r#"{"type":"Point","coordinates":[1]}"#, "invalid_parameter geometry/coordinates"),
        (r#"{"type":"Point","coordinates":[[1,2]]}"#, "invalid_parameter geometry/coordinates"),
        (r#"{"type":"Point","coordinates":["1","2"]}"#, "invalid_parameter geometry/coordinates"),
        (r#"{"type":"Point","coordinates":null}"#, "missing_parameter geometry/coordinates"),
        (r#"{"type":"LineString","coordinates":[1,2]}"#, "invalid_parameter geometry/coordinates"),
        (r#"{"type":"Circle","coordinates":[1,2]}"#, "invalid_parameter geometry/type"),
        (r#"{"coordinates":[1,2]}"#, "invalid_parameter geometry/type"),
        (r#"{"type":"GeometryCollection"}"#, "invalid_parameter geometry"),
        (r#"{"type":"GeometryCollection","geometries":[null]}"#, "invalid_parameter geometry"),
        ("[1,2]", "invalid_parameter geometry"),
        ("\"POINT (1 2)\"", "invalid_parameter geometry"),
    ] {
        check_geometry(geometry, expected);
    }
    let nested = |depth: usize| {
        let open = r#"{"type":"GeometryCollection","geometries":["#.repeat(depth - 1);
        format!("{open}{{\"type\":\"Point\",\"coordinates\":[2,1]}}{}", "]}".repeat(depth - 1))
    };
    check_geometry(&nested(GEOMETRY_DEPTH_MAX), r#""geo":{"lat":1,"lon":2},"#);
    check_geometry(&nested(GEOMETRY_DEPTH_MAX + 1), "invalid_parameter geometry");
    crate::tests::check_detail(
        Format::GeoJson,
        "",
        &format!(
            r#"{{"type":"Feature","properties":{{{T}}},"geometry":{{"type":"Point","coordinates":[34.5,-118.6]}}}}"#
        ),
        "[34.5, -118.6] is out of range; a position is [longitude, latitude] with -180 to 180 and -90 to 90",
    );
}

#[test]
fn members_are_accepted_in_any_order() {
    let feature = format!("{{\"properties\":{{{T}}},\"type\":\"Feature\"}}");
    for file in [
        format!("{{\"features\":[{feature}],\"type\":\"FeatureCollection\"}}"),
        format!(
            "{{\"metadata\":{{\"features\":[1],\"a\":\"[\"}},\"features\":[{feature}],\"type\":\"FeatureCollection\",\"bbox\":[1]}}\n"
        ),
        format!("\u{FEFF} {{\"type\":\"FeatureCollection\",\"id\":3,\"features\":[ {feature} ]}} \n"),
        feature.clone(),
        format!("{{\"type\":\"Feature\",\"links\":[],\"properties\":{{{T}}}}}"),
    ] {
        crate::tests::check(Format::GeoJson, "", &file, &[&format!("1 - {{{T}}}")]);
    }
    crate::tests::check(Format::GeoJson, "", r#"{"type":"FeatureCollection","features":[]}"#, &[]);
}

#[test]
fn invalid_feature_collection_is_rejected_as_a_whole() {
    for (file, features, code) in [
        ("", 0, "malformed_json"),
        ("[", 0, "invalid_parameter"),
        ("[]", 0, "invalid_parameter"),
        ("7", 0, "invalid_parameter"),
        ("{}", 0, "invalid_parameter"),
        (r#"{"type":7}"#, 0, "invalid_parameter"),
        (r#"{"type":"Point","coordinates":[1,2]}"#, 0, "invalid_parameter"),
        (r#"{"type":"FeatureCollection"}"#, 0, "invalid_parameter"),
        (r#"{"type":"FeatureCollection","features":null}"#, 0, "invalid_parameter"),
        (r#"{"type":"Feature","features":[]}"#, 0, "invalid_parameter"),
        (r#"{"features":[1],"features":[2],"type":"FeatureCollection"}"#, 1, "invalid_parameter"),
        (r#"{"features":[1],"type":"Topology"}"#, 1, "invalid_parameter"),
        (r#"{"features":[1]}"#, 1, "invalid_parameter"),
        (r#"{"features":[1 2]}"#, 1, "malformed_json"),
        (r#"{"type":"FeatureCollection","features":[1]} x"#, 1, "malformed_json"),
    ] {
        let (items, outcome) = read_all(file);
        assert_eq!((items.len(), outcome.unwrap_err().code()), (features, code), "{file}");
    }
}

#[test]
fn damaged_file_is_reported_with_its_position() {
    let file = format!(
        "{{\"type\":\"FeatureCollection\",\"features\":[\n{{\"type\":\"Feature\",\"properties\":{{{T}}}}},\n{{\"ty"
    );
    let (items, outcome) = read_all(&file);
    assert_eq!(items.len(), 1);
    assert_eq!(outcome.unwrap_err().to_string(), "at line 3, column 4, after 1 records: EOF while parsing a string");
}

#[test]
fn geojson_feature_size_is_limited() {
    let feature = |bytes: usize| {
        let text = format!("{{\"type\":\"Feature\",\"properties\":{{{T}}},\"x\":\"\"}}");
        text.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - text.len())))
    };
    let collection = |feature: &str| format!("{{\"type\":\"FeatureCollection\",\"features\":[{feature}\n,1]}}");
    let (items, outcome) = read_all(&collection(&feature(FEATURE_BYTES_MAX)));
    outcome.unwrap();
    assert!(items[0].event.is_ok());
    for bytes in [FEATURE_BYTES_MAX + 1, 2 * FEATURE_BYTES_MAX] {
        let (items, outcome) = read_all(&collection(&feature(bytes)));
        let error = outcome.unwrap_err();
        assert!(matches!(error, ImportError::FeatureTooLarge { line: 1..=2, features: 0 }), "{error:?}");
        assert!(items.is_empty());
    }
    let foreign = |bytes: usize| {
        format!(
            "{{\"a\":{}1{},\"type\":\"FeatureCollection\",\"features\":[]}}",
            "[".repeat(bytes / 2),
            "]".repeat(bytes / 2)
        )
    };
    read_all(&foreign(FEATURE_BYTES_MAX - 100)).1.unwrap();
    let outcome = read_all(&foreign(2 * FEATURE_BYTES_MAX)).1;
    assert!(matches!(outcome, Err(ImportError::FeatureTooLarge { .. })));
}

#[test]
fn feature_properties_size_is_limited() {
    let feature = |bytes: usize| {
        let properties = format!("{{{T},\"x\":\"\"}}");
        let long = format!("\"{}\"", "x".repeat(bytes - properties.len()));
        format!("{{\"type\":\"Feature\",\"properties\":{}}}", properties.replace("\"\"", &long))
    };
    // The properties are readable but exceed the attribute limit.
    check("", &feature(RECORD_BYTES_MAX), &["1 invalid_parameter attributes"]);
    check("", &feature(RECORD_BYTES_MAX + 1), &["1 record_too_large properties"]);
}

proptest::proptest! {
    #[test]
    fn every_position_is_within_the_circle(
        corner in (-180.0..=180.0, -90.0..=90.0),
        size in (0.0..=180.0, 0.0..=180.0),
        inside in proptest::collection::vec((0.0..=1.0, 0.0..=1.0), 1..8),
    ) {
        let positions: Vec<[f64; 2]> = inside.iter().map(|(x, y): &(f64, f64)| {
            let lon: f64 = corner.0 + x * size.0;
            let lat: f64 = corner.1 + y * size.1;
            [if lon > 180.0 { lon - 360.0 } else { lon }, lat.min(90.0)]
        }).collect();
        let geometry = format!("{{\"type\":\"MultiPoint\",\"coordinates\":{positions:?}}}");
        let geometry = serde_json::value::RawValue::from_string(geometry).unwrap();
        let geo = geometry::place(&geometry, None).unwrap().geo.unwrap();
        for [lon, lat] in positions {
            let point = timenav_core::place::Point::new(lat, lon).unwrap();
            let distance_m = geo.point.distance_m(point);
            proptest::prop_assert!(distance_m <= geo.radius_m.unwrap_or(0.001), "{distance_m} {geo:?}");
        }
    }
}

#[test]
fn radius_kind_sequence_and_attributes_are_read_from_properties() {
    let of = |geometry: &str| {
        format!(
            r#"{{"type":"Feature","geometry":{geometry},"properties":{{"time":"2024-07-20T20:17:40Z","radius_m":5.5,"kind":"predicted","sequence":3,"attributes":{{"a":1}},"b":2}}}}"#
        )
    };
    crate::tests::check(
        Format::GeoJson,
        "",
        &of(r#"{"type":"Point","coordinates":[1,2]}"#),
        &[
            r#"1 - {"attributes":{"a":1,"b":2},"geo":{"lat":2,"lon":1,"radius_m":5.5},"kind":"predicted","sequence":3,"time":"2024-07-20T20:17:40Z"}"#,
        ],
    );
    crate::tests::check(
        Format::GeoJson,
        "",
        &of("null"),
        &[
            r#"1 - {"attributes":{"a":1,"b":2,"radius_m":5.5},"kind":"predicted","sequence":3,"time":"2024-07-20T20:17:40Z"}"#,
        ],
    );
    let other = of("null").replace("\"predicted\"", "\"quake\"").replace(":3", ":-3").replace("{\"a\":1}", "[1]");
    crate::tests::check(
        Format::GeoJson,
        "",
        &other,
        &[
            r#"1 - {"attributes":{"attributes":[1],"b":2,"kind":"quake","radius_m":5.5,"sequence":-3},"time":"2024-07-20T20:17:40Z"}"#,
        ],
    );
}

#[test]
fn consecutive_features_are_read_without_a_collection() {
    let feature = |time: &str| format!(r#"{{"type":"Feature","geometry":null,"properties":{{"time":"{time}"}}}}"#);
    let (one, other) = (feature("2024-07-20T20:17:40Z"), feature("2024-07-20T20:17:41Z"));
    let expected = [r#"1 - {"time":"2024-07-20T20:17:40Z"}"#, r#"2 - {"time":"2024-07-20T20:17:41Z"}"#];
    let collection = format!(r#"{{"type":"FeatureCollection","features":[{one}]}}"#);
    for file in [
        format!("{one}\n{other}\n"),
        format!("{one}{other}"),
        // RFC 8142.
        format!("\u{1E}{one}\n\u{1E}{other}\n"),
        format!("{collection}\n{other}"),
    ] {
        crate::tests::check(Format::GeoJson, "", &file, &expected);
    }
    for (damaged, message) in [
        (format!("{one}\n{other}\nx"), "at line 3, column 1, after 2 records: expected value"),
        (
            format!("{one}\n{{\"type\":\"Feature\""),
            "at line 2, column 17, after 1 records: EOF while parsing an object",
        ),
        (format!("{one}\n5"), "this is not a GeoJSON feature collection: expected a GeoJSON object, not a number"),
    ] {
        crate::tests::check_detail(Format::GeoJson, "", &damaged, message);
    }
}
