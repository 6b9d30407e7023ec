package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/present"
	"rollcall/internal/agentname"
	"rollcall/internal/must"
	"rollcall/textmatch"
)

// searchable is an agent whose sessions said something.
type searchable struct {
	agent
	said []adapters.Message
	lost error // what could not be searched
}

func (a *searchable) Conversations(context.Context, time.Time) ([]adapters.Conversation, error) {
	return []adapters.Conversation{{Changed: now, Search: func(_ context.Context, q *adapters.SearchQuery, found func(adapters.Hit) error) (map[string]int, error) {
		for _, m := range a.said {
			start, end, ok := q.Pattern.Find(m.Text)
			if !ok || m.Role == adapters.FromTool && !q.Tools {
				continue
			}
			if err := found(adapters.Hit{Session: "9830e65d", CWD: "/home/dev/proj", Changed: now, Key: m.Key, Role: m.Role, Tool: m.Tool, At: m.At,
				Part: textmatch.Excerpt(m.Text, start, end, adapters.HitText)}); err != nil {
				return nil, err
			}
		}
		return nil, a.lost
	}}}, nil
}

func newSearchable() *searchable {
	return &searchable{agent: agent{name: agentname.ClaudeCode}, said: []adapters.Message{
		{Key: "k1", Role: adapters.FromUser, Text: "first\nmake the Build green\nlast", At: now},
		{Key: "k2", Role: adapters.FromAgent, Text: "the build is red" + hostile},
		{Key: "k3", Role: adapters.FromTool, Tool: "Bash", Text: "make build"},
	}}
}

func TestSearch(t *testing.T) {
	lost := newSearchable()
	lost.lost = adapters.Unreadable("/home/dev/x.jsonl", fs.ErrPermission)
	for _, tt := range []struct {
		agent *searchable
		args  string
		code  int
		out   []string // in their order
		err   string
	}{
		{newSearchable(), "search build", Done, []string{"9830e65d  Claude Code  ~/proj", "You", "make the Build green", "Claude Code", "the build is red"}, ""},
		{newSearchable(), "search build --tools", Done, []string{"Bash", "make build"}, ""},
		{newSearchable(), "search --regex re+d", Done, []string{"the build is red"}, ""},
		{newSearchable(), "search nothing", NotFound, nil, "nothing was found in 1 conversation"},
		{newSearchable(), "search build --since 1d --cwd /home/dev", Done, []string{"make the Build green"}, ""},
		{newSearchable(), "search build --cwd /home/other", NotFound, nil, "nothing was found"},
		{lost, "search build", Done, []string{"make the Build green"}, "claude-code: /home/dev/x.jsonl: unreadable"},
		{lost, "search build --strict", Incomplete, []string{"make the Build green"}, "unreadable"},
		{lost, "search nothing", Incomplete, nil, "unreadable"},
		{newSearchable(), "search", Usage, nil, "takes a text to search for"},
		{newSearchable(), "search --regex (", Usage, nil, "regular expression can't be read"},
		{newSearchable(), "search --regex a*", Usage, nil, "matches every text"},
		{newSearchable(), "search x --limit -1", Usage, nil, "--limit must be 0 or more"},
		{newSearchable(), "search x --since never", Usage, nil, "--since must be a time"},
		{newSearchable(), "search x --agent clod", Usage, nil, "--agent must be one of"},
		{newSearchable(), "grep x", Usage, nil, `did you mean "search"?`},
	} {
		r := run(t, deps(tt.agent), strings.Fields(tt.args)...)
		at := 0
		for _, want := range tt.out {
			i := strings.Index(r.out[at:], want)
			if i < 0 {
				t.Errorf("%s: no %q in %q", tt.args, want, r.out[at:])
				break
			}
			at += i
		}
		if r.code != tt.code || !strings.Contains(r.err, tt.err) || tt.out == nil && r.out != "" {
			t.Errorf("%s: exit code %d, want %d; %q", tt.args, r.code, tt.code, r.err)
		}
		if strings.ContainsAny(r.out, "\x1b\x07\u202e") {
			t.Errorf("%s: hostile text reaches the terminal: %q", tt.args, r.out)
		}
	}
}

func TestSearchJSON(t *testing.T) {
	r := run(t, deps(newSearchable()), "search", "build", "--json", "--limit", "2")
	lines := bufio.NewScanner(strings.NewReader(r.out))
	var hits []hitJSON
	var end searchEndJSON
	for lines.Scan() {
		var h hitJSON
		must.Do(t, json.Unmarshal(lines.Bytes(), &h))
		if h.Session != "" {
			hits = append(hits, h)
		} else if err := json.Unmarshal(lines.Bytes(), &end); err != nil {
			t.Fatal(err)
		}
	}
	keys := []string{hits[0].Key, hits[1].Key}
	if r.code != Done || len(hits) != 2 || !slices.Equal(keys, []string{"k1", "k2"}) || end.Hits != 2 || !end.Limited || end.Adapters[0].Name != agentname.ClaudeCode {
		t.Errorf("%d %+v %+v", r.code, hits, end)
	}
	if h := hits[0]; h.Before != "make the " || h.Match != "Build" || h.After != " green" || h.Role != adapters.FromUser || h.At != timestamp(now) {
		t.Errorf("%+v", h)
	}
	if strings.ContainsAny(r.out, "\x1b\x07\u202e") {
		t.Errorf("hostile text reaches the terminal: %q", r.out)
	}
}

// On a terminal each line fits, with its match marked.
func TestSearchOnATerminal(t *testing.T) {
	a := newSearchable()
	a.said = append(a.said, adapters.Message{Key: "k4", Role: adapters.FromAgent, Text: strings.Repeat("before ", 40) + "BUILD" + strings.Repeat(" after", 40)})
	r := runOn(t.Context(), t, Streams{Width: 80}, deps(a), "search", "build")
	for line := range strings.Lines(r.out) {
		if present.Width(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("too wide: %q", line)
		}
	}
	if !strings.Contains(r.out, "»BUILD«") {
		t.Errorf("no mark: %q", r.out)
	}
	if r := runOn(t.Context(), t, Streams{Width: 80, Color: true}, deps(a), "search", "build"); !strings.Contains(r.out, "\x1b[1;31mBUILD\x1b[0m") {
		t.Errorf("no colour: %q", r.out)
	}
}

func TestUsage(t *testing.T) {
	priced, unknown := simple("aaaa", agentname.Codex, adapters.Stopped, time.Hour), simple("bbbb", agentname.Codex, adapters.Stopped, 2*time.Hour)
	priced.Tokens, priced.Model = &adapters.Tokens{Input: 1_000_005, Output: 50, Reasoning: 20}, "=m"
	step := func(ago time.Duration, turns int, tokens adapters.Tokens) adapters.Usage {
		return adapters.Usage{At: time.Now().Add(-ago).UTC().Truncate(adapters.UsageStep), Turns: turns, Tokens: tokens}
	}
	priced.Usage = []adapters.Usage{step(40*24*time.Hour, 2, adapters.Tokens{Input: 5}), step(time.Hour, 3, adapters.Tokens{Input: 1_000_000, Output: 50, Reasoning: 20})}
	d := deps(claude(full()), codex(priced, unknown))
	r := run(t, d, "usage", "--by", "agent", "--json")
	var j usageJSON
	must.Do(t, json.Unmarshal([]byte(r.out), &j))
	if want := (adapters.Tokens{Input: 1_000_100, Output: 70, CacheRead: 1000, CacheWrite: 7, Reasoning: 20}); j.Total.Tokens != want ||
		j.Total.Sessions != 3 || j.Total.Unknown != 1 || j.Total.CostUSD != 0.12 || j.Total.Costed != 1 || len(j.Rows) != 2 || j.Rows[0].Key != "codex" ||
		j.Total.Turns != 3 || j.Untimed != 1 || j.Since == "" {
		t.Errorf("%+v", j)
	}
	r = run(t, d, "usage", "--by", "day", "--since", "all", "--json")
	j = usageJSON{}
	must.Do(t, json.Unmarshal([]byte(r.out), &j))
	if j.Total.Tokens.Input != 1_000_105 || j.Total.Turns != 5 || j.Since != "" || j.Rows[len(j.Rows)-1].Tokens.Input != 5 {
		t.Errorf("%+v", j)
	}
	if r := run(t, d, "usage", "--by", "model", "--csv"); r.code != Done || !strings.Contains(r.out, "'=m,1,3,1000000,50,0,0,20,\n") || !strings.HasPrefix(r.out, "model,sessions,turns,") {
		t.Errorf("%q", r.out)
	}
	r = run(t, d, "usage")
	// The days of the rows differ around midnight, when one of them may have a known cost.
	if _, total, ok := strings.Cut(r.out, "\ntotal "); !ok || !strings.Contains(total, "1,000,100") || strings.Contains(total, "$") || !strings.Contains(r.err, "the cost is known for only 1 of 3 sessions") || !strings.Contains(r.err, "1 session without recorded tokens") ||
		!strings.Contains(r.err, "1 session counted as a whole") || !strings.Contains(r.out, "TURNS") {
		t.Errorf("%q, %q", r.out, r.err)
	}
	for args, want := range map[string]string{"usage --by week": "--by must be day", "usage --json --csv": "use --json or --csv", "usage --since x": "--since must be a time"} {
		if r := run(t, d, strings.Fields(args)...); r.code != Usage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %d %q", args, r.code, r.err)
		}
	}
}

// TestLeftOutOfUsage: usage says in one line which files count nowhere, and doctor of how many answers the sums are made.
func TestLeftOutOfUsage(t *testing.T) {
	one := simple("aaaa", agentname.Codex, adapters.Stopped, time.Hour)
	one.Tokens = &adapters.Tokens{Input: 5}
	one.Usage = []adapters.Usage{{At: time.Now().UTC().Truncate(adapters.UsageStep), Tokens: *one.Tokens, Answers: 4}}
	a, b := codex(one), claude(full())
	a.roll.Ledger = adapters.Ledger{Copies: 1, LeftOut: map[string]int{"not recognised": 1, "not readable": 1}}
	b.roll.Ledger = adapters.Ledger{LeftOut: map[string]int{"not recognised": 2}}
	d := deps(b, a)
	if r := run(t, d, "usage"); !strings.Contains(r.err, "rollcall: left out: 1 file not readable, 3 files not recognised\n") {
		t.Errorf("%q", r.err)
	}
	var j usageJSON
	if err := json.Unmarshal([]byte(run(t, d, "usage", "--json").out), &j); err != nil || j.LeftOut["not recognised"] != 3 || j.LeftOut["not readable"] != 1 || j.Total.Answers != 4 {
		t.Errorf("%v, %+v", err, j)
	}
	if r := run(t, d, "doctor"); !strings.Contains(r.out, "    ledger    4 answers, 1 copy left out, 1 file not readable, 1 file not recognised\n") {
		t.Errorf("%q", r.out)
	}
	if r := run(t, d, "doctor", "--json"); !strings.Contains(r.out, `"answers":4,"copies":1,"left_out":{"not readable":1,"not recognised":1}`) {
		t.Errorf("%q", r.out)
	}
	if r := run(t, deps(codex(one)), "usage"); strings.Contains(r.err, "left out") {
		t.Errorf("%q", r.err)
	}
}
