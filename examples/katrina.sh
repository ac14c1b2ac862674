#!/usr/bin/env bash
# One story from start to end, with curl alone: the hurricanes are imported, the clock travels to the
# morning of 2005-08-29, stands still, and goes on; New Orleans is looked at each time.
#
#   examples/katrina.sh [FILE]
#
# FILE is a CSV of storm fixes with the columns storm_id, name, time, lat, lon; HURDAT2 in that form
# works as it is. Without it, the ten fixes in examples/katrina.csv are used.
# TIMENAV_URL and TIMENAV_API_KEY say where the service is and who asks.
set -euo pipefail

base="${TIMENAV_URL:-$(cat "${TIMENAV_DATA:-timenav-data}/address")}"
key="${TIMENAV_API_KEY:-$(cat "${TIMENAV_DATA:-timenav-data}/admin.key")}"
file="${1:-$(dirname "$0")/katrina.csv}"
timeline=katrina

say() { printf '\n== %s\n' "$1"; }
# The key goes in by a file descriptor: an argument would show in the list of processes.
call() {
  local path="$1"
  shift
  curl --silent --show-error --fail-with-body --header @<(printf 'Authorization: Bearer %s' "$key") "$@" "$base$path"
  echo
}
post() { call "$1" --header 'Content-Type: application/json' --data "$2"; }
# The three hours up to what the clock shows, 200 km around New Orleans.
look() {
  local now
  now=$(call "/v1/clock?timeline_id=$timeline" | sed 's/.*"current_time":"\([^"]*\)".*/\1/')
  call "/v1/monitor-events" --get --data-urlencode "timeline_id=$timeline" \
    --data-urlencode 'location=geo:29.95,-90.07;u=200000' --data-urlencode "time_range=PT3H/$now"
}

say 'Import the hurricanes. A second time would add nothing.'
call "/v1/import-events?timeline_id=$timeline&format=csv&map=description=%7Bname%7D%20%28%7Bstatus%7D%29,actors=storm_id" \
  --header 'Content-Type: text/csv' --data-binary "@$file"

say 'Travel to the morning of 2005-08-29, and stand still.'
post /v1/travel "{\"timeline_id\":\"$timeline\",\"destination_time\":\"2005-08-29T06:30:00Z\",\"location\":\"New Orleans\"}"
post /v1/pause-time "{\"timeline_id\":\"$timeline\"}"

say 'Look around New Orleans.'
look

say 'Set an anchor, to come back to.'
anchor=$(post /v1/set-anchor "{\"timeline_id\":\"$timeline\",\"description\":\"before the landfall\"}")
echo "$anchor"
anchor_id=$(sed 's/.*"anchor_id":"\([^"]*\)".*/\1/' <<<"$anchor")

say 'Fast-forward twelve hours, and look again.'
post /v1/fast-forward "{\"timeline_id\":\"$timeline\",\"duration\":\"12h\"}"
look

say 'Return to the anchor.'
post /v1/return-to-anchor "{\"timeline_id\":\"$timeline\",\"anchor_id\":\"$anchor_id\"}"
