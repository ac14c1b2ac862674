# pg_cron in a server of its own, whose programs are in the folder `$1`.
set -e
own() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups "$@"; else "$@"; fi; }
chmod 777 . jobs
own "$1/initdb" -D data -A trust -U postgres --no-sync >log
cat >> data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$PWD'
shared_preload_libraries = 'pg_cron'
cron.use_background_workers = on
cron.database_name = 'postgres'
END
own "$1/postgres" -D data >>log 2>&1 &
until "$1/psql" -h "$PWD" -U postgres -c 'CREATE EXTENSION pg_cron' >>log 2>&1; do sleep 0.2; done
while read -r letter expression; do
    echo "SELECT cron.schedule('$letter', '$expression', \$\$COPY (SELECT '$letter ' || extract(epoch FROM
        clock_timestamp())) TO PROGRAM 'cat >> $PWD/jobs'\$\$);"
done <<END | "$1/psql" -h "$PWD" -U postgres -q >>log
a 0-8/4 8 6 5 *
p 20 8 6 5 *
b 30 1-17/4 6 5 *
c 0 12 7 5 *
d 30 23 7 5 *
END
date '+ready %s' >> jobs
wait
