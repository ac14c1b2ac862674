use proptest::prelude::*;

use super::{MAX, MIN, parse};
use crate::time::{Instant, Virtual};

proptest! {
    #[test]
    fn written_timestamps_are_read_back(micros in MIN..=MAX) {
        let at = Instant::<Virtual>::from_micros(micros).unwrap();
        prop_assert_eq!(parse(&at.to_string()), Ok(at));
    }

    #[test]
    fn fast_and_slow_readers_agree_on_written_timestamps(micros in MIN..=MAX) {
        let at = Instant::<Virtual>::from_micros(micros).unwrap();
        let text = at.to_string();
        prop_assert_eq!(Instant::written(&text), Some(at));
        // Another offset takes the slow path.
        let long = text.replace('Z', "+00:00");
        prop_assert_eq!(parse(&long), Ok(at));
        prop_assert_eq!(Instant::<Virtual>::written(&long), None);
    }

    #[test]
    fn fast_reader_accepts_only_the_canonical_spelling(
        text in r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,8})?Z",
    ) {
        // The slow path, by an explicit offset.
        let long = parse(&text.replace('Z', "+00:00")).ok();
        prop_assert_eq!(parse(&text).ok(), long, "{}", text);
        prop_assert_eq!(Instant::written(&text), long.filter(|at| at.to_string() == text), "{}", text);
    }

    #[test]
    fn later_instants_differ_in_text(micros in MIN..MAX) {
        let at = Instant::<Virtual>::from_micros(micros).unwrap();
        let next = Instant::<Virtual>::from_micros(micros + 1).unwrap();
        prop_assert_ne!(at.to_string(), next.to_string());
    }

    #[test]
    fn timestamps_match_jiff(
        micros in jiff::Timestamp::MIN.as_microsecond()..=jiff::Timestamp::MAX.as_microsecond(),
    ) {
        let theirs = jiff::Timestamp::from_microsecond(micros).unwrap();
        let ours = Instant::<Virtual>::from_micros(micros).unwrap();
        prop_assert_eq!(theirs.to_string(), ours.to_string());
        prop_assert_eq!(ours.to_string().parse::<jiff::Timestamp>().unwrap(), theirs);
    }

    #[test]
    fn offsets_are_subtracted(micros in MIN + 86_400_000_000..=MAX - 86_400_000_000, offset in -1_439i64..=1_439) {
        let local = Instant::<Virtual>::from_micros(micros + offset * 60_000_000).unwrap().to_string();
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
        let text = format!("{}{sign}{hours:02}:{minutes:02}", local.trim_end_matches('Z'));
        prop_assert_eq!(parse(&text).map(Instant::micros), Ok(micros), "{}", text);
    }

    #[test]
    fn parsing_arbitrary_text_does_not_panic(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn parsing_near_valid_text_does_not_panic(
        text in r"[-+]?[0-9]{1,6}-?[0-9]{2}-?[0-9]{2}[Tt ][-+0-9:.,Zz]{0,20}(\[!?[a-zA-Z0-9+:/=é\[-]{0,12}\]?){0,3}",
    ) {
        if let Ok(at) = parse(&text) {
            prop_assert_eq!(parse(&at.to_string()), Ok(at), "{}", text);
        }
    }

    #[test]
    fn parsing_one_changed_character_does_not_panic(
        micros in MIN..=MAX, position in 0usize..30, letter in any::<char>(),
    ) {
        let text = Instant::<Virtual>::from_micros(micros).unwrap().to_string();
        let changed: String =
            text.chars().enumerate().map(|(at, old)| if at == position { letter } else { old }).collect();
        let _ = parse(&changed);
    }
}
