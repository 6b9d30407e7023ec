package kimi

import (
	"strings"
	"testing"
)

// rule is what Kimi Code 2.1.0 draws above and below a request in a terminal of 70 columns, and request what is between.
var (
	rule    = " " + strings.Repeat("─", 68)
	request = " ● Running a command · $ rm -rf abc…\n" + rule + "\n   ▶ Run this command?\n\n   cwd: /p\n   Dangerous: recursive delete\n" +
		"   $ rm -rf abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh ijk\n     abcdefgh x\n   ·\n   ·   rm -rf  two\n     Run a command\n\n" +
		"   ▶ 1. Approve once\n     2. Approve for this session\n     3. Reject\n     4. Reject with feedback\n\n   ↑/↓ select · 1/2/3/4 choose · ↵ confirm\n" + rule +
		"\n mock-1  ~/proj  feature/x\n                     context: 1%"
)

// TestPromptIsExact: the terminal's request is the one of the records only if it shows it and nothing else, all of it, and takes numbers.
func TestPromptIsExact(t *testing.T) {
	const command = "rm -rf abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh x\n\n  rm -rf  two"
	for name, c := range map[string]struct {
		replace, by string // in the screen
		command     string
		want        bool
	}{
		"shown":                             {command: command, want: true},
		"another command":                   {command: command + " y"},
		"only its beginning":                {command: "rm -rf abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh x"},
		"another blank":                     {command: strings.Replace(command, "  two", " two", 1)},
		"no line break":                     {command: strings.ReplaceAll(command, "\n", " ")},
		"its beginning is above the screen": {replace: "   ▶ Run this command?\n", command: command},
		"another folder":                    {replace: "/p\n", by: "/q\n", command: command},
		"another description":               {replace: "     Run a command\n", command: command},
		"feedback is typed":                 {replace: "   ▶ 1. Approve once\n     2. Approve for this session\n     3. Reject\n     4.", by: "     1. Approve once\n     2. Approve for this session\n     3. Reject\n   ▶ 4.", command: command},
		"another row":                       {replace: "     Run a command\n", by: "   · rm x\n     Run a command\n", command: command},
		"an option is gone":                 {replace: "     2. Approve for this session\n", command: command},
		"another dialog":                    {replace: "   ▶ Run this", by: "   ▶ Stop this", command: command},
	} {
		text := request
		if c.replace != "" {
			text = strings.Replace(text, c.replace, c.by, 1)
			if text == request {
				t.Fatalf("%s: the screen has no %q", name, c.replace)
			}
		}
		p, ok := style.Find(strings.Split(text, "\n"))
		if got := ok && p.Shows(parts("/p", c.command, "Run a command")...); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
