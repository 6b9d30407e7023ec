package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/agentname"
	"rollcall/proc"
)

// TestBarFormats: each bar gets what it can read, also of a session whose title is hostile to markup and to the separators of xbar.
func TestBarFormats(t *testing.T) {
	s := running(t, simple("one", agentname.Codex, adapters.Waiting, time.Second), "sleep", "60")
	s.Title = `<b>title</b> | bash=/bin/evil & "more"`
	d := withTable(codex(s))
	for format, want := range map[string][]string{
		"plain":    {"1 needs you\n"},
		"polybar":  {"%{F#e5a50a}◆1%{F-}\n"},
		"i3blocks": {`{"full_text":"◆1","short_text":"◆1","color":"#e5a50a","urgent":true}` + "\n"},
		"waybar":   {`"text":"◆1","alt":"needs-you"`, `&lt;b&gt;title&lt;/b&gt; |`, `"class":"needs-you"`},
		"xbar":     {"◆1\n---\n◆ ", `<b>title</b> ¦ bash=/bin/evil… · now | bash="`, ` param1=focus param2="one" terminal=false`},
	} {
		r := run(t, d, "bar", "--once", "--format", format)
		for _, text := range want {
			if r.code != Done || !strings.Contains(r.out, text) {
				t.Errorf("%s: %d, %q lacks %q; %s", format, r.code, r.out, text, r.err)
			}
		}
		if format == "waybar" && !json.Valid([]byte(r.out)) {
			t.Errorf("not JSON: %s", r.out)
		}
	}
	if r := run(t, deps(codex()), "bar", "--once", "--format", "waybar"); !strings.Contains(r.out, `"text":"","alt":"quiet"`) {
		t.Errorf("without sessions: %q", r.out)
	}
	if r := run(t, d, "bar", "--format", "tray"); r.code != Usage || !strings.Contains(r.err, "i3blocks, plain, polybar, waybar, xbar") {
		t.Errorf("%d %s", r.code, r.err)
	}
}

// TestBarSaysTrouble: a bar hides a part without a text, and agents that can't be read are not the same as none at work.
func TestBarSaysTrouble(t *testing.T) {
	d := deps(&agent{name: agentname.ClaudeCode, err: os.ErrPermission})
	for format, want := range map[string]string{
		"plain":    "no agents seen at work; trouble with Claude Code\n",
		"polybar":  "%{F#e66100}⚠%{F-}\n",
		"i3blocks": `{"full_text":"⚠","short_text":"⚠","color":"#e66100","urgent":false}` + "\n",
		"waybar":   `{"text":"⚠","alt":"trouble",`,
		"xbar":     "⚠\n---\n",
	} {
		if r := run(t, d, "bar", "--once", "--format", format); r.code != Done || !strings.HasPrefix(r.out, want) {
			t.Errorf("%s: %d, %q, want %q; %s", format, r.code, r.out, want, r.err)
		}
	}
}

// TestBarFollows: a new line follows a change, and the command ends with its bar.
func TestBarFollows(t *testing.T) {
	s := running(t, simple("one", agentname.ClaudeCode, adapters.Working, time.Second), "sleep", "60")
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	code := make(chan int, 1)
	go func() {
		code <- runOn(ctx, t, Streams{Out: in}, withTable(becomesBusy(s)), "bar").code
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	next := func(want string) {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == want {
				return
			}
		}
		t.Fatalf("no line %q", want)
	}
	next("1 working")
	h, err := proc.OpenAt("/proc", "/etc").Hold(s.Process)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Send(proc.Kill); err != nil {
		t.Fatal(err)
	}
	next("no agents at work")
	_ = out.Close()
	cancel()
	<-code
}
