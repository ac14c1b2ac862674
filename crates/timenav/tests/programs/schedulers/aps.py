"""APScheduler."""

import time

from apscheduler.events import EVENT_SCHEDULER_STARTED
from apscheduler.schedulers.blocking import BlockingScheduler


def record(word):
    with open("jobs", "a") as file:
        file.write(f"{word} {time.time()}\n")


# By default a job that is late by a second is skipped, which is less than a millisecond at rate 3600.
scheduler = BlockingScheduler(timezone="UTC", job_defaults={"misfire_grace_time": None})
for letter, minute, hour, day in [
    ("a", "0-8/4", 8, 6),
    ("p", 20, 8, 6),
    ("b", 30, "1-17/4", 6),
    ("c", 0, 12, 7),
    ("d", 30, 23, 7),
]:
    scheduler.add_job(record, "cron", [letter], minute=minute, hour=hour, day=day, month=5)
scheduler.add_listener(lambda event: record("ready"), EVENT_SCHEDULER_STARTED)
scheduler.start()
