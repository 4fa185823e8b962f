# Runs a PostgreSQL server for as long as standard input is open, then removes all of it. The other
# end of that pipe is held by the program that wants the server: however it ends, the system closes
# it. What it types at a terminal, or what is sent to all of its group, does not reach us.
#
# Arguments: the folder of PostgreSQL's programs, the folder for temporary files, and settings for
# the server. Says `folder …` and `ready`, or `failed …` with what the programs said.
trap '' HUP INT QUIT TERM PIPE
umask 077
programs=$1 temporary=$2
shift 2

say() { printf '%s\n' "$*" 2>/dev/null; }

# A process that is ending may still put a file there.
remove() {
    n=0
    until rm -rf "$folder" 2>/dev/null; do
        n=$((n + 1))
        [ "$n" -lt 100 ] || return 1
        sleep 0.1
    done
}

fail() {
    say "failed $1"
    tail -n 20 "$folder/log" 2>/dev/null
    remove
    exit 1
}

# At once, without a checkpoint. A server that does not heed it within ten seconds is killed.
stop() {
    pid=$(head -n 1 "$folder/data/postmaster.pid" 2>/dev/null)
    kill -QUIT "$pid" 2>/dev/null
    n=0
    until [ -e "$folder/ended" ] || [ "$n" -gt 400 ]; do
        n=$((n + 1))
        [ "$n" -ne 200 ] || kill -KILL "$pid" 2>/dev/null
        sleep 0.05
    done
}

# Root's own folder for temporary files may be closed to the user that we run as.
folder=$(mktemp -d "$temporary/wiremark-postgres.XXXXXX" 2>&1) ||
    folder=$(mktemp -d /tmp/wiremark-postgres.XXXXXX 2>&1) || {
    say "failed cannot make a folder: $folder"
    exit 1
}
say "folder $folder"

"$programs/initdb" --pgdata="$folder/data" --username=wiremark --auth=trust --no-locale \
    --encoding=UTF8 --no-sync >"$folder/log" 2>&1 </dev/null || fail 'initdb failed'

(
    "$programs/postgres" -D "$folder/data" -k "$folder" "$@"
    : >"$folder/ended"
) >"$folder/log" 2>&1 </dev/null &

# The eighth line of its file tells how far the server is: pg_ctl waits for it in this way.
n=0
until grep -q '^ready' "$folder/data/postmaster.pid" 2>/dev/null; do
    [ ! -e "$folder/ended" ] || fail 'the server ended before it was ready'
    n=$((n + 1))
    [ "$n" -lt 1200 ] || {
        stop
        fail 'the server was not ready within a minute'
    }
    sleep 0.05
done
say ready

cat >/dev/null
stop
remove
