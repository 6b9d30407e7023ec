package machine

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/proc"
)

// TestPromises: a program that keeps all promises is said to, and each that breaks one is told which, with the row.
func TestPromises(t *testing.T) {
	row := func(id, more string) string {
		return `echo '{"schema":1,"event":"session","session":{"id":"` + id + `","agent":"x","evidence":"e","last_activity_at":"2026-01-02T00:00:00Z"` + more + `}}'` + "\n"
	}
	const stopped = `,"status":"stopped","outcome":"completed"`
	broken := func(text string) (out []string) {
		t.Helper()
		list, err := lister(t, greeting+text+listLine).Test(t.Context(), proc.Open())
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, p := range list {
			if p.Broken != "" {
				out = append(out, p.Name+": "+p.Broken)
			}
		}
		return out
	}
	if got := broken(row("a", stopped) + row("b", stopped+`,"parent":"a"`)); got != nil {
		t.Errorf("one that keeps all: %q", got)
	}
	older := strings.Replace(row("o", stopped), "2026", "2025", 1)
	for text, want := range map[string]string{
		row(`a\u001b[2J`, stopped):                                                           "an id is 1 to 300 bytes",
		row("a", `,"status":"busy"`):                                                         `"busy" is no status`,
		row("a", `,"status":"stopped","outcome":"done"`):                                     `"done" is no outcome`,
		row("a", `,"status":"unknown","waiting_for":"question"`):                             "waiting, and no other status",
		row("a", stopped+`,"evidence":""`):                                                   "add evidence",
		row("a", `,"status":"idle"`):                                                         "add pid and pid_start",
		row("a", `,"status":"idle","pid":1,"pid_start":77`):                                  "process 1 began at",
		row("a", stopped+`,"cwd":"shop"`):                                                    `"shop" is none`,
		row("a", stopped+`,"title":"t\u202e"`):                                               "title is changed before it is shown",
		row("a", stopped+`,"last_prompt":"`+strings.Repeat("x", 5000)+`"`):                   "last_prompt is changed before it is shown",
		row("a", stopped+`,"started_at":"yesterday"`):                                        `started_at "yesterday" is none`,
		row("a", stopped+`,"started_at":"2099-01-01T00:00:00Z"`):                             "started_at is in the future",
		row("a", stopped+`,"cost_usd":-1`):                                                   "no count is negative",
		row("a", stopped) + row("a", stopped):                                                "row a: it is listed again",
		row("a", stopped+`,"parent":"z"`):                                                    "its parent is not listed",
		row("a", stopped+`,"parent":"a"`):                                                    "it is below itself",
		older + row("a", stopped):                                                            "row a: it is newer than the row before it",
		`echo >>runs` + "\n" + row(`a'"$(wc -l <runs)"'`, stopped):                           "only one of them has it",
		`echo >>runs; if [ $(wc -l <runs) = 2 ]; then exit 3; fi` + "\n" + row("a", stopped): "a second run lists the same: it ended before its list was complete: exit status 3",
	} {
		if got := strings.Join(broken(text), "\n"); !strings.Contains(got, want) {
			t.Errorf("%s\nis told %q, want %s", text, got, want)
		}
	}
}

// TestPromisesOfRequests: the same for a program of requests.
func TestPromisesOfRequests(t *testing.T) {
	for text, want := range map[string]string{
		asks(command):                      "[]",
		asks(command + `,"harmless":true`): `"harmless"`,
		asks(`"session":"a","id":"1","kind":"plan","text":"x"`):                               "add can_allow or can_deny",
		`echo >>runs` + "\n" + asks(strings.Replace(command, "rm ", `'"$(wc -l <runs)"'`, 1)): "the requests differ",
	} {
		list, err := lister(t, greeting+text+listLine).TestRequests(t.Context())
		var broken []string
		for _, p := range list {
			if p.Broken != "" {
				broken = append(broken, p.Broken)
			}
		}
		if err != nil || !strings.Contains(fmt.Sprint(broken), want) {
			t.Errorf("%s: %q, %v", text, broken, err)
		}
	}
}
