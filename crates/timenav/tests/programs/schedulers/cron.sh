# Debian's cron with folders of its own, in a mount namespace. `cron.sh COMMAND…` passes cron to a command, if any.
set -e
jobs=$PWD/jobs
mount -t tmpfs none /var/spool/cron
mount -t tmpfs none /etc/cron.d
mount --bind /dev/null /etc/crontab
mount -t tmpfs none /run
job() { echo "$2 root printf '$1 \\%(\\%s)T\\n' -1 >> $jobs"; }
{
    echo SHELL=/bin/bash
    job a '0-8/4 8 6 5 *'
    job p '20 8 6 5 *'
    job b '30 1-17/4 6 5 *'
    job c '0 12 7 5 *'
    job d '30 23 7 5 *'
} > /etc/cron.d/jobs
date '+ready %s' >> "$jobs"
exec "$@" cron -f
