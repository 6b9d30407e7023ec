package proc

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
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

func procArgsBuffer(count int32, rest string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(count)), rest...)
}

func TestParseProcArgs(t *testing.T) {
	const apple = "ptr_munge=\x00main_stack=\x00executable_file=0x1,0x2\x00th_port=0x103\x00"
	tests := map[string]struct {
		count     int32
		rest      string
		args, env []string // env is nil where it is hidden
	}{
		"padding and an empty argument": {3, "/usr/bin/x\x00\x00\x00\x00x\x00\x00two words\x00A=1\x00B=\x00\x00" + apple, []string{"x", "", "two words"}, []string{"A=1", "B="}},
		"hidden":                        {1, "/bin/hidden\x00\x00hidden\x00", []string{"hidden"}, nil},
		"hidden with a title":           {3, "/bin/node\x00pi\x00" + strings.Repeat("\x00", 30), []string{"pi", "", ""}, nil},
		"empty":                         {1, "/bin/bare\x00\x00bare\x00\x00" + apple, []string{"bare"}, []string{}},
		"empty without a gap":           {1, "/bin/bare\x00bare\x00executable_path=/bin/bare\x00", []string{"bare"}, []string{}},
		// libuv writes the title over the arguments, and zeros behind it.
		"title": {3, "/opt/homebrew/bin/node\x00\x00pi" + strings.Repeat("\x00", 33) + "HOME=/Users/a\x00PATH=/bin\x00\x00" + apple, []string{"pi", "", ""},
			[]string{"HOME=/Users/a", "PATH=/bin"}},
		"title without a gap behind the environment": {1, "/bin/node\x00openclaw\x00\x00\x00HOME=/Users/a\x00" + apple, []string{"openclaw"}, []string{"HOME=/Users/a"}},
	}
	for name, test := range tests {
		exe, args, env, err := parseProcArgs(procArgsBuffer(test.count, test.rest))
		if err != nil || !strings.HasPrefix(test.rest, exe+"\x00") || !slices.Equal(args, test.args) || !slices.Equal(env, test.env) || (env == nil) != (test.env == nil) {
			t.Errorf("%s: %q, %q, %v", name, args, env, err)
		}
	}
	for _, in := range [][]byte{nil, {1, 0, 0}, procArgsBuffer(1, "no end"), procArgsBuffer(-1, "x\x00x\x00"), procArgsBuffer(1<<30, "x\x00x\x00y\x00"), procArgsBuffer(1, "x\x00cut")} {
		if _, _, _, err := parseProcArgs(in); !errors.Is(err, errProcArgs) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzParseProcArgs(f *testing.F) {
	f.Add(procArgsBuffer(1, "/bin/x\x00\x00x\x00A=1\x00\x00"))
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

// fdPathInfo returns what macOS tells of a descriptor with a vnode of this type and path.
func fdPathInfo(kind uint32, path string) []byte {
	b := make([]byte, fdPathInfoSize)
	binary.LittleEndian.PutUint32(b[fileInfoSize+vnodeStatSize:], kind)
	copy(b[fileInfoSize+vnodeInfoSize:], path)
	return b
}

func TestParseProcInfo(t *testing.T) {
	if fdPathInfoSize != 1200 || foldersInfoSize != 2352 { // sizeof struct vnode_fdinfowithpath and struct proc_vnodepathinfo
		t.Errorf("sizes are %d and %d", fdPathInfoSize, foldersInfoSize)
	}
	var list []byte
	for _, fd := range [][2]uint32{{0, fdVnode}, {3, 2}, {12, fdVnode}, {13, 5}} { // 2: a socket, 5: a kqueue
		list = binary.LittleEndian.AppendUint32(list, fd[0])
		list = binary.LittleEndian.AppendUint32(list, fd[1])
	}
	if got := parseDescriptors(append(list, 1, 2, 3)); !slices.Equal(got, []int32{0, 12}) {
		t.Errorf("descriptors %v", got)
	}
	const rollout = "/Users/jürgen/.codex/sessions/a b 😀.jsonl"
	for _, test := range []struct {
		in   []byte
		want string
	}{
		{fdPathInfo(vnodeRegular, rollout), rollout},
		{fdPathInfo(2, "/Users/dev"), ""}, // a folder
		{fdPathInfo(vnodeRegular, rollout)[:200], ""},
		{fdPathInfo(vnodeRegular, ""), ""},
	} {
		if got := parseFile(test.in); got != test.want {
			t.Errorf("%q, not %q", got, test.want)
		}
	}
	folders := make([]byte, foldersInfoSize)
	copy(folders[vnodeInfoSize:], "/Users/jürgen/proj")
	copy(folders[vnodePathInfoSize+vnodeInfoSize:], "/")
	if got := parseFolder(folders); got != "/Users/jürgen/proj" {
		t.Errorf("folder %q", got)
	}
	if got := parseFolder(folders[:100]); got != "" {
		t.Errorf("folder %q of a cut answer", got)
	}
}

// The sizes and the places are those of struct proc_taskinfo in xnu's bsd/sys/proc_info.h: virtual size, resident size, time in user mode, in system mode.
func TestParseTaskInfo(t *testing.T) {
	info := make([]byte, 96)
	for i, n := range []uint64{4 << 30, 340e6, 3e9, 6e9} {
		binary.LittleEndian.PutUint64(info[8*i:], n)
	}
	for isARM, want := range map[bool]time.Duration{false: 9 * time.Second, true: 375 * time.Second} { // 24 MHz
		if got, err := parseTaskInfo(info, isARM); err != nil || got != (Load{Processor: want, Memory: 340e6}) {
			t.Errorf("ARM %v: %+v, %v", isARM, got, err)
		}
	}
	if _, err := parseTaskInfo(info[:95], false); err == nil {
		t.Error("a cut answer was taken")
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
