package kimi

import (
	"slices"
	"testing"

	"rollcall/adapters"
)

// In the background Kimi Code asks for nothing, so that only a user who allows everything gets it; a prompt is never taken for an option.
func TestCommand(t *testing.T) {
	a := New(adapters.Config{Home: t.TempDir(), Env: func(string) string { return "" }})
	for _, c := range []struct {
		task adapters.Task
		want []string // nil: it is refused
	}{
		{adapters.Task{Prompt: "--yolo", Mode: "auto", Model: "m"}, []string{"--model", "m", "--output-format", "stream-json", "--prompt=--yolo"}},
		{adapters.Task{Prompt: "x", Mode: "auto", Resume: "session_1"}, []string{"--session", "session_1", "--output-format", "stream-json", "--prompt=x"}},
		{adapters.Task{Prompt: "x"}, nil},
		{adapters.Task{Prompt: "x", Mode: "plan"}, nil},
		{adapters.Task{Prompt: "x", Mode: "auto", Answerable: true}, nil},
		{adapters.Task{Prompt: "x", Answerable: true, Model: "m"}, nil},
		{adapters.Task{Prompt: "x", Answerable: true}, []string{"acp"}},
		{adapters.Task{Terminal: true, Prompt: "x"}, nil},
		{adapters.Task{Terminal: true, Mode: "plan", Resume: "session_1"}, []string{"--plan", "--session", "session_1"}},
		{adapters.Task{Terminal: true, Mode: "default"}, []string{}},
	} {
		got, err := a.Command("kimi", c.task)
		if (err != nil) != (c.want == nil) || err == nil && !slices.Equal(got.Args, c.want) {
			t.Errorf("%+v: %q, %v; want %q", c.task, got.Args, err, c.want)
		}
	}
}
