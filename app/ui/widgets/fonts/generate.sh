#!/bin/sh
# generate.sh makes symbols.ttf and symbols-mono.ttf: the symbols of DejaVu Sans (Debian's package fonts-dejavu-core 2.37, licence in LICENSE_DejaVu.txt) that Fyne's
# own fonts lack beside its font for text and for code. It needs python3-fonttools. What it makes is committed.
set -eu
cd "$(dirname "$0")"
fyne=$(go list -m -f '{{.Dir}}' fyne.io/fyne/v2)/theme/font
sans=${1:-/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf}
make_subset() {
	wanted=$(python3 - "$sans" "$fyne/$1" "$fyne/InterSymbols-Regular.ttf" "$fyne/EmojiOneColor.otf" <<'PYTHON'
import sys
from fontTools.ttLib import TTFont
sans, *others = [set(TTFont(path).getBestCmap()) for path in sys.argv[1:]]
print(",".join("%04X" % r for r in sorted(sans - set().union(*others)) if 0x2000 <= r < 0x2c00))
PYTHON
	)
	# A space takes the font of the character before it, so each space is here, as wide as in Fyne's font.
	spaces=0020,00A0,2002,2003,2004,2005,2006,2007,2008,2009,200A,202F,205F
	python3 -m fontTools.subset "$sans" --unicodes="$wanted,$spaces" --output-file="$2" --no-hinting --layout-features='' --drop-tables+=FFTM
	python3 - "$2" "$fyne/$1" <<'PYTHON'
import sys
from fontTools.ttLib import TTFont
ours, fynes = (TTFont(path) for path in sys.argv[1:])
width = round(fynes["hmtx"][fynes.getBestCmap()[0x20]][0] * ours["head"].unitsPerEm / fynes["head"].unitsPerEm)
for space in 0x20, 0xA0:
    ours["hmtx"][ours.getBestCmap()[space]] = (width, 0)
# Fyne takes the height of a line from the first font that has a space, which is this one.
for table, name in ("hhea", "ascent"), ("hhea", "descent"), ("hhea", "lineGap"), ("OS/2", "usWinAscent"), ("OS/2", "usWinDescent"):
    height = getattr(fynes[table], name)
    setattr(ours[table], name, round(height * ours["head"].unitsPerEm / fynes["head"].unitsPerEm))
ours.save(sys.argv[1])
PYTHON
}
make_subset NotoSans-Regular.ttf symbols.ttf
make_subset DejaVuSansMono-Powerline.ttf symbols-mono.ttf
