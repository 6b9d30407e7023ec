package gemini

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/textmatch"
)

// A search finds what the conversation shows, under the same keys, once; what was written again after an interruption is not found twice,
// and what tools answered only if it is asked for.
func TestSearch(t *testing.T) {
	w := newWorld(t)
	w.chat("a", "00", head("a", time.Hour), user(time.Hour, "find the needle"),
		fmt.Sprintf(`{"id":"c","timestamp":%q,"type":"gemini","content":"a needle","toolCalls":[{"id":"t","name":"read_file","args":{"file_path":"hay"},"result":[{"functionResponse":{"response":{"output":"needle in hay"}}}],"status":"success"}]}`, stamp(time.Hour)),
		fmt.Sprintf(`{"id":"i","timestamp":%q,"type":"info","content":"Request cancelled."}`, stamp(time.Hour)),
		fmt.Sprintf(`{"id":"x","timestamp":%q,"type":"user","content":[{"text":"find the needle"}]}`, stamp(time.Hour)),
		`{"$set":{"messages":[{"id":"x","type":"user","content":[{"text":"find the needle"}]}]}}`, user(time.Minute, "no more"))
	w.chat("b", "00", user(time.Hour, "headless needle"))
	w.logs([3]string{"b", "1h", "headless needle"})
	w.Write(w.Path(".gemini", "tmp", "proj", "chats", "session-2026-11-25T10-00-cccccccc.json"),
		fmt.Sprintf(`{"sessionId":%q,"startTime":%q,"messages":[%s]}`, id("c"), stamp(time.Hour), user(time.Hour, "an old needle")))
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	search := func(tools bool) (found []string) {
		t.Helper()
		list, err := a.Conversations(t.Context(), time.Time{})
		must.Do(t, err)
		pattern, err := textmatch.Text("needle")
		must.Do(t, err)
		for _, c := range list {
			if _, err := c.Search(t.Context(), &adapters.SearchQuery{Pattern: pattern, Tools: tools}, func(h adapters.Hit) error {
				found = append(found, h.Session[:1]+" "+h.Key)
				return nil
			}); err != nil {
				t.Error(err)
			}
		}
		slices.Sort(found)
		return found
	}
	want := []string{"a c", "a ufind the needle", "b uheadless needle", "c uan old needle"}
	if got := search(false); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := search(true); !slices.Equal(got, slices.Insert(want, 1, "a c/0")) {
		t.Errorf("%q", got)
	}
	messages, err := a.Peek(t.Context(), w.sessions()["a"], 10)
	var keys []string
	for _, m := range messages {
		keys = append(keys, m.Key)
	}
	if want := "ufind the needle c c/0 i uno more"; err != nil || strings.Join(keys, " ") != want {
		t.Errorf("%v, %q, want %q", err, keys, want)
	}
}

// TestFailure: the sentence of a failed run is found in its output (0.61.0).
func TestFailure(t *testing.T) {
	for output, want := range map[string]string{
		`"cut"}` + "\n" + `{"type":"result","timestamp":"x","status":"error","error":{"type":"Error","message":"[API Error: no quota]"},"stats":{}}` + "\n": "[API Error: no quota]",
		`{"type":"result","status":"success"}` + "\n": "",
		"panic\n": "",
	} {
		if got := (&Adapter{}).Failure([]byte(output)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCommand: the prompt goes to standard input, where no process list shows it; a session of another home is resumed there.
func TestCommand(t *testing.T) {
	a := New(adapters.Config{Home: "/home/dev", Env: func(string) string { return "" }})
	for _, c := range []struct {
		task adapters.Task
		want string
	}{
		{adapters.Task{Prompt: "-x", Mode: "yolo", Model: "m"}, "--session-id ID --output-format stream-json --model m --approval-mode yolo < -x"},
		{adapters.Task{Prompt: "-x", Terminal: true}, "--session-id ID --prompt-interactive=-x < "},
		{adapters.Task{Prompt: "x", Resume: "old", Home: "/srv/.gemini"}, "GEMINI_CLI_HOME=/srv --resume=old --output-format stream-json < x"},
		{adapters.Task{Resume: "old", Home: "/home/dev/.gemini", Terminal: true}, "--resume=old < "},
	} {
		got, err := a.Command("gemini", c.task)
		line := strings.Join(append(got.Set, got.Args...), " ") + " < " + got.Stdin
		if c.task.Resume == "" {
			line = strings.Replace(line, got.Session, "ID", 1)
		}
		if err != nil || line != c.want {
			t.Errorf("%v, %s, want %s", err, line, c.want)
		}
	}
	got, err := a.Command("gemini", adapters.Task{Prompt: "x", Answerable: true, Dir: "/p", Resume: "old"})
	if err != nil || !got.Pipe || strings.Join(got.Args, " ") != "--acp" || strings.Contains(got.Stdin, `"x"`) || !strings.Contains(got.Stdin, "session/load") {
		t.Errorf("%v, %+v", err, got)
	}
}
