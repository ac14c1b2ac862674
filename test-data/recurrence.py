"""Makes recurrence-v1.json: moments of rules and cron expressions, worked out by other implementations.

    python -m venv .venv && .venv/bin/pip install python-dateutil==4.0.0 croniter==7.0.0 tzdata==2026.6
    .venv/bin/python test-data/recurrence.py > test-data/recurrence-v1.json

Rules: dateutil's rrule on local times without a zone, and the zones of Python's zoneinfo. Cron: croniter in UTC. Cron in
zones: every minute is tried. The seed is fixed, so the same libraries make the same file.
"""

import itertools
import json
import random
import warnings
import zoneinfo
from datetime import datetime, timedelta, timezone
from importlib.metadata import version

from croniter import croniter
from dateutil.rrule import rrulestr

zoneinfo.reset_tzpath(to=[])  # The tables of the tzdata package, whatever the machine has.
warnings.simplefilter("ignore")
DICE = random.Random(5545)
ZONES = ["UTC", "America/New_York", "Europe/Paris", "Australia/Lord_Howe", "Asia/Kolkata"]
WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
EPOCH = datetime(1970, 1, 1)


def instant(local, zone):
    """Seconds since 1970: the first of two, and the offset before where clocks skip it (PEP 495, fold=0)."""
    return int(local.replace(tzinfo=zoneinfo.ZoneInfo(zone)).timestamp())


def runs(instants):
    """The first one, then differences with how often each comes in a row."""
    gaps = [later - earlier for earlier, later in zip(instants, instants[1:])]
    return [instants[0], [[gap, len(list(group))] for gap, group in itertools.groupby(gaps)]]


def some(values, most=3):
    return ",".join(str(value) for value in sorted(DICE.sample(values, DICE.randint(1, most))))


def maybe(chance):
    return DICE.random() < chance


def random_rule(frequency):
    parts = [f"FREQ={frequency}"]
    if maybe(0.5):
        parts.append(f"INTERVAL={DICE.randint(1, 40 if frequency in ('SECONDLY', 'MINUTELY', 'HOURLY') else 7)}")
    months = list(range(1, 13))
    month_days = list(range(1, 32)) + list(range(-31, 0))
    # dateutil tries every second until a day fits.
    is_short = frequency in ("SECONDLY", "MINUTELY")
    if maybe(0.4) and not is_short:
        parts.append(f"BYMONTH={some(months, 4)}")
    if frequency == "YEARLY":
        kind = DICE.choice(["week", "yearday", "monthday", "weekday", "ordinal", "none"])
    elif frequency == "MONTHLY":
        kind = DICE.choice(["monthday", "weekday", "ordinal", "both", "none"])
    elif frequency == "WEEKLY":
        kind = DICE.choice(["weekday", "none"])
    elif is_short:
        kind = DICE.choice(["weekday", "none"]) if frequency == "MINUTELY" else "none"
    else:
        kind = DICE.choice(["monthday", "weekday", "none", "none"])
    if kind == "week":
        parts.append(f"BYWEEKNO={some(list(range(1, 54)) + [-5, -4, -3, -2, -1])}")
        parts.append(f"BYDAY={some(WEEKDAYS, 4)}")
    if kind == "yearday":
        parts.append(f"BYYEARDAY={some(list(range(1, 367)) + list(range(-366, 0)), 5)}")
    if kind in ("monthday", "both"):
        parts.append(f"BYMONTHDAY={some(month_days, 5)}")
    if kind in ("weekday", "both"):
        parts.append(f"BYDAY={some(WEEKDAYS, 4)}")
    if kind == "ordinal":
        most = 5 if frequency == "MONTHLY" or any(part.startswith("BYMONTH=") for part in parts) else 53
        days = [f"{DICE.choice([-1, 1]) * DICE.randint(1, most)}{DICE.choice(WEEKDAYS)}" for _ in range(DICE.randint(1, 3))]
        parts.append("BYDAY=" + ",".join(sorted(set(days))))
    if maybe(0.3):
        parts.append(f"BYHOUR={some(range(24))}")
    if maybe(0.3):
        parts.append(f"BYMINUTE={some(range(60))}")
    if maybe(0.15):
        parts.append(f"BYSECOND={some(range(60))}")
    # In the week of the start, dateutil counts positions from the start on, not from the beginning of the week.
    if frequency in ("YEARLY", "MONTHLY", "DAILY") and "BY" in ";".join(parts) and maybe(0.3):
        parts.append(f"BYSETPOS={some([1, 2, 3, -1, -2, -3])}")
    if frequency in ("WEEKLY", "YEARLY") and maybe(0.4):
        parts.append(f"WKST={DICE.choice(WEEKDAYS)}")
    return ";".join(parts)


def rules(count):
    """Rules with the moments of their first years, and one question far from their start."""
    window = {"YEARLY": 24_000, "MONTHLY": 4_000, "WEEKLY": 2_000, "DAILY": 2_000, "HOURLY": 60, "MINUTELY": 10, "SECONDLY": 1}
    found = []
    while len(found) < count:
        frequency = DICE.choice(list(window))
        text = random_rule(frequency)
        is_time = frequency in ("SECONDLY", "MINUTELY", "HOURLY")
        zone = "UTC" if is_time else DICE.choice(ZONES)
        starts = datetime(DICE.randint(1975, 2030), DICE.randint(1, 12), DICE.randint(1, 28), DICE.randint(3, 23), DICE.randint(0, 59))
        through = starts + timedelta(days=window[frequency])
        try:
            locals_ = list(itertools.islice(rrulestr(f"{text};UNTIL={through:%Y%m%dT%H%M%S}", dtstart=starts), 41))
        except ValueError:  # It never fires.
            continue
        if not locals_:
            continue
        if len(locals_) == 41:
            through = locals_.pop() - timedelta(seconds=1)
        moments = sorted({instant(local, zone) for local in locals_})
        found.append({
            "rule": text,
            "zone": zone,
            "starts": instant(starts, zone),
            # Far enough from the last one that no change of the clocks lies between.
            "through": max(moments[-1], instant(through, zone) - 3 * 86_400) if moments else 0,
            "moments": moments,
        })
    return found


def far_rules():
    """What comes next far from the start, where dateutil gets there in acceptable time."""
    found = []
    for text, starts, after in [
        ("FREQ=DAILY;INTERVAL=3", datetime(1601, 1, 1, 9), datetime(2400, 2, 28, 9)),
        ("FREQ=DAILY;INTERVAL=10;BYMONTH=2;BYDAY=MO", datetime(1, 1, 1, 12), datetime(1000, 7, 1)),
        ("FREQ=WEEKLY;INTERVAL=5;BYDAY=TU,SA;WKST=SU", datetime(1000, 3, 4, 5, 6, 7), datetime(3000, 1, 1)),
        ("FREQ=MONTHLY;INTERVAL=7;BYMONTHDAY=31", datetime(2, 1, 31), datetime(5000, 1, 1)),
        ("FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", datetime(1, 1, 1), datetime(4444, 4, 4)),
        ("FREQ=YEARLY;INTERVAL=3;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", datetime(4, 2, 29), datetime(4000, 1, 1)),
        ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU", datetime(1, 1, 1), datetime(9000, 1, 1)),
        ("FREQ=HOURLY;INTERVAL=7;BYHOUR=3;BYDAY=MO", datetime(2000, 1, 3, 3), datetime(2030, 1, 1)),
        ("FREQ=MINUTELY;INTERVAL=1441", datetime(2000, 1, 1), datetime(2400, 1, 1)),
    ]:
        moment = rrulestr(text, dtstart=starts).after(after)
        found.append({
            "rule": text,
            "starts": int((starts - EPOCH).total_seconds()),
            "after": int((after - EPOCH).total_seconds()),
            "next": int((moment - EPOCH).total_seconds()),
        })
    return found


def field(low, high, words=()):
    kind = DICE.choice(["*", "number", "list", "range", "step"])
    if kind == "*":
        return "*"
    if kind == "number":
        number = DICE.randint(low, high)
        return DICE.choice(words) if words and maybe(0.4) else str(number)
    if kind == "list":
        return some(range(low, high + 1), 4)
    # croniter takes a range from a number to itself for all numbers.
    first = DICE.randint(low, high - 1)
    last = DICE.randint(first + 1, high)
    return f"{first}-{last}" + (f"/{DICE.randint(1, 9)}" if kind == "step" else "")


def crons(count):
    months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
    weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
    found = []
    while len(found) < count:
        text = " ".join([field(0, 59), field(0, 23), field(1, 28), field(1, 12, months), field(0, 6, weekdays)])
        after = datetime(DICE.randint(1990, 2030), DICE.randint(1, 12), DICE.randint(1, 28), DICE.randint(0, 23), 7)
        moments = croniter(text, after.replace(tzinfo=timezone.utc), ret_type=float)
        found.append({
            "cron": text,
            "after": int((after - EPOCH).total_seconds()),
            "moments": [int(next(moments)) for _ in range(12)],
        })
    return found


def daily():
    """A hundred years of half past two, the time at which most clocks change."""
    days = [datetime(1970, 1, 1, 2, 30) + timedelta(days=day) for day in range(36_525)]
    return [
        {"cron": "30 2 * * *", "rule": "FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0", "zone": zone,
         "runs": runs([instant(day, zone) for day in days])}
        for zone in ["America/New_York", "Europe/Paris", "Australia/Lord_Howe"]
    ]


def passing():
    """Every minute of two years: does a clock show what the expression says?"""
    found = []
    for zone in ["America/New_York", "Europe/Paris", "Australia/Lord_Howe"]:
        tz = zoneinfo.ZoneInfo(zone)
        first = int(datetime(2023, 1, 1, tzinfo=timezone.utc).timestamp())
        civil = [(first + 60 * number, datetime.fromtimestamp(first + 60 * number, tz)) for number in range(2 * 525_600)]
        for text, fits in [
            ("*/5 * * * *", lambda at: at.minute % 5 == 0),
            ("17 * * * *", lambda at: at.minute == 17),
            ("*/30 1-3 * * SUN", lambda at: at.minute % 30 == 0 and 1 <= at.hour <= 3 and at.weekday() == 6),
            ("*/45 2 8-14 * *", lambda at: at.minute % 45 == 0 and at.hour == 2 and 8 <= at.day <= 14),
        ]:
            found.append({"cron": text, "zone": zone, "runs": runs([second for second, at in civil if fits(at)])})
    return found


print(json.dumps({
    "made_by": {name: version(name) for name in ["python-dateutil", "croniter", "tzdata"]},
    "rules": rules(400),
    "far_rules": far_rules(),
    "crons": crons(120),
    "daily": daily(),
    "passing": passing(),
}, separators=(",", ":")).replace('{"rule"', '\n{"rule"').replace('{"cron"', '\n{"cron"'))
