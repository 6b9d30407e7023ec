package grok

import (
	"strings"
	"testing"
)

// request is what Grok Build 1.0.41 shows in a terminal of 70 columns, without what is between.
const request = "  feature/x ~/proj                          120 / 128K │ [Dashboard]\n\n  ◆ Run a command… 0.7s\n\n  ┃\n  ┃  Run a command\n" +
	"  ┃  rm -rf abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh ijk\n  ┃  abcdefgh x\n  ┃\n  ┃    rm -rf  two\n  ┃  ← → narrow scope\n  ┃\n" +
	"  ┃  1 (○) Yes, and don't ask again for anything (always-approve mode)\n  ┃  2 (●) Yes, proceed\n  ┃  3 (○) No, reject (type to add feedback)\n" +
	"  ┃  4 (○) Never allow: rm -rf\n  ┃\n\n  1/4:select  │  Tab:next option"

// TestPromptIsExact: the terminal's request is the one of the records only if it shows it and nothing else, all of it, and takes numbers.
func TestPromptIsExact(t *testing.T) {
	const command = "rm -rf abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh x\n\n  rm -rf  two"
	for name, c := range map[string]struct {
		replace, by string // in the screen
		command     string
		want        bool
	}{
		"shown":               {command: command, want: true},
		"another command":     {command: command + " y"},
		"only its beginning":  {command: "rm -rf abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh ijk abcdefgh x"},
		"another blank":       {command: strings.Replace(command, "  two", " two", 1)},
		"no line break":       {command: strings.ReplaceAll(command, "\n", " ")},
		"in part":             {replace: "  ┃    rm -rf  two\n", by: "  ┃  ... Ctrl-F to expand\n", command: command},
		"another description": {replace: "Run a command\n", by: "Make a file\n", command: command},
		"feedback is typed":   {replace: "3 (○) No", by: "3 (●) No", command: command},
		"another row":         {replace: "  ┃  ← →", by: "  ┃  ; rm x\n  ┃  ← →", command: command},
		"an option is gone":   {replace: "  ┃  2 (●) Yes, proceed\n", command: command},
		"the list of prompts": {replace: "1/4:select", by: "Esc:back", command: command},
	} {
		text := request
		if c.replace != "" {
			text = strings.Replace(text, c.replace, c.by, 1)
			if text == request {
				t.Fatalf("%s: the screen has no %q", name, c.replace)
			}
		}
		p, ok := style.Find(strings.Split(text, "\n"))
		if got := ok && p.Shows(parts("Run a command", c.command)...); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
