package copilot

import (
	"slices"
	"strings"
	"testing"

	"rollcall/adapters"
)

func TestCommand(t *testing.T) {
	a := New(adapters.Config{Home: t.TempDir(), Env: func(string) string { return "" }})
	tests := map[string]struct {
		task  adapters.Task
		args  string // of which the id of a new session is left out
		stdin string
	}{
		"background":  {adapters.Task{Prompt: "do it", Model: "m"}, "--session-id ID --output-format json --model m", "do it"},
		"terminal":    {adapters.Task{Prompt: "--do it", Terminal: true, Answerable: true}, "--session-id ID --interactive=--do it", ""},
		"unsafe mode": {adapters.Task{Prompt: "do it", Mode: modeAllTools}, "--session-id ID --output-format json --allow-all-tools", "do it"},
		"plan":        {adapters.Task{Terminal: true, Mode: modePlan}, "--session-id ID --plan", ""},
		"resumed":     {adapters.Task{Prompt: "go on", Resume: "abc"}, "--resume=abc --output-format json", "go on"},
	}
	for name, test := range tests {
		c, err := a.Command("/bin/copilot", test.task)
		args := strings.Join(c.Args, " ")
		if test.task.Resume == "" {
			args = strings.Replace(args, c.Session, "ID", 1)
		}
		if err != nil || args != test.args || c.Stdin != test.stdin || c.Session == "" || c.Pipe {
			t.Errorf("%s: %q, stdin %q, session %q, %v", name, args, c.Stdin, c.Session, err)
		}
	}
	c, _ := a.Command("/bin/copilot", adapters.Task{Dir: "/d", Prompt: "do it", Answerable: true, Home: "/other", Resume: "abc"})
	if !c.Pipe || c.Session != "abc" || !strings.Contains(c.Stdin, `"session/load"`) || strings.Contains(c.Stdin, "do it") || !slices.Equal(c.Set, []string{"COPILOT_HOME=/other"}) {
		t.Errorf("%+v", c)
	}
	if _, ok := a.Talk().(adapters.Opener); !ok {
		t.Error("its conversation opens no session")
	}
}

func TestFailure(t *testing.T) {
	a := New(adapters.Config{Home: t.TempDir()})
	output := `cut {"type":"session.error"}` + "\n" + strings.TrimSpace(`{"type":"session.error","data":{"message":"400 no"},"id":"1"}`) + "\n" + `{"type":"result","exitCode":1}`
	if why := a.Failure([]byte(output)); why != "400 no" {
		t.Errorf("%q", why)
	}
	if why := a.Failure([]byte("something else")); why != "" {
		t.Errorf("%q", why)
	}
}
