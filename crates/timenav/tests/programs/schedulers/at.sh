# Debian's atd with a spool of its own, in a mount namespace. `at.sh COMMAND…` passes atd to a command, if any.
set -e
jobs=$PWD/jobs
mount -t tmpfs none /run
mount -t tmpfs none /var/spool/cron
mkdir -m 1770 /var/spool/cron/atjobs /var/spool/cron/atspool
touch /var/spool/cron/atjobs/.SEQ
chown -R daemon:daemon /var/spool/cron/at*
chmod 666 "$jobs"
while read -r letter seconds; do
    echo "echo $letter \$(date +%s) >> $jobs" | at -t "$(date -d "@$seconds" +%Y%m%d%H%M)" 2>>log
done < due
date '+ready %s' >> "$jobs"
exec "$@" atd -f
