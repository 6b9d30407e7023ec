package codex

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"rollcall/adapters"
	"rollcall/internal/must"
)

const forkOf = "01a20000-0000-7000-8000-00000000000b"

// forkLines returns a rollout of a fork: copies of two turns, and own ones, which begin after pause with turns of these ids.
func forkLines(pause time.Duration, filler int, ids ...string) []string {
	began := time.UnixMilli(0x01a200000000)
	total := 0
	stamp := func(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
	lines := []string{fmt.Sprintf(`{"timestamp":%q,"type":"session_meta","payload":{"id":%q,"timestamp":%[1]q,"cwd":"/p","cli_version":"0.144.6","forked_from_id":"01a20000-0000-7000-8000-00000000000a"}}`, stamp(began), forkOf),
		fmt.Sprintf(`{"timestamp":%q,"type":"session_meta","payload":{"id":"01a20000-0000-7000-8000-00000000000a","timestamp":%[1]q,"cwd":"/old","cli_version":"0.144.6"}}`, stamp(began))}
	turn := func(at time.Time, id, prompt string, used int) {
		total += used
		for _, payload := range []string{
			fmt.Sprintf(`{"type":"task_started","turn_id":%q}`, id), fmt.Sprintf(`{"type":"user_message","message":%q}`, prompt),
			fmt.Sprintf(`{"type":"agent_message","message":"%s"}`, strings.Repeat("x", filler)),
			fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"total_tokens":%[1]d}}}`, total),
			fmt.Sprintf(`{"type":"task_complete","turn_id":%q,"last_agent_message":"ok"}`, id)} {
			lines = append(lines, fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":%s}`, stamp(at), payload))
		}
	}
	turn(began.Add(2*time.Millisecond), "t1", "parent one", 1000)
	turn(began.Add(3*time.Millisecond), "t2", "parent two", 2000)
	for i, id := range ids {
		turn(began.Add(3*time.Millisecond+pause+time.Duration(i)*time.Minute), id, fmt.Sprintf("own %d", i+1), 500)
	}
	return lines
}

// A fork and a sub-agent have none of their parent's prompts, turns and tokens, however they are read: whole, from both ends, in steps or compressed.
func TestCopiesOfAFork(t *testing.T) {
	const soon = "01a20000-0010-7000-8000-00000000000c" // made 16 ms after the thread
	for name, c := range map[string]struct {
		lines []string
		own   int
	}{
		"after a pause":                {forkLines(10*time.Second, 10, "t3", "t4"), 2},
		"at once":                      {forkLines(30*time.Millisecond, 10, soon, "t4"), 2},
		"large":                        {forkLines(10*time.Second, 400<<10, "t3", "t4", "t5"), 3},
		"nothing of its own":           {forkLines(0, 10), 0},
		"nothing of its own, and more": {forkLines(0, 3<<20), 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rollout.jsonl")
			whole := []byte(strings.Join(c.lines, "\n") + "\n")
			check := func(how string, got rolloutFacts) {
				t.Helper()
				first := ""
				last := ""
				tokens := &adapters.Tokens{Input: int64(500 * c.own)}
				if c.own > 0 {
					first, last = "own 1", fmt.Sprintf("own %d", c.own)
				} else {
					tokens = nil
				}
				turns, used := 0, adapters.Tokens{}
				for _, u := range got.steps() {
					turns += u.Turns
					used.Add(u.Tokens)
				}
				if got.firstPrompt != first || got.lastPrompt != last || !reflect.DeepEqual(got.tokenTotals(), tokens) || turns != c.own || used.Input != int64(500*c.own) ||
					(got.turn.state == ended) != (c.own > 0) || got.cwd != "/p" {
					t.Errorf("%s: %q, %q, %+v, %d turns, used %+v, turn %+v, in %s", how, got.firstPrompt, got.lastPrompt, got.tokenTotals(), turns, used, got.turn, got.cwd)
				}
			}
			read := func(c *cache, path string) rolloutFacts {
				t.Helper()
				info, err := os.Stat(path)
				must.Do(t, err)
				got, _, err := c.read(t.Context(), path, info, &adapters.Query{Totals: true, Usage: true})
				must.Do(t, err)
				return got
			}
			var grown cache
			for n := 1; n < len(whole); n += len(whole)/7 + 1 {
				must.Do(t, os.WriteFile(path, whole[:n], 0o600))
				read(&grown, path)
			}
			must.Do(t, os.WriteFile(path, whole, 0o600))
			check("in steps", read(&grown, path))
			check("at once", read(&cache{}, path))
			var packed bytes.Buffer
			w, err := zstd.NewWriter(&packed)
			must.Do(t, err)
			if _, err := w.Write(whole); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
			must.Do(t, os.WriteFile(path+".zst", packed.Bytes(), 0o600))
			check("compressed", read(&cache{}, path+".zst"))
		})
	}
}
