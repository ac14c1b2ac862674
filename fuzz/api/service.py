"""What an OpenAPI document cannot say, for `cargo xtask fuzz-api`.

Two things: how texts are made whose rules no pattern tells, and the few refusals of requests that the document allows.
"""

import re
import string
from datetime import datetime, timedelta, timezone

import schemathesis
from hypothesis import strategies as st

# Texts. The names are those of docs/api-design.md.

digits = st.text(string.digits, min_size=1, max_size=9)
fractions = st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from(".,"), digits))
offsets = st.one_of(
    st.sampled_from(["Z", "z", "-00:00", "+00"]),
    st.builds("{}{:02}:{:02}".format, st.sampled_from("+-"), st.integers(0, 23), st.integers(0, 59)),
    st.builds("{}{:02}{:02}".format, st.sampled_from("+-"), st.integers(0, 23), st.integers(0, 59)),
)
dates = st.dates().map(lambda date: date.isoformat())
# Years before 1 and after 9999 have six digits and a sign. Each month has a 28th.
far_dates = st.one_of(
    st.builds("-{:06}-{:02}-{:02}".format, st.integers(1, 9_999), st.integers(1, 12), st.integers(1, 28)),
    st.builds("+{:06}-{:02}-{:02}".format, st.integers(0, 9_999), st.integers(1, 12), st.integers(1, 28)),
)
clock_times = st.builds(
    "{:02}:{:02}:{:02}{}".format, st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), fractions
)
short_times = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.integers(0, 59))
timestamps = st.one_of(
    st.builds("{}{}{}{}".format, st.one_of(dates, far_dates), st.sampled_from("Tt "), clock_times, offsets),
    st.builds("{}T{}{}".format, dates, short_times, offsets),
    st.builds("{}T{}Z[{}]".format, dates, clock_times, st.sampled_from(["Europe/Paris", "UTC", "+01:00"])),
    st.just("2016-12-31T23:59:60Z"),
)
schemathesis.openapi.format("timestamp", timestamps)

# Most ledgers of a run have few entries. Anchors are there only where a run has set them.
moments = st.one_of(st.integers(0, 9).map(str), timestamps, st.just("anchor_01h455vb4pex5vsknk084sn02q"))
schemathesis.openapi.format("moment", moments)

# A key cannot be made that has expired. The service goes by host time, and so does this.
expiries = st.integers(3_600, 10**10).map(
    lambda seconds: (datetime.now(timezone.utc) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
)
schemathesis.openapi.format("expiry", expiries)


@st.composite
def lengths_of_time(draw):
    """Numbers and units, the largest first; only the last number has a fraction, and one is not zero."""
    number = st.integers(1, 10**6)
    iso = draw(st.booleans())
    units = draw(st.lists(st.sampled_from(range(5)), min_size=1, max_size=5, unique=True).map(sorted))
    if not iso:
        parts = [f"{draw(number)}{'wdhms'[unit]}" for unit in units]
        last = draw(st.sampled_from(["", ".5", ".000001"]))
        return "".join(parts[:-1]) + parts[-1][:-1] + last + parts[-1][-1]
    date = "".join(f"{draw(number)}{'YMD'[unit]}" for unit in units if unit < 3)
    time = "".join(f"{draw(number)}{'HS'[unit - 3]}" for unit in units if unit >= 3)
    return f"P{date}" + (f"T{time}" if time else "")


schemathesis.openapi.format("length-of-time", lengths_of_time())
# How long something is kept: not less than the floor that the service starts with.
schemathesis.openapi.format("whole-seconds", st.integers(1, 9_999).map(lambda days: f"P{days}D"))


@st.composite
def time_ranges(draw):
    """A start that is not after the end. Each may be open, and one may be a length of time."""
    start, end = sorted([draw(dates), draw(dates)])
    start, end = f"{start}T00:00:00Z", f"{end}T00:00:00Z"
    return draw(
        st.sampled_from(
            [f"{start}/{end}", f"../{end}", f"{start}/..", "../..", f"{start}/P1M", f"1.5h/{end}", f"{start}/{start}"]
        )
    )


schemathesis.openapi.format("time-range", time_ranges())

FIELDS = ["event_id", "time", "end_time", "precision", "description", "name", "location", "source"]
columns = st.text(string.ascii_letters + string.digits + "_. ", min_size=1, max_size=12).filter(str.strip)
pairs = st.lists(st.tuples(st.sampled_from(FIELDS), columns), max_size=4, unique_by=lambda pair: pair[0])
mappings = pairs.map(lambda pairs: ",".join(f"{field}={column}" for field, column in pairs))
schemathesis.openapi.format("mapping", mappings)

# Nobody can make a cursor but the service: see below.
schemathesis.openapi.format("cursor", st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=80))

# These are mostly refused, and what is refused for them shows nothing of the rest. Most right requests go without.
MOSTLY_REFUSED = ["cursor", "map", "columns"]

# Keys that requests were sent with.
SPENT = set()

# Nobody logs in with a password that was made up. Every second one that is set is this one, and is shown.
PASSWORD = "seven geese over Graz"


def let_in(case):
    """Makes a right request about a password one of the first operator and of the password that is known here."""
    if case.method != "POST" or case.path not in ["/v1/set-password", "/v1/log-in"] or not isinstance(case.body, dict):
        return
    if len(str(case.body)) % 2 == 0:
        case.body.update(user_id="admin", password=PASSWORD)
        case.body.pop("current_password", None)


@schemathesis.hook
def map_case(context, case):
    """Takes out of right requests what they would be refused for, and what would make them repetitions."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return case
    for container in [case.query, case.body]:
        for name in MOSTLY_REFUSED:
            text = container.get(name) if isinstance(container, dict) else None
            if isinstance(text, str) and len(text) % 4 > 0:
                del container[name]
        for name in ["as_of", "at"]:
            position = container.get(name) if isinstance(container, dict) else None
            # Most positions are beyond the end of a ledger, and what is refused for that shows nothing of the rest.
            if isinstance(position, int) and position % 4 > 0:
                container[name] = position % 10
    let_in(case)
    # A repeated request is given the answer to the first one, which tells of what may be gone since. Where requests follow
    # each other that looks as if it had never been there. Elsewhere a key that comes again is on another request, which is
    # refused for that, whatever else is right or wrong with it.
    key = (case.method, case.path, case.headers.get("Idempotency-Key")) if case.headers is not None else None
    if key is not None and (case.meta.phase.name.value == "stateful" or key in SPENT):
        case.headers.pop("Idempotency-Key", None)
    SPENT.add(key)
    return case


# Files.

cells = st.text(st.characters(codec="utf-8", exclude_characters='",\r\n\0', exclude_categories=["Cs"]), max_size=20)
rows = st.lists(st.tuples(timestamps, cells).map(lambda row: f"{row[0].replace(',', '.')},{row[1]}"), max_size=5)
schemathesis.openapi.media_type("text/csv", rows.map(lambda rows: "\n".join(["time,name", *rows]).encode()))
# A line that is no event is refused, and the others are not.
lines = st.lists(st.one_of(cells, timestamps.map(lambda time: f'{{"time": "{time}"}}')), max_size=5)
schemathesis.openapi.media_type("application/x-ndjson", lines.map(lambda lines: "\n".join(lines).encode()))
features = st.lists(
    st.builds(
        '{{"type": "Feature", "geometry": {{"type": "Point", "coordinates": [{}, {}]}}, "properties": {{"time": "{}"}}}}'.format,
        st.integers(-180, 180),
        st.integers(-90, 90),
        timestamps,
    ),
    max_size=4,
)
schemathesis.openapi.media_type(
    "application/geo+json",
    features.map(lambda all: f'{{"type": "FeatureCollection", "features": [{", ".join(all)}]}}'.encode()),
)

# Refusals of requests that the document allows, because it has no words for what is wrong with them. Each is of one field of
# some operations, and of one wording; everything else that is checked of these answers stays checked.

EXPECTED = [
    # A cursor carries a code that only the service can make, of the caller and the query.
    (
        r"GET|QUERY",
        r"/v1/(monitor-events|monitor-paradox|access-logs|anchors)|/timelines/diff",
        r"#/cursor",
        r"the cursor does not belong to this query",
    ),
    (r"POST", r"/v1/scan-events", r"#/cursor", r"the cursor does not belong to this query"),
    # Query strings have no word for one of two parameters. The body of a QUERY has, and is held to it.
    (r"GET", r"/timeline/[^/]+/proof", r"#/position", r"name `position` "),
    (r"GET", r"/timeline/[^/]+/proof", r"#/format", r"a `tlog-proof` is of one entry"),
    # A name is a name, also that of the one timeline that is never carried away.
    (r"GET|QUERY", r"/timeline/system/bundle", r"#/timeline_id", r"`system` holds facts of the service"),
    # How many entries there are is not in the document, nor since when there is a timeline.
    (
        r"GET|QUERY",
        r"/v1/(check-timeline|events/[^/]+|export-events|monitor-events|monitor-paradox)",
        r"#/as_of",
        r"the last position of the ledger is \d+",
    ),
    (r"POST", r"/v1/scan-events", r"#/as_of", r"the last position of the ledger is \d+"),
    (r"POST", r"/timelines", r"#/at", r"the last position of the ledger is \d+|there was no such timeline at that time"),
    (r"GET|QUERY", r"/timeline/[^/]+/proof", r"#/(position|from)", r"a tree of \d+ entries "),
    # No two items of a list with one id: `uniqueItems` compares whole items.
    (r"POST", r"/v1/events", r"#/\d+/event_id", r"the id `[^`]+` stands twice in the request"),
    (
        r"POST",
        r"/v1/(events|correct-event|manipulate-event)",
        r"#/(\d+/|event/)?causes/\d+",
        r"the cause `[^`]+` is named twice",
    ),
    (
        r"POST",
        r"/v1/(events|correct-event)",
        r"#/(\d+/|event/)?asserts/\d+",
        r"`[^`]*` of `[^`]*` is asserted twice",
    ),
    # `attributes` is any JSON but for integers that a double does not hold; the document would forbid all large numbers.
    (
        r"POST",
        r"/v1/(events|correct-event)",
        r"#/(\d+/|event/)?(attributes|asserts/\d+/value)(/.*)?",
        r"-?\d+ has no exact form as a JSON number",
    ),
    # Whether two timelines go back to one is not in the document.
    (r"GET|QUERY", r"/timelines/diff", r"#/b", r"`[^`]+` and `[^`]+` have nothing in common"),
    # Query string and body may each name the timeline, and differ.
    (r"POST", r"/v1/events", r"#/timeline_id", r"`timeline_id` is given twice with different values"),
    # Which passwords are common is a long list, and which one is one's own name is between two fields.
    (r"POST", r"/v1/set-password", r"#/password", r"a password is not the user's own name|this password is among "),
    # What is to be shown depends on who asks, and how.
    (r"POST", r"/v1/set-password", r"#/current_password", r"it is asked for one's own password only"),
    (r"POST", r"/v1/log-out", r"#/everywhere", r"an API key is no session"),
    # Where the type of a file tells no format, a parameter does; the document cannot have one depend on the other.
    (r"POST", r"/v1/import-events", r"#/format", r"name the format of the file"),
    # Columns are those of one format, and each has a name of its own.
    (
        r"GET|QUERY",
        r"/v1/export-events",
        r"#/columns",
        r"only `csv` has columns|`attribute[.].*` is named like a column|a table has at most",
    ),
    # Whether a mapping fits a file, and a file its format, is between the two.
    (r"POST", r"/v1/import-events", r"#/map", r"the mapping takes `\w+` from a column "),
    (r"POST", r"/v1/import-events", r"#/map", r"no column is known to be the time of the events"),
    (r"POST", r"/v1/import-events", r"#/map", r"a mapping is for CSV and GeoJSON"),
    (r"POST", r"/v1/import-events", None, r".*; before that, \d+ events were taken, "),
]

# A schema counts the characters of a text, and the service its bytes.
TOO_LONG = re.compile(
    r"(?:the text has \d+ bytes; [01] to|a (?:label|description|location) has at most"
    r"|an? (?:location|key|password|action) has 1 to|an event is named by its id or its name, 1 to)"
    r" (\d+)(?: bytes| are allowed)"
)


def texts(value):
    """All texts in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def is_long_in_bytes_only(case, detail):
    """Whether a text is refused for its bytes, whose characters are few enough."""
    told = TOO_LONG.match(detail)
    sent = [*texts(case.body), *texts(dict(case.query or {}))]
    return told is not None and any(len(text) <= int(told[1]) < len(text.encode()) for text in sent)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops a refusal that is as it should be."""
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 400:
        return True
    problem = response.json()
    if is_long_in_bytes_only(case, problem["detail"]):
        return False
    pointers = [error["pointer"] for error in problem["errors"]] or [None]
    for methods, path, pointer, detail in EXPECTED:
        same_field = pointers == [None] if pointer is None else re.fullmatch(pointer, pointers[0] or "")
        if (
            re.fullmatch(methods, case.method)
            and re.fullmatch(path, re.sub(r"\{\w+\}", "_", case.path))
            and same_field
            and re.match(detail, problem["detail"])
        ):
            return False
    return True
