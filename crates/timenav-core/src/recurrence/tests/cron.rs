use super::{Rule, RuleError, check, cron, zone};

#[test]
fn cron_fields_match_crontab() {
    let tuesday = "2026-09-01T00:00:00Z";
    check(&cron("30 9 * * MON-FRI", "UTC"), "2026-09-04T09:30:00Z", "2026-09-07T09:30:00+00:00");
    check(
        &cron("0,30 8-9 * * *", "UTC"),
        tuesday,
        "2026-09-01T08:00:00+00:00 2026-09-01T08:30:00+00:00 2026-09-01T09:00:00+00:00 \
         2026-09-01T09:30:00+00:00",
    );
    check(
        &cron("10-59/20 0 1 jan *", "UTC"),
        tuesday,
        "2027-01-01T00:10:00+00:00 2027-01-01T00:30:00+00:00 2027-01-01T00:50:00+00:00 \
         2028-01-01T00:10:00+00:00",
    );
    // With both day fields set, either is enough.
    check(
        &cron("0 0 13 * FRI", "UTC"),
        tuesday,
        "2026-09-04T00:00:00+00:00 2026-09-11T00:00:00+00:00 2026-09-13T00:00:00+00:00",
    );
    // If one starts with `*`, both must match.
    check(&cron("0 0 */2 * FRI", "UTC"), tuesday, "2026-09-11T00:00:00+00:00 2026-09-25T00:00:00+00:00");
    check(&cron("0 0 * * 0", "UTC"), tuesday, "2026-09-06T00:00:00+00:00");
    assert_eq!(cron("0 0 * * 7", "UTC"), cron("0 0 * * SUN", "UTC"));
    assert_eq!(cron("0 0 * * FRI-SUN", "UTC"), cron("0 0 * * 0,5,6", "UTC"));
    assert_eq!(cron("0 0 29 2 *", "UTC"), cron(" 0  0 29\tfeb * ", "UTC"));
    check(&cron("0 0 29 2 *", "UTC"), tuesday, "2028-02-29T00:00:00+00:00 2032-02-29T00:00:00+00:00");
}

#[test]
fn cron_words_match_crontab() {
    for (word, expression) in [
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@Daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
    ] {
        assert_eq!(cron(word, "Europe/Paris"), cron(expression, "Europe/Paris"), "{word}");
    }
}

#[test]
fn cron_errors_suggest_a_correction() {
    let check = |text: &str, expected: &[&str]| {
        let error = Rule::cron(text, zone("UTC")).unwrap_err().to_string();
        assert!(expected.iter().all(|part| error.contains(part)), "{text}: {error}");
    };
    check("", &["the cron expression is empty"]);
    check("0 0 * * * *", &["five fields", "not 6", "leave out the seconds or the year", "FREQ=SECONDLY"]);
    check("0 0 * *", &["five fields", "not 4", "write `*`"]);
    check("0 0 1 1 * 2030 x", &["five fields", "not 7"]);
    check("0 0 L * *", &["`L`", "five-field cron", "FREQ=MONTHLY;BYMONTHDAY=-1"]);
    check("0 0 L-3 * *", &["`L`", "FREQ=MONTHLY;BYMONTHDAY=-4`"]);
    // Quartz's `W` is the nearest weekday, before or after. No rule can say that, so the error suggests none.
    check("0 0 15W * *", &["`W`", "rules cannot express the weekday nearest to 15", "`at`"]);
    assert!(!Rule::cron("0 0 15W * *", zone("UTC")).unwrap_err().to_string().contains("FREQ="));
    check("0 0 LW * *", &["FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1`"]);
    check("0 0 * * MON#2", &["`#`", "BYDAY=2MO`"]);
    check("0 0 * * 1#2", &["`#`", "BYDAY=2MO`"]);
    check("0 0 * * 5#2", &["`#`", "BYDAY=2FR`"]);
    check("0 0 * * 5L", &["`L`", "BYDAY=-1FR`"]);
    check("0 0 * * 7L", &["`L`", "BYDAY=-1SU`"]);
    check("0 0 * * friL", &["`L`", "BYDAY=-1FR`"]);
    check("*/90 * * * *", &["step 90 of `minute`", "maximum of 59", "`FREQ=MINUTELY;INTERVAL=90`"]);
    check("*/60 * * * *", &["step 60"]);
    check("0-30/61 * * * *", &["step 61"]);
    check("0 */25 * * *", &["step 25 of `hour`", "`FREQ=HOURLY;INTERVAL=25`"]);
    check("0 0 */32 * *", &["step 32", "`FREQ=DAILY;INTERVAL=32`"]);
    check("0 0 1 */13 *", &["step 13", "`FREQ=MONTHLY;INTERVAL=13`"]);
    check("0 0 * * */8", &["step 8", "`FREQ=DAILY;INTERVAL=8`"]);
    check("0 0 ? * 1", &["`?` is not a valid `day of month`"]);
    check("60 0 * * *", &["`60` is not a valid `minute`", "0 to 59"]);
    check("0 24 * * *", &["`hour`"]);
    check("0 0 0 * *", &["`day of month`", "1 to 31"]);
    check("0 0 * 13 *", &["`month`", "JAN to DEC"]);
    check("0 0 * * 8", &["`weekday`"]);
    check("0 0 * * WEDN", &["`weekday`", "SUN to SAT"]);
    check("0 22-2 * * *", &["`22-2`", "`22-23,0-2`"]);
    check("5/15 * * * *", &["`5/15`", "`5-59/15`"]);
    check("*/0 * * * *", &["`*/0`"]);
    check("1, * * * *", &["`` is not a valid `minute`"]);
    check("@every 5m", &["`*/5 * * * *`", "FREQ=MINUTELY;INTERVAL=5"]);
    check("@reboot", &["`at`"]);
    check("@fortnightly", &["@weekly"]);
    assert_eq!(Rule::cron("0 0 30 2 *", zone("UTC")), Err(RuleError::NeverFires { text: "0 0 30 2 *".to_owned() }));
    assert_eq!(Rule::cron(&"1,".repeat(600), zone("UTC")), Err(RuleError::TooLong { bytes: 1_200 }));
}
