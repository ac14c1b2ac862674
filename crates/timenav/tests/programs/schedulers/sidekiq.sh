# Sidekiq and its Redis server. `$1` is the folder of these files.
redis-server --port 0 --unixsocket "$PWD/socket" --save '' >log 2>&1 &
until test -S socket; do sleep 0.1; done
export REDIS_URL=unix://$PWD/socket
exec sidekiq -c 2 -r "$1/sidekiq.rb" >>log 2>&1
