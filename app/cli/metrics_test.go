package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/adapters"
)

func TestMetrics(t *testing.T) {
	failing := codex()
	failing.err = adapters.Unreadable("/home/dev/.codex", os.ErrPermission)
	d := deps(claude(full()), failing)
	r := run(t, d, "metrics")
	for _, want := range []string{
		`rollcall_sessions{agent="claude-code",status="waiting",waiting_for="permission"} 1`, `rollcall_adapter_failed{agent="codex"} 1`,
		`rollcall_session_tokens{agent="claude-code",kind="cache_read"} 1000`, `rollcall_info{build="headless",version="1.2.3"} 1`,
	} {
		if !strings.Contains(r.out, want+"\n") {
			t.Errorf("no %s in %+v", want, r)
		}
	}
	if r.code != Done || strings.Contains(r.out, `rollcall_sessions{agent="codex"`) || strings.Contains(r.out, "go_") {
		t.Errorf("%+v", r)
	}
	path := filepath.Join(t.TempDir(), "rollcall.prom")
	if r := run(t, d, "metrics", "--textfile", path, "--strict"); r.code != Incomplete || r.out != "" {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "\nrollcall_oldest_wait_seconds ") {
		t.Errorf("%v: %s", err, text)
	}
	for args, code := range map[string]int{"metrics --textfile=": Usage, "metrics x": Usage, "metrics --textfile " + path + "/x": Failure} {
		if r := run(t, d, strings.Fields(args)...); r.code != code || !strings.Contains(r.err, "rollcall: ") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}
