"""Stores keys that expire at the instants of the file `due`, and records when each is gone.

watch.py redis SOCKET, watch.py memcached SOCKET, watch.py etcd PORT, watch.py nginx SOCKET
"""

import base64
import http.client
import json
import socket
import struct
import sys
import time

kind, address = sys.argv[1:]


def record(word):
    with open("jobs", "a") as file:
        file.write(f"{word} {time.time()}\n")


def connected():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    return connection


class Lines:
    """Redis and memcached."""

    def __init__(self):
        self.connection = connected()
        self.answers = self.connection.makefile("rb")

    def ask(self, question):
        self.connection.sendall(f"{question}\r\n".encode())
        return self.answers.readline()

    def store(self, key, seconds):
        stored = {"redis": f"SET {key} 1 EX {seconds}", "memcached": f"set {key} 0 {seconds} 1\r\n1"}
        assert self.ask(stored[kind]).strip() in (b"+OK", b"STORED")

    def has(self, key):
        answer = self.ask(f"EXISTS {key}" if kind == "redis" else f"get {key}")
        if answer.startswith(b"VALUE"):
            self.answers.readline()
            self.answers.readline()
        return answer.strip() not in (b":0", b"END")


class Etcd:
    """Keys with a lease, by the JSON gateway."""

    def ask(self, path, question):
        connection = http.client.HTTPConnection("127.0.0.1", int(address))
        connection.request("POST", path, json.dumps(question))
        return json.load(connection.getresponse())

    def store(self, key, seconds):
        lease = self.ask("/v3/lease/grant", {"TTL": seconds})["ID"]
        self.ask("/v3/kv/put", {"key": base64.b64encode(key.encode()).decode(), "value": "MQ==", "lease": lease})

    def has(self, key):
        return "kvs" in self.ask("/v3/kv/range", {"key": base64.b64encode(key.encode()).decode(), "serializable": True})


class Nginx:
    """Cached responses, whose age the URL limits."""

    def __init__(self):
        self.path = {}

    def ask(self, key):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = connected()
        connection.request("GET", self.path[key])
        return connection.getresponse().headers["X-Cache"]

    def store(self, key, seconds):
        self.path[key] = f"/{key}?seconds={seconds}"
        assert self.ask(key) == "MISS"

    def has(self, key):
        return self.ask(key) == "HIT"


# The wait between two questions is the kernel's: this timeout stays on host time.
pause, other = socket.socketpair()
pause.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 50_000))
store = {"etcd": Etcd, "nginx": Nginx}.get(kind, Lines)()
keys = []
with open("due") as due:
    for line in due:
        letter, seconds = line.split()
        key, length = letter + seconds, int(seconds) - round(time.time())
        if length > 0:
            store.store(key, length)
            keys.append(key)
record("ready")
while keys:
    for key in [key for key in keys if not store.has(key)]:
        record(key[0])
        keys.remove(key)
    try:
        pause.recv(1)
    except BlockingIOError:
        pass
