//go:build !windows

package reading

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"rollcall/adapters"
	"rollcall/internal/must"
)

// project makes a folder as sessions work in.
func project(t *testing.T) string {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for _, d := range []string{"src/deep", "docs", "keys", "hidden", ".git/objects", ".git/refs"} {
		must.Do(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	for name, text := range map[string]string{
		"src/a.go": "package a\n", "src/deep/b.go": "", "docs/x=1": "", "README.md": "", "keys/server.pem": "", ".env": "", "secrets.json": "", "hidden/.x": "", "hard": "",
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[branch \"main\"]\n\tremote = origin\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(out, "x"), nil, 0o600))
	for link, to := range map[string]string{"away": out, "self": ".", "note.md": filepath.Join(out, "x"), "docs/in": "../src/a.go"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	must.Do(t, os.Link(filepath.Join(dir, "hard"), filepath.Join(dir, "hard2")))
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	return dir
}

var env = []string{"HOME=/home/dev", "SHELL=/usr/bin/bash", "PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm"}

func commandIn(dir, text string) *adapters.Request {
	return &adapters.Request{Kind: adapters.AsksCommand, Text: text, Folder: dir}
}

// TestCommands: one key allows plain commands that read files of the folder.
func TestCommands(t *testing.T) {
	dir := project(t)
	for _, text := range []string{
		"pwd", "ls", "ls -a src", "ls -1 -R src", "ls hidden", "cat src/a.go", "cat -n README.md src/a.go", "cat " + dir + "/src/a.go", "head -n 20 src/a.go", "tail -n 5 src/a.go", "wc -l src/a.go", "cat docs/x=1", "ls src/",
		"grep -n foo src/a.go", "grep -r -n foo src", "rg foo src/a.go README.md", "rg -n -A 3 foo src/a.go", "diff -u README.md src/a.go", "du -s -h src", "git log --oneline -n 5", "git branch --show-current", "git rev-parse HEAD",
	} {
		if !Is(commandIn(dir, text), Place{dir, env}) {
			t.Errorf("one key does not allow %q", text)
		}
	}
	for _, text := range []string{
		"", " ls", "ls ", "ls  src", "ls\t", "ls\nls", "ls\n", "LS", "./ls", "src/a.go", "/bin/ls", "ls src; ls", "ls &", "ls | cat", "ls > x", "cat < x", "cat 'src/a.go'", `cat src\a.go`, "cat $x", "cat src/*", "cat src/?.go", "cat {a,b}", "cat ~", "cat ~/x", "cat =ls", "A=b ls", "ls #x", "cat src/a.go^",
		"ls -la", "ls -l", "ls --color=always", "ls -T", "cat --new", "head -20 src/a.go", "head -n20 src/a.go", "head -n x src/a.go", "head -n", "tail -f src/a.go", "tail --pid=1 src/a.go", "wc --files0-from=src/a.go", "cat -", "cat -- src/a.go", "cat", "grep foo", "rg foo", "grep -R foo src", "grep -e foo src/a.go", "grep -f src/a.go src/a.go",
		"grep -rn foo src", "rg foo src", "rg --pre cat foo src/a.go", "rg -L foo src", "rg -uu foo src", "rg -. foo src", "grep src/a.go src/a.go", "grep .x src/a.go",
		"cat ../x", "cat src/../../x", "cat src/..", "cat /etc/passwd", "cat " + dir, "cat " + dir + "x", "cat .env", "cat ./src/a.go", "cat .git/config", "ls .", "ls ..", "cat hidden/.x", "cat secrets.json", "cat keys/server.pem", "cat none", "cat src/a.go/", "cat src//a.go",
		"cat note.md", "ls away", "cat away/x", "cat self/src/a.go", "cat docs/in", "cat pipe", "cat hard", "grep -r foo docs", "grep -r foo hidden", "rg foo keys", "diff -r src docs", "ls " + dir + "/..",
		"go test ./...", "make", "npm test", "echo x", "printf x", "find src", "sort src/a.go", "tee src/a.go", "touch x", "env", "xargs ls", "sed p src/a.go", "awk 1 src/a.go", "date", "which ls", "command ls", "exec ls", "time ls", "test -e x",
		"git", "git status", "git diff", "git show", "git log -p", "git log HEAD", "git log --stat", "git log --output=x", "git log --format=x", "git -C src log", "git log --show-signature", "git branch", "git branch x", "git config a", "git rev-parse x", "git log -n5", "git log src/../x",
	} {
		if Is(commandIn(dir, text), Place{dir, env}) {
			t.Errorf("one key allows %q", text)
		}
	}
}

// TestPlaces: where the shell, the folder or what runs is not known, nothing is reading.
func TestPlaces(t *testing.T) {
	dir := project(t)
	with := func(more ...string) []string { return append(append([]string{}, env...), more...) }
	for name, c := range map[string]struct {
		at   Place
		dir  string
		want bool
	}{
		"bash":                    {Place{dir, env}, dir, true},
		"no folder of its own":    {Place{dir, env}, "", true},
		"a folder below":          {Place{dir, env}, dir + "/src", true},
		"fish":                    {Place{dir, with("SHELL=/usr/bin/fish")}, dir, false}, // its ls is a function
		"another shell":           {Place{dir, with("SHELL=/usr/bin/nu")}, dir, false},
		"a relative shell":        {Place{dir, with("SHELL=bash")}, dir, false},
		"no environment":          {Place{dir, nil}, dir, false},
		"no shell":                {Place{dir, []string{"PATH=/bin"}}, dir, false},
		"no PATH":                 {Place{dir, []string{"SHELL=/bin/sh"}}, dir, false},
		"PATH in the folder":      {Place{dir, with("PATH=" + dir + "/node_modules/.bin:/bin")}, dir, false},
		"a relative PATH":         {Place{dir, with("PATH=bin:/bin")}, dir, false},
		"an empty part of PATH":   {Place{dir, with("PATH=/bin:")}, dir, false},
		"PATH by a link":          {Place{dir, with("PATH=" + filepath.Dir(dir) + "/link/src:/bin")}, dir, false},
		"rg's configuration":      {Place{dir, with("RIPGREP_CONFIG_PATH=.ripgreprc")}, dir, false},
		"git's configuration":     {Place{dir, with("GIT_EXTERNAL_DIFF=x")}, dir, false},
		"a library":               {Place{dir, with("LD_PRELOAD=x")}, dir, false},
		"a file of bash":          {Place{dir, with("BASH_ENV=x")}, dir, false},
		"a function of bash":      {Place{dir, with("BASH_FUNC_ls%%=() { x; }")}, dir, false},
		"the home":                {Place{os.Getenv("HOME"), env}, os.Getenv("HOME"), false},
		"the root":                {Place{"/", env}, "/", false},
		"a relative folder":       {Place{"src", env}, "src", false},
		"a folder that is gone":   {Place{dir + "/gone", env}, dir + "/gone", false},
		"a folder elsewhere":      {Place{dir, env}, filepath.Dir(dir), false},
		"a folder by a link":      {Place{dir, env}, dir + "/away", false},
		"a hidden folder":         {Place{dir, env}, dir + "/.git", false},
		"a folder that is a file": {Place{dir, env}, dir + "/README.md", false},
	} {
		if name == "PATH by a link" {
			must.Do(t, os.Symlink(dir, filepath.Dir(dir)+"/link"))
		}
		if got := Is(commandIn(c.dir, "ls"), c.at); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, r := range map[string]*adapters.Request{
		"on a node":     {Kind: adapters.AsksCommand, Text: "ls", Folder: dir, Reason: "runs on node x"},
		"a variable":    {Kind: adapters.AsksCommand, Text: "ls", Folder: dir, Details: []adapters.Detail{{Title: "PATH", Text: "."}}},
		"a member":      {Kind: adapters.AsksCommand, Text: "ls", Folder: dir, Unknown: []string{"scope"}},
		"a plan":        {Kind: adapters.AsksPlan, Text: "ls", Folder: dir},
		"a change":      {Kind: adapters.AsksFileChange, Text: "ls", Folder: dir},
		"with question": {Kind: adapters.AsksCommand, Text: "ls", Folder: dir, Questions: []adapters.Question{{Text: "x"}}},
	} {
		if Is(r, Place{dir, env}) {
			t.Errorf("%s: reading", name)
		}
	}
}

// TestTools: an agent's own tool reads by the same rule.
func TestTools(t *testing.T) {
	dir := project(t)
	for text, want := range map[string]bool{
		"Read\n{\"file_path\":\"" + dir + "/src/a.go\",\"limit\":5}": true,
		"Read\n{\"file_path\":\"src/a.go\"}":                         true,
		"Grep\n{\"pattern\":\"/etc\",\"path\":\"src\",\"-n\":true}":  true,
		"Glob\n{\"pattern\":\"**/*.go\"}":                            true,
		"LS\n{\"path\":\"" + dir + "\"}":                             true,
		"Read\n{\"file_path\":\"/etc/hosts\"}":                       false,
		"Read\n{\"file_path\":\"src/../../x\"}":                      false,
		"Read\n{\"file_path\":\".env\"}":                             false,
		"Read\n{\"file_path\":\"note.md\"}":                          false,
		"Read\n{\"file_path\":\"pipe\"}":                             false,
		"Read\n{}":                                                   false,
		"Read\n{\"file_path\":[\"src/a.go\"]}":                       false,
		"Read\n{\"file_path\":\"src/a.go\",\"pages\":\"1\"}":         false,
		"Read\n{\"file_path\":\"src/a.go\"} {}":                      false,
		"Grep\n{\"pattern\":\"x\"}":                                  false,
		"Grep\n{\"pattern\":\"x\",\"path\":\"docs\"}":                false,
		"Glob\n{\"pattern\":\"../**\"}":                              false,
		"Glob\n{\"pattern\":\"{..,x}/**\"}":                          false,
		"Glob\n{\"pattern\":\"**/.env\"}":                            false,
		"Glob\n{\"pattern\":\"/etc/*\"}":                             false,
		"Glob\n{\"pattern\":\"*\",\"path\":\"away\"}":                false,
		"WebFetch\n{\"url\":\"https://example.com\"}":                false,
		"Edit\n{\"file_path\":\"src/a.go\"}":                         false,
		"mcp__x__Read\n{\"file_path\":\"src/a.go\"}":                 false,
		"Bash\n{\"command\":\"ls\"}":                                 false,
	} {
		if got := Is(&adapters.Request{Kind: adapters.AsksPermission, Text: text, Folder: dir}, Place{dir, env}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestRepositories: git's readers are reading only where the repository is a plain one, whose configuration names no program.
func TestRepositories(t *testing.T) {
	const plain = "[core]\n\trepositoryformatversion = 0\n"
	for name, change := range map[string]func(dir string) error{
		"no repository": func(dir string) error { return os.RemoveAll(dir + "/.git") },
		"a file": func(dir string) error {
			_ = os.RemoveAll(dir + "/.git")
			return os.WriteFile(dir+"/.git", []byte("gitdir: /x\n"), 0o600)
		},
		"a pipe":         func(dir string) error { _ = os.RemoveAll(dir + "/.git"); return syscall.Mkfifo(dir+"/.git", 0o600) },
		"a link":         func(dir string) error { _ = os.Rename(dir+"/.git", dir+"/git"); return os.Symlink("git", dir+"/.git") },
		"no HEAD":        func(dir string) error { return os.Remove(dir + "/.git/HEAD") },
		"a strange HEAD": func(dir string) error { return os.WriteFile(dir+"/.git/HEAD", []byte("x"), 0o600) },
		"no objects":     func(dir string) error { return os.Remove(dir + "/.git/objects") },
		"a link in it":   func(dir string) error { return os.Symlink("/etc/passwd", dir+"/.git/refs/x") },
		"a pipe in it":   func(dir string) error { return syscall.Mkfifo(dir+"/.git/packed-refs", 0o600) },
		"alternates": func(dir string) error {
			_ = os.Mkdir(dir+"/.git/objects/info", 0o700)
			return os.WriteFile(dir+"/.git/objects/info/alternates", []byte("/x\n"), 0o600)
		},
		"a common folder":    func(dir string) error { return os.WriteFile(dir+"/.git/commondir", []byte("/x\n"), 0o600) },
		"a pipe as mail map": func(dir string) error { return syscall.Mkfifo(dir+"/.mailmap", 0o600) },
		"signatures": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte(plain+"[log]\n\tshowSignature = true\n"), 0o600)
		},
		"an alias": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte(plain+"[alias]\n\tlog = !x\n"), 0o600)
		},
		"a program": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte(plain+"[core]\n\tfsmonitor = x\n"), 0o600)
		},
		"another file": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte(plain+"[include]\n\tpath = /x\n"), 0o600)
		},
		"on a section's line": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte(plain+"[core] pager = x\n"), 0o600)
		},
		"on two lines": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte(plain+"\tfilemode = \\\n\ttrue\n"), 0o600)
		},
		"bare": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte(plain+"\tbare = true\n"), 0o600)
		},
		"another format": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte("[core]\n\trepositoryformatversion = 1\n"), 0o600)
		},
		"a partial clone": func(dir string) error {
			return os.WriteFile(dir+"/.git/config", []byte(plain+"[remote \"origin\"]\n\tpromisor = true\n"), 0o600)
		},
	} {
		dir := project(t)
		must.Do(t, change(dir))
		for _, text := range []string{"git log --oneline", "git branch --show-current"} {
			if Is(commandIn(dir, text), Place{dir, env}) {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
}
