//! Durations: what is read is a positive length, is written so that it is read back the same, and
//! moves instants the right way.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::time::{DURATION_BYTES_MAX, Duration, Instant, Virtual, Zone, parse_duration};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse_duration(text) {
        Ok(duration) => {
            assert!(text.len() <= DURATION_BYTES_MAX);
            check(duration);
        }
        Err(error) => check_message(&error, DURATION_BYTES_MAX),
    }
});

fn check(duration: Duration) {
    assert_eq!(Duration::new(duration.months(), duration.exact()), Some(duration));
    let written = duration.to_string();
    assert!(written.len() <= DURATION_BYTES_MAX, "{written}");
    assert_eq!(parse_duration(&written), Ok(duration), "{written}");
    let from = Instant::<Virtual>::EPOCH;
    for zone in [Zone::utc(), Zone::named("Europe/Paris").expect("Paris has a zone")] {
        let (later, earlier) = (duration.later(from, &zone), duration.earlier(from, &zone));
        assert!(later.is_none_or(|later| later > from), "{written} later is {later:?}");
        assert!(earlier.is_none_or(|earlier| earlier < from), "{written} earlier is {earlier:?}");
        if duration.months() == 0 {
            assert!(later.is_none_or(|later| duration.earlier(later, &zone) == Some(from)), "{written}");
        }
    }
}
