use crate::mapping::TimePart;

/// Formats of dates with times that are not timestamps.
pub(super) const FORMATS: [&str; 39] = [
    "YYYY-MM-DD HH:mm:ss Z",
    "YYYY-MM-DD HH:mm Z",
    "YYYY-MM-DD h:mm:ss A",
    "YYYY-MM-DD h:mm A",
    "YYYY/MM/DD HH:mm:ss",
    "YYYY/MM/DD HH:mm",
    "YYYY/MM/DD HH:mm:ss Z",
    "YYYY.MM.DD HH:mm:ss",
    "YYYY.MM.DD HH:mm",
    "YYYYMMDDHHmmss",
    "YYYYMMDDTHHmmss",
    "YYYYMMDDTHHmmssZ",
    "YYYYMMDD HH:mm:ss",
    "YYYYMMDDTHH:mm:ss",
    "D MMM YYYY HH:mm:ss Z",
    "D MMM YYYY HH:mm Z",
    "D MMM YYYY HH:mm:ss",
    "D MMM YYYY HH:mm",
    "D MMM YYYY, HH:mm",
    "D-MMM-YYYY HH:mm:ss",
    "D-MMM-YYYY HH:mm",
    "MMM D, YYYY h:mm:ss A",
    "MMM D, YYYY h:mm A",
    "MMM D, YYYY, h:mm:ss A",
    "MMM D, YYYY, h:mm A",
    "MMM D, YYYY HH:mm:ss",
    "MMM D, YYYY HH:mm",
    "MMM D YYYY h:mm A",
    "MMM D YYYY HH:mm:ss",
    "ddd MMM D, YYYY HH:mm Z",
    "ddd MMM D YYYY HH:mm:ss Z",
    "ddd, MMM D, YYYY h:mm A",
    "%d/%b/%Y:%H:%M:%S %z",
    "%d/%b/%Y:%H:%M:%S",
    "%d/%b/%Y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S %Y %z",
    "%a %b %d %H:%M:%S %z %Y",
    "%a, %d %b %Y %H:%M:%S %z",
];
/// Parts of date formats in which only the numbers show whether day or month is first: the separators and the year.
pub(super) const BETWEEN: [char; 3] = ['/', '.', '-'];
pub(super) const YEARS: [&str; 2] = ["YYYY", "YY"];
pub(super) const CLOCKS: [&str; 9] =
    ["", " HH:mm", " HH:mm:ss", " h:mm A", " h:mm:ss A", ", HH:mm", ", HH:mm:ss", ", h:mm A", ", h:mm:ss A"];
/// Formats of dates that need a pattern, and are unambiguous.
pub(super) const SHORT_DATES: [&str; 19] = [
    "D MMM YYYY",
    "D-MMM-YYYY",
    "MMM D, YYYY",
    "MMM D YYYY",
    "ddd, MMM D, YYYY",
    "ddd, D MMM YYYY",
    "ddd MMM D YYYY",
    "ddd D MMM YYYY",
    "YYYYMMDD",
    "D-MMM-YY",
    "D MMM YY",
    "MMM D, YY",
    "D-MMM-YY HH:mm:ss",
    "D-MMM-YY HH:mm",
    "D MMM YY HH:mm:ss",
    "D/MMM/YY h:mm A",
    "D/MMM/YY HH:mm",
    "D/MMM/YYYY h:mm A",
    "D/MMM/YYYY HH:mm",
];
/// Words in the names of times, most specific first.
pub(super) const NAMES: [&str; 29] = [
    "time",
    "timestamp",
    "datetime",
    "date",
    "ts",
    "when",
    "epoch",
    "datum",
    "zeit",
    "fecha",
    "start",
    "started",
    "begin",
    "began",
    "begins",
    "from",
    "onset",
    "at",
    "created",
    "occurred",
    "happened",
    "opened",
    "logged",
    "sent",
    "posted",
    "published",
    "launched",
    "day",
    "tag",
];
pub(super) const ENDS: [&str; 23] = [
    "end",
    "ended",
    "ends",
    "ending",
    "finish",
    "finished",
    "stop",
    "stopped",
    "until",
    "till",
    "to",
    "through",
    "ende",
    "fin",
    "fine",
    "completed",
    "bis",
    "dropoff",
    "arrival",
    "arrived",
    "death",
    "died",
    "dod",
];
/// Words in the names of times that refer to the event itself.
pub(super) const OF_EVENT: [&str; 5] = ["event", "incident", "occurrence", "occurred", "happened"];
/// Words in the names of times that are neither the time nor the end of an event.
pub(super) const OTHERS: [&str; 21] = [
    "updated",
    "update",
    "modified",
    "modify",
    "changed",
    "last",
    "closed",
    "expires",
    "expiry",
    "expired",
    "due",
    "deadline",
    "deleted",
    "resolved",
    "reviewed",
    "eol",
    "received",
    "retrieved",
    "downloaded",
    "imported",
    "ingested",
];
/// Spreadsheet days from 1954 to 2119. Other five-digit numbers are rarely times.
pub(super) const SPREADSHEET_DAYS: std::ops::Range<f64> = 20_000.0..80_000.0;
pub(super) const PARTS: [(TimePart, &[&str]); 6] = [
    (TimePart::Year, &["year", "yr", "yyyy", "jahr"]),
    (TimePart::Month, &["month", "mon", "mo", "mm"]),
    (TimePart::Day, &["day", "dy", "dd", "dom"]),
    (TimePart::Hour, &["hour", "hr", "hh"]),
    (TimePart::Minute, &["minute", "min", "mn", "mi"]),
    (TimePart::Second, &["second", "sec", "ss"]),
];
pub(super) const DATES: [&str; 6] = ["date", "day", "datum", "fecha", "date_long", "when"];
pub(super) const TIMES_OF_DAY: [&str; 8] = ["time", "clock", "utc", "hour", "hhmmss", "uhrzeit", "zeit", "hora"];
/// Words in the names of times of day that accompany a date.
pub(super) const STARTS: [&str; 5] = ["start", "begin", "from", "beginn", "von"];
/// Words in the names of times at which an event started, and of times at which a record was created.
pub(super) const STARTED: [&str; 6] = ["start", "started", "starts", "begin", "began", "begins"];
pub(super) const CREATED: [&str; 2] = ["created", "creation"];
pub(super) const UTC: &str = "UTC";
/// Words in the names of columns with the zone or the offset of a local time.
pub(super) const ZONES: [&str; 5] = ["timezone", "zone", "tz", "offset", "utcoffset"];
/// Words in the names of parts of a year other than its months.
pub(super) const PARTS_OF_YEAR: [&str; 6] = ["doy", "yday", "julian", "week", "quarter", "semester"];
