# Starts the server `$2`, and watches keys that expire.
folder=$1 server=$2
export PATH=$PATH:/usr/sbin
case $server in
    redis) redis-server --port 0 --unixsocket "$PWD/socket" --save '' >log 2>&1 & ;;
    memcached) memcached -u nobody -s "$PWD/socket" -a 777 >log 2>&1 & ;;
    etcd)
        address=$((20000 + $$ % 10000))
        etcd --data-dir "$PWD/data" --listen-client-urls "http://127.0.0.1:$address" --advertise-client-urls \
            "http://127.0.0.1:$address" --listen-peer-urls "http://127.0.0.1:0" >log 2>&1 &
        ;;
    nginx)
        mkdir cache
        nginx -p "$PWD" -e "$PWD/log" -c "$folder/nginx.conf" &
        ;;
esac
until python3 -S -c 'import socket, sys
to = sys.argv[1]
connection = socket.socket(socket.AF_INET if to.isdigit() else socket.AF_UNIX)
sys.exit(connection.connect_ex(("127.0.0.1", int(to)) if to.isdigit() else to) != 0)' "${address:=$PWD/socket}"; do
    sleep 0.2
done
exec python3 -S "$folder/watch.py" "$server" "$address"
