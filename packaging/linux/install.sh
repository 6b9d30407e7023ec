#!/bin/sh
# Installs Rollcall from this folder: ./install.sh [--prefix FOLDER] [--uninstall]
# The prefix is ~/.local, or /usr/local for root. Settings and state of users are never touched.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=$HOME/.local
[ "$(id -u)" != 0 ] || prefix=/usr/local
uninstall=
while [ $# -gt 0 ]; do
	case $1 in
	--prefix) [ $# -gt 1 ] || { echo "install.sh: --prefix needs a folder" >&2; exit 2; }; prefix=$2; shift ;;
	--prefix=*) prefix=${1#--prefix=} ;;
	--uninstall) uninstall=1 ;;
	*) echo "usage: ./install.sh [--prefix FOLDER] [--uninstall]" >&2; exit 2 ;;
	esac
	shift
done
case $prefix in /*) ;; *) echo "install.sh: the prefix must be a full path, not $prefix" >&2; exit 2 ;; esac
cd "$here"
find bin share -type f | while read -r file; do
	if [ -n "$uninstall" ]; then
		rm -f "$prefix/$file"
	else
		mkdir -p "$prefix/$(dirname "$file")"
		# A running program keeps its old file: the new one replaces the name.
		cp "$file" "$prefix/$file.rollcall-new"
		mv -f "$prefix/$file.rollcall-new" "$prefix/$file"
	fi
done
if [ -n "$uninstall" ]; then
	rmdir "$prefix"/share/doc/rollcall "$prefix"/share/doc/rollcall-cli 2>/dev/null || :
	echo "removed from $prefix; settings and state are left: rollcall uninstall --purge would have removed them"
	exit 0
fi
echo "installed $prefix/bin/rollcall"
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "$prefix/bin is not in PATH: add it, or start the program with its full path" ;; esac
