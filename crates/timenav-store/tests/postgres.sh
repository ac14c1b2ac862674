#!/bin/sh
# Starts a PostgreSQL for tests, in a folder of its own and on a socket in it, and says where: `postgres://…`.
# Takes orders on its input, a line each, and answers each with a line: `stop` kills the server, `start` starts it again.
# PG_PORT has it listen there on 127.0.0.1 too, and PG_TLS names a folder with server.crt and server.key for that.
# At the end of its input it stops the server and deletes the folder. So it ends with whoever started it, however that ends.
set -eu
# What is sent to the whole group of a test run must not end this before it has cleaned up.
trap '' INT HUP TERM

bin=${PG_BIN:-}
if [ -z "$bin" ]; then
    # The newest one that Debian's packages have installed, or whatever is in the path.
    bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
fi
if [ -z "$bin" ] && command -v pg_ctl >/dev/null; then
    bin=$(dirname "$(command -v pg_ctl)")
fi
if [ -z "$bin" ] || [ ! -x "$bin/initdb" ]; then
    echo "PostgreSQL is missing; install it, for example with \`apt-get install postgresql\`, or name its programs in PG_BIN"
    exit 1
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/timenav-pg.XXXXXX")
run=
if [ "$(id -u)" = 0 ]; then
    # The server refuses to run as root.
    user=nobody
    chown "$user" "$folder"
    run="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups"
fi

listen="-c listen_addresses=''"
address="postgres:///postgres?host=$folder&user=timenav"
if [ -n "${PG_PORT:-}" ]; then
    listen="-c listen_addresses=127.0.0.1 -c port=$PG_PORT"
    address="$address&port=$PG_PORT"
fi
if [ -n "${PG_TLS:-}" ]; then
    cp "$PG_TLS/server.crt" "$PG_TLS/server.key" "$folder"
    chmod 600 "$folder/server.key"
    [ -z "$run" ] || chown "$user" "$folder/server.crt" "$folder/server.key"
    listen="$listen -c ssl=on -c ssl_cert_file=$folder/server.crt -c ssl_key_file=$folder/server.key"
fi

start() {
    # Nothing here has to outlive the machine. Nobody else reaches the socket.
    $run "$bin/pg_ctl" --silent --wait -D "$folder/data" -l "$folder/log" -o "$listen \
        -c unix_socket_directories='$folder' -c unix_socket_permissions=0777 -c fsync=off -c full_page_writes=off \
        -c max_connections=400 -c shared_buffers=64MB -c autovacuum_naptime=5min" start </dev/null >/dev/null 2>&1
}

stop() {
    $run "$bin/pg_ctl" --silent --wait -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
}

finish() {
    stop
    rm -rf "$folder"
}
trap finish EXIT

cd "$folder"
$run "$bin/initdb" -D "$folder/data" -U timenav -A trust -E UTF8 --locale=C --no-sync >"$folder/init" 2>&1 || {
    echo "PostgreSQL cannot be set up: $(tail -n 1 "$folder/init")"
    exit 1
}
start || {
    echo "PostgreSQL does not start: $(tail -n 1 "$folder/log")"
    exit 1
}
echo "$address"
while read -r order; do
    case $order in
        stop) stop ;;
        start) start ;;
        end) exit 0 ;;
    esac
    echo "$order: done"
done
