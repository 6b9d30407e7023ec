package corpus_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/app"
	"rollcall/app/usage"
	"rollcall/internal/adaptertest"
	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/internal/must"
	"rollcall/proc"
	"rollcall/textmatch"
)

// filler is the key of many records of a corpus that differ only in it.
const filler = "u"

// said is a message that a slow reading of everything found.
type said struct {
	session, key string
	role         adapters.Role
	text         string
}

// readEverything reads all conversations with Peek, which knows nothing of searching.
func readEverything(t *testing.T, list []adapters.Adapter) (all []said) {
	t.Helper()
	for _, a := range list {
		roll, err := a.Discover(t.Context(), adapters.Query{})
		if err != nil && len(roll.Sessions) == 0 {
			continue // not installed
		}
		for _, s := range roll.Sessions {
			if len(s.Files) == 0 && s.Remote == "" {
				continue // a process
			}
			messages, err := a.(adapters.Peeker).Peek(t.Context(), s, 10_000)
			if err != nil {
				t.Fatalf("%s: %v", s.ID, err)
			}
			for _, m := range messages {
				if m.Role != adapters.FromNote && m.Key != filler {
					all = append(all, said{s.ID, m.Key, m.Role, m.Text})
				}
			}
		}
	}
	return all
}

// lower maps all cases of a letter to one, as the search does.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
			if (x < 128) == (r < 128) && (x < least || r < 128 && unicode.IsLower(x)) {
				least = x
			}
		}
		if r < 128 {
			return unicode.ToLower(r)
		}
		return least
	}, text)
}

// found searches and returns what was found.
func found(t *testing.T, list []adapters.Adapter, needle string, regex, tools bool) (hits []app.SearchHit) {
	t.Helper()
	compile := textmatch.Text
	if regex {
		compile = textmatch.Regexp
	}
	p := must.Get(compile(needle))(t)
	core := app.New(app.Config{Adapters: list, Limit: time.Minute})
	report, err := core.Search(t.Context(), app.SearchQuery{SearchQuery: adapters.SearchQuery{Pattern: p, Tools: tools}},
		func(h app.SearchHit) bool {
			if h.Key != filler {
				hits = append(hits, h)
			}
			return true
		}, nil)
	if err != nil || report.Failed() {
		t.Fatalf("%v, %v", err, report.Agents)
	}
	last := map[adapters.Name]app.SearchHit{} // an agent that lists its conversations late comes later
	for _, h := range hits {
		before, more := last[h.Agent]
		last[h.Agent] = h
		if more && h.Changed.After(before.Changed) {
			t.Errorf("%q: a hit of %s came after one of %s", needle, h.Changed, before.Changed)
		}
	}
	return hits
}

// keysOf returns hits in one comparable form, sorted.
func keysOf(hits []app.SearchHit) (keys []string) {
	for _, h := range hits {
		keys = append(keys, fmt.Sprint(h.Session, " ", h.Role, " ", h.Key))
	}
	slices.Sort(keys)
	return keys
}

// holdSearch compares a search for each needle with the slow reading.
func holdSearch(t *testing.T, list []adapters.Adapter, everything []said, needles []string) {
	t.Helper()
	for _, needle := range needles {
		var want []string
		for _, m := range everything {
			if m.role != adapters.FromTool && strings.Contains(lower(m.text), lower(needle)) {
				want = append(want, fmt.Sprint(m.session, " ", m.role, " ", m.key))
			}
		}
		slices.Sort(want)
		hits := found(t, list, needle, false, false)
		if got := keysOf(hits); !slices.Equal(got, want) {
			t.Errorf("%q: found %d, want %d\n%v\n%v", needle, len(got), len(want), minus(got, want), minus(want, got))
		}
		for _, h := range hits {
			if lower(h.Match) != lower(needle) && len(needle) < adapters.HitText {
				t.Errorf("%q: the match is %q", needle, h.Match)
			}
		}
	}
}

// holdTools looks for words that tools were called with.
func holdTools(t *testing.T, list []adapters.Adapter, everything []said) {
	t.Helper()
	words := map[string][]string{}
	for _, m := range everything {
		word := longestWord(m.text)
		if m.role == adapters.FromTool && word != "" && len(words) < 15 {
			words[word] = append(words[word], fmt.Sprint(m.session, " ", m.role, " ", m.key))
		}
	}
	for word, want := range words {
		if missing := minus(want, keysOf(found(t, list, word, false, true))); len(missing) > 0 {
			t.Errorf("%q in tools: not found: %v", word, missing)
		}
	}
}

func longestWord(text string) (longest string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r > 127 || !unicode.IsLetter(r) }) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

// minus returns what is in a and not in b, at most some.
func minus(a, b []string) []string {
	out := slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
	return out[:min(5, len(out))]
}

// needlesOf returns pieces of what was said, from its beginning, its middle and its end.
func needlesOf(everything []said, r *rand.Rand, n int) []string {
	needles := map[string]bool{}
	for range n {
		m := everything[r.IntN(len(everything))]
		text := []rune(m.text)
		if len(text) == 0 || m.role == adapters.FromTool {
			continue
		}
		from := r.IntN(len(text))
		if piece := string(text[from:min(len(text), from+1+r.IntN(20))]); !strings.Contains(piece, "\ufffd") {
			needles[piece] = true
			needles[strings.ToUpper(piece)] = true
		}
	}
	return slices.Sorted(maps.Keys(needles))
}

// TestSearchRecordings compares searches with the slow reading over the homes that real
// agents left.
func TestSearchRecordings(t *testing.T) {
	dirs, err := filepath.Glob("../../adapters/*/testdata/recordings/*/home")
	if err != nil || len(dirs) < 20 {
		t.Fatalf("%d recordings: %v", len(dirs), err)
	}
	for i, home := range dirs {
		dir := filepath.Dir(home)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			r := adaptertest.Replay(t, dir)
			list := everyAdapter(t, r.Table, r.Home)
			everything := readEverything(t, list)
			if len(everything) == 0 {
				t.Skip("nothing was said in it")
			}
			needles := append(needlesOf(everything, rand.New(rand.NewPCG(3, uint64(i))), 2), "zzqqxx", "[[", "image")
			adaptertest.Untouched(t, r.Home)
			holdSearch(t, list, everything, needles)
			holdTools(t, list, everything)
		})
	}
}

// hostile are texts that are hard to find or dangerous to show.
var hostile = []string{
	"say \"hello\" to C:\\temp\\new and a/b/c", "two\nlines\tand a tab", "die Größe der STRASSE ist weiß", "ПРИВЕТ, мир", "一个会话 and 😀 𐐀",
	"\x1b[31mred\x1b[0m \u202eevil\u202c \u0007bell", "nul\x00byte and \x7f", "<script>alert('x')</script> & more", "task `rm -rf` $HOME  double  space",
	"trailing space ", "\u2028 separators \u2029 and \ufeff", "/review src/main.go now", "!ls -la", "Kelvin \u212a and long \u017f",
}

// escapedJSON writes a text as JSON in one of the ways in which JSON can be written.
func escapedJSON(text string, how int) string {
	plain, _ := json.Marshal(text)
	switch how % 3 {
	case 0: // as JavaScript and Rust do
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(text)
		return strings.Trim(b.String(), "\n")
	case 1: // as Go does
		return string(plain)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, unit := range utf16.Encode([]rune(text)) { // every character as an escape
		fmt.Fprintf(&b, `\u%04X`, unit)
	}
	return b.String() + `"`
}

// makeHostile replaces the prompts of a corpus by hostile texts.
func makeHostile(t *testing.T, home string) {
	t.Helper()
	const prompt = "make the build green"
	n := 0
	replace := func(content string) string {
		n++
		quoted := escapedJSON(hostile[n%len(hostile)], n/len(hostile))
		return strings.ReplaceAll(content, prompt, quoted[1:len(quoted)-1])
	}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if filepath.Ext(path) == ".db" && strings.HasPrefix(d.Name(), "opencode") {
			return hostileDatabase(path, prompt, replace)
		}
		if ext := filepath.Ext(path); ext != ".jsonl" && ext != ".json" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(content), prompt) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(replace(string(content))), 0o600); err != nil {
			return err
		}
		return os.Chtimes(path, info.ModTime(), info.ModTime())
	})
	if err != nil || n < len(hostile) {
		t.Fatalf("%d prompts: %v", n, err)
	}
}

func hostileDatabase(path, prompt string, replace func(string) string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query("SELECT id, data FROM part WHERE instr(data, ?) > 0", prompt)
	if err != nil {
		return err
	}
	parts := map[string]string{}
	for rows.Next() {
		var id, data string
		if err := rows.Scan(&id, &data); err != nil {
			return err
		}
		parts[id] = data
	}
	if err := rows.Close(); err != nil {
		return err
	}
	for id, data := range parts {
		if _, err := db.Exec("UPDATE part SET data = ? WHERE id = ?", replace(data), id); err != nil {
			return err
		}
	}
	return nil
}

// TestSearchCorpus compares searches with the slow reading over a generated corpus of all
// agents, with hostile prompts in every way of writing JSON.
func TestSearchCorpus(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "corpus")
	man, err := corpus.Write(dir, corpus.Options{Sessions: 120, Live: 10, Gateway: 10, Seed: 11, Now: time.Now(), Scale: 0.02})
	must.Do(t, err)
	gateway := must.Get(corpus.Serve(dir, man))(t)
	defer gateway.Close()
	home := filepath.Join(dir, "home")
	makeHostile(t, home)
	table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
	for i, a := range ofCorpus(everyAdapter(t, table, home)) {
		t.Run(string(a.Name()), func(t *testing.T) {
			list := []adapters.Adapter{a}
			everything := readEverything(t, list)
			if len(everything) == 0 {
				if a.Name() == agentname.OpenClaw { // its own test has conversations
					t.SkipNow()
				}
				t.Fatal("nothing was said")
			}
			r := rand.New(rand.NewPCG(5, uint64(i)))
			needles := append(needlesOf(everything, r, 15), "build", "task 1", "zzqqxx")
			for _, text := range hostile {
				runes := []rune(strings.TrimSpace(text))
				from := r.IntN(len(runes))
				needles = append(needles, string(runes), string(runes[from:]))
			}
			holdSearch(t, list, everything, needles)
			holdTools(t, list, everything)
		})
	}
	t.Run("all", func(t *testing.T) {
		list := all.New(table, all.Config{Home: home})
		holdSearch(t, list, readEverything(t, list), []string{"TASK 1", "hello\" to c:\\", "größe", "привет"})
	})
}

// TestUsageTotals: the sums are the same to the token by whatever they are grouped, over the homes that
// real agents left and over a corpus, whose truth is known.
func TestUsageTotals(t *testing.T) {
	check := func(t *testing.T, list []adapters.Adapter) usage.Table {
		t.Helper()
		cfg := app.Config{Adapters: list, Since: app.All, Totals: true, Usage: true, Limit: time.Minute}
		snap := app.Ask(t.Context(), cfg, app.Once{Last: true})
		var want adapters.Tokens
		sessions := 0
		for i := range snap.Sessions() {
			s := &snap.Sessions()[i]
			adaptertest.CheckUsage(t, []adapters.Session{s.Session}) // it holds them against the tokens that list shows
			if s.IsProcess() {
				continue
			}
			sessions++
			for _, u := range s.Usage {
				want.Add(u.Tokens)
			}
		}
		for _, by := range usage.Ways {
			table := usage.Of(snap.Sessions(), usage.Query{By: by})
			var sum usage.Row
			for _, r := range table.Rows {
				sum.Tokens.Add(r.Tokens)
				sum.Sessions += r.Sessions
			}
			if sum.Tokens != want || table.Total.Tokens != want || sum.Sessions < sessions || table.Total.Sessions != sessions {
				t.Errorf("by %s: %+v, want %+v of %d sessions", by, table.Total, want, sessions)
			}
		}
		return usage.Of(snap.Sessions(), usage.Query{By: usage.ByAgent})
	}
	dirs, err := filepath.Glob("../../adapters/*/testdata/recordings/*/home")
	if err != nil || len(dirs) < 20 {
		t.Fatalf("%d recordings: %v", len(dirs), err)
	}
	for _, home := range dirs {
		dir := filepath.Dir(home)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			r := adaptertest.Replay(t, dir)
			check(t, everyAdapter(t, r.Table, r.Home))
		})
	}
	t.Run("corpus", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "corpus")
		man, err := corpus.Write(dir, corpus.Options{Sessions: 200, Live: 10, Seed: 12, Now: time.Now(), Scale: 0.02})
		must.Do(t, err)
		var want adapters.Tokens
		for _, s := range man.Sessions {
			if s.Tokens != nil {
				want.Add(*s.Tokens)
			}
		}
		table := proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc"))
		got := check(t, everyAdapter(t, table, filepath.Join(dir, "home")))
		if got.Total.Tokens != want || want.Output == 0 || got.Total.Sessions != len(man.Sessions) {
			t.Errorf("%+v, want %+v of %d sessions", got.Total, want, len(man.Sessions))
		}
	})
}
