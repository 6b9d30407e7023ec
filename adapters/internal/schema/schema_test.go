package schema

import (
	"slices"
	"testing"

	"rollcall/adapters"
)

var table = Table{"id": Named, "text": Shown, "many": Flag, "any": Whole, "env": Beside("Sets"), "note": Ignored("a note"),
	"files": Object(Table{"path": Shown, "to": Shown})}

func TestCheck(t *testing.T) {
	for raw, want := range map[string][]string{
		`{"id":"a","text":"x","many":true,"any":{"b":[1]},"note":{"c":1},"files":[{"path":"p"},{"to":null}]}`: nil,
		`{"id":1,"text":["x","y"],"files":{"path":"p"}}`:                                                      nil,
		`{"other":null}`:                       {"other"},
		`{"Text":"x"}`:                         {"Text"},
		`{"text":"x","text":"y"}`:              {"text"},
		`{"text":{"x":1}}`:                     {"text"},
		`{"text":["x",{"y":1}]}`:               {"text"},
		`{"text":5}`:                           {"text"},
		`{"many":"x"}`:                         {"many"},
		`{"many":[true]}`:                      {"many"},
		`{"id":{"x":1}}`:                       {"id"},
		`{"files":[{"path":"p","mode":1}]}`:    {"files[].mode"},
		`{"files":{"path":"p","mode":1}}`:      {"files.mode"},
		`{"files":["p"]}`:                      {"files[]"},
		`{"files":"p"}`:                        {"files"},
		`{"files":[{"x":1},{"x":2}],"z":"\n"}`: {"files[].x", "z"},
	} {
		r := adapters.Request{CanAllow: true, CanDeny: true}
		table.Check(&r, "", []byte(raw))
		if !slices.Equal(r.Unknown, want) || r.CanAllow != (want == nil) || !r.CanDeny {
			t.Errorf("%s: %q, %v; want %q", raw, r.Unknown, r.CanAllow, want)
		}
	}
	r := adapters.Request{CanAllow: true}
	if table.Check(&r, "params", []byte(`[]`)); !slices.Equal(r.Unknown, []string{"params"}) || r.CanAllow {
		t.Errorf("%+v", r)
	}
}

func TestBeside(t *testing.T) {
	for raw, want := range map[string]string{`["A","B"]`: "A, B", `"A"`: "A", `{"a": 1}`: `{"a":1}`, `[1]`: "[1]", `true`: "true", `null`: "", `[]`: "", `{}`: "", `""`: "", `false`: ""} {
		r := adapters.Request{}
		table.Check(&r, "", []byte(`{"env":`+raw+`}`))
		if got := len(r.Details) == 1; got != (want != "") || got && r.Details[0] != (adapters.Detail{Title: "Sets", Text: want}) {
			t.Errorf("%s: %+v", raw, r.Details)
		}
	}
}
