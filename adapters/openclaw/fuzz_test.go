package openclaw

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/adapters"
	"rollcall/internal/adaptertest"
	"rollcall/internal/must"
)

// seeds are all frames of the recordings.
func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/recordings/*/frames/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no recordings", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		must.Do(f, err)
		var list []struct{ Frame json.RawMessage }
		must.Do(f, json.Unmarshal(b, &list))
		for _, x := range list {
			f.Add([]byte(x.Frame))
		}
	}
	f.Add([]byte(`{"type":"res","ok":true,"payload":{"sessions":[{"key":1,"hasActiveRun":"x","updatedAt":1e400}],"messages":[{"content":[[]]}]}}`))
	f.Add([]byte(strings.Repeat("[", 20_000)))
}

// FuzzFrame: nothing that a gateway says breaks the adapter or a rule of sessions.
func FuzzFrame(f *testing.F) {
	seeds(f)
	t0 := &target{id: "x", url: "ws://x", name: "x", auth: credentials{token: "secret-token"}}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := parseFrame(b)
		if err != nil {
			return
		}
		if !frame.OK {
			if p := t0.problem(refused("x", frame.Error)); p.Error() == "" || strings.Contains(p.Error(), "\n") {
				t.Errorf("%q", p)
			}
		}
		l := link{p: &pusher{}}
		l.event(frame)
		var p page
		var list requests
		var h history
		var u usage
		var v previews
		_ = json.Unmarshal(frame.Payload, &p)
		_ = json.Unmarshal(frame.Payload, &u)
		_ = json.Unmarshal(frame.Payload, &v)
		if json.Unmarshal(frame.Payload, &h) == nil {
			for _, m := range h.messages(maxHistory) {
				if m.Key == "" || len(m.Text) > adapters.MaxText {
					t.Errorf("%+v", m)
				}
			}
		}
		pending := map[string]request{}
		if json.Unmarshal(frame.Payload, &list) == nil {
			list.enter(pending, adapters.ForPermission)
		}
		var book sessionIDs
		var rows []row
		if p.Sessions != nil {
			rows = parseRows(*p.Sessions, map[string]int{})
		}
		book.enter(t0, rows)
		judgeView := gatewayView{target: t0, hello: &hello{}, now: time.Unix(1795238665, 0), pending: pending}
		for i := range rows {
			s := judgeView.session(&rows[i], book.idOf(t0, rows[i].Key))
			s.Parent = book.parent(t0, &rows[i], s.ID)
			for _, wrong := range adaptertest.Invalid(&s) {
				t.Errorf("session %q %s", s.ID, wrong)
			}
			u.total(&rows[i])
		}
		for i := range v.Previews {
			v.Previews[i].prompt(1)
		}
	})
}

// FuzzSettings: no settings break the adapter.
func FuzzSettings(f *testing.F) {
	f.Add("{// c\n a: 'x', \"b\": [1, 2,], /* d */ c: +.5, d: 0x10, }")
	f.Add(`{"gateway":{"port":1,"auth":{"token":"${X}"},"remote":{"url":"wss://x"},"mode":"remote"}}`)
	f.Add("{'a\\\n': \"\\u0041\\x41\"}")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = parseSettings([]byte(text), func(string) string { return "v" })
	})
}

func TestJSON5(t *testing.T) {
	const text = "// settings\n{ gateway: { port: 'x', }, }"
	if _, err := parseSettings([]byte(text), func(string) string { return "" }); err != nil {
		t.Errorf("an odd value is no reason to fail: %v", err)
	}
	s, err := parseSettings([]byte(`{
		/* all that JSON5 allows */ gateway: {
			'port': 0x4965, mode: "local", // 18789
			auth: { token: '${TOKEN}', mode: 'token', },
		},
	}`), func(name string) string { return "value of " + name })
	if err != nil || s.port != 18789 || s.auth.token != "value of TOKEN" {
		t.Errorf("port %d, %v", s.port, err)
	}
}

// TestJSON5Escapes: every escape of a text that JSON5 has (https://spec.json5.org, 5.1), and none that it forbids.
func TestJSON5Escapes(t *testing.T) {
	for text, want := range map[string]string{
		`'\x41\x7a\xe9'`:                   "Azé",
		`'\v|\0|\b|\f|\n|\r|\t'`:           "\v|\x00|\b|\f|\n|\r|\t",
		`'\u0041\u00E9\ud83d\ude00'`:       "Aé😀",
		"'a\\\nb\\\r\nc\\\rd'":             "abcd",
		"'a\\\u2028b\\\u2029c'":            "abc",
		"'raw\u2028\ttext'":                "raw\u2028\ttext",
		`'\a\q\'\"\\\/\é'`:                 `aq'"\/é`,
		`"it's \"quoted\""`:                `it's "quoted"`,
		`'say "x"'`:                        `say "x"`,
		"'\\\u00e9\U0001F600\\\U0001F600'": "é😀😀",
	} {
		var got struct{ A string }
		if err := unmarshalJSON5([]byte("{a: "+text+"}"), &got); err != nil || got.A != want {
			t.Errorf("%s is %q, %v; want %q", text, got.A, err, want)
		}
	}
	for _, text := range []string{`'\1'`, `'\9'`, `'\01'`, `'\x4'`, `'\xg1'`, `'\u00'`, `'\u12g4'`, `'a`, `'a\`} {
		var got struct{ A string }
		if unmarshalJSON5([]byte("{a: "+text+"}"), &got) == nil {
			t.Errorf("%s is %q, want an error", text, got.A)
		}
	}
}

func TestProfilePort(t *testing.T) {
	// As the function of 2026.9.6 computes them.
	for name, want := range map[string]int{"rescue": 23532, "ops": 55291, "wörk": 36544} {
		if got := profilePort(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
