# anacron waits for minutes before each job. `anacron.sh COMMAND…` passes anacron to a command, if any.
set -e
mkdir spool
: > tab
now=$(date +%s)
while read -r letter seconds; do
    [ "$seconds" -gt "$now" ] || continue
    echo "1 $(((seconds - now) / 60 + 1)) $letter$seconds echo $letter \$(date +%s) >> $PWD/jobs" >> tab
done < due
echo "ready $now" >> jobs
exec "$@" anacron -d -t tab -S spool
