use proptest::prelude::*;

use super::*;
use crate::time::Wall;

fn scanned<T>(json: &str, read: impl FnOnce(&mut Scanner<'_>) -> Result<T, Malformed>) -> Result<T, Malformed> {
    let mut scanner = Scanner::new(json.as_bytes())?;
    let found = read(&mut scanner)?;
    scanner.end().map(|()| found)
}

#[test]
fn written_arrays_are_read_back() {
    for numbers in [vec![], vec![7], vec![0, 1, INTEGER_MAX]] {
        let mut writer = Writer::default();
        writer.array(&numbers, |writer, number| _ = writer.integer(*number));
        let json = String::from_utf8(writer.into_bytes()).unwrap();
        let read = |scanner: &mut Scanner<'_>| {
            scanner.expect("[")?;
            scanner.array(Scanner::integer)
        };
        assert_eq!(scanned(&json, read), Ok(numbers));
        for wrong in ["[,]", "[1,]", "[,1]", "[1", "[1 ]", "[1]]"] {
            assert!(scanned(wrong, read).is_err(), "{wrong}");
        }
    }
}

#[test]
fn instant_has_one_accepted_spelling() {
    let read = |text: &str| scanned(&format!("{text}\""), |scanner: &mut Scanner<'_>| scanner.instant::<Wall>());
    assert_eq!(read("1970-01-01T00:00:00Z"), Ok(Instant::EPOCH));
    for other in ["1970-01-01T00:00:00.0Z", "1970-01-01T00:00:00+00:00", "1970-01-01t00:00:00z", "1970", ""] {
        assert_eq!(read(other), Err(Malformed { offset: 0, expected: "a timestamp as entries write it" }), "{other}");
    }
}

proptest! {
    #[test]
    fn texts_are_canonical_and_read_back(text in any::<Option<String>>()) {
        let mut writer = Writer::default();
        writer.text_or_null(text.as_deref());
        let json = writer.into_bytes();
        prop_assert_eq!(&json, &serde_json_canonicalizer::to_vec(&text).unwrap());
        if let Some(text) = text {
            let json = String::from_utf8(json).unwrap();
            let found = scanned(&json[1..], |scanner| scanner.text().map(Cow::into_owned));
            prop_assert_eq!(found, Ok(text));
        }
    }
}
