package corpus_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/adapters/all"
	"rollcall/internal/agentname"
	"rollcall/internal/corpus"
	"rollcall/internal/must"
	"rollcall/proc"
)

// stores names the folders below the home whose files the test of an agent changes.
var stores = map[adapters.Name][]string{
	agentname.ClaudeCode: {".claude/projects"},
	agentname.Codex:      {".codex/sessions"},
	agentname.Pi:         {".pi/agent/sessions"},
	agentname.PiRust:     {".pi/agent/sessions"},
}

// TestCacheChangesNothing: whatever happens to the agents' files between two questions, the answer with the cache
// is the answer without it. ROLLCALL_CACHE_STEPS is the number of changes for each agent (make stress: 500), and
// ROLLCALL_CACHE_SEED repeats the changes of an earlier run.
func TestCacheChangesNothing(t *testing.T) {
	steps := cacheSteps(25)
	for _, name := range []adapters.Name{agentname.ClaudeCode, agentname.Codex, agentname.Pi, agentname.PiRust} {
		t.Run(string(name), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "corpus")
			if _, err := corpus.Write(dir, corpus.Options{Sessions: 400, Live: 4, Seed: 11, Now: time.Now(), Scale: 0.01}); err != nil {
				t.Fatal(err)
			}
			seed := cacheSeed()
			t.Logf("seed %d", seed)
			c := &cacheCheck{T: t, name: name, home: filepath.Join(dir, "home"), table: proc.OpenAt(filepath.Join(dir, "proc"), filepath.Join(dir, "etc")),
				facts: filepath.Join(t.TempDir(), "facts"), rng: rand.New(rand.NewPCG(seed, 1)), original: map[string][]byte{}, began: time.Now()}
			everyAdapter(t, c.table, c.home) // clears the environment
			for _, store := range stores[name] {
				c.dirs = append(c.dirs, filepath.Join(c.home, store))
			}
			c.keepFew(14)
			for i := range steps {
				did := c.change()
				if c.ask(); t.Failed() {
					t.Fatalf("step %d: %s\nrepeat with ROLLCALL_CACHE_SEED=%d ROLLCALL_CACHE_STEPS=%d", i, strings.Join(did, "; "), seed, i+1)
				}
				if i%1000 == 999 {
					t.Logf("%d steps", i+1)
				}
			}
			if t.Logf("%d answers with %d sessions on average", steps, c.sessions/steps); c.sessions < steps {
				t.Error("too few sessions are left for the test to say something")
			}
		})
	}
}

// cacheSteps returns the number of changes: that of ROLLCALL_CACHE_STEPS, or n without it.
func cacheSteps(n int) int {
	if steps, err := strconv.Atoi(os.Getenv("ROLLCALL_CACHE_STEPS")); err == nil {
		return steps
	}
	return n
}

// cacheSeed returns ROLLCALL_CACHE_SEED: 1 without it, and a random seed for 0.
func cacheSeed() uint64 {
	seed, err := strconv.ParseUint(os.Getenv("ROLLCALL_CACHE_SEED"), 10, 64)
	switch {
	case err != nil:
		return 1
	case seed == 0:
		return rand.Uint64()
	}
	return seed
}

type cacheCheck struct {
	*testing.T
	name     adapters.Name
	home     string
	table    proc.Lister
	facts    string
	dirs     []string
	rng      *rand.Rand
	sessions int // in all answers
	total    int // the highest count of tokens that was appended
	began    time.Time
	edited   bool              // the last change edited files in place
	whole    bool              // the last question was about all sessions
	original map[string][]byte // what the files held at first
	earlier  map[string][]byte // files of the cache after an earlier question
}

func (c *cacheCheck) must(err error) {
	c.Helper()
	must.Do(c, err)
}

// files returns the regular files of the agent.
func (c *cacheCheck) files() (files []string) {
	for _, dir := range c.dirs {
		c.must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return err
		}))
	}
	return files
}

// shortName is the name of a file of pi_agent_rust.
var shortName = regexp.MustCompile(`_[0-9a-f]{8}\.jsonl$`)

// keepFew removes sessions, so that a question is quick.
func (c *cacheCheck) keepFew(n int) {
	files := c.files()
	c.rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for _, path := range files {
		if c.name == agentname.PiRust && !shortName.MatchString(path) {
			c.must(os.Remove(path)) // the other agent's in the same store
			continue
		}
		if n--; n < 0 {
			c.must(os.Remove(path))
		}
	}
	for _, path := range c.files() {
		text, err := os.ReadFile(path)
		c.must(err)
		c.original[path] = text
	}
	for _, dir := range c.dirs {
		var folders []string
		c.must(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && path != dir {
				folders = append(folders, path)
			}
			return err
		}))
		for _, path := range slices.Backward(folders) {
			_ = os.Remove(path) // the empty ones
		}
	}
}

// most is the largest size of a file. Larger transcripts are read at both ends, and what was in the middle is known
// only to who saw it being written: that is so without the cache, too.
const most = 100 << 10

// change changes some files and returns what it did. Either files are edited in place, or something else happens to
// them: a file that was edited before its end and has grown since the last question looks as if it had only grown. No
// agent does both, and to notice it all of the file would have to be read.
func (c *cacheCheck) change() (did []string) {
	edit := c.whole && c.rng.IntN(4) == 0
	c.edited = edit
	for range 1 + c.rng.IntN(3) {
		files := c.files()
		if len(files) == 0 {
			c.Fatal("no files are left")
		}
		path := files[c.rng.IntN(len(files))]
		other := files[c.rng.IntN(len(files))]
		did = append(did, c.changeOne(path, other, edit))
	}
	return did
}

func (c *cacheCheck) changeOne(path, other string, edit bool) string {
	info, err := os.Stat(path)
	c.must(err)
	text, err := os.ReadFile(path)
	c.must(err)
	from, err := os.ReadFile(other)
	c.must(err)
	inPlace := func(data []byte, flags int) {
		f, err := os.OpenFile(path, os.O_WRONLY|flags, 0)
		c.must(err)
		_, err = f.Write(data)
		c.must(errors.Join(err, f.Close()))
	}
	backdate := func() { c.must(os.Chtimes(path, time.Time{}, info.ModTime())) }
	what, kind := "", c.rng.IntN(13)
	switch {
	case edit && !strings.HasSuffix(string(text), "\n"):
		what = "leave, since what was read of it with its unfinished line is not kept"
	case edit:
		what = "other bytes, same size and time"
		inPlace(c.otherDigits(text), 0)
		backdate()
	case kind >= 11 && c.original[path] != nil:
		what = "as at first"
		c.replace(path, c.original[path])
	case kind <= 2 && len(text) < most:
		what = "append"
		inPlace(c.someLines(from), os.O_APPEND)
	case kind == 3 && len(text) < most:
		what = "append with the same time"
		inPlace(c.someLines(from), os.O_APPEND)
		backdate()
	case kind == 4:
		what = "truncate"
		c.must(os.Truncate(path, int64(c.rng.IntN(len(text)+1))))
	case kind == 5:
		what = "write again"
		if len(from) <= len(text) {
			inPlace(from, os.O_TRUNC)
		} else {
			c.replace(path, from)
		}
	case kind == 6:
		what = "replace by another file of the same size and time"
		c.replace(path, c.otherDigits(text))
		backdate()
	case kind == 7:
		what = "rename there and back"
		c.must(errors.Join(os.Rename(path, path+".away"), os.Rename(path+".away", path)))
	case kind == 8 || kind == 9:
		what = "exchange with " + other
		c.must(errors.Join(os.Rename(path, path+".away"), os.Rename(cmp.Or(map[bool]string{true: path + ".away"}[other == path], other), path)))
		if other != path {
			c.must(os.Rename(path+".away", other))
		}
	case kind == 10:
		what = "hard link to " + other
		if other != path {
			c.must(errors.Join(os.Remove(path), os.Link(other, path)))
		}
	default:
		what = "touch"
		c.must(os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Duration(c.rng.IntN(2000)-1000)*time.Millisecond)))
	}
	return what + " " + path
}

// replace puts a new file in the place of one. Both exist for a moment, so that the new one does not get the number of
// the old one: with that, a longer text that differs from the old one before its end would look as if it had grown.
func (c *cacheCheck) replace(path string, text []byte) {
	c.must(errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)))
}

// someLines returns some lines of a transcript, of which the last may be cut off.
func (c *cacheCheck) someLines(text []byte) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	begin := c.rng.IntN(len(lines))
	some := strings.Join(lines[begin:min(len(lines), begin+1+c.rng.IntN(6))], "")
	if c.rng.IntN(4) == 0 {
		some = some[:c.rng.IntN(len(some)+1)]
	}
	out := totals.ReplaceAllFunc([]byte(some), func([]byte) []byte {
		c.total++
		return fmt.Appendf(nil, `"total_tokens":%d`, 1_000_000+c.total)
	})
	if c.name != agentname.Codex {
		return out
	}
	return timestamp.ReplaceAllFunc(out, func([]byte) []byte {
		c.total++
		at := c.began.Add(time.Duration(c.total) * time.Millisecond)
		return fmt.Appendf(nil, `{"timestamp":"%s"`, at.UTC().Format("2006-01-02T15:04:05.000Z"))
	})
}

// Codex's cumulative counts and times never go back: it reads them from the end.
var (
	totals    = regexp.MustCompile(`"total_tokens":\s*[0-9]+`)
	timestamp = regexp.MustCompile(`\{"timestamp":"[^"]*"`)
)

var number = regexp.MustCompile(`(tokens"?|input|output|read|write|total|created|completed|updated)"?:\s*[0-9]+`)

// otherDigits changes the last digits of some numbers: tokens and times.
func (c *cacheCheck) otherDigits(text []byte) []byte {
	out := slices.Clone(text)
	places := number.FindAllIndex(out, -1)
	places = slices.DeleteFunc(places, func(at []int) bool { return strings.HasSuffix(string(out[:at[0]]), "total_") })
	for range 1 + c.rng.IntN(3) {
		if len(places) > 0 {
			out[places[c.rng.IntN(len(places))][1]-1] = byte('0' + c.rng.IntN(10))
		}
	}
	return out
}

// ask compares the answer with the cache to that without it.
func (c *cacheCheck) ask() {
	q := adapters.Query{Totals: c.rng.IntN(3) > 0, Once: c.rng.IntN(3) > 0, Usage: c.rng.IntN(3) == 0}
	q.Totals = q.Totals || q.Usage
	c.whole = c.edited || c.rng.IntN(4) > 0
	if !c.whole {
		q.Since = time.Now().Add(-time.Duration(c.rng.IntN(60*24)) * time.Hour)
	}
	// Both answers are given at the same time of day, since evidence has the age of what is young.
	now := time.Now()
	c.mixFacts()
	facts := factsIn(c, c.facts)
	facts.SaveAlways()
	with, without := c.answer(facts, q, now), c.answer(nil, q, now)
	if with == without {
		return
	}
	a, b := strings.Split(with, "\n"), strings.Split(without, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "", ""
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			c.Errorf("%+v\nwith the cache %s\nwithout        %s", q, x, y)
			return
		}
	}
}

// mixFacts leaves files of several moments in the cache, as two processes do that save at the same time, or none: facts and ledgers have a file each.
func (c *cacheCheck) mixFacts() {
	if c.edited { // a file that grows after its edit would look as if it had only grown since before it, see change
		c.earlier = nil
		return
	}
	files, err := filepath.Glob(filepath.Join(c.facts, "*"))
	c.must(err)
	for _, path := range files {
		now, err := os.ReadFile(path)
		c.must(err)
		switch before := c.earlier[path]; c.rng.IntN(8) {
		case 0:
			c.must(os.Remove(path))
		case 1:
			if before != nil {
				c.must(os.WriteFile(path, before, 0o600))
			}
		case 2, 3:
			if c.earlier == nil {
				c.earlier = map[string][]byte{}
			}
			c.earlier[path] = now
		}
	}
}

// answer asks a new adapter whose clock shows now.
func (c *cacheCheck) answer(facts *adapters.FactsCache, q adapters.Query, now time.Time) string {
	list := all.New(c.table, all.Config{Home: c.home, Facts: facts, Now: func() time.Time { return now }})
	a := list[slices.IndexFunc(list, func(a adapters.Adapter) bool { return a.Name() == c.name })]
	roll, err := a.Discover(c.Context(), q)
	if facts != nil {
		c.sessions += len(roll.Sessions)
	}
	var lines []string
	for i := range roll.Sessions {
		s := &roll.Sessions[i]
		tokens := "no tokens"
		if s.Tokens != nil && q.Totals { // without Query.Totals they may be known or not
			tokens = fmt.Sprintf("%+v, %v USD", *s.Tokens, s.CostUSD)
		}
		for _, at := range []*time.Time{&s.StartedAt, &s.LastActivityAt, &s.TurnStartedAt} {
			*at = at.UTC()
		}
		s.Tokens, s.CostUSD = nil, 0
		lines = append(lines, fmt.Sprintf("%+v %s", *s, tokens))
	}
	slices.Sort(lines)
	if c.name == agentname.Codex {
		roll.Skipped = nil // how many lines are read from the end depends on what was known before
	}
	return strings.Join(append(lines, fmt.Sprint(roll.Skipped, roll.Versions, err)), "\n")
}
