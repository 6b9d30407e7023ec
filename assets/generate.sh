#!/bin/sh
# Draws every icon that is embedded or installed from the SVGs in svg/. Run it
# by "go generate ./assets" after changing one; its output is committed, so that
# a build needs none of its tools.
#
# Needs rsvg-convert (Debian: librsvg2-bin) and convert (Debian: imagemagick).
set -eu
cd "$(dirname "$0")"

for tool in rsvg-convert convert; do
	command -v "$tool" >/dev/null || {
		echo "generate.sh: $tool is missing: apt-get install librsvg2-bin imagemagick" >&2
		exit 1
	}
done

draw() { rsvg-convert --width "$2" --height "$2" --output "$3" "$1"; }

rm -rf png ico template
mkdir png ico template
for svg in svg/*.svg; do
	name=$(basename "$svg" .svg)
	for size in 16 20 22 24 32 48 64 128 256 512; do
		draw "$svg" "$size" "png/$name-$size.png"
	done
	# Windows picks by its scaling: 16 to 48 for 100 to 300 %.
	set -- 16 20 24 32 48
	[ "$name" != rollcall ] || set -- "$@" 256
	files=
	for size; do files="$files png/$name-$size.png"; done
	# shellcheck disable=SC2086 # a list of names made above, without spaces
	convert $files "ico/$name.ico"
done
# The menu bar of macOS is 16 points high here; twice that on a sharp display.
for svg in svg/template/*.svg; do
	name=$(basename "$svg" .svg)
	draw "$svg" 16 "template/$name.png"
	draw "$svg" 32 "template/$name@2x.png"
done
