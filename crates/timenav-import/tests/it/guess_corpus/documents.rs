#![expect(clippy::too_many_lines, reason = "these are tables")]

use timenav_import::Format;

use super::Case;

pub(super) fn documents() -> Vec<Case> {
    vec![
        Case::new(
            "features whose properties name other places",
            r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","id":8,"geometry":{"type":"Point","coordinates":[-122.2945,37.8894]},"properties":{"Date_Readable":"1/21/17","Place":"Albany, CA","appended_X":-73.970812,"appended_Y":42.614852}},
            {"type":"Feature","id":26,"geometry":{"type":"Point","coordinates":[-83.3812,33.9603]},"properties":{"Date_Readable":"1/21/17","Place":"Athens, GA","appended_X":-73.755133,"appended_Y":40.605382}}]}"#,
            &["2017-01-21T00:00:00Z @37.8894,-122.2945", "2017-01-21T00:00:00Z @33.9603,-83.3812"],
            &["two digits"],
        ),
        Case::new(
            "features with coordinates in their properties too",
            r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","geometry":{"type":"Point","coordinates":[7.4474,46.948]},"properties":{"date":"2024-05-01","latitude":1,"longitude":2}},
            {"type":"Feature","geometry":{"type":"Point","coordinates":[8.54,47.37]},"properties":{"date":"2024-05-02","latitude":3,"longitude":4}}]}"#,
            &["2024-05-01T00:00:00Z @46.948,7.4474", "2024-05-02T00:00:00Z @47.37,8.54"],
            &[],
        ),
        Case::new(
            "features without geometries",
            r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","geometry":null,"properties":{"date":"2024-05-01","lat":46.948,"lon":7.4474}},
            {"type":"Feature","geometry":null,"properties":{"date":"2024-05-02","lat":47.37,"lon":8.54}}]}"#,
            &["2024-05-01T00:00:00Z @46.948,7.4474", "2024-05-02T00:00:00Z @47.37,8.54"],
            &["geometr"],
        )
        .named_as(Format::GeoJson),
        Case::new(
            "features with milliseconds",
            r#"{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","geometry":{"type":"Point","coordinates":[-122.8,38.8,2.1]},"properties":{"mag":0.9,"place":"The Geysers","time":1517443262123,"updated":1517529662000}}]}"#,
            &["2018-02-01T00:01:02.123Z @38.8,-122.8"],
            &[],
        ),
        Case::new(
            "features with a begin and an end",
            r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"begin":"2024-05-01T10:00:00Z","end":"2024-05-01T11:00:00Z"}},
            {"type":"Feature","geometry":{"type":"Point","coordinates":[3,4]},"properties":{"begin":"2024-05-02T10:00:00Z","end":"2024-05-02T11:00:00Z"}}]}"#,
            &["2024-05-01T10:00:00Z/2024-05-01T11:00:00Z @2,1", "2024-05-02T10:00:00Z/2024-05-02T11:00:00Z @4,3"],
            &[],
        ),
        Case::new(
            "points inside of records",
            "{\"name\":\"Aachen\",\"id\":\"1\",\"year\":\"1880-01-01T00:00:00.000\",\"geolocation\":{\"type\":\"Point\",\"coordinates\":[6.08333,50.775]}}\n\
             {\"name\":\"Aarhus\",\"id\":\"2\",\"year\":\"1951-01-01T00:00:00.000\",\"geolocation\":{\"type\":\"Point\",\"coordinates\":[10.23333,56.18333]}}\n",
            &["1880-01-01T00:00:00Z @50.775,6.08333", "1951-01-01T00:00:00Z @56.18333,10.23333"],
            &["UTC"],
        ),
        Case::new(
            "an object of a place",
            r#"[{"when":"2024-05-01T10:00:00Z","location":{"lat":46.948,"lon":7.4474}},{"when":"2024-05-02T10:00:00Z","location":{"lat":47.37,"lon":8.54}}]"#,
            &["2024-05-01T10:00:00Z @46.948,7.4474", "2024-05-02T10:00:00Z @47.37,8.54"],
            &[],
        ),
        Case::new(
            "two numbers in a list may be either way round",
            r#"[{"when":"2024-05-01T10:00:00Z","location":[7.4474,46.948]},{"when":"2024-05-02T10:00:00Z","location":[8.54,47.37]}]"#,
            &["2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z"],
            &["no place"],
        ),
        Case::new(
            "whole numbers of ten-millionths of a degree",
            r#"{"locations":[{"latitudeE7":469480000,"longitudeE7":74474000,"timestamp":"2024-05-01T10:00:00Z"},{"latitudeE7":473700000,"longitudeE7":85400000,"timestamp":"2024-05-02T10:00:00Z"}]}"#,
            &["2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z"],
            &["no place"],
        ),
        Case::new(
            "matches of a league",
            r#"{"name":"League","matches":[{"round":"1","date":"2010-08-14","time":"12:45","team1":"Tottenham"},{"round":"1","date":"2010-08-14","time":"15:00","team1":"Wigan"}]}"#,
            &["2010-08-14T12:45:00Z", "2010-08-14T15:00:00Z"],
            &["UTC"],
        ),
        Case::new(
            "issues of a repository",
            r#"[{"number":1,"title":"a","user":{"login":"x","id":9},"created_at":"2024-05-01T10:00:00Z","updated_at":"2024-05-09T10:00:00Z","closed_at":null},
            {"number":2,"title":"b","user":{"login":"y","id":8},"created_at":"2024-05-02T10:00:00Z","updated_at":"2024-05-08T10:00:00Z","closed_at":"2024-05-08T10:00:00Z"}]"#,
            &["2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z"],
            &[],
        ),
        Case::new(
            "a trail",
            r#"{"Records":[{"eventTime":"2024-01-02T03:04:05Z","eventID":"e-1","eventName":"Start"},{"eventTime":"2024-01-02T03:04:06Z","eventID":"e-2","eventName":"Stop"}]}"#,
            &["2024-01-02T03:04:05Z", "2024-01-02T03:04:06Z"],
            &[],
        ),
        Case::new(
            "hits of a search",
            "{\"took\": 3,\n \"hits\": {\"hits\": [{\"_id\": \"1\", \"@timestamp\": \"2024-07-20T20:17:40Z\", \"message\": \"a\"}]}}",
            &["2024-07-20T20:17:40Z"],
            &[],
        ),
        Case::new(
            "events of a delivery pipeline",
            r#"{"context":{"specversion":"0.6.0-draft","id":"271069a8","source":"/event/source/123","type":"dev.cdevents.build.finished.0.3.0","timestamp":"2023-03-20T14:27:05.315384Z"},"subject":{"id":"mySubject123","content":{}}}"#,
            &["2023-03-20T14:27:05.315384Z"],
            &[],
        ),
        Case::new(
            "events of a cloud",
            r#"[{"specversion":"1.0","id":"a","source":"/s","type":"t","time":"2024-05-01T10:00:00Z"},{"specversion":"1.0","id":"b","source":"/s","type":"t","time":"2024-05-01T10:00:01Z"}]"#,
            &["2024-05-01T10:00:00Z", "2024-05-01T10:00:01Z"],
            &[],
        ),
        Case::new(
            "spans of Zipkin",
            r#"[{"traceId":"a","id":"1","name":"get","timestamp":1714557600000000,"duration":5,"localEndpoint":{"serviceName":"s"}}]"#,
            &["2024-05-01T10:00:00Z/2024-05-01T10:00:00.000005Z"],
            &[],
        ),
        Case::new(
            "spans of Jaeger",
            r#"{"data":[{"traceID":"aa","processes":{"p1":{"serviceName":"s"}},"spans":[{"traceID":"aa","spanID":"1","operationName":"o","startTime":1714557600000000,"duration":5,"processID":"p1"}]}]}"#,
            &["2024-05-01T10:00:00Z/2024-05-01T10:00:00.000005Z"],
            &[],
        ),
        Case::new(
            "a graph of spans is no trace",
            r#"{"traceID":"aa","processes":2,"tree":{"name":"o","value":5,"children":[]}}"#,
            &[],
            &["no time was recognized"],
        ),
        Case::new(
            "spans of OpenTelemetry",
            r#"{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{},"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"n","startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000000"}]}]}]}"#,
            &["2018-12-13T14:51:00Z/2018-12-13T14:51:01Z"],
            &[],
        ),
        Case::new(
            "a calendar",
            "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20240720\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
            &["2024-07-20T00:00:00Z"],
            &[],
        ),
        Case::new(
            "specifications with a version",
            r#"[{"specversion":"3","released":"2024-05-01","title":"a"},{"specversion":"4","released":"2024-06-01","title":"b"}]"#,
            &["2024-05-01T00:00:00Z", "2024-06-01T00:00:00Z"],
            &[],
        ),
    ]
}
