package codex

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/internal/kit"
	"rollcall/internal/must"
	"rollcall/proc"
)

// threadOf writes the rollout of a thread as Codex 0.171 does, or without records of usage as versions before 0.169 do.
type threadOf struct {
	*script
	id      string
	sum     int // of input tokens
	ordinal int
	records bool
	lost    bool // the next record of usage, with all of its answer, is not in the file
}

func threadFrom(id string, records bool, more ...string) *threadOf {
	version := "0.150.0"
	if records {
		version = "0.171.0"
	}
	return &threadOf{script: newScript(id, version, more...), id: id, records: records}
}

func (w *threadOf) numbered(kind, payload string) {
	ordinal := ""
	if w.records {
		w.ordinal++
		ordinal = fmt.Sprintf(`"ordinal":%d,`, w.ordinal)
	}
	w.add(`{"timestamp":%q,%s"type":%q,"payload":%s}`, w.now(), ordinal, kind, payload)
}

// turn adds a turn that uses so many input tokens, and as many divided by 100 of the output.
func (w *threadOf) turn(id string, input int) *threadOf {
	w.numbered("event_msg", fmt.Sprintf(`{"type":"task_started","turn_id":%q}`, id))
	w.numbered("turn_context", fmt.Sprintf(`{"turn_id":%q,"model":"m","cwd":"/p"}`, id))
	w.numbered("event_msg", fmt.Sprintf(`{"type":"user_message","message":"prompt %s"}`, id))
	count := func(n int) string {
		return fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":%d,"reasoning_output_tokens":0,"total_tokens":%d}`, n, n/100, n+n/100)
	}
	w.sum += input
	if w.records && !w.lost {
		w.numbered("token_usage_record", fmt.Sprintf(`{"thread_id":%q,"turn_id":%q,"response_id":"resp-%s","usage":%s,"turn_token_usage":%[4]s,"thread_token_usage":%s}`,
			w.id, id, id, count(input), count(w.sum)))
	}
	w.lost = false
	w.numbered("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":%s,"last_token_usage":%s}}`, count(w.sum), count(input)))
	w.numbered("event_msg", fmt.Sprintf(`{"type":"task_complete","turn_id":%q,"last_agent_message":"ok"}`, id))
	return w
}

// copyOf adds the records of another thread, as a fork does that repeats them: at one time.
func (w *threadOf) copyOf(o *threadOf) *threadOf {
	at := w.now()
	for _, line := range o.lines {
		_, rest, _ := strings.Cut(line, `","`)
		w.lines = append(w.lines, fmt.Sprintf(`{"timestamp":%q,"%s`, at, rest))
	}
	w.sum, w.at = o.sum, w.at.Add(time.Minute)
	return w
}

// countedUsage is what counts of the threads in some homes.
type countedUsage struct {
	input, turns int
	homes        []int // the input of each
	leftOut      string
	listed       map[string]int // the input that a list has of each thread
}

func countIn(t *testing.T, homes ...[]*threadOf) (c countedUsage) {
	t.Helper()
	var paths []string
	for _, threads := range homes {
		home := t.TempDir()
		day := filepath.Join(home, "sessions", "2026", "11", "21")
		must.Do(t, os.MkdirAll(day, 0o700))
		for _, w := range threads {
			path := filepath.Join(day, "rollout-2026-11-21T05-00-00-"+w.id+".jsonl")
			must.Do(t, os.WriteFile(path, []byte(strings.Join(w.lines, "\n")+"\n"), 0o600))
		}
		paths = append(paths, home)
	}
	a := New(adapters.Config{Home: t.TempDir(), Env: func(string) string { return "" }, Table: proc.Open(), Homes: func() []string { return paths }})
	roll, err := a.Discover(t.Context(), adapters.Query{Totals: true, Usage: true})
	must.Do(t, err)
	c.homes, c.listed = make([]int, len(homes)), map[string]int{}
	for i := range roll.Sessions {
		s := &roll.Sessions[i]
		if s.Tokens != nil {
			c.listed[s.ID[len(s.ID)-1:]] = int(s.Tokens.Input)
		}
		for _, u := range s.Usage {
			home := s.Home
			if u.Home != "" {
				home = u.Home
			}
			c.homes[slices.Index(paths, home)] += int(u.Tokens.Input)
			c.input += int(u.Tokens.Input)
			c.turns += u.Turns
		}
	}
	c.leftOut = strings.Join(slices.Sorted(maps.Keys(roll.Ledger.LeftOut)), ", ")
	return c
}

// Whatever a thread inherits counts once, for the thread that gave it, and in the sum of the list not at all.
func TestInheritedCountsOnce(t *testing.T) {
	forked := `"forked_from_id":"` + threadA + `"`
	parent := func(records bool) *threadOf { return threadFrom(threadA, records).turn("a1", 1000).turn("a2", 2000) }
	base := func(id, of string, sum int, more ...string) *threadOf {
		w := threadFrom(id, true, append(more, `"forked_from_id":"`+of+`"`, `"history_base":{"thread_id":"`+of+`","end_ordinal_exclusive":23,"end_byte_offset":9}`)...)
		w.sum = sum
		return w
	}
	back := func(records bool) *threadOf { // to before its second turn
		w := parent(records)
		w.numbered("event_msg", `{"type":"thread_rolled_back","num_turns":1}`)
		w.sum = 1000
		return w.turn("a3", 500)
	}
	agent := threadFrom(threadB, true, `"parent_thread_id":"`+threadA+`"`, `"thread_source":"subagent"`)
	other := parent(true)
	for name, c := range map[string]struct {
		homes [][]*threadOf
		want  countedUsage
	}{
		"a fork that continues the parent's rollout": {[][]*threadOf{{parent(true), base(threadB, threadA, 3000).turn("b1", 500)}},
			countedUsage{input: 3500, turns: 3, listed: map[string]int{"a": 3000, "b": 500}}},
		"one of an earlier turn": {[][]*threadOf{{parent(true), base(threadB, threadA, 1000).turn("b1", 500).turn("b2", 700)}},
			countedUsage{input: 4200, turns: 4, listed: map[string]int{"a": 3000, "b": 1200}}},
		"a fork of a fork": {[][]*threadOf{{parent(true), base(threadB, threadA, 3000).turn("b1", 500), base(threadC, threadB, 3500).turn("c1", 10_000)}},
			countedUsage{input: 13_500, turns: 4, listed: map[string]int{"a": 3000, "b": 500, "c": 10_000}}},
		"a fork whose parent is gone": {[][]*threadOf{{base(threadB, threadA, 3000).turn("b1", 500)}},
			countedUsage{input: 500, turns: 1, listed: map[string]int{"b": 500}}},
		"a fork that repeats the records": {[][]*threadOf{{parent(true), threadFrom(threadB, true, forked).copyOf(parent(true)).turn("b1", 500)}},
			countedUsage{input: 3500, turns: 3, listed: map[string]int{"a": 3000, "b": 500}}},
		"one of an earlier version": {[][]*threadOf{{parent(false), threadFrom(threadB, false, forked).copyOf(parent(false)).turn("b1", 500)}},
			countedUsage{input: 3500, turns: 3, listed: map[string]int{"a": 3000, "b": 500}}},
		"two forks whose parent is gone": {[][]*threadOf{{threadFrom(threadC, false, forked).copyOf(parent(false)).turn("c1", 700), threadFrom(threadB, false, forked).copyOf(parent(false)).turn("b1", 500)}},
			countedUsage{input: 4200, turns: 2, listed: map[string]int{"b": 500, "c": 700}}},
		"a sub-agent, whose prompt is the parent's": {[][]*threadOf{{parent(true), agent.turn("b1", 500)}},
			countedUsage{input: 3500, turns: 2, listed: map[string]int{"a": 3000, "b": 500}}},
		"turns that were taken back, with their sum": {[][]*threadOf{{back(true)}}, countedUsage{input: 3500, turns: 3, listed: map[string]int{"a": 1500}}},
		"the same of an earlier version":             {[][]*threadOf{{back(false)}}, countedUsage{input: 3500, turns: 3, listed: map[string]int{"a": 1500}}},
		"a thread that goes on in two homes": {[][]*threadOf{{parent(true).turn("x", 500)}, {other.turn("y", 700)}},
			countedUsage{input: 4200, turns: 4, homes: []int{3500, 700}, listed: map[string]int{"a": 3500}}},
		"a sum that holds more than the answers": {[][]*threadOf{{func() *threadOf { w := threadFrom(threadA, true); w.sum = 9000; return w.turn("a1", 1000) }()}},
			countedUsage{input: 1000, turns: 1, leftOut: kit.Contradictory, listed: map[string]int{"a": 10_000}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := countIn(t, c.homes...)
			if len(c.want.homes) == 0 {
				got.homes = nil
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
