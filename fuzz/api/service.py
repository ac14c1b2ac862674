"""What an OpenAPI document cannot say, for `cargo xtask fuzz-api`.

Two things: how texts are made whose rules no pattern tells, and the few refusals of requests that the document allows.
"""

import json
import re
import string
from datetime import datetime, timedelta, timezone
from pathlib import Path

import schemathesis
from hypothesis import strategies as st

# Texts. The names are those of docs/http-api.md.

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

words = st.text(string.ascii_letters + string.digits + "éΩж", min_size=1, max_size=12)
schemathesis.openapi.format("words", st.lists(words, min_size=1, max_size=4).map(" ".join))

FIELDS = ["event_id", "time", "end_time", "precision", "description", "name", "location", "source"]
columns = st.text(string.ascii_letters + string.digits + "_. ", min_size=1, max_size=12).filter(str.strip)
pairs = st.lists(st.tuples(st.sampled_from(FIELDS), columns), max_size=4, unique_by=lambda pair: pair[0])
mappings = pairs.map(lambda pairs: ",".join(f"{field}={column}" for field, column in pairs))
schemathesis.openapi.format("mapping", mappings)

# Nobody can make a cursor but the service: see below.
schemathesis.openapi.format("cursor", st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=80))

# These are mostly refused, and what is refused for them shows nothing of the rest. Most right requests go without.
MOSTLY_REFUSED = ["cursor", "map", "columns"]

# How long answers may wait for something that does not come.
SHORT_WAITS = ["0s", "0.2s", "PT0.5S", "1s"]

# Texts that are right, by their field and the one around it: how a clock is shown wrong, and when a timer fires.
ZONES = ["Europe/Paris", "UTC"]
RULES = ["FREQ=DAILY", "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD"]
RIGHT = {
    "fault": {
        "offset": ["2s", "-0.5s", "+250ms"],
        "jitter": ["5ms", "0.1s"],
        "leap": ["insert@2028-12-31T23:59:59Z", "delete@2029-06-30T23:59:59Z"],
        "leap_smear": ["24h", "1h"],
    },
    "every": {"rule": RULES, "zone": ZONES},
    "cron": {"expression": ["30 9 * * MON-FRI", "0 0 1 1 *"], "zone": ZONES},
}

# Keys that requests were sent with.
SPENT = set()

# Nobody logs in with a password that was made up. Every second one that is set is this one, and is shown.
PASSWORD = "seven geese over Graz"


def let_in(case):
    """Makes a right request about a password one of the first operator and of the password that is known here."""
    if case.method != "POST" or case.path not in ["/v1/set-password", "/v1/login"] or not isinstance(case.body, dict):
        return
    if len(str(case.body)) % 2 == 0:
        case.body.update(user_id="admin", password=PASSWORD)
        case.body.pop("current_password", None)


def write_right(case):
    """Writes texts in right ones of which the document says only how long they may be."""
    for outer, fields in RIGHT.items():
        inner = case.body.get(outer) if isinstance(case.body, dict) else None
        for name, texts in fields.items():
            write_one(inner, name, texts)
    if case.path == "/v1/timer-preview":
        for container in [case.query, case.body]:
            write_one(container, "rule", RULES)
            write_one(container, "zone", ZONES)


def write_one(container, name, texts):
    """Writes a right text where another one is."""
    if isinstance(container, dict) and isinstance(container.get(name), str):
        container[name] = texts[len(container[name]) % len(texts)]


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes waits short. Most end when their time is over, because nothing comes, and answers that are late as they should be
    are not to be taken for slow ones. Examples come by here too, and not by `map_case`. What is wrong stays wrong."""
    is_right = case.meta is not None and case.meta.generation.mode.is_positive
    for container in [case.query, case.body]:
        wait = container.get("wait") if isinstance(container, dict) else None
        if isinstance(wait, str) and (is_right or re.fullmatch(r"[1-9]\d?s", wait)):
            container["wait"] = SHORT_WAITS[len(wait) % len(SHORT_WAITS)]


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
    write_right(case)
    # Schemathesis covers optional fields of the head with a text that is empty where it finds none for their pattern.
    if case.headers is not None and case.headers.get("If-Match") == "":
        del case.headers["If-Match"]
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
# some operations, and of one wording; everything else that is checked of these answers stays checked. A test of `xtask`
# compares the wordings with the sources of the service.
EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text())

# A schema counts the characters of a text, and the service its bytes.
TOO_LONG = re.compile("|".join(EXPECTED["too_long"]))


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
    limits = TOO_LONG.match(detail)
    limit = next((int(number) for number in limits.groups() if number), None) if limits else None
    sent = [*texts(case.body), *texts(dict(case.query or {}))]
    return limit is not None and any(len(text) <= limit < len(text.encode()) for text in sent)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops a refusal that is as it should be."""
    # A head that is too long is refused before the service sees it, by a status without a body that is no operation's own.
    if response.status_code == 431 and not response.content:
        return False
    if type(failure).__name__ != "RejectedPositiveData" or response.status_code != 400:
        return True
    problem = response.json()
    if is_long_in_bytes_only(case, problem["detail"]):
        return False
    pointers = [error["pointer"] for error in problem["errors"]] or [None]
    for expected in EXPECTED["refusals"]:
        field = expected["field"]
        same_field = pointers == [None] if field is None else re.fullmatch(field, pointers[0] or "")
        same_operation = case.method in expected["methods"] and case.path in expected["paths"]
        if same_operation and same_field and re.match(expected["detail"], problem["detail"]):
            return False
    return True
