package listing

import (
	"os"
	"os/exec"
	"reflect"
	"testing"

	"rollcall/internal/must"
)

// A listing may name the process of a session that was killed, and no other one than its own.
func TestIs(t *testing.T) {
	ended := exec.Command("true")
	must.Do(t, ended.Run())
	for _, c := range []struct {
		listed, shown int
		is            bool
	}{{0, 7, true}, {7, 7, true}, {os.Getpid(), 0, false}, {os.Getpid(), 7, false}, {ended.Process.Pid, 0, true}, {ended.Process.Pid, 7, false}} {
		if s := (Session{ID: "a", PID: c.listed}); s.Is("a", c.shown) != c.is || s.Is("b", c.shown) {
			t.Errorf("%+v", c)
		}
	}
}

// What agents print is read into the same sessions, whatever its form.
func TestRead(t *testing.T) {
	const one, two = "01a2233f-9cab-78e1-bc51-83af3cf25daa", "0e9e5328-9fba-47ad-b811-c864c11a4d29"
	for name, c := range map[string]struct {
		read   func([]byte) ([]Session, error)
		output string
		want   []Session // nil: an error
	}{
		"array":      {readJSON, `[{"pid":7,"sessionId":"` + one + `","cwd":"/p"},{"id":"` + two + `","directory":"/q"}]`, []Session{{one, 7, "/p"}, {two, 0, "/q"}}},
		"lines":      {readJSON, "{\"session_id\":\"" + one + "\"}\n{\"session_id\":\"" + two + "\"}\n", []Session{{ID: one}, {ID: two}}},
		"nothing":    {readJSON, "\n", []Session{}},
		"words":      {readJSON, "no sessions\n", nil},
		"no id":      {readJSON, `[{"pid":7}]`, nil},
		"threads":    {readReply, `{"id":2,"result":{"data":[{"id":"` + one + `","cwd":"/p"}]}}`, []Session{{ID: one, CWD: "/p"}}},
		"sessions":   {readReply, `{"id":2,"result":{"sessions":[{"sessionId":"` + one + `"}]}}`, []Session{{ID: one}}},
		"more":       {readReply, `{"id":2,"result":{"data":[],"nextCursor":"x"}}`, nil},
		"an error":   {readReply, `{"id":2,"error":{"message":"no"}}`, nil},
		"for people": {readText, "Sessions (2):\n 1. first (now) [" + one + "]\n 2. other [" + two + "]\n", []Session{{ID: one}, {ID: two}}},
	} {
		got, err := c.read([]byte(c.output))
		if (err != nil) != (c.want == nil) || err == nil && len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
