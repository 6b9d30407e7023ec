package present

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"ls -l":                      "ls -l",
		"a\nb\n":                     "a⏎\nb⏎\n",
		"a\r\nb\tc":                  "a<U+000D>⏎\nb<U+0009>c",
		"\x1b[8mhidden\x1b[0m":       "<U+001B>[8mhidden<U+001B>[0m",
		"\u202etxt.exe\u2066":        "<U+202E>txt.exe<U+2066>",
		"a\u200b\u200d\ufe0f\u3164b": "a<U+200B><U+200D><U+FE0F><U+3164>b",
		"a\u00a0b\u3000c":            "a<U+00A0>b<U+3000>c",
		"a\xff\xc3b":                 "a<0xFF><0xC3>b",
		"\ufffd":                     "\ufffd",
		"\u009b31m \u2028":           "<U+009B>31m <U+2028>",
		"é ü 漢字 \U000e0041":          "é ü 漢字 <U+E0041>",
		"":                           "",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if long := strings.Repeat("x", 1<<20) + "end"; !strings.HasSuffix(Visible(long), "end") {
		t.Error("cut")
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\u202eb\x1b[0m\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Visible(text) {
			if r != '\n' && Invisible(r) {
				t.Errorf("%q shows %U", text, r)
			}
		}
	})
}

// TestDefaultIgnorable: no character that a terminal or font may draw as nothing is shown as itself (Unicode's Default_Ignorable_Code_Point).
func TestDefaultIgnorable(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		ignorable := unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Cf, r)
		if want := fmt.Sprintf("<U+%04X>", r); ignorable && Visible(string(r)) != want {
			t.Fatalf("%s is shown as %q", want, Visible(string(r)))
		}
		if unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && Line("a"+string(r)) != "a" {
			t.Fatalf("U+%04X stays in a line", r)
		}
	}
}
