#!/bin/sh
# Installs Rollcall from this folder: ./install.sh [--prefix FOLDER] [--downgrade] [--uninstall]
# The prefix is ~/.local, or /usr/local for root. Settings and state of users are never touched. A newer version is replaced
# only with --downgrade; without it, the exit code is 3.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$HOME/.local
[ "$(id -u)" != 0 ] || prefix=/usr/local
uninstall=
downgrade=
while [ $# -gt 0 ]; do
	case $1 in
	--prefix) [ $# -gt 1 ] || { echo "install.sh: --prefix needs a folder" >&2; exit 2; }; prefix=$2; shift ;;
	--prefix=*) prefix=${1#--prefix=} ;;
	--uninstall) uninstall=1 ;;
	--downgrade) downgrade=1 ;;
	*) echo "usage: ./install.sh [--prefix FOLDER] [--downgrade] [--uninstall]" >&2; exit 2 ;;
	esac
	shift
done
case $prefix in /*) ;; *) echo "install.sh: the prefix must be a full path, not $prefix" >&2; exit 2 ;; esac
cd "$here"
# version PROGRAM: prints the version's numbers, or nothing if the program does not run or is of no release.
version() { "$1" version 2>/dev/null | sed -n '1s/^rollcall v\{0,1\}\([0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*\).*/\1/p'; }
old=$prefix/bin/rollcall
if [ -z "$uninstall$downgrade" ] && [ -x "$old" ]; then
	has=$(version "$old")
	brings=$(version bin/rollcall)
	if [ -n "$has" ] && [ -n "$brings" ] && [ "$has" != "$brings" ] && [ "$(printf '%s\n%s\n' "$has" "$brings" | sort -V | tail -n 1)" = "$has" ]; then
		echo "install.sh: $old is version $has, which is newer than $brings in this folder; nothing was changed. Use --downgrade to replace it" >&2
		exit 3
	fi
fi
# The name has the process id: two users may install into one prefix at once.
part=
# shellcheck disable=SC2329 # the trap calls it
stop() {
	code=$?
	[ -z "$part" ] || rm -f "$part"
	[ "$code" = 0 ] || echo "install.sh: not finished; every file in $prefix is whole, the old or the new one. Make room or get the right to write there, then try again" >&2
	exit "$code"
}
trap stop EXIT
trap 'exit 130' INT HUP TERM
list=$(find bin share -type f)
while read -r file; do
	if [ -n "$uninstall" ]; then
		rm -f "$prefix/$file"
	else
		mkdir -p "$prefix/$(dirname "$file")"
		# A running program keeps its old file: the new one replaces the name.
		part=$prefix/$file.rollcall-new.$$
		cp "$file" "$part"
		mv -f "$part" "$prefix/$file"
		part=
	fi
done <<END
$list
END
if [ -n "$uninstall" ]; then
	rmdir "$prefix"/share/doc/rollcall "$prefix"/share/doc/rollcall-cli 2>/dev/null || :
	echo "removed from $prefix; settings and state are left: rollcall uninstall --purge would have removed them"
	exit 0
fi
echo "installed $prefix/bin/rollcall"
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "$prefix/bin is not in PATH: add it, or start the program with its full path" ;; esac
