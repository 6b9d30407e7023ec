package gemini

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/textmatch"
)

// TestTornRecord: a process that was killed leaves a part of a record, whatever its length, after which the next process continues on the line or
// below it. What comes after it counts, also in a file that has lost its header.
func TestTornRecord(t *testing.T) {
	set := fmt.Sprintf(`{"$set":{"messages":[%s],"lastUpdated":%q}}`, user(time.Hour, "old"), stamp(time.Hour))
	rest := []string{fmt.Sprintf(`{"$set":{"lastUpdated":%q}}`, stamp(time.Minute)), user(time.Minute, "new"), answer(time.Minute, "fine")}
	for name, before := range map[string][]string{"with its header": {head("a", time.Hour), user(time.Hour, "old")}, "without": nil} {
		for _, end := range []string{"", "\n"} {
			for _, from := range []int{0, 1} {
				for _, cut := range []int{1, 6, 9, 22, 40, len(set) - 40, len(set) - 3, len(set) - 1} {
					t.Run(fmt.Sprintf("%s, %q, %d, %d", name, end, from, cut), func(t *testing.T) {
						w := newWorld(t)
						w.logs([3]string{"a", "1h", "old"}, [3]string{"a", "30s", "/quit"})
						w.chat("a", "00", append(before, set[:cut]+end+rest[from], rest[2])...)
						if from == 0 {
							w.chat("a", "00", rest[1:]...)
						}
						s := w.want("a", adapters.Stopped, adapters.Completed, proc.Identity{})
						if s.LastPrompt != "new" {
							t.Errorf("%q, %q", s.FirstPrompt, s.LastPrompt)
						}
						found := w.keys(s)
						if !strings.Contains(found, "unew afine") || strings.Contains(found, "uold unew") != (before != nil) {
							t.Errorf("%q", found)
						}
					})
				}
			}
		}
	}
}

// keys returns the keys of the messages that Peek returns of a session, and checks that a search of every text finds them as well.
func (w world) keys(s adapters.Session) string {
	w.Helper()
	a := New(adapters.Config{Home: w.Home, Env: w.Env, Table: w.Table})
	messages, err := a.Peek(w.Context(), s, 20)
	must.Do(w, err)
	var keys, found []string
	for _, m := range messages {
		key, _, _ := strings.Cut(m.Key, "1m")
		keys = append(keys, key)
	}
	list, err := a.Conversations(w.Context(), time.Time{})
	if err != nil || len(list) == 0 {
		w.Fatal(err)
	}
	for _, text := range []string{"old", "new", "fine"} {
		pattern, err := textmatch.Text(text)
		must.Do(w, err)
		if _, err := list[0].Search(w.Context(), &adapters.SearchQuery{Pattern: pattern}, func(h adapters.Hit) error {
			key, _, _ := strings.Cut(h.Key, "1m")
			found = append(found, key)
			return nil
		}); err != nil {
			w.Error(err)
		}
	}
	if strings.Join(found, " ") != strings.Join(keys, " ") {
		w.Errorf("search found %q, peek %q", found, keys)
	}
	return strings.Join(keys, " ")
}

// TestMessagesInTwoFiles: what both files of a session have counts once.
func TestMessagesInTwoFiles(t *testing.T) {
	w := newWorld(t)
	one := answer(time.Hour, "one")
	w.chat("a", "00", head("a", time.Hour), user(time.Hour, "one"), one)
	w.chat("a", "59", head("a", time.Minute), fmt.Sprintf(`{"$set":{"messages":[%s,%s]}}`, user(time.Hour, "one"), one), user(time.Minute, "two"), answer(time.Minute, "two"))
	s := w.want("a", adapters.Stopped, adapters.Completed, proc.Identity{})
	total := adapters.Tokens{Input: 12, Output: 4, CacheRead: 8}
	if s.Tokens == nil || *s.Tokens != total {
		t.Errorf("%+v", s.Tokens)
	}
	var used adapters.Usage
	for _, u := range s.Usage {
		used.Add(&u)
	}
	if used.Tokens != total || used.Answers != 2 || used.Turns != 2 {
		t.Errorf("%+v", s.Usage)
	}
}
