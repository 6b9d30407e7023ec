package claudecode

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/app/store"
)

// spokenLine is a line of a version that titles sessions by summaries, with an id of its own.
func spokenLine(line, id string) string {
	return strings.Replace(old(line, time.Hour), `{`, fmt.Sprintf(`{"uuid":%q,`, id), 1)
}

func summaryLine(title, leaf string) string {
	return fmt.Sprintf(`{"type":"summary","summary":%q,"leafUuid":%q}`+"\n", title, leaf)
}

// A title that the transcript of another session has is shown, whoever asks, with the cache and without: of several that in the transcript that was written
// last, as long as no record follows the one that it names.
func TestSummaries(t *testing.T) {
	w := newFixture(t)
	folder := filepath.Join(t.TempDir(), "facts")
	facts := adapters.NewFactsCache(func(bool) (adapters.FactsFolder, error) { return store.MakeDir(folder) }, "test", slog.New(slog.DiscardHandler))
	facts.SaveAlways()
	cached := func() *Adapter {
		config := w.config
		config.Facts = facts
		return New(config)
	}
	long := New(w.config)
	at := func(path string, ago time.Duration) {
		w.check(os.Chtimes(path, time.Now().Add(-ago), time.Now().Add(-ago)))
	}
	titled := w.transcript(1, spokenLine(promptLine("hi"), "p1"), spokenLine(doneLine("m1"), "a1"))
	at(titled, 3*time.Hour)
	at(w.transcript(2, summaryLine("older title", "a1"), spokenLine(promptLine("next"), "p2"), spokenLine(doneLine("m2"), "a2")), 2*time.Hour)
	at(w.transcript(3, summaryLine("of nobody", "x"), summaryLine("the title", "a1"), spokenLine(promptLine("last"), "p3")), time.Hour)
	at(w.transcript(4, summaryLine("its prompt", "p2"), spokenLine(promptLine("same file"), "p4"), summaryLine("its own", "p4")), time.Minute)
	expect := func(when string, want map[int]string) {
		t.Helper()
		for _, once := range []bool{false, true} {
			for who, a := range map[string]*Adapter{"long-lived": long, "fresh": New(w.config), "with a cache": cached()} {
				all, _, _ := ask(t, a, adapters.Query{Once: once})
				for n, title := range want {
					alone, _, _ := ask(t, a, adapters.Query{IDs: []string{id(n)}, Once: once})
					if all[id(n)].Title != title || alone[id(n)].Title != title {
						t.Errorf("%s, %s, once %v: session %d is called %q, alone %q, want %q", when, who, once, n, all[id(n)].Title, alone[id(n)].Title, title)
					}
				}
			}
		}
	}
	expect("at first", map[int]string{1: "the title", 2: "", 3: "", 4: "its own"})
	f, err := os.OpenFile(titled, os.O_APPEND|os.O_WRONLY, 0)
	w.check(err)
	_, err = f.WriteString(spokenLine(promptLine("more"), "p5"))
	w.check(err)
	w.check(f.Close())
	expect("after a further prompt", map[int]string{1: ""})
}
