#!/usr/bin/env python3
"""Checks a ledger of a timenav service as a stranger would.

    TIMENAV_API_KEY=… verify.py URL TIMELINE [--contents] [--verifier-key VKEY]… [--checkpoint FILE] [--save FILE]
    verify.py --proof FILE --verifier-key VKEY… [--entry FILE] [--payload FILE --salt HEX] [--read FILE]
    verify.py --head FILE --verifier-key VKEY
    verify.py FILE --verifier-key VKEY [--rotation FILE]…
    verify.py WITNESSED --verifier-key VKEY --witness VKEY…

The first checks a whole ledger over HTTP, and with --contents what its entries say: each payload that the API key may see
against its leaf, and the events that monitor-events answers against those that follow. The second checks a proof file of one
entry (§7), and with it the entry's payload, or one read that is shown of it (2§3); the third a head statement (2§4); the fourth
a bundle (docs/specs/bundle.md, b§n), with proofs of rotations of the key that is given; the fifth the answer
of `GET /timeline/TIMELINE/proof?witnessed=true` (2§10). Those four need no network.
Written from docs/specs/ledger.md ("the page"; §n is a section of it), docs/specs/ledger-2.md (2§n) and C2SP
tlog-tiles, with the standard library of Python 3.9 alone. Every read is itself recorded, so a ledger grows while it is read: what is
checked is the ledger at the size of the checkpoint that is fetched first. Each answer says what was not checked.
Where the signing key was rotated (§6), the first key is the one that signs today, and each further one a retired key, which
counts for --checkpoint and --proof alone.
Exit code: 0 the ledger verifies, 1 it does not, 2 it could not be looked at (usage, files, network, or the service refuses)."""
import argparse, base64, bisect, collections, datetime, hashlib, hmac, http.client, json, os, pathlib, re, sys
import urllib.error, urllib.parse, urllib.request

TILE_WIDTH = 256
NOTE_BYTES_MAX = 1_048_576
PROBLEMS_PRINTED_MAX = 20
ENTRIES_A_PAGE, ENTRIES_BYTES_MAX = 1_000, 64 * 1_048_576
EVENTS_A_PAGE, EVENTS_BYTES_MAX = 500, 256 * 1_048_576
CATCH_UPS_MAX = 3
MEMBERS = dict.fromkeys(("action", "actor", "clock_time", "payload_hash", "recorded_at", "subject", "timeline_id"), str)
MEMBERS.update(seq=int, v=int)
MEMBERS_2 = {**MEMBERS, "directory": int, "key": str}
READ = dict.fromkeys(("action", "clock_time", "host_time", "key", "parameters", "user"), str)
READ_CUT = {**READ, "parameters_bytes": int, "parameters_sha256": str}
READS_MAX, READS_BYTES_MAX, PARAMETERS_BYTES_MAX = 512, 65_536, 256
HASH, SALT = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{32}")
TIME = re.compile(r"(-\d{6}|\d{4})(-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{0,5}[1-9])?)Z", re.ASCII)
KEY_NAME = re.compile(r"[^\s+]+")
TIMELINE = re.compile(r"[\w.:@-]{1,128}", re.ASCII)
Key = collections.namedtuple("Key", "name id public")
Checkpoint = collections.namedtuple("Checkpoint", "size root")

def need(condition, otherwise):
    """Where something is not as the page says, there is a `ValueError`, as there is where Python cannot decode something."""
    if not condition:
        raise ValueError(otherwise)

# Ed25519, verification alone (RFC 8032 §5.1, to which §6 refers). Nothing here is secret, so timing does not matter.
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P

def add(a, b):
    """Adds two points in extended coordinates: x = X/Z, y = Y/Z, xy = T/Z (RFC 8032 §5.1.4)."""
    m, n = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    c, d = 2 * a[3] * b[3] * D, 2 * a[2] * b[2]
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P

def multiply(scalar, point):
    """Adds a point to itself, `scalar` times in all."""
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result

def decompress(data):
    """Decodes a point, or returns None where the bytes are not one (RFC 8032 §5.1.3)."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else P - x
    return x, y, 1, x * y % P

def ed25519_verifies(public, message, signature):
    """Returns whether [S]B - [k]A is R, byte for byte (RFC 8032 §5.1.7)."""
    a, s = decompress(public), int.from_bytes(signature[32:], "little")
    if len(public) != 32 or len(signature) != 64 or a is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % ORDER
    base = decompress((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
    x, y, z, _ = add(multiply(s, base), multiply(k, (P - a[0], a[1], 1, P - a[3])))
    x, y = x * pow(z, P - 2, P) % P, y * pow(z, P - 2, P) % P
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]

# The tree (§3).
def leaf_hash(entry):
    """§3, leaf."""
    return hashlib.sha256(b"\0" + entry).digest()

def node(left, right):
    """§3, node."""
    return hashlib.sha256(b"\1" + left + right).digest()

class Tree:
    """§3, root: of a growing list. Keeps the roots of the full subtrees alone, the largest first."""

    def __init__(self):
        self.size, self.subtrees = 0, []

    def append(self, leaf):
        self.size += 1
        rest = self.size
        while rest & 1 == 0:
            leaf, rest = node(self.subtrees.pop(), leaf), rest >> 1
        self.subtrees.append(leaf)

    def root(self):
        *others, root = self.subtrees or [hashlib.sha256(b"").digest()]
        for left in reversed(others):
            root = node(left, root)
        return root

def sides(fn, sn, proof):
    """§3: the loop that both proofs have in common. Yields each hash, and whether it goes to the left."""
    for sibling in proof:
        need(sn, "the proof is too long")
        is_left = fn & 1 or fn == sn
        while is_left and fn and not fn & 1:
            fn, sn = fn >> 1, sn >> 1
        yield sibling, is_left
        fn, sn = fn >> 1, sn >> 1
    need(not sn, "the proof is too short")

def check_inclusion(leaf, index, checkpoint, proof):
    """§3, inclusion proof."""
    need(index < checkpoint.size, f"entry {index} is not in a tree of {checkpoint.size}")
    for sibling, is_left in sides(index, checkpoint.size - 1, proof):
        leaf = node(sibling, leaf) if is_left else node(leaf, sibling)
    need(leaf == checkpoint.root, f"the proof does not lead from entry {index} to the root of {checkpoint.size} entries")

def roots_of_growth(old, new_size, proof):
    """§3, consistency proof, between sizes that differ. Returns the two roots to which it leads."""
    need(0 < old.size < new_size and proof, f"a ledger of {new_size} entries and such a proof do not continue one of {old.size}")
    first, *rest = proof if old.size & (old.size - 1) else [old.root, *proof]
    fn, sn, old_root, new_root = old.size - 1, new_size - 1, first, first
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    for sibling, is_left in sides(fn, sn, rest):
        old_root = node(sibling, old_root) if is_left else old_root
        new_root = node(sibling, new_root) if is_left else node(new_root, sibling)
    return old_root, new_root

def check_consistency(old, new, proof):
    """§3, consistency proof."""
    what = f"the proof does not show that the ledger of {new.size} entries continues that of {old.size}"
    if old.size in (0, new.size):
        return need(not proof and old.root == (new.root if old.size else Tree().root()), what)
    need(roots_of_growth(old, new.size, proof) == (old.root, new.root), what)

# Entries (§1).
def instant(text):
    """§1, times. Returns what can be compared. A year with the same leap days stands in, as Python knows none before 1."""
    match = TIME.fullmatch(text)
    need(match and match[1] != "-000000", f"{text!r} is not a time as the format writes them")
    datetime.date(2000 + int(match[1]) % 400, int(match[3]), int(match[4]))
    return int(match[1]), match[2]

def host_micros(text):
    """Returns a host time as a number of microseconds, to calculate with."""
    instant(text)
    whole_seconds, _, fraction = text.rstrip("Z").partition(".")
    since = datetime.datetime.fromisoformat(whole_seconds) - datetime.datetime(1970, 1, 1)
    return since // datetime.timedelta(seconds=1) * 10**6 + int(fraction.ljust(6, "0") or 0)

def canonical(value):
    """§1: for strings, whole numbers, arrays and objects under ASCII names, this is what RFC 8785 asks for."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()

def read_json(data):
    """§1: reads what has one spelling."""
    value = json.loads(data.decode())
    need(canonical(value) == data, "it is not in canonical form: written again, it has other bytes")
    return value

def shape(value):
    return isinstance(value, dict) and {name: type(member) for name, member in value.items()}

def read_entry(data):
    """§1 and 2§1: reads an entry strictly, of either version."""
    version = re.search(rb',"v":(0|[1-9][0-9]*)}\Z', data)
    is_known = not version or version[1] in (b"1", b"2")
    need(is_known, "it has a format version that this verifier does not know; that is not damage")
    entry = read_json(data)
    is_known = shape(entry) in (MEMBERS, MEMBERS_2) and entry["v"] == (2 if "key" in entry else 1)
    need(is_known, "it does not have the members of an entry of its version")
    need(HASH.fullmatch(entry["payload_hash"]), "bad payload_hash")
    need(0 <= entry["seq"] < 2**53 and 0 <= entry.get("directory", 0) < 2**53, "bad seq or directory")
    instant(entry["clock_time"])
    return entry

# Payloads (§2, 2§3).
def is_of_reads(entry):
    """2§3: whether it is an entry of reads."""
    return entry["v"] == 2 and entry["action"] == "reads" and not entry["actor"] + entry["subject"] + entry["key"]

def digest_of_read(read, salt):
    """2§3, D(i): of a read that is as the page says."""
    need(shape(read) in (READ, READ_CUT), "it does not have the members of a read")
    instant(read["clock_time"]), instant(read["host_time"])
    size = len(read["parameters"].encode())
    if "parameters_bytes" in read:
        is_cut = PARAMETERS_BYTES_MAX - 3 <= size <= PARAMETERS_BYTES_MAX < read["parameters_bytes"]
        need(is_cut and HASH.fullmatch(read["parameters_sha256"]), "its parameters are not cut as they must be")
    need(size <= PARAMETERS_BYTES_MAX, "it has longer parameters than are kept")
    return hashlib.sha256(salt + canonical(read)).digest()

def digest_of_item(item):
    """2§3: of what is left of a read, once some of the entry's were erased."""
    if shape(item) == {"erased": str} and HASH.fullmatch(item["erased"]):
        return bytes.fromhex(item["erased"])
    need(shape(item) == {"read": dict, "salt": str} and SALT.fullmatch(item["salt"]), "this is what is left of no read")
    return digest_of_read(item["read"], bytes.fromhex(item["salt"]))

def hash_of_reads(salt, payload):
    """2§3, payload_hash. Returns how many reads were erased, too."""
    reads, tree, is_whole = read_json(payload), Tree(), len(salt) == 16
    need(is_whole or not salt, "the salt of reads has 16 bytes, or none")
    need(isinstance(reads, list) and 1 <= len(reads) <= READS_MAX, "an entry has from 1 to 512 reads")
    need(not is_whole or len(payload) <= READS_BYTES_MAX, "the payload is too long")
    for number, item in enumerate(reads):
        own = hmac.new(salt, number.to_bytes(4, "big"), "sha256").digest()[:16]
        tree.append(leaf_hash(digest_of_read(item, own) if is_whole else digest_of_item(item)))
    return tree.root(), 0 if is_whole else sum("erased" in item for item in reads)

def check_payload(entry, salt, payload):
    """§2 and 2§3. Returns what holds."""
    plain = (hashlib.sha256(salt + payload).digest(), 0)
    found, erased = hash_of_reads(salt, payload) if is_of_reads(entry) else plain
    need(is_of_reads(entry) or len(salt) == 16, "a salt has 16 bytes")
    need(found.hex() == entry["payload_hash"], f"the payload hashes to {found.hex()}, which is not what the entry says")
    return "it is the one that the entry was made for" + (f"; reads that were erased: {erased}" if erased else "")

def check_read(entry, data):
    """2§8, one read. Returns it."""
    opened, members = read_json(data), {"count": int, "hashes": list, "index": int, "read": dict, "salt": str}
    need(is_of_reads(entry), "the entry is not one of reads")
    need(shape(opened) == members and SALT.fullmatch(opened["salt"]), "this is no read that is shown")
    are_hashes = all(isinstance(one, str) and HASH.fullmatch(one) for one in opened["hashes"])
    need(are_hashes and 0 <= opened["index"], "its hashes or its index are not as they are written")
    leaf = leaf_hash(digest_of_read(opened["read"], bytes.fromhex(opened["salt"])))
    root = Checkpoint(opened["count"], bytes.fromhex(entry["payload_hash"]))
    check_inclusion(leaf, opened["index"], root, [bytes.fromhex(one) for one in opened["hashes"]])
    return canonical(opened["read"]).decode()

# Keys, notes and checkpoints (§5, §6).
def decoded(text):
    """Decodes base64 (RFC 4648 §4) in its one right spelling."""
    data = base64.b64decode(text, validate=True)
    need(data and base64.b64encode(data).decode() == text, f"{text!r} is not base64 as it is written here")
    return data

def read_key(text, kind=1):
    """§6: reads a public key, whose id must be its own. That of a witness is of kind 4 (2§10)."""
    name, key_id, data = (text.split("+", 2) + ["", ""])[:3]
    data = decoded(data)
    right_id = hashlib.sha256(name.encode() + b"\n" + data).digest()[:4]
    need(KEY_NAME.fullmatch(name) and len(data) == 33 and data[0] == kind and key_id == right_id.hex(), "this is no verifier key")
    return Key(name, right_id, data[1:])

def open_note(note, keys, counting):
    """§6: verifies a note against known keys, one of which that counts must have signed it. Returns its text."""
    text, empty_line, signatures = note.decode().rpartition("\n\n")
    need(len(note) <= NOTE_BYTES_MAX and not re.search(rb"[\0-\t\v-\x1f]", note), "it is too long, or has control characters")
    *lines, end = signatures.split("\n")
    need(empty_line and end == "" and 1 <= len(lines) <= 64, "it is not a text, an empty line and 1-64 signature lines")
    signers = []
    for line in lines:
        dash, name, data = (line.split(" ", 2) + ["", ""])[:3]
        signature = decoded(data)
        need(dash == "\u2014" and KEY_NAME.fullmatch(name) and len(signature) > 4, f"this is no signature line: {line!r}")
        signers.append(f"{name}+{signature[:4].hex()}")
        for key in keys:
            if (name, signature[:4]) == (key.name, key.id):
                is_good = ed25519_verifies(key.public, f"{text}\n".encode(), signature[4:])
                need(is_good, f"the signature of {signers[-1]} does not verify")
    key_names = [f"{key.name}+{key.id.hex()}" for key in counting]
    need(set(key_names) & set(signers), f"the note is not signed by the key {' or '.join(key_names)}, but by {', '.join(signers[:4])}; "
                                     "of keys that were rotated, give the one that signs today first, then retired ones")
    return text

def open_checkpoint(note, keys, is_saved=False):
    """§5: verifies and reads a checkpoint, whose origin must be the name of the key. A kept one may be of a retired key."""
    key = keys[0]
    origin, size, root, *more = open_note(note, keys, keys if is_saved else keys[:1]).split("\n") + ["", ""]
    need(origin == key.name, f"the checkpoint is of {origin!r}, the key of {key.name!r}")
    checkpoint = Checkpoint(int(size) if re.fullmatch("0|[1-9][0-9]{0,15}", size) else -1, decoded(root))
    need(checkpoint.size >= 0 and len(checkpoint.root) == 32 and "" not in more[:-2], "it is signed, but no checkpoint")
    return checkpoint

def read_head(data, key):
    """2§4 and 2§8, a head statement: verifies it, and returns its tree, and what else was not checked of it."""
    text, _, end = data.decode().rpartition("\n\n")
    lines = text.split("\n")
    need(end.endswith("\n") and len(lines) == 6 and lines[0] == "timenav-head/v1", "this is no head statement")
    _, origin, size, root, state, index = lines
    need(origin == key.name, f"the head statement is of {origin!r}, the key of {key.name!r}")
    hashes = [decoded(one) for one in (root, state, *([index] if index != "-" else []))]
    is_size = re.fullmatch("0|[1-9][0-9]{0,19}", size, re.ASCII)
    need(is_size and {len(one) for one in hashes} == {32}, "its size or its hashes are not as they are written")
    need(ed25519_verifies(key.public, f"{text}\n".encode(), decoded(end[:-1])), "the signature does not verify")
    print(f"head        {origin}, {size} entries, root {hashes[0].hex()}, state {hashes[1].hex()}: the signature verifies")
    return Checkpoint(int(size), hashes[0]), ["the state hash", *(hashes[2:] and ["the index root"])]

def verify_head(data, key):
    """A head statement alone."""
    _, rest = read_head(data, key)
    not_checked("entries", *rest, "that the transaction happened")
    return f"the head statement of {key.name}"

def printable(text):
    """What was sent must reach a terminal as text alone."""
    return re.sub("[\0-\t\v-\x1f\x7f-\x9f]", "?", str(text))

def not_checked(*what):
    print(printable(f"NOT CHECKED {', '.join(what)}"))

# The proof file of one entry (§7, §8).
def read_proof(data):
    """§7: reads a proof file. Returns what `extra` holds, the position, the hashes, and the note."""
    head, empty_line, note = data.partition(b"\n\n")
    first, *lines = head.decode().split("\n")
    need(empty_line and note and first == "c2sp.org/tlog-proof@v1", "this is no proof file")
    extra = decoded(lines.pop(0)[len("extra "):]) if lines and lines[0].startswith("extra ") else None
    index = re.fullmatch("index (0|[1-9][0-9]{0,15})", lines[0] if lines else "", re.ASCII)
    hashes = [decoded(line) for line in lines[1:]]
    need(index and len(hashes) <= 64 and {len(one) for one in hashes} <= {32}, "its index or its hashes are not as they are written")
    return extra, int(index[1]), hashes, note

def verify_proof(data, entry, keys, payload, salt, read):
    """§8, one entry: does all that can be done without the payload, and says what holds."""
    extra, index, hashes, note = read_proof(data)
    entry = extra if entry is None else entry
    need(entry is not None, "the entry is not in the file; give it with --entry")
    key, checkpoint = keys[0], open_checkpoint(note, keys, is_saved=True)
    print(f"checkpoint  {key.name}, {checkpoint.size} entries, root {checkpoint.root.hex()}: the signature verifies")
    members = read_entry(entry)
    instant(members["recorded_at"])
    need(members["seq"] == index, f"the entry says that it is entry {members['seq']}, the proof is of {index}")
    of_key = key.name.rpartition("/")[2]
    need(members["timeline_id"] == of_key, f"the entry is of the timeline {members['timeline_id']!r}, the key of {of_key!r}")
    check_inclusion(leaf_hash(entry), index, checkpoint, hashes)
    print(f"entry       {entry.decode()}")
    if payload is not None:
        print(f"payload     {check_payload(members, salt, payload)}")
    if read is not None:
        print(f"read        {check_read(members, read)}\n            is among those of the entry, at whatever place")
    not_checked(*(["the payload"] if payload is None else []), "whether the actor might do this")
    return f"entry {index} of {key.name}"

# What is read (§4, and C2SP tlog-tiles for entry bundles).
class Service(urllib.request.HTTPRedirectHandler):
    """Reads of one ledger. Follows no redirect: the API key is for the host that was named."""
    redirect_request = lambda *_: None

    def __init__(self, url, timeline, api_key):
        self.url, self.timeline, self.api_key = url.rstrip("/"), timeline, api_key
        self.base, self.headers = f"{self.url}/timeline/{timeline}/", {"Authorization": f"Bearer {api_key}"}
        self.opener = urllib.request.build_opener(self)

    def of(self, timeline):
        """Reads of another ledger of the same service."""
        return Service(self.url, timeline, self.api_key)

    def get(self, path, bytes_max=NOTE_BYTES_MAX, accept="*/*"):
        url = self.url + path if path.startswith("/") else self.base + path
        request = urllib.request.Request(url, headers={**self.headers, "Accept": accept})
        with self.opener.open(request, timeout=60) as answer:
            body = answer.read(bytes_max + 1)
        need(len(body) <= bytes_max, f"{path} has more than {bytes_max} bytes")
        return body

    def tile(self, prefix, number, width, bytes_max):
        """§4, the address of a tile. Where a partial tile has filled up, only the full one may be left."""
        *upper, last = (group.zfill(3) for group in f"{number:,}".split(","))
        path = "/".join(["tile", prefix, *(f"x{group}" for group in upper), last])
        try:
            return self.get(path if width == TILE_WIDTH else f"{path}.p/{width}", bytes_max)
        except urllib.error.HTTPError as error:
            if width == TILE_WIDTH or error.code != 404:
                raise
            return self.get(path, bytes_max)

    def leaves(self, number, width):
        """Yields each entry, and its hash of level 0. In a bundle, an entry has its length in front (two bytes, big-endian)."""
        hashes = self.tile("0", number, width, TILE_WIDTH * 32)
        bundle = self.tile("entries", number, width, TILE_WIDTH * (2 + 0xFFFF))
        for seq in range(number * TILE_WIDTH, number * TILE_WIDTH + width):
            end = 2 + int.from_bytes(bundle[:2], "big")
            need(2 < end <= len(bundle) and len(hashes) >= 32, f"entry {seq}: its bundle or its tile ends before it does")
            yield bundle[2:end], hashes[:32]
            bundle, hashes = bundle[end:], hashes[32:]

    def proof(self, query, keys):
        """Reads a proof: its verified checkpoint, and its hashes."""
        try:
            answer = json.loads(self.get(f"proof?{query}"))
            return open_checkpoint(answer["checkpoint"].encode(), keys), [bytes.fromhex(text) for text in answer["hashes"]]
        except (AttributeError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"the answer to proof?{query} is malformed: {error!r}") from None

    def entries(self, first, count):
        """Yields some entries from a position on, in order: their leaves, and what is shown of what they say."""
        while count:
            path = f"entries?from={first}&limit={min(count, ENTRIES_A_PAGE)}"
            page = read_answer(self.get(path, ENTRIES_BYTES_MAX))["entries"]
            need(1 <= len(page) <= count, f"the page of entries from {first} on has {len(page)}")
            yield from page
            first, count = first + len(page), count - len(page)

    def events(self, position):
        """Yields every event of the timeline, as it stood after an entry."""
        query = {"location": "*", "time_range": "../..", "timeline_id": self.timeline, "as_of": position}
        query["limit"] = EVENTS_A_PAGE
        while query:
            page = read_answer(self.get(f"/v1/monitor-events?{urllib.parse.urlencode(query)}", EVENTS_BYTES_MAX))
            yield from page["events"]
            is_last = "next_cursor" not in page
            need(page["events"] or is_last, "monitor-events answers an empty page that is not the last")
            query = None if is_last else {**query, "cursor": page["next_cursor"]}

def read_answer(data):
    """Reads an answer in which numbers stay as they are written, and no member is there twice."""
    def members(pairs):
        need(len(dict(pairs)) == len(pairs), "an object has a member twice")
        return dict(pairs)
    number = lambda digits: ("number", digits)
    return json.loads(data, parse_int=number, parse_float=number, parse_constant=number, object_pairs_hook=members)

def whole(number):
    """Returns a number of an answer."""
    is_number = isinstance(number, tuple) and re.fullmatch("0|[1-9][0-9]{0,15}", number[1])
    need(is_number, f"{number!r} is no position")
    return int(number[1])

# What entries say (§2), and what follows from it (§8, what entries say).
ON_EVENTS = {"record_event", "correct_event", "manipulate_event"}
READER_ACTIONS = ON_EVENTS | {"erase_data", "erase_events", "create_timeline", "travel", "pause_time", "resume_time",
                                "fast_forward", "rewind", "set_rate", "return_to_anchor", "set_anchor", "set_timer",
                                "change_timer", "cancel_timer", "fire_timers", "settle_firings", "end_advance",
                                "restore_timers"}
ON_CONTENTS = ON_EVENTS | {"erase_data", "erase_events", "erase_reads", "set_retention", "sweep", "create_timeline"}
# 2§7, classes: what may be let go after a time.
CLASSES = {"read": "reads", "reads": "reads",
           "unauthorized_access_attempt": "refusals", "unauthorized_access_attempts": "refusals"}
Event = collections.namedtuple("Event", "timeline position content")

def frozen(event):
    """Returns an event as a text that is equal for equal events alone, and smaller."""
    return json.dumps(event, sort_keys=True)

class Contents:
    """What the entries of one ledger say. Reads them in order, compares each with its leaf, and keeps the events that
    stand: where a version was erased, without its content."""

    def __init__(self, service, keys, problems):
        self.service, self.keys, self.problems = service, keys, problems
        self.tree, self.events, self.visible, self.hidden = Tree(), {}, 0, collections.Counter()
        self.missing, self.missing_reads = {}, {}
        # By whom: what sweeps let go, and reads that were erased; what erasures of events name.
        self.let_go, self.erased, self.runs = {}, {}, []
        self.policies, self.missing_leaves, self.swept = [], {}, set()
        self.parent, self.unread_parent = None, None

    def read(self, size):
        """Goes on to read entries, up to a size."""
        for entry in self.service.entries(self.tree.size, size - self.tree.size):
            position, leaf = self.tree.size, entry["leaf"].encode()
            self.tree.append(leaf_hash(leaf))
            try:
                need(whole(entry["position"]) == position, f"the answer says that it is entry {entry['position'][1]}")
                self.take(entry, read_entry(leaf))
            except (ValueError, RecursionError) as error:
                self.problems.append(f"entry {position} of {self.service.timeline}: {error}")
            except (AttributeError, KeyError, TypeError) as error:
                self.problems.append(f"entry {position} of {self.service.timeline}: no such entry says this: {error!r}")

    def take(self, entry, members):
        """Checks one entry, and does what it says."""
        action, position, contents = members["action"], members["seq"], entry["contents"]
        need(position == self.tree.size - 1, f"it says that it is entry {position}")
        need(members["timeline_id"] == self.service.timeline, f"it says that it is of {members['timeline_id']!r}")
        if contents == "restricted":
            need(action not in READER_ACTIONS, f"what `{action}` says is hidden, and readers may see it")
            self.hidden[action] += 1
        elif contents == "erased":
            self.missing[position] = action
            leaf = leaf_hash(entry["leaf"].encode())
            self.missing_leaves[position] = CLASSES.get(action), members["recorded_at"], leaf
            if action in ON_EVENTS:
                self.events[members["subject"]] = Event(self.service.timeline, position, None)
        else:
            need(contents == "visible", f"its contents are {contents!r}, which this verifier does not know")
            payload = entry["payload"].encode()
            if "reads that were erased" in check_payload(members, bytes.fromhex(entry["salt"]), payload):
                self.missing[position] = "some reads of reads"
                numbered = enumerate(json.loads(payload))
                self.missing_reads[position] = {number for number, item in numbered if "erased" in item}
            self.visible += 1
            self.replay(members, payload)

    def replay(self, members, payload):
        """Does to the events what an entry says."""
        action, position = members["action"], members["seq"]
        if action not in ON_CONTENTS:
            return
        fields = read_answer(payload)
        if action == "create_timeline":
            if position == 0 and "fork" in fields:
                self.inherit(fields["fork"])
            return
        if action in ("set_retention", "sweep"):
            return self.retain(fields, members) if members["v"] == 2 else None
        if action not in ON_EVENTS:
            # Entries of the first version that have the other names let go nothing.
            return self.erase(fields, action, position) if action == "erase_data" or members["v"] == 2 else None
        event = fields if action == "record_event" else fields.get("event" if action == "correct_event" else "after")
        event_id = (fields if action == "manipulate_event" else event)["event_id"]
        need(event_id == members["subject"], f"it says that it is about the event {event_id!r}")
        need(event is None or event["event_id"] == event_id, "the event in it has another id")
        if event is not None:
            self.events[event_id] = Event(self.service.timeline, position, frozen(event))
        elif fields["changed"]:
            self.events.pop(event_id, None)

    def erase(self, fields, action, position):
        """Notes which contents an entry lets go, and ends the events that are erased."""
        ones = [fields["position"]] if action in ("erase_data", "erase_reads") else []
        ones = [whole(one) for one in ones + fields.get("also", [])]
        runs = fields.get("versions", []) + fields.get("interventions", [])
        runs = [(whole(first), whole(last), position) for first, last in runs]
        need(all(one < position for one in [*ones, *(last for _, last, _ in runs)]), "it erases what comes after it")
        if action == "erase_reads":
            of_entry = self.missing_reads.get(ones[0], set())
            left = outside([(whole(first), whole(last)) for first, last in fields["reads"]], of_entry)
            if of_entry and not left:
                self.let_go[ones[0]] = position
            self.missing_reads[ones[0]] = left
            return
        # A sealed record goes, and what tells of it stays.
        self.erased.update((one, position) for one in ones if "data_id" not in fields)
        self.runs += runs
        self.events.pop(fields.get("event_id"), None)
        if action == "erase_events":
            of = self.service.timeline
            is_named = lambda one: one.timeline == of and any(first <= one.position <= last for first, last, _ in runs)
            self.events = {event_id: event for event_id, event in self.events.items() if not is_named(event)}

    def retain(self, fields, members):
        """2§7: notes how long what is kept, or what a sweep lets go. It lets go nothing that it may not."""
        position = members["seq"]
        if members["action"] == "set_retention":
            seconds = {of: fields[f"{of}_seconds"] for of in ("reads", "refusals")}
            periods = {of: None if length is None else 10**6 * whole(length) for of, length in seconds.items()}
            return self.policies.append((position, periods))
        of, cutoff = fields["class"], host_micros(fields["cutoff"])
        policy = dict(self.policies).get(whole(fields["policy"]))
        need(policy and policy[of] is not None, "no earlier policy allows what it pruned")
        need(cutoff + policy[of] <= host_micros(members["recorded_at"]), "its cutoff is later than its policy allows")
        runs = [(whole(first), whole(last)) for first, last in fields["positions"]]
        need(all(last < position for _, last in runs), "it lists entries that do not come before it")
        named = sorted(set(self.missing_leaves) - outside(runs, set(self.missing_leaves)))
        for one in named:
            in_force = bisect.bisect_left([at for at, _ in self.policies], one) - 1
            periods = [each[of] for _, each in self.policies[in_force:]] if in_force >= 0 else [None]
            need(self.missing_leaves[one][0] == of, f"it lists entry {one}, which belongs to another class")
            need(host_micros(self.missing_leaves[one][1]) < cutoff, f"it lists entry {one}, which was not recorded before its cutoff")
            is_due = None not in periods and max(periods) <= policy[of]
            need(is_due, f"it lists entry {one}, which another policy keeps longer")
        if len(named) == whole(fields["count"]):
            found = hashlib.sha256(b"".join(self.missing_leaves[one][2] for one in named)).hexdigest()
            need(found == fields["leaf_hashes_sha256"], "the leaf hashes at its positions do not match those it lists")
        self.let_go.update((one, position) for one in named)
        self.swept.update(named)

    def inherit(self, fork):
        """Reads the ledger that this one was forked from, and begins with the events that stood there."""
        timeline, size, public = fork["fork_of"], whole(fork["size"]), self.keys[0].public
        need(TIMELINE.fullmatch(timeline), f"{timeline!r} is no name of a timeline")
        name = f"{self.keys[0].name.rpartition('/')[0]}/{timeline}"
        key = Key(name, hashlib.sha256(name.encode() + b"\n\1" + public).digest()[:4], public)
        own = self.service.timeline
        try:
            of = read_answer(self.service.get(f"/timeline/{own}")).get("fork", {}).get("of")
            if of == f"{own}/{timeline}":
                self.unread_parent = f"{timeline} of another service, which {own} came with: export a bundle, and check that"
                return
            service = self.service.of(timeline)
            checkpoint = open_checkpoint(service.get("checkpoint", accept="text/plain"), [key])
            parent = Contents(service, [key], self.problems)
            parent.read(size)
        except urllib.error.HTTPError as error:
            if error.code not in (403, 404):
                raise
            self.unread_parent = f"{timeline}, which {own} was forked from: this API key may not read it"
            return
        is_right = parent.tree.root().hex() == fork["root"]
        need(is_right, f"the first {size} entries of {timeline} are not those of the fork")
        is_whole = not parent.unread_parent and all(event.content is not None for event in parent.events.values())
        need(not is_whole or whole(fork["events_count"]) == len(parent.events), f"{len(parent.events)} events stood on "
             f"{timeline} when it was forked, and the entry says {fork['events_count'][1]}")
        self.parent, self.unread_parent, self.events = parent, parent.unread_parent, dict(parent.events)
        parent.read_on(checkpoint)

    def read_on(self, checkpoint):
        """Reads on to a checkpoint that was verified, whose root must follow."""
        need(checkpoint.size >= self.tree.size, f"{self.service.timeline} has fewer entries than it was read with")
        self.read(checkpoint.size)
        is_right = self.tree.root() == checkpoint.root
        need(is_right, f"the first {checkpoint.size} entries of {self.service.timeline} are not those that were signed")

    def catch_up(self):
        """Reads what was written since, which may tell of an erasure."""
        if self.parent:
            self.parent.catch_up()
        old = Checkpoint(self.tree.size, self.tree.root())
        newest, hashes = self.service.proof(f"from={old.size}", self.keys)
        check_consistency(old, newest, hashes)
        self.read_on(newest)

    def whose(self, timeline, position):
        """Returns which entry of that ledger let a content go, and None where none did."""
        if timeline != self.service.timeline:
            return self.parent.whose(timeline, position) if self.parent else None
        # Events are erased, and nothing else that an entry says.
        is_event = self.missing.get(position, "record_event") in ON_EVENTS
        named = (by for first, last, by in self.runs if first <= position <= last)
        erased = (self.erased.get(position) or next(named, None)) if is_event else None
        return self.let_go.get(position, erased)

    def lineage(self):
        """Returns this ledger and those that it was forked from, one after the other."""
        return [self, *(self.parent.lineage() if self.parent else [])]

    def erasures(self, without_sweeps=False):
        """Returns a text for each content that is missing, with the entry that let it go, or None where none did. Told
        alone is what no sweep let go."""
        return [(f"entry {position} of {each.service.timeline} ({action})", self.whose(each.service.timeline, position))
                for each in self.lineage() for position, action in each.missing.items()
                if not without_sweeps or position not in each.swept]

def compare_events(contents, expected, position):
    """Compares the events that are answered with those that follow. Returns what is wrong, and what is left out."""
    timeline, found, answered = contents.service.timeline, [], set()
    for event in contents.service.events(position):
        event_id, at = event["event_id"], (event.pop("timeline_id", timeline), whole(event.pop("position")))
        need(event_id not in answered, f"monitor-events answers the event {event_id!r} twice")
        answered.add(event_id)
        right = expected.get(event_id)
        if right is None or right.content is None:
            if not contents.unread_parent or at[0] == timeline:
                found.append((event_id, "monitor-events answers it, and by the ledger it does not stand", None))
        elif (right.timeline, right.position) != at:
            found.append((event_id, f"monitor-events answers the version of entry {at[1]} of {at[0]}, and by the "
                          f"ledger that of entry {right.position} of {right.timeline} stands", None))
        elif frozen(event) != right.content:
            one, other = json.loads(frozen(event)), json.loads(right.content)
            names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
            found.append((event_id, f"monitor-events answers another {', '.join(names)} than entry {right.position} of "
                          f"{right.timeline} says", None))
    for event_id, right in expected.items():
        if right.content is not None and event_id not in answered:
            found.append((event_id, f"monitor-events leaves it out, and by entry {right.position} of {right.timeline} "
                          "it stands", right))
    return found

def verify_contents(service, keys, checkpoint, problems):
    """§8, what entries say. Prints what holds, and what was not checked."""
    contents = Contents(service, keys, problems)
    contents.read_on(checkpoint)
    expected, position = dict(contents.events), checkpoint.size - 1
    found = [] if problems else compare_events(contents, expected, position)
    by_whom = lambda event: contents.whose(event.timeline, event.position)
    for _ in range(CATCH_UPS_MAX):
        # What is missing may have been erased after the checkpoint, even while it was read. A later entry says so.
        left_out = [event for _, _, event in found if event]
        if None in [*map(by_whom, left_out), *(by for _, by in contents.erasures())]:
            contents.catch_up()
    meanwhile = [event for _, _, event in found if event and by_whom(event) is not None]
    found = [(event_id, what) for event_id, what, event in found if event not in meanwhile]
    problems += [f"event {event_id}: {what}" for event_id, what in found]
    unnamed = [what for what, by in contents.erasures() if by is None]
    problems += [f"{what}: salt and payload are missing, and no entry erased them" for what in unnamed]
    if problems:
        return
    lineage, visible_count = contents.lineage(), sum(event.content is not None for event in expected.values())
    visible_count -= len(meanwhile)
    print(f"contents    {sum(each.visible for each in lineage)} payloads are those that their entries were made for")
    print(f"events      monitor-events answers the {visible_count} events that stand after entry {position}, "
          "and no others")
    if meanwhile:
        not_checked(f"events that were erased while this script looked: {len(meanwhile)}")
    print_unchecked(contents, sum((each.hidden for each in lineage), collections.Counter()))

def print_unchecked(contents, hidden):
    if hidden:
        counts = ", ".join(f"{count} {action}" for action, count in sorted(hidden.items()))
        not_checked(f"what this API key may not see: {counts}")
    swept = sum(len(each.swept) for each in contents.lineage())
    if swept:
        not_checked(f"payloads that were pruned, as the retention of the timeline allows: {swept}")
    erased = contents.erasures(without_sweeps=True)
    for what, by in erased[:PROBLEMS_PRINTED_MAX]:
        not_checked(f"{what}, erased by entry {by}")
    if len(erased) > PROBLEMS_PRINTED_MAX:
        not_checked(f"{len(erased) - PROBLEMS_PRINTED_MAX} more that were erased, each by an entry that says so")
    if contents.unread_parent:
        not_checked(f"events of {contents.unread_parent}")
    not_checked("whether each actor might do what an entry says", "host times", "locations that events are found by",
                "what else the service answers: clock, anchors, paradoxes, sealed data")

# How to verify (§8).
def directory_after(before, entry):
    """2§1: the version of the directory never goes down, but where the ledger goes over to another service (2§7)."""
    found = entry.get("directory", -1)
    need(found >= before or (entry["action"], entry["v"]) == ("adopt", 2),
         "it is of a lower version than what is in front of it, or its directory is")
    return found

def walk(service, timeline, sizes, sample, problems, accepted):
    """§8, a whole ledger, step 2: reads the entries. Returns the roots at the sizes, and a sample's leaf hash."""
    tree, roots, sample_leaf, recorded_at, directory = Tree(), {0: Tree().root()}, None, None, -1
    for first in range(0, max(sizes), TILE_WIDTH):
        for data, tile_hash in service.leaves(first // TILE_WIDTH, min(TILE_WIDTH, max(sizes) - first)):
            seq, leaf = tree.size, leaf_hash(data)
            try:
                entry = read_entry(data)
                need(entry["seq"] == seq, f"it says that it is entry {entry['seq']}")
                need(entry["timeline_id"] == timeline, f"it says that it is of the timeline {entry['timeline_id']!r}")
                before, recorded_at = recorded_at, instant(entry["recorded_at"])
                need(before is None or before <= recorded_at, "it was recorded before the entry in front of it")
                directory = directory_after(directory, entry)
                if (entry["action"], entry["actor"]) == ("accept_rollback", "system"):
                    accepted.append(seq)
            except (ValueError, RecursionError) as error:
                problems.append(f"entry {seq}: {error}")
            if leaf != tile_hash:
                problems.append(f"entry {seq}: its hash is {leaf.hex()}, the tile of level 0 has {tile_hash.hex()}")
            tree.append(leaf)
            sample_leaf = leaf if seq == sample else sample_leaf
            if tree.size in sizes:
                roots[tree.size] = tree.root()
    return roots, sample_leaf

def verify(service, timeline, keys, note, saved_note, problems):
    """Does all of §8 that can be done without payloads, prints what holds, and adds what is wrong to the problems.
    Returns the checkpoint."""
    key, checkpoint = keys[0], open_checkpoint(note, keys)
    need(key.name.rpartition("/")[2] == timeline, f"the key is of the ledger {key.name!r}")
    print(f"checkpoint  {key.name}, {checkpoint.size} entries, root {checkpoint.root.hex()}: the signature verifies")
    saved = checkpoint if saved_note is None else open_checkpoint(saved_note, keys, is_saved=True)
    sample = checkpoint.size // 2
    sizes, accepted = {checkpoint.size, min(saved.size, checkpoint.size)}, []
    roots, sample_leaf = walk(service, timeline, sizes, sample, problems, accepted)
    for seq in accepted:
        print(f"accepted    entry {seq} says that an operator accepted a rollback: entries were lost before it")
    is_signed = roots[checkpoint.size] == checkpoint.root
    if not is_signed:
        low = saved.size if roots.get(saved.size) == saved.root else 0
        problems.append(f"entries {low} to {checkpoint.size - 1}: together they are not what was signed; their root is "
                        f"{roots[checkpoint.size].hex()}")
    if saved.size > checkpoint.size:
        problems.append(f"the ledger was rolled back: it had {saved.size} entries when the checkpoint was saved")
    elif roots[saved.size] != saved.root:
        problems.append(f"the first {saved.size} entries are not those of the saved checkpoint" + (", and the service has "
                        f"signed both: keep both notes, they are the evidence. The new one is\n{note.decode()}" if is_signed else ""))
    if problems:
        return checkpoint
    print(f"entries     all {checkpoint.size} are canonical and in order, equal the tiles, and lead to the root")
    print(f"saved       {'no checkpoint was given' if saved_note is None else f'the first {saved.size} entries are those of it'}")
    if checkpoint.size:
        newest, hashes = service.proof(f"position={sample}", keys)
        check_inclusion(sample_leaf, sample, newest, hashes)
        print(f"inclusion   the proof that entry {sample} is in the ledger of {newest.size} entries verifies")
    newest, hashes = service.proof(f"from={checkpoint.size}", keys)
    check_consistency(checkpoint, newest, hashes)
    print(f"consistency the proof that the ledger of {newest.size} entries continues that of {checkpoint.size} verifies")
    stated, rest = read_head(service.get("head", accept="text/plain"), key)
    newest, hashes = service.proof(f"from={stated.size}", keys)
    check_consistency(stated, newest, hashes)
    print(f"            the ledger of {newest.size} entries continues it; not checked: {', '.join(rest)}")
    return checkpoint

def self_test():
    """RFC 8032 §7.1, tests 1 to 3 (public key, signature, message): each verifies, and does not with one bit changed."""
    vectors = """
d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a e5564300c360ac729086e2cc806e828a\
84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c 92a009a9f0d4cab8720e820b5f642540\
a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00 72
fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025 6291d657deec24024827e69c3abe01a3\
0ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a af82"""
    for vector in vectors.strip().split("\n"):
        public, signature, message = (bytes.fromhex(part) for part in (vector.split() + [""])[:3])
        need(ed25519_verifies(public, message, signature), f"a signature of {public.hex()} does not verify")
        changed = signature[:40] + bytes([signature[40] ^ 1]) + signature[41:]
        need(not ed25519_verifies(public, message, changed), f"a changed signature of {public.hex()} verifies")
    print("The test vectors of RFC 8032 pass.")

def main_of_files(args):
    """Checks one proof file or one head statement, and tells of it."""
    read_file = lambda name: pathlib.Path(name).read_bytes() if name else None
    try:
        if args.head:
            print(verify_head(read_file(args.head), args.verifier_key[0]), "verifies.")
            return 0
        entry, payload, read = map(read_file, (args.entry, args.payload, args.read))
        print(verify_proof(read_file(args.proof), entry, args.verifier_key, payload, args.salt, read), "verifies.")
        return 0
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        print(f"WRONG       {error}\n{args.head or args.proof} does NOT verify.")
        return 1

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="The API key comes from TIMENAV_API_KEY.")
    parser.add_argument("url", nargs="?", default="", metavar="URL")
    parser.add_argument("timeline", nargs="?", default="", metavar="TIMELINE")
    parser.add_argument("--verifier-key", metavar="VKEY", type=read_key, action="append", default=[],
                        help="public key of the ledger, got by another way; given again for each retired key")
    parser.add_argument("--contents", action="store_true", help="check what the entries say, and monitor-events, too")
    parser.add_argument("--checkpoint", metavar="FILE", help="checkpoint saved earlier, which the ledger must continue")
    parser.add_argument("--save", metavar="FILE", help="where to keep the checkpoint, if the ledger verifies")
    parser.add_argument("--proof", metavar="FILE", help="proof file of one entry, to be checked instead of a whole ledger")
    parser.add_argument("--entry", metavar="FILE", help="the entry that the proof file is of, where it is not in that file")
    parser.add_argument("--payload", metavar="FILE", help="payload of that entry, to be compared with it")
    parser.add_argument("--salt", metavar="HEX", type=bytes.fromhex, default=b"", help="its salt, unless reads were erased")
    parser.add_argument("--read", metavar="FILE", help="one read of that entry, as it is shown without the others")
    parser.add_argument("--head", metavar="FILE", help="head statement, to be checked instead of a whole ledger")
    parser.add_argument("--rotation", metavar="FILE", action="append", default=[],
                        help="proof that another key took the place of the one given, for a bundle")
    parser.add_argument("--witness", metavar="VKEY", type=read_witness_key, action="append", default=[],
                        help="public key of a witness that must have cosigned a witnessed proof")
    parser.add_argument("--self-test", action="store_true", help="try the Ed25519 of this script and do nothing else")
    args, api_key, saved, problems = parser.parse_args(), os.environ.get("TIMENAV_API_KEY", ""), None, []
    if args.self_test:
        return self_test()
    if len({key.name for key in args.verifier_key}) > 1:
        parser.error("the keys are of different ledgers: each ledger has its keys under its own name")
    if args.url and not args.timeline and not re.match("https?://", args.url):
        if len(args.verifier_key) != 1 or args.proof or args.head:
            parser.error("a bundle, as a witnessed proof, needs one --verifier-key")
        return main_of_file(args)
    if args.proof or args.head:
        if args.url or args.contents or not args.verifier_key or args.proof and args.head:
            parser.error("--proof, as --head, needs --verifier-key, and no URL")
        return main_of_files(args)
    if not (re.match("https?://", args.url) and TIMELINE.fullmatch(args.timeline) and api_key.isascii()):
        parser.error("a URL with http:// or https:// and the name of a timeline are needed")
    service, keys = Service(args.url, args.timeline, api_key), args.verifier_key
    try:
        if args.checkpoint:
            saved = pathlib.Path(args.checkpoint).read_bytes()
        # Of `system`, the newest that witnesses have cosigned would be given. Versions before knew no other.
        newest = "?newest=true" if args.timeline == "system" else ""
        note = service.get(f"checkpoint{newest}", accept="text/plain")
        if not keys:
            print("WARNING: without --verifier-key, the service itself says which key to trust. That pins nothing: who runs\n"
                  "it can show another history under another key. Get the key by another way, and give it.", file=sys.stderr)
            keys = [read_key(json.loads(service.get("checkpoint", accept="application/json"))["verifier_key"])]
        checkpoint = verify(service, args.timeline, keys, note, saved, problems)
        if args.contents and not problems:
            verify_contents(service, keys, checkpoint, problems)
        elif not problems:
            not_checked("payloads, and what let them go", "the state that follows",
                        "whether each actor might do what an entry says")
        if args.save and not problems:
            pathlib.Path(f"{args.save}.new").write_bytes(note)
            os.replace(f"{args.save}.new", args.save)
    except (OSError, http.client.HTTPException) as error:
        detail = re.sub("[^ -~]", "?", error.read(1000).decode("latin-1")) if isinstance(error, urllib.error.HTTPError) else ""
        print(f"error: {error} {detail}", file=sys.stderr)
        if not problems:
            return 2
    except (AttributeError, ValueError, KeyError, TypeError, RecursionError) as error:
        problems.append(error)
    for problem in problems[:PROBLEMS_PRINTED_MAX]:
        print(printable(f"WRONG       {problem}"))
    print(f"{args.timeline} does NOT verify, findings: {len(problems)}." if problems else f"{args.timeline} verifies.")
    return 1 if problems else 0

# Bundles (b§1 to b§5).
BUNDLE_LINE_BYTES_MAX, BUNDLE_MISSING_MAX, LAYERS_MAX, POLICIES_MAX = 16 * 1024 * 1024, 1_000_000, 65, 1_000
LAYER = {"size": int, "timeline_id": str}
LINES = {
    "bundle": {"created_at": str, "format": str, "layers": list, "origin": str, "service_version": str, "timeline_id": str,
               "verifier_key": str},
    "layer": LAYER,
    "entry": {"leaf": str, "payload": str, "salt": str},
    "data": {"ciphertext": str, "commitment": str, "data_id": str, "erased_by": (int, type(None)), "format": int, "kdf": int,
             "nonce": str, "salt": str},
    "rotation": {"note": str},
    "checkpoint": {"note": str},
    "erasure": {"payload": str, "proof": str, "salt": str, "timeline_id": str},
    "end": {"data": int, "entries": int, "sha256": str},
}
KDFS = {1: "hkdf-sha256", 2: "argon2id"}
FORMATS = ("timenav-bundle/v1", "timenav-bundle/v2")

def read_line(data):
    """b§1: reads one line. Returns its name, and what it says."""
    need(data.endswith(b"\n"), "the last line has no line end: the file is cut off")
    line = read_json(data[:-1])
    need(isinstance(line, dict) and len(line) == 1, "this is no line of a bundle")
    (name, fields), = line.items()
    members = LINES.get(name, {})
    is_known = name in LINES and isinstance(fields, dict) and fields.keys() == members.keys()
    fits = lambda value, kind: isinstance(value, kind) and not isinstance(value, bool)
    is_known = is_known and all(fits(fields[one], kind) for one, kind in members.items())
    need(is_known, f"this is no line {name!r} as the page says")
    return name, fields

def parse_payload(payload):
    """Reads a payload that is a JSON object; nothing where it is another."""
    try:
        parsed = json.loads(payload)
    except (ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {}

def outside(runs, numbered):
    """2§7, runs: returns the keys whose numbers are in none of these runs. A key is its own number, or the last of a pair."""
    starts = [first for first, _ in runs]
    at = lambda number: bisect.bisect_right(starts, number) - 1
    is_named = lambda number: at(number) >= 0 and number <= runs[at(number)][1]
    return {key for key in numbered if not is_named(key[1] if isinstance(key, tuple) else key)}

class MissingContents:
    """b§3: what is missing from a layer until an entry says why."""

    def __init__(self):
        self.payloads, self.data, self.reads, self.count = set(), {}, set(), 0
        self.events, self.recorded, self.let_go, self.policies = set(), {}, 0, []

    def add(self, entry, salt, payload, hashed):
        seq = entry["seq"]
        if not salt and not payload:
            self.payloads.add(seq)
            self.recorded[seq] = CLASSES.get(entry["action"]), entry["recorded_at"], hashed
            if entry["action"] in ON_EVENTS:
                self.events.add(seq)
            self.count += 1
        elif not salt:
            erased = {(seq, number) for number, item in enumerate(json.loads(payload)) if "erased" in item}
            self.reads |= erased
            self.count += len(erased)
        elif (entry["action"], entry["v"]) == ("set_retention", 2):
            all_seconds = {of: json.loads(payload)[f"{of}_seconds"] for of in ("reads", "refusals")}
            self.policies.append((seq, {of: None if seconds is None else 10**6 * seconds for of, seconds in all_seconds.items()}))
            need(len(self.policies) <= POLICIES_MAX, f"a timeline can have at most {POLICIES_MAX} policies of retention")
        else:
            self.explain(entry, payload)
        is_much = len(self.payloads) + len(self.data) + len(self.reads) > BUNDLE_MISSING_MAX
        need(not is_much, "too much is missing before an entry says why")

    def explain(self, entry, payload, size=None):
        """Forgets what an entry tells the erasure of. Returns whether there was any. `size`: how many entries of the layer
        are here, where this is a later one."""
        before, seq = len(self.payloads) + len(self.data) + len(self.reads), entry["seq"]
        action, sweep = (entry["action"], entry["v"]), None
        try:
            is_erasing = action[0] in ("erase_data", "erase_events", "sweep", "erase_reads")
            fields = parse_payload(payload) if is_erasing else {}
            if action[0] == "erase_data" and fields.get("data_id") is not None:
                if self.data.get(fields["position"]) == (fields["data_id"], seq):
                    del self.data[fields["position"]]
            elif action[0] == "erase_data":
                self.payloads -= {fields["position"], *fields.get("also", [])} & self.events
            elif action == ("erase_events", 2):
                left = outside(fields["versions"], outside(fields["interventions"], self.payloads))
                self.payloads = left | self.payloads - self.events
            elif action == ("sweep", 2):
                runs = [(first, last) for first, last in fields["positions"]]
                sweep = (runs, fields["class"], host_micros(fields["cutoff"]), fields["policy"], fields["count"],
                         fields["leaf_hashes_sha256"])
            elif action == ("erase_reads", 2):
                of_entry = {read for read in self.reads if read[0] == fields["position"]}
                self.reads = self.reads - of_entry | outside(fields["reads"], of_entry)
        except (KeyError, TypeError, ValueError):
            pass  # What cannot be read names nothing.
        if sweep:
            self.sweep(entry, sweep, size)
        return len(self.payloads) + len(self.data) + len(self.reads) < before

    def retention_of(self, of, position, starts, longest):
        """2§7: returns how long the entry at a position is kept; `None` is forever. `starts`: where policies are set; `longest`
        remembers it, by policy in force."""
        first = bisect.bisect_left(starts, position) - 1
        if first not in longest:
            periods = [each[of] for _, each in self.policies[first:]] if first >= 0 else [None]
            longest[first] = None if None in periods else max(periods)
        return longest[first]

    def sweep(self, entry, sweep, size):
        """2§7: forgets what a sweep lets go. It lets go nothing that it may not."""
        (runs, of, cutoff, policy, count, hashes), seq, longest = sweep, entry["seq"], {}
        named, at = sorted(self.payloads - outside(runs, self.payloads)), host_micros(entry["recorded_at"])
        starts = [position for position, _ in self.policies]
        wrong = f"the sweep at position {seq}: "
        # A later one may rely on a policy that is not here. That keeps an entry for longer, or not for shorter.
        is_known = size is None or policy < size
        if is_known:
            allowed = dict(self.policies).get(policy, {}).get(of) if policy < seq else None
            need(allowed is not None, wrong + "no earlier policy allows what it pruned")
            need(cutoff + allowed <= at, wrong + "its cutoff is later than its policy allows")
            need(all(last < seq for _, last in runs), wrong + "it lists entries that do not come before it")
        for one in named:
            class_of, recorded_at, _ = self.recorded[one]
            need(class_of == of, wrong + f"it lists entry {one}, which belongs to another class")
            need(host_micros(recorded_at) < cutoff, wrong + f"it lists entry {one}, which was not recorded before its cutoff")
            retention = self.retention_of(of, one, starts, longest)
            is_due = retention is not None and (retention <= allowed if is_known else cutoff + retention <= at)
            need(is_due, wrong + f"it lists entry {one}, which another policy keeps longer")
        if is_known and len(named) == count:
            found = hashlib.sha256(b"".join(self.recorded[one][2] for one in named)).hexdigest()
            need(found == hashes, wrong + "the leaf hashes at its positions do not match those it lists")
        self.payloads, self.let_go = self.payloads - {*named}, self.let_go + len(named)

def erasure_in(erasure):
    """b§3: the erasure that `layer_erased` tells of, through any number of services: its entry and payload."""
    while True:
        extra, index, _, _ = read_proof(erasure["proof"].encode())
        entry, payload = read_entry(extra or b""), erasure["payload"].encode()
        need((entry["seq"], entry["timeline_id"]) == (index, erasure["timeline_id"]), "it is about another entry")
        need(SALT.fullmatch(erasure["salt"]), "a salt is not written as it should be")
        check_payload(entry, bytes.fromhex(erasure["salt"]), payload)
        if entry["action"] != "layer_erased":
            return entry, payload
        erasure = parse_payload(payload)

class Layer:
    """b§2: one timeline of the chain. Keeps the edge of its tree, and what is missing."""

    def __init__(self, named):
        self.size, self.id = named["size"], named["timeline_id"]
        self.tree, self.missing, self.recorded_at, self.directory = Tree(), MissingContents(), None, -1

    def entry(self, leaf, salt, payload):
        """§8, a whole ledger, step 2."""
        seq, entry = self.tree.size, read_entry(leaf)
        need(seq < self.size, "the layer has more entries than the first line says")
        need(entry["seq"] == seq, f"it says that it is entry {entry['seq']}")
        need(entry["timeline_id"] == self.id, f"it says that it is of the timeline {entry['timeline_id']!r}")
        before, self.recorded_at = self.recorded_at, instant(entry["recorded_at"])
        need(before is None or before <= self.recorded_at, "it was recorded before the entry in front of it")
        self.directory = directory_after(self.directory, entry)
        if salt or payload:
            check_payload(entry, salt, payload)
        self.tree.append(leaf_hash(leaf))
        self.missing.add(entry, salt, payload, leaf_hash(leaf))
        return entry

class Bundle:
    """b§4: checks a bundle line by line, and keeps one line of it."""

    def __init__(self, key, rotations):
        self.keys, self.proofs, self.header, self.layers, self.note = [key], rotations, None, [], None
        self.entries, self.data_lines, self.payloads, self.data, self.hash = 0, 0, 0, 0, hashlib.sha256()
        self.awaited, self.rotated, self.unfollowed, self.is_over = None, None, "", False

    def line(self, data):
        need(not self.is_over, "something follows the line 'end'")
        name, fields = read_line(data)
        need((self.header is None) == (name == "bundle"), f"a line {name!r} stands where none may")
        need(self.awaited is None or name == "data", "the sealed record of the entry before is missing")
        need(self.note is None or name in ("erasure", "end"), f"after the checkpoint there is no line {name!r}")
        getattr(self, f"on_{name}")(fields)
        self.hash.update(data)

    def on_bundle(self, fields):
        key = self.keys[0]
        need(fields["format"] in FORMATS, f"the format {fields['format']!r} is not known; that is not damage")
        need(fields["origin"] == key.name, f"the bundle is of {fields['origin']!r}, the key of {key.name!r}")
        layers = fields["layers"]
        are_layers = 1 <= len(layers) <= LAYERS_MAX and all(shape(one) == LAYER for one in layers)
        need(are_layers, "its layers are not as they are written")
        ids = [one["timeline_id"] for one in layers]
        need(all(re.fullmatch("[A-Za-z0-9][\\w.:@-]{0,127}", one, re.ASCII) for one in ids), "a layer is named as no timeline is")
        need("system" not in ids, "the timeline 'system' is in no bundle")
        need(len(set(ids)) == len(ids), "a layer is there twice")
        need(ids[-1] == fields["timeline_id"] == key.name.rpartition("/")[2], "its last layer is not the timeline of the key")
        self.header = fields

    def end_layer(self):
        if self.layers:
            last = self.layers[-1]
            need(last.tree.size == last.size, f"the layer {last.id!r} has {last.tree.size} entries, and should have {last.size}")
        self.rotated = None

    def on_layer(self, fields):
        self.end_layer()
        need(self.header["layers"][len(self.layers):][:1] == [fields], "the layer is not the one that the first line names")
        self.layers.append(Layer(fields))

    def on_entry(self, fields):
        need(self.layers, "an entry is in no layer")
        layer, leaf, payload = self.layers[-1], fields["leaf"].encode(), fields["payload"].encode()
        need(re.fullmatch("([0-9a-f]{32})?", fields["salt"]), "a salt is not written as it should be")
        salt, self.rotated, seq = bytes.fromhex(fields["salt"]), None, layer.tree.size
        try:
            entry = layer.entry(leaf, salt, payload)
            self.entries, self.payloads = self.entries + 1, self.payloads + bool(salt or payload)
            if entry["seq"] == 0:
                self.begins(layer, entry, parse_payload(payload))
            if entry["action"] == "layer_erased" and payload:
                self.explain_earlier(self.layers[:-1], payload)
            fields = parse_payload(payload) if entry["action"] in ("encrypt_data", "rotate_signing_key") else {}
            if entry["action"] == "encrypt_data" and payload:
                self.awaited = fields["data_id"], fields["format"], fields["kdf"], fields["sha256"], entry["seq"]
            if entry["action"] == "rotate_signing_key" and payload:
                self.rotated = fields["retired_verifier_key"], fields["verifier_key"]
                need(entry["subject"] == self.rotated[1], "its subject is not the key named in its payload")
                self.look_for_proof(leaf, entry["seq"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"entry {seq} of {layer.id}: {error}") from None

    def begins(self, layer, entry, fields):
        """b§2: what a layer says of where it comes from is what was read before it."""
        fork = fields.get("fork") if entry["action"] == "create_timeline" else None
        before = self.layers[-2] if len(self.layers) > 1 else None
        need(before or fork is None, f"{layer.id!r} goes on from {fork and fork['fork_of']!r}, which is not in the bundle")
        expected = before and (before.id, before.size, before.tree.root().hex())
        found = fork and (fork["fork_of"], fork["size"], fork["root"])
        need(expected == found, f"what comes before {layer.id!r} is not what it goes on from")

    def on_data(self, fields):
        need(self.awaited, "a sealed record does not follow an entry that mentions it")
        (data_id, form, kdf, sha256, seq), self.awaited = self.awaited, None
        is_it = (fields["data_id"], fields["format"], KDFS.get(fields["kdf"])) == (data_id, form, kdf)
        need(is_it, f"the sealed record of entry {seq} is not the one that the entry tells of")
        self.data_lines += 1
        names = ("salt", "nonce", "commitment", "ciphertext")
        parts = [decoded(fields[name]) if fields[name] else b"" for name in names]
        if fields["erased_by"] is None:
            found = hashlib.sha256(bytes([fields["format"], fields["kdf"]]) + b"".join(parts)).hexdigest()
            need(found == sha256, f"the sealed record of entry {seq} does not hash to what the entry says")
            self.data += 1
        else:
            need(not any(parts), f"the sealed record of entry {seq} was erased, and is there")
            removed = self.layers[-1].missing
            removed.data[seq] = data_id, fields["erased_by"]
            removed.count += 1

    def is_own(self):
        return len(self.layers) == len(self.header["layers"])

    def look_for_proof(self, leaf, seq):
        """b§5: a proof that came beside the bundle counts as a line in it."""
        if not self.is_own():
            return
        for extra, index, _, note in self.proofs:
            if (extra, index) == (leaf, seq):
                return self.follow(note)
        if self.rotated[0] == key_text(self.keys[0]):
            self.unfollowed = (f"; entry {seq} says that another key took its place, which proves nothing by itself: give the "
                               "proof of that rotation with --rotation, or the key that signs today")

    def on_rotation(self, fields):
        need(self.rotated and self.is_own(), "a line 'rotation' stands behind no entry of the last layer that tells of one")
        self.follow(fields["note"].encode())
        self.rotated = None

    def follow(self, note):
        """b§5: goes over to the next key, if both have signed the tree that ends with the rotation."""
        layer, key = self.layers[-1], self.keys[0]
        if self.rotated[0] != key_text(key):
            return  # One from before the key that was given: nothing hangs on it.
        origin, size, root = (note.decode().rpartition("\n\n")[0].split("\n") + ["", "", ""])[:3]
        is_here = (origin, size, root) == (key.name, str(layer.tree.size), base64.b64encode(layer.tree.root()).decode())
        need(is_here, "the checkpoint of a rotation is not of the entries up to it")
        new = read_key(self.rotated[1])
        need(new.name == key.name, "the key that takes its place has another name")
        open_note(note, [key, new], [key]), open_note(note, [key, new], [new])
        self.keys, self.unfollowed = [new, *self.keys], ""

    def on_checkpoint(self, fields):
        need(self.layers, "the checkpoint stands before the entries")
        self.end_layer()
        need(self.is_own(), "the checkpoint comes before the last layer")
        try:
            checkpoint = open_checkpoint(fields["note"].encode(), self.keys)
        except ValueError as error:
            raise ValueError(f"{error}{self.unfollowed}") from None
        own = self.layers[-1].tree
        need(checkpoint == (own.size, own.root()), "the entries are not those that the checkpoint signs")
        self.note = fields["note"]

    def on_erasure(self, fields):
        """b§3: a later entry of a layer, proven by a later checkpoint of that ledger."""
        layers = [layer for layer in self.layers if layer.id == fields["timeline_id"]]
        need(self.note and layers, "an erasure is of no layer, or stands before the checkpoint")
        extra, index, hashes, note = read_proof(fields["proof"].encode())
        service, public = self.keys[0].name.rpartition("/")[0], self.keys[0].public
        # The key pair signs every ledger of the service, under a name each (§6).
        name = f"{service}/{layers[0].id}"
        key = Key(name, hashlib.sha256(name.encode() + b"\n\1" + public).digest()[:4], public)
        entry = read_entry(extra or b"")
        check_inclusion(leaf_hash(extra), index, open_checkpoint(note, [key]), hashes)
        is_later = (entry["seq"], entry["timeline_id"]) == (index, layers[0].id) and index >= layers[0].size
        need(is_later, "an erasure is not a later entry of the layer")
        need(SALT.fullmatch(fields["salt"]), "a salt is not written as it should be")
        payload, at = fields["payload"].encode(), self.layers.index(layers[0])
        check_payload(entry, bytes.fromhex(fields["salt"]), payload)
        is_about_another = entry["action"] == "layer_erased"
        explain = layers[0].missing.explain
        is_explained = self.explain_earlier(self.layers[:at], payload) if is_about_another else explain(entry, payload, layers[0].size)
        need(is_explained, f"the erasure at {index} names nothing that is missing")

    def explain_earlier(self, earlier, payload):
        """b§3: an entry of a layer may say why something of an earlier one is gone; who signed that is not known here."""
        try:
            entry, payload = erasure_in(parse_payload(payload))
        except (ValueError, KeyError, TypeError, AttributeError):
            return False  # What cannot be read names nothing.
        about = [layer for layer in earlier if layer.id == entry["timeline_id"] and layer.size <= entry["seq"]]
        return self.header["format"] == FORMATS[1] and any(layer.missing.explain(entry, payload, layer.size) for layer in about)

    def on_end(self, fields):
        need(self.note, "there is no checkpoint")
        for layer in self.layers:
            missing = sorted({*layer.missing.payloads, *layer.missing.data, *(one for one, _ in layer.missing.reads)})
            need(not missing, f"what belongs to entries {missing[:4]} of {layer.id!r} is missing, and no entry erased it")
        need((fields["entries"], fields["data"]) == (self.entries, self.data_lines), "it says that there are other numbers of entries")
        need(fields["sha256"] == self.hash.hexdigest(), "the lines before the last one are not the ones it was created for")
        self.is_over = True

def key_text(key):
    """§6, a public key as it is handed around."""
    return f"{key.name}+{key.id.hex()}+{base64.b64encode(bytes([1]) + key.public).decode()}"

def main_of_bundle(args):
    """Checks a bundle, and tells of it."""
    number = 0
    try:
        rotations = [read_proof(pathlib.Path(name).read_bytes()) for name in args.rotation]
        bundle = Bundle(args.verifier_key[0], rotations)
        with open(args.url, "rb") as file:
            while data := file.readline(BUNDLE_LINE_BYTES_MAX + 1):
                number += 1
                need(len(data) <= BUNDLE_LINE_BYTES_MAX, "the line is too long")
                bundle.line(data)
        need(bundle.is_over, "the file ends before its line 'end': it is cut off")
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        print(f"WRONG       line {number}: {str(error)[:600]}\n{args.url} does NOT verify.")
        return 1
    own, key = bundle.layers[-1], bundle.keys[0]
    print(f"checkpoint  {key.name}, {own.size} entries, root {own.tree.root().hex()}: the signature verifies")
    if len(bundle.keys) > 1:
        print(f"rotations   followed: {len(bundle.keys) - 1}, to the key with the id {key.id.hex()}")
    for layer in bundle.layers[:-1]:
        print(f"goes on     from {layer.size} entries of {layer.id}, whose root the fork's first entry has")
    missing_count = sum(layer.missing.count for layer in bundle.layers)
    let_go = sum(layer.missing.let_go for layer in bundle.layers)
    print(f"contents    {bundle.payloads} payloads and {bundle.data} sealed records fit; erased, and listed by an entry: {missing_count}")
    if let_go:
        print(f"retention   of these, pruned: {let_go}")
    not_checked("the state that follows", "whether each actor might do what an entry says")
    print(f"{args.url} verifies.")
    return 0

# Proofs that witnesses vouch for (2§10).
def read_witness_key(text):
    """2§10: reads the public key of a witness."""
    return read_key(text, 4)

def cosigned_at(note, witness):
    """2§10: returns when a witness has cosigned a note, in seconds since 1970."""
    text, _, lines = note.rpartition("\n\n")
    times = []
    for line in lines.split("\n")[:-1]:
        _, name, data = line.split(" ", 2)
        signature = decoded(data)
        if (name, signature[:4]) != (witness.name, witness.id):
            continue
        time = int.from_bytes(signature[4:12], "big")
        message = f"cosignature/v1\ntime {time}\n{text}\n".encode()
        is_good = len(signature) == 76 and 0 < time < 2**63 and ed25519_verifies(witness.public, message, signature[12:])
        need(is_good, f"the cosignature of {witness.name} does not verify")
        times.append(time)
    need(times, f"{witness.name} has not cosigned the checkpoint")
    return max(times)

def verify_witnessed(data, key, witnesses):
    """2§10: leads an entry to the tree of its timeline, that to an entry of `system`, and that to a cosigned checkpoint."""
    response = json.loads(data)
    hashes = lambda texts: [bytes.fromhex(text) for text in texts]
    service, _, timeline = key.name.rpartition("/")
    name = f"{service}/system"
    kind = b"\1" + key.public
    system_key = Key(name, hashlib.sha256(name.encode() + b"\n" + kind).digest()[:4], key.public)
    system = open_checkpoint(response["checkpoint"].encode(), [system_key])
    times = {witness.name: cosigned_at(response["checkpoint"], witness) for witness in witnesses}
    tree, head = Checkpoint(response["size"], bytes.fromhex(response["root"])), response.get("head")
    if head is None:
        need(timeline == "system" and tree == system, "it does not show that `system` is committed to the timeline")
    else:
        leaf = head["leaf"].encode()
        check_inclusion(leaf_hash(leaf), head["position"], system, hashes(head["system_hashes"]))
        entry = read_entry(leaf)
        is_it = (entry["action"], entry["actor"], entry["timeline_id"], entry["seq"]) == ("heads", "system", "system", head["position"])
        count, _, root = entry["subject"].partition(":")
        need(is_it and HASH.fullmatch(root) and count == str(head["count"]), "the entry of `system` does not commit to trees")
        text = f"{key.name}\n{tree.size}\n{base64.b64encode(tree.root).decode()}\n".encode()
        check_inclusion(leaf_hash(text), head["index"], Checkpoint(int(count), bytes.fromhex(root)), hashes(head["hashes"]))
    leaf = response["leaf"].encode()
    check_inclusion(leaf_hash(leaf), response["position"], tree, hashes(response["hashes"]))
    entry = read_entry(leaf)
    need((entry["seq"], entry["timeline_id"]) == (response["position"], timeline),
         "the entry says that it is another one")
    return response, system, times

def main_of_witnessed(args, data):
    """Checks a proof of an entry that witnesses vouch for, and tells of it."""
    try:
        need(args.witness, "give the keys of witnesses with --witness; without them it shows no more than an ordinary proof")
        response, system, times = verify_witnessed(data, args.verifier_key[0], args.witness)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        print(printable(f"WRONG       {str(error)[:600]}") + f"\n{args.url} does NOT verify.")
        return 1
    print(printable(f"entry       {response['leaf']}"))
    print(f"tree        {response['size']} entries, which `system` is committed to; that has {system.size} entries, and is signed")
    for name, time in times.items():
        print(f"cosigned    by {name} at {datetime.datetime.fromtimestamp(time, datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}")
    not_checked("the payload", "whether the actor might do this", "whether the witnesses work together with the service")
    print(f"{args.url} verifies.")
    return 0

def main_of_file(args):
    """Checks a bundle or a witnessed proof. A bundle's first line says that it is one."""
    try:
        with open(args.url, "rb") as file:
            begin = file.read(1024)
            if begin.lstrip().startswith(b"{") and not re.match(rb'\s*\{\s*"bundle"', begin):
                return main_of_witnessed(args, begin + file.read())
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return main_of_bundle(args)

if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
