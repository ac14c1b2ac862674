"""A configuration of Celery beat. Tasks are recorded when beat sends them."""

import time

from celery import Celery
from celery.schedules import crontab
from celery.signals import beat_init, before_task_publish


def record(word):
    with open("jobs", "a") as file:
        file.write(f"{word} {time.time()}\n")


app = Celery(broker="memory://")
app.conf.timezone = "UTC"
app.conf.beat_schedule = {
    letter: {"task": letter, "schedule": crontab(minute, hour, day_of_month=day, month_of_year=5)}
    for letter, minute, hour, day in [
        ("a", "0-8/4", 8, 6),
        ("p", 20, 8, 6),
        ("b", 30, "1-17/4", 6),
        ("c", 0, 12, 7),
        ("d", 30, 23, 7),
    ]
}
before_task_publish.connect(lambda sender, **others: record(sender), weak=False)
beat_init.connect(lambda **others: record("ready"), weak=False)
