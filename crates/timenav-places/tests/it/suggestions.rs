use timenav_places::Gazetteer;

#[test]
fn misspelled_names_are_corrected() {
    for (text, expected) in [
        ("Pariss", "Paris, Île-de-France, France"),
        ("Berlln", "Berlin, State of Berlin, Germany"),
        ("Constantinopel", "Istanbul, Turkey"),
        ("Constantinpole", "Istanbul, Turkey"),
        ("Barcelnoa", "Barcelona, Catalonia, Spain"),
        ("Madagasacr", "Madagascar"),
        ("Pariss, Texas", "Paris, Texas, United States"),
        ("Kathmandoo", "Kathmandu, Bagmati Province, Nepal"),
    ] {
        let near = Gazetteer::baked().suggestions(text, 5);
        assert_eq!(near.first().map(ToString::to_string).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn distant_text_has_no_suggestions() {
    for text in ["", "qqqqqqqqqqqqqqqq", &"San Francisco ".repeat(10)] {
        assert!(Gazetteer::baked().suggestions(text, 5).is_empty(), "{text}");
    }
    assert!(Gazetteer::baked().suggestions("Pariss", 0).is_empty());
}
