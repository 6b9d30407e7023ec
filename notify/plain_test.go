package notify

import (
	"fmt"
	"regexp"
	"testing"
	"unicode"
)

// appleScript matches a text with the escapes of AppleScript alone.
var appleScript = regexp.MustCompile(`^(?:[^\\]|\\[\\"nrt])*$`)

// TestForAppleScript: whatever a text contains, AppleScript can read it the way in which the library quotes it.
func TestForAppleScript(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		quoted := fmt.Sprintf("%q", forAppleScript("a"+string(r)+"b"))
		if !appleScript.MatchString(quoted) {
			t.Fatalf("%U: %s", r, quoted)
		}
	}
	const family = "👩\u200d👧 done\u00a0\U0001fae9 \"x\\y\" ü\nnext\xff"
	if got, want := forAppleScript(family), "👩👧 done \ufffd \"x\\y\" ü\nnext\ufffd"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
