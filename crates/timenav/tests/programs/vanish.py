# Sends what it reads to a port of this machine, until `vanish.py PORT WORD` has read the word, and then vanishes.
import ctypes
import socket
import struct
import sys

connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
request = b""
while b"\r\n\r\n" not in request:
    request += sys.stdin.buffer.readline()
connection.sendall(request)
answer = b""
while sys.argv[2].encode() not in answer:
    some = connection.recv(4096)
    if not some:
        sys.exit(f"the connection has ended: {answer}")
    answer += some
# SO_ATTACH_FILTER with a filter that lets no byte of any packet in: `BPF_RET | BPF_K` of 0.
program = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
connection.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HL", 1, ctypes.addressof(program)))
print("vanished", flush=True)
sys.stdin.read()
