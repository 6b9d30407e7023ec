package agentfile

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rollcall/internal/must"
)

func TestTop(t *testing.T) {
	line := `{"type":"assistant", "n" : -12 ,"deep":{"a":[1,{"b":"]}\"\\"}]},"s":"a\"b\\","t":true,"z":null,"k\u0065y":1.5e3}`
	var got []string
	err := Top([]byte(line), func(key, raw []byte) bool {
		got = append(got, string(key)+"="+string(raw))
		return true
	})
	must.Do(t, err)
	want := `type="assistant"|n=-12|deep={"a":[1,{"b":"]}\"\\"}]}|s="a\"b\\"|t=true|z=null|key=1.5e3`
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if s := String(Get([]byte(line), "s")); s != `a"b\` {
		t.Errorf("s = %q", s)
	}
	if raw := Get([]byte(line), "deep", "a"); string(raw) != `[1,{"b":"]}\"\\"}]` {
		t.Errorf("deep.a = %s", raw)
	}
	if raw := Get([]byte(line), "s", "a"); raw != nil {
		t.Errorf("a member of a string: %s", raw)
	}
}

func TestTopRefuses(t *testing.T) {
	for _, line := range []string{"", " ", "null", "[]", `"a"`, "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`,
		`{"a":{"b":1}`, `{"a":"b`, `{"a":"b\"}`, `{"a":1}x`, `{"a":1}{"b":2}`, `{"a":tru}`, `{"a":}`, `{"a" 1}`, `{,}`, "\x00\x00"} {
		if err := Top([]byte(line), func(_, _ []byte) bool { return true }); !errors.Is(err, ErrSyntax) {
			t.Errorf("%q: %v, want ErrSyntax", line, err)
		}
	}
}

func TestDeepNesting(t *testing.T) {
	const depth = 5_000_000
	line := []byte(`{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"b":7}`)
	if n, ok := Int(Get(line, "b")); !ok || n != 7 {
		t.Errorf("b = %d, %v", n, ok)
	}
	if err := Top(line[:depth], func(_, _ []byte) bool { return true }); !errors.Is(err, ErrSyntax) {
		t.Errorf("cut off in the depth: %v", err)
	}
}

func TestHead(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		limit     int
		cut       bool
	}{
		{`"short"`, "short", 10, false},
		{`"exactly10!"`, "exactly10!", 10, false},
		{`"longer than that"`, "longer tha", 10, true},
		{`"aaaaaaaaaü"`, "aaaaaaaaa", 10, true},
		{`"\u0041\u0041\u0041"`, "AA", 2, true},
		{`"` + strings.Repeat(`\ud83d\ude00`, 1000) + `"`, "😀😀", 10, true},
		{`7`, "", 10, false},
	} {
		if got, cut := Head([]byte(c.raw), c.limit); got != c.want || cut != c.cut {
			t.Errorf("Head(%.30s, %d) = %q, %v", c.raw, c.limit, got, cut)
		}
	}
}

func TestTime(t *testing.T) {
	if got := Time([]byte(`"2026-11-21T05:26:01.250Z"`)); !got.Equal(time.Date(2026, 11, 21, 5, 26, 1, 250e6, time.UTC)) {
		t.Errorf("%v", got)
	}
	for _, raw := range []string{``, `""`, `7`, `"yesterday"`, `null`} {
		if got := Time([]byte(raw)); !got.IsZero() {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

func TestTopDoesNotAllocate(t *testing.T) {
	line := []byte(sample)
	var n int64
	if got := testing.AllocsPerRun(100, func() {
		_ = Top(line, func(key, raw []byte) bool {
			if string(key) == "message" {
				v, _ := Int(Get(raw, "usage", "output_tokens"))
				n += v
			}
			return true
		})
	}); got > 0 {
		t.Errorf("%v allocations a line", got)
	}
	if n == 0 {
		t.Error("output_tokens not found")
	}
}

// FuzzTop holds Top, Each and the value helpers against encoding/json: what that
// accepts is read the same.
func FuzzTop(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"a":"\ud83d\ude00\ud83d","b":[1,"2",{"c":-0.5e-3}],"a":null}`))
	f.Add([]byte("{\"\\u0061\xff\": \"\xed\xa0\x80\", \"\":[]} \n"))
	f.Add([]byte(`{"n":9223372036854775807,"m":-9223372036854775808,"o":1e400,"p":123456789012345678901}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var want map[string]json.RawMessage
		refErr := json.Unmarshal(line, &want)
		got := map[string][]byte{}
		err := Top(line, func(key, raw []byte) bool {
			got[valid(key)] = raw
			compareValue(t, raw, json.Valid(raw))
			return true
		})
		if refErr != nil || want == nil { // encoding/json is stricter; Top must only survive
			return
		}
		if err != nil {
			t.Fatalf("encoding/json takes it: %v", err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d members, want %d", len(got), len(want))
		}
		for k, w := range want {
			if string(got[k]) != string(w) {
				t.Errorf("%q: %s, want %s", k, got[k], w)
			}
		}
	})
}

func compareValue(t *testing.T, raw []byte, isJSON bool) {
	text := String(raw)
	n := int64(0)
	nOK := false
	n, nOK = Int(raw)
	head, cut := Head(raw, 7)
	if !utf8.ValidString(text) || !utf8.ValidString(head) || len(head) > 7 {
		t.Fatalf("String(%q) = %q, Head = %q", raw, text, head)
	}
	var elements int
	eachErr := Each(raw, func(e []byte) bool { elements++; return len(e) > 0 })
	if !isJSON {
		return
	}
	var ref any
	if json.Unmarshal(raw, &ref) != nil { // a number out of range
		return
	}
	switch ref := ref.(type) {
	case string:
		if text != ref || cut != (len(ref) > 7) || !strings.HasPrefix(ref, head) {
			t.Errorf("String(%s) = %q, Head %q %v; want %q", raw, text, head, cut, ref)
		}
	case float64:
		exact, err := strconv.ParseInt(string(raw), 10, 64)
		whole := err == nil || ref == math.Trunc(ref) && ref < 1<<63 && ref >= -1<<63
		if nOK != whole || nOK && err == nil && len(raw) <= 18 && n != exact {
			t.Errorf("Int(%s) = %d, %v", raw, n, nOK)
		}
	case []any:
		if eachErr != nil || elements != len(ref) {
			t.Errorf("Each(%s): %d, %v", raw, elements, eachErr)
		}
	case bool:
		if True(raw) != ref {
			t.Errorf("True(%s)", raw)
		}
	case nil:
		if !Null(raw) {
			t.Errorf("Null(%s)", raw)
		}
	}
}

// sample has the shape of a Claude Code assistant line.
const sample = `{"parentUuid":"bc44","isSidechain":false,"message":{"id":"msg_1","model":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo \"hi\" {["}}],"stop_reason":"tool_use","usage":{"input_tokens":100,"output_tokens":20}},"requestId":"r","type":"assistant","timestamp":"2026-11-21T05:26:01.250Z","cwd":"/p"}`

// corpus is 100 MB of lines with the sizes of real ones.
func corpus() []byte {
	long := strings.Repeat(`line of output with a \"quote\" and a tab\t, and more of it to be like a source file\n`, 40)
	var b strings.Builder
	for b.Len() < 100<<20 {
		b.WriteString(sample + "\n")
		b.WriteString(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` + long + `"}]},"timestamp":"2026-11-21T05:26:02Z"}` + "\n")
	}
	return []byte(b.String())
}

func BenchmarkTop100MB(b *testing.B) {
	data := string(corpus())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var tokens int64
		_, _, err := Forward(b.Context(), strings.NewReader(data), 0, 0, func(line []byte, _ int64) error {
			return Top(line, func(key, raw []byte) bool {
				if string(key) == "message" {
					n, _ := Int(Get(raw, "usage", "output_tokens"))
					tokens += n
				}
				return true
			})
		})
		if err != nil || tokens == 0 {
			b.Fatal(tokens, err)
		}
	}
}
