#!/bin/sh
# Starts a PostgreSQL for tests in its own folder, listening on a socket in it, and prints its address: `postgres://…`.
# Reads commands from stdin, one per line, and responds to each with a line: `stop` kills the server, `start` starts it.
# With PG_PORT it also listens there on 127.0.0.1. PG_TLS is a folder with server.crt and server.key for that.
# PG_CITUS_WORKERS makes it the coordinator of a Citus cluster with that many workers, which also listen on sockets.
# Then `stop-worker` kills the first of them, `start-worker` restarts it, and `join NAME` creates a database on all
# servers and adds the workers to the coordinator's.
# `freeze` suspends the server with all its sessions, and `thaw` resumes it.
# `ask STATEMENT` runs a statement on the server, and responds with `refused` if it fails. `standby` creates a standby
# of the server, on its port + 1. `stop-standby`, `start-standby` and `promote` control it. It requires a server without
# workers.
# At the end of its input it stops the server and deletes the folder, so it ends with the process that started it.
set -eu
# Signals to the process group of a test run must not end this script before it has cleaned up.
trap '' INT HUP TERM PIPE

bin=${PG_BIN:-}
if [ -z "$bin" ]; then
    # The newest version of Debian's packages, or the one in the path.
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
    # The server does not run as root.
    user=nobody
    chown "$user" "$folder"
    run="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups"
fi

workers=${PG_CITUS_WORKERS:-0}
port=${PG_PORT:-5432}
listen="-c listen_addresses=''"
address="postgres:///postgres?host=$folder&user=timenav"
if [ -n "${PG_PORT:-}" ]; then
    listen="-c listen_addresses=127.0.0.1"
    address="$address&port=$PG_PORT"
fi
if [ -n "${PG_TLS:-}" ]; then
    cp "$PG_TLS/server.crt" "$PG_TLS/server.key" "$folder"
    chmod 600 "$folder/server.key"
    [ -z "$run" ] || chown "$user" "$folder/server.crt" "$folder/server.key"
    listen="$listen -c ssl=on -c ssl_cert_file=$folder/server.crt -c ssl_key_file=$folder/server.key"
fi

# Starts a server by its number: 0, and workers from 1 on.
start() {
    its=$listen
    [ "$1" = 0 ] || its="-c listen_addresses=''"
    # Finish commits that a crash left half done at once, not within a minute. Each database has a process for that.
    [ "$workers" = 0 ] ||
        its="$its -c shared_preload_libraries=citus -c citus.recover_2pc_interval=1s -c max_worker_processes=300"
    # No data has to survive a machine failure. The socket is not accessible to others.
    $run "$bin/pg_ctl" --silent --wait -D "$folder/data$1" -l "$folder/log$1" -o "$its -c port=$((port + $1)) \
        -c unix_socket_directories='$folder' -c unix_socket_permissions=0777 -c fsync=off -c full_page_writes=off \
        -c max_connections=400 -c shared_buffers=64MB -c autovacuum_naptime=5min" start </dev/null >/dev/null 2>&1
}

stop() {
    $run "$bin/pg_ctl" --silent --wait -D "$folder/data$1" -m immediate stop >/dev/null 2>&1 || true
}

# Sends a signal to the first server and to all of its sessions.
signal() {
    first=$(head -n 1 "$folder/data0/postmaster.pid")
    kill "-$1" "$first"
    for session in $(ps -o pid= --ppid "$first"); do kill "-$1" "$session" 2>/dev/null || true; done
}

# Runs statements in a database of a server.
ask() {
    PGOPTIONS="-c client_min_messages=warning" "$bin/psql" -h "$folder" -p "$((port + $1))" -U timenav -d "$2" -qAt -v ON_ERROR_STOP=1 -c "$3" >/dev/null
}

# Adds the workers to a database of the coordinator.
join() {
    ask 0 "$1" "CREATE EXTENSION citus; SELECT citus_set_coordinator_host('$folder', $port)"
    for worker in $(seq "$workers"); do
        ask "$worker" "$1" 'CREATE EXTENSION citus'
        ask 0 "$1" "SELECT citus_add_node('$folder', $((port + worker)))"
    done
}

# Creates a standby of the first server.
follow() {
    $run "$bin/pg_basebackup" -h "$folder" -p "$port" -U timenav -D "$folder/data1" -R -c fast >"$folder/init" 2>&1
    start 1
}

finish() {
    # A suspended process would not receive the request to stop.
    signal CONT 2>/dev/null || true
    for server in $(seq 0 "$((workers + 1))"); do stop "$server"; done
    rm -rf "$folder"
}
trap finish EXIT

cd "$folder"
for server in $(seq 0 "$workers"); do
    $run "$bin/initdb" -D "$folder/data$server" -U timenav -A trust -E UTF8 --locale=C --no-sync >"$folder/init" 2>&1 || {
        echo "PostgreSQL cannot be set up: $(tail -n 1 "$folder/init")"
        exit 1
    }
    start "$server" || {
        echo "PostgreSQL does not start: $(tail -n 1 "$folder/log$server")"
        exit 1
    }
done
[ "$workers" = 0 ] || join postgres
echo "$address"
while read -r order name; do
    case $order in
        stop) stop 0 ;;
        start) start 0 ;;
        freeze) signal STOP ;;
        thaw) signal CONT ;;
        stop-worker) stop 1 ;;
        start-worker) start 1 ;;
        join)
            for server in $(seq 0 "$workers"); do
                ask "$server" postgres "CREATE DATABASE $name TEMPLATE template0"
            done
            join "$name"
            ;;
        ask)
            ask 0 postgres "$name" 2>/dev/null || {
                echo "ask: refused"
                continue
            }
            ;;
        standby) follow ;;
        stop-standby) stop 1 ;;
        start-standby) start 1 ;;
        promote) $run "$bin/pg_ctl" --silent --wait -D "$folder/data1" promote >/dev/null 2>&1 ;;
        end) exit 0 ;;
    esac
    echo "$order: done"
done
