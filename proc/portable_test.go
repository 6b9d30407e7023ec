package proc

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestChildEnv(t *testing.T) {
	base := []string{"PATH=/bin", "A=1", "=C:=C:\\x", "no equals sign", "A=2", "EMPTY=", "Key=old", "ANTHROPIC_API_KEY=secret", "V=x=y"}
	for _, c := range []struct {
		name string
		drop []string
		set  map[string]string
		fold bool
		want string
	}{
		{"as it is", nil, nil, false, "A=2|ANTHROPIC_API_KEY=secret|EMPTY=|Key=old|PATH=/bin|V=x=y"},
		{"drop", []string{"ANTHROPIC_API_KEY", "absent", "anthropic", "key"}, nil, false, "A=2|EMPTY=|Key=old|PATH=/bin|V=x=y"},
		{"set wins", []string{"A"}, map[string]string{"A": "3", "": "nameless", "NEW": "a\nb"}, false,
			"A=3|ANTHROPIC_API_KEY=secret|EMPTY=|Key=old|NEW=a\nb|PATH=/bin|V=x=y"},
		{"Windows", []string{"anthropic_api_key"}, map[string]string{"KEY": "new", "path": `C:\bin`}, true, `A=2|EMPTY=|KEY=new|V=x=y|path=C:\bin`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(childEnv(base, c.drop, c.set, c.fold), "|"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if got := ChildEnv(nil, nil, nil); len(got) != 0 {
		t.Errorf("got %q of nothing", got)
	}
}

func procArgs2(count int32, rest string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(count)), rest...)
}

func TestParseProcArgs(t *testing.T) {
	in := procArgs2(3, "/usr/bin/x\x00\x00\x00\x00x\x00\x00two words\x00A=1\x00B=\x00\x00stack garbage\x00")
	exe, args, env, err := parseProcArgs(in)
	if err != nil || exe != "/usr/bin/x" || !slices.Equal(args, []string{"x", "", "two words"}) || !slices.Equal(env, []string{"A=1", "B="}) {
		t.Errorf("%q, %q, %q, %v", exe, args, env, err)
	}
	exe, args, env, err = parseProcArgs(procArgs2(1, "/bin/hidden\x00\x00hidden\x00"))
	if err != nil || exe != "/bin/hidden" || len(args) != 1 || env != nil {
		t.Errorf("without environment: %q, %q, %q, %v", exe, args, env, err)
	}
	for _, in := range [][]byte{nil, {1, 0, 0}, procArgs2(1, "no end"), procArgs2(-1, "x\x00x\x00"), procArgs2(1<<30, "x\x00x\x00y\x00"), procArgs2(1, "x\x00cut")} {
		if _, _, _, err := parseProcArgs(in); !errors.Is(err, errProcArgs) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzParseProcArgs(f *testing.F) {
	f.Add(procArgs2(1, "/bin/x\x00\x00x\x00A=1\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		_, args, env, err := parseProcArgs(in)
		if err != nil {
			return
		}
		total := 4
		for _, s := range append(args, env...) {
			total += len(s) + 1
		}
		if total > len(in)+1 {
			t.Errorf("%q gives more than it holds: %q %q", in, args, env)
		}
	})
}

func TestParseLsof(t *testing.T) {
	const output = "p123\nfcwd\ntDIR\nn/Users/dev/proj\nftxt\ntREG\nn/usr/local/bin/codex\nf0\ntCHR\nn/dev/ttys001\n" +
		"f12\ntREG\nn/Users/dev/.codex/sessions/a b.jsonl\nf13\ntREG\nn/Users/dev/.codex/sessions/a b.jsonl\n" +
		"f14\ntIPv4\nnlocalhost:1\nf15\ntDIR\nn/Users/dev\nf16\ntREG\nn\n\nf17\ntREG\nn/last without line end"
	want := []string{"/Users/dev/.codex/sessions/a b.jsonl", "/last without line end"}
	if got := parseLsof(output, openFile); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := parseLsof(output, workingFolder); !slices.Equal(got, []string{"/Users/dev/proj"}) {
		t.Errorf("working folder: got %q", got)
	}
	if got := parseLsof("", openFile); got != nil {
		t.Errorf("got %q of nothing", got)
	}
}

func TestIdentityString(t *testing.T) {
	if got := (Identity{PID: 7, Start: 42}).String(); got != "pid 7 (started 42)" {
		t.Error(got)
	}
	if got := (Identity{}).String(); got != "no process" {
		t.Error(got)
	}
}
