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
        let near = Gazetteer::baked().near_spellings(text, 5);
        assert_eq!(near.first().map(ToString::to_string).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn distant_text_has_no_near_spellings() {
    for text in ["", "qqqqqqqqqqqqqqqq", &"San Francisco ".repeat(10)] {
        assert!(Gazetteer::baked().near_spellings(text, 5).is_empty(), "{text}");
    }
    assert!(Gazetteer::baked().near_spellings("Pariss", 0).is_empty());
}
