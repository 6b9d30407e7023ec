package codex

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
)

// rolloutDays returns a rollout with a prompt and an answer every six hours, and its lines.
func rolloutDays(turns int) []string {
	at := func(n, second int) string {
		return time.Date(2026, 11, 3, 0, 0, second, 0, time.UTC).Add(time.Duration(n) * 6 * time.Hour).Format("2006-01-02T15:04:05.000Z")
	}
	lines := []string{fmt.Sprintf(`{"timestamp":%q,"type":"session_meta","payload":{"id":"01a1fc91-f06c-7171-93f7-e522f5612f4d","timestamp":%[1]q,"cwd":"/p","cli_version":"0.169.0"}}`, at(0, 0))}
	for n := range turns {
		lines = append(lines,
			fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"user_message","message":"task %d","kind":"plain"}}`, at(n, 1), n),
			// What a tool printed counts as nothing, whatever it looks like.
			fmt.Sprintf(`{"timestamp":%q,"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"\"type\":\"token_count\" %s"}}`, at(n, 2), strings.Repeat("x", 3000)),
			fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}}}`,
				at(n, 3), 100*(n+1), 40*(n+1), 5*(n+1), 105*(n+1)))
	}
	return lines
}

// The cache of facts is saved after much was read: what was read of a rollout before does not count again.
func TestBytesReadOfARolloutThatGrows(t *testing.T) {
	lines := rolloutDays(40)
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	r := newRolloutFile(path)
	size := 0
	for _, n := range []int{100, 101, 121} {
		text := strings.Join(lines[:n], "\n") + "\n"
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		next := r.Next
		scan := r.usage
		scanned := r.usage.upTo()
		if _, _, err := r.update(t.Context(), &adapters.Query{Usage: true}); err != nil {
			t.Fatal(err)
		}
		if got, want := r.readSince(next, scan, scanned), int64(2*(len(text)-size)); got != want { // for the facts and for the usage
			t.Errorf("%d bytes were read for %d lines, want %d", got, n, want)
		}
		size = len(text)
	}
}

// steps returns what counts for the thread if it is the only one.
func (f rolloutFacts) steps() []adapters.Usage {
	if f.ledger == nil {
		return nil
	}
	a := &kit.Account{Ledgers: []*kit.Ledger{f.ledger}, Last: f.last, Model: f.model, CWD: f.cwd, Branch: f.branch}
	kit.Settle([]*kit.Account{a})
	return a.Usage
}

// What was read in steps is what is read at once, and only what was added is read.
func TestUsageOfARolloutThatGrows(t *testing.T) {
	lines := rolloutDays(40)
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	var grown cache
	ask := func(c *cache, ctx context.Context, usage bool) rolloutFacts {
		t.Helper()
		info, err := os.Stat(path)
		must.Do(t, err)
		read, _, err := c.read(ctx, path, info, &adapters.Query{Totals: true, Usage: usage})
		must.Do(t, err)
		return read
	}
	for n := 4; n <= len(lines); n += 9 {
		must.Do(t, os.WriteFile(path, []byte(strings.Join(lines[:n], "\n")+"\n"), 0o600))
		if n%2 == 0 && ask(&grown, t.Context(), false).ledger != nil {
			t.Error("usage is returned without Query.Usage")
		}
		got, want := ask(&grown, t.Context(), true), ask(&cache{}, t.Context(), true)
		if !reflect.DeepEqual(got.steps(), want.steps()) {
			t.Fatalf("after %d lines: %+v, at once %+v", n, got.steps(), want.steps())
		}
	}
	steps := ask(&grown, t.Context(), true).steps()
	if len(steps) < 38 {
		t.Fatalf("%d steps", len(steps))
	}
	for _, u := range steps {
		if u.Turns != 1 || u.Tokens != (adapters.Tokens{Input: 60, Output: 5, CacheRead: 40}) || u.At.Hour()%6 != 0 {
			t.Errorf("%+v", u)
		}
	}
}

// A rollout whose usage can't be read in time keeps its facts and its totals, and is read on at the next question.
func TestUsageNotReadInTime(t *testing.T) {
	lines := rolloutDays(40)
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	must.Do(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	file, err := os.Open(path)
	must.Do(t, err)
	defer file.Close()
	r := newRolloutFile(path)
	p, err := readRollout(t.Context(), file, int64(len(strings.Join(lines, "\n"))+1), nil)
	must.Do(t, err)
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer cancel()
	q := &adapters.Query{Usage: true}
	r.facts, r.Next = p.facts, p.next
	r.usage = newUsageScan(&p.facts.head)
	if r.now(q).ledger != nil {
		t.Error("a scan that is not finished gives steps")
	}
	if err := r.readUsage(past, file, &p, q); err != nil || len(r.now(q).steps()) != 40 {
		t.Errorf("%v, %d steps", err, len(r.now(q).steps()))
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	r.usage = nil
	if err := r.readUsage(over, file, &p, q); err == nil {
		t.Error("a question that is over is answered")
	}
}

// When a request exceeds the context window, Codex states the window's size as the total, and counts on from there. What was used
// before still counts, and a thread whose end does not state it is read whole. The count in the records of usage (0.169) does not begin again.
func TestUsageBeyondTheContextWindow(t *testing.T) {
	const window = 258400
	count := func(s *script, input, cached, output, total int) {
		s.event(fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"total_tokens":%d},"model_context_window":%d}}`, input, cached, output, total, window))
	}
	recorded := func(s *script, input, cached, output int) {
		s.add(`{"timestamp":%q,"type":"token_usage_record","payload":{"thread_id":%q,"thread_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"total_tokens":%d}}}`,
			s.now(), threadA, input, cached, output, input+output)
	}
	for name, c := range map[string]struct {
		before int // the input of each of the answers before
		record bool
	}{"less was used than the window holds": {100_000, false}, "more was used": {500_000, false}, "with records of usage": {500_000, true}} {
		t.Run(name, func(t *testing.T) {
			s := newScript(threadA, "0.142.5").start("a").context("m").prompt("x")
			for n := 1; n <= 2; n++ {
				if c.record {
					recorded(s, n*c.before, n*60_000, n*10)
				}
				count(s, n*c.before, n*60_000, n*10, n*(c.before+10))
			}
			count(s, 0, 0, 0, window)
			s.done("a")
			count(s, 0, 0, 0, window) // again, for other limits
			s.start("b").prompt("y")
			for n := 1; n <= 3; n++ {
				if c.record {
					recorded(s, 2*c.before+n*700, 120_000+n*100, 20+n)
				}
				count(s, n*700, n*100, n, window+n*701)
			}
			s.done("b")
			want := adapters.Tokens{Input: int64(2*c.before - 120_000 + 3*600), CacheRead: 120_300, Output: 23}
			holdTotals(t, s.lines, want)
		})
	}
}

// holdTotals compares what a list and the usage have of a rollout, read at once and in steps.
func holdTotals(t *testing.T, lines []string, want adapters.Tokens) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	ask := func(c *cache, q adapters.Query) rolloutFacts {
		t.Helper()
		info, err := os.Stat(path)
		must.Do(t, err)
		read, _, err := c.read(t.Context(), path, info, &q)
		must.Do(t, err)
		return read
	}
	grown := &cache{}
	for n := range lines {
		must.Do(t, os.WriteFile(path, []byte(strings.Join(lines[:n+1], "\n")+"\n"), 0o600))
		ask(grown, adapters.Query{Totals: n%3 > 0, Usage: n%2 > 0})
	}
	for how, c := range map[string]*cache{"at once": {}, "in steps": grown} {
		listed := ask(c, adapters.Query{Totals: true})
		if got := cmp.Or(listed.tokens, listed.tokenTotals()); got == nil || *got != want {
			t.Errorf("%s: a list has %+v, want %+v", how, got, want)
		}
		var used adapters.Tokens
		for _, u := range ask(c, adapters.Query{Totals: true, Usage: true}).steps() {
			used.Add(u.Tokens)
		}
		if used != want {
			t.Errorf("%s: %+v was used, want %+v", how, used, want)
		}
	}
}
