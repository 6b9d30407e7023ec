package qwen

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/adaptertest/scene"
	"rollcall/internal/must"
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
	must.Do(t, err)
	f, err := a.transcripts.Read(t.Context(), s.File, info, true)
	if err != nil || len(f.calls) != 1 {
		t.Fatalf("%+v, %v", f.calls, err)
	}
	r := &remote{a, filepath.Join(w.Home, "events"), filepath.Join(w.Home, "input")}
	ask := func(id, call string) string {
		return `{"type":"control_request","request_id":"` + id + `","request":{"subtype":"can_use_tool","tool_name":"run_shell_command","tool_use_id":"` + call + `","input":{"command":"touch q","is_background":true}}}` + "\n"
	}
	w.Write(r.events, ask("old", "gone")+ask("r1", f.calls[0].id))
	list, err := r.pending(t.Context(), &got[0])
	if err != nil || len(list) != 1 || list[0].ID != "r1" || list[0].Kind != adapters.AsksPermission {
		t.Errorf("an option beside the command must be seen: %+v, %v", list, err)
	}
	w.Write(r.events, strings.Replace(ask("r1", f.calls[0].id), `"subtype"`, `"host":"far","subtype"`, 1))
	list, err = r.pending(t.Context(), &got[0])
	if err != nil || len(list) != 1 || list[0].CanAllow || !list[0].CanDeny || list[0].Unknown[0] != "request.host" {
		t.Errorf("a member that is not known: %+v, %v", list, err)
	}
	w.Write(r.events, ask("r1", f.calls[0].id)+`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"allowed":true}}}`+"\n")
	list, err = r.pending(t.Context(), &got[0])
	if err != nil || len(list) != 0 {
		t.Errorf("decided: %+v, %v", list, err)
	}
}

// The command line is the agent's own word: only files as Rollcall makes them are written to.
func TestFilesOfOthers(t *testing.T) {
	home := t.TempDir()
	made := func(name string) *remote {
		r := (*Adapter)(nil).remoteIn(filepath.Join(home, name))
		must.Do(t, r.make(time.Now()))
		return r
	}
	good := made(remotePrefix + "good")
	must.Do(t, errors.Join(good.check(), good.write(map[string]any{"type": "submit"})))
	victim := filepath.Join(home, ".bashrc")
	open := made(remotePrefix + "open")
	linked := made(remotePrefix + "linked")
	other := made("other")
	must.Do(t, errors.Join(os.WriteFile(victim, nil, 0o600), os.Chmod(open.input, 0o644), os.Remove(linked.input), os.Symlink(victim, linked.input)))
	folder := filepath.Join(home, remotePrefix+"link")
	must.Do(t, os.Symlink(filepath.Dir(good.events), folder))
	for name, r := range map[string]*remote{"others can read it": open, "a link": linked, "another folder": other, "a linked folder": good.a.remoteIn(folder), "a relative path": good.a.remoteIn(remotePrefix + "x")} {
		if r.check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := linked.write(map[string]any{"type": "submit"}); err == nil {
		t.Error("a link was followed")
	}
	if text, err := os.ReadFile(victim); err != nil || len(text) > 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// A process that names other files than Rollcall's takes no answers.
func TestRemoteOfACommandLine(t *testing.T) {
	w := scene.New(t)
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	dir := filepath.Join(w.Home, "x")
	for _, args := range []string{"", "--json-file=" + dir + "/events.jsonl --input-file=" + w.Home + "/.bashrc", "--json-file=/a/events.jsonl --input-file=/b/input.jsonl"} {
		id := w.Procs.Start(scene.Spec{Comm: "node", Exe: "/usr/bin/node", CWD: w.Home, Args: append([]string{"node", "/x/qwen-code/cli.js"}, strings.Fields(args)...)})
		if r, err := a.remoteOf(&adapters.Session{Owner: adapters.Owner{Process: id}}); err == nil {
			t.Errorf("%q: %+v", args, r)
		}
	}
}
