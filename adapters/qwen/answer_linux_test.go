package qwen

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
)

// Only calls that are open in the session's file and that the terminal has not reported as decided wait, with everything that the tool gets.
func TestPendingInTerminal(t *testing.T) {
	w := scene.New(t)
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table, Now: func() time.Time { return time.Now().Add(quick) }})
	s := scene.Qwen(w).Start("/home/dev/proj", "go")
	s.Ask()
	got := adaptertest.Discover(t, a, adapters.Query{}).Sessions
	if len(got) != 1 || got[0].Status != adapters.Waiting {
		t.Fatalf("%+v", got)
	}
	if _, err := a.Pending(t.Context(), got[0]); !errors.Is(err, adapters.ErrAnswerElsewhere) {
		t.Errorf("without the files: %v", err)
	}
	info, err := os.Stat(s.File)
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.transcripts.Read(t.Context(), s.File, info, true)
	if err != nil || len(f.calls) != 1 {
		t.Fatalf("%+v, %v", f.calls, err)
	}
	r := remote{events: filepath.Join(w.Home, "events"), input: filepath.Join(w.Home, "input")}
	ask := func(id, call string) string {
		return `{"type":"control_request","request_id":"` + id + `","request":{"subtype":"can_use_tool","tool_name":"run_shell_command","tool_use_id":"` + call + `","input":{"command":"touch q","is_background":true}}}` + "\n"
	}
	w.Write(r.events, ask("old", "gone")+ask("r1", f.calls[0].id))
	list, err := a.pending(t.Context(), r, &got[0])
	if err != nil || len(list) != 1 || list[0].ID != "r1" || list[0].Kind != adapters.AsksPermission {
		t.Errorf("an option beside the command must be seen: %+v, %v", list, err)
	}
	w.Write(r.events, ask("r1", f.calls[0].id)+`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"allowed":true}}}`+"\n")
	if list, err = a.pending(t.Context(), r, &got[0]); err != nil || len(list) != 0 {
		t.Errorf("decided: %+v, %v", list, err)
	}
}
