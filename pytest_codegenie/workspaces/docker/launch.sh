# Becomes the program with exactly the environment that is given, or says why not.
#
#   launch.sh PATH STDIN PROGRAM [NAME=VALUE ...] ARGUMENT ...
#
# The first byte on stderr is S (started), N (there is no PROGRAM) or P (it may not be
# executed). Nothing of the case runs before it is written, so nobody can forge it.
search=$1 stdin=$2 program=$3
shift 3

case $program in
*/*) search=. file=$program ;;
*) file= ;;
esac
status=N
set -f
IFS=:
for directory in $search; do
    candidate=${file:-${directory:-.}/$program}
    [ -e "$candidate" ] || continue
    if [ -f "$candidate" ] && [ -x "$candidate" ]; then
        status=S
        break
    fi
    status=P
done
printf %s "$status" >&2
[ "$status" = S ] && exec env -i "$@" <"$stdin"
