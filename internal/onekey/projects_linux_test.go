package onekey

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// project is a folder in which sessions work. Half of them were written by an attacker.
type project struct {
	name  string
	setUp func(d dir) error
}

// dir is a folder that is being made. Its first error ends that.
type dir struct {
	path string
	err  *error
}

func (d dir) note(err error) {
	if *d.err == nil && err != nil {
		*d.err = err
	}
}

func (d dir) write(name, text string) {
	d.note(os.MkdirAll(filepath.Dir(filepath.Join(d.path, name)), 0o755))
	d.note(os.WriteFile(filepath.Join(d.path, name), []byte(text), 0o755)) //nolint:gosec // an attacker makes programs
}

func (d dir) link(to, name string) { d.note(os.Symlink(to, filepath.Join(d.path, name))) }
func (d dir) remove(name string)   { d.note(os.RemoveAll(filepath.Join(d.path, name))) }

func (d dir) pipe(name string) {
	d.remove(name)
	d.note(syscall.Mkfifo(filepath.Join(d.path, name), 0o644))
}

func (d dir) git(args ...string) {
	cmd := exec.Command("git", append([]string{"-C", d.path, "-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.note(fmt.Errorf("git %q: %w: %s", args, err, out))
	}
}

// evil is a program of an attacker.
const evil = "#!/bin/sh\necho ran \"$0\" \"$@\" > PWNED\ncat\n"

// base are the files of every project.
func base(d dir) {
	for name, text := range map[string]string{
		"a.txt": "foo\npackage\n", "src/a.go": "package a // TODO foo\n", "src/b.txt": "foo\n", "src/deep/c.go": "package c\n", "docs/x.md": "foo\n", "README.md": "# foo\n", "empty": "", "x=1": "1\n", "@a": "a\n",
		"%1": "1\n", "+1": "1\n", "a,b": "1\n", "a:b": "1\n", "needle": "foo\n", "big": strings.Repeat("a line of a large file\n", 20_000), "evil": evil, "ls": evil, "git": evil, "cat": evil, "rg": evil,
		"src/grep": evil, "node_modules/.bin/ls": evil,
	} {
		d.write(name, text)
	}
}

// commits makes a repository with some commits.
func commits(d dir) {
	d.git("init", "-q")
	d.git("add", "-A")
	d.git("commit", "-q", "-m", "first")
	d.write("a.txt", "changed\n")
	d.git("commit", "-q", "-a", "-m", "second")
	d.git("tag", "v1")
	d.git("branch", "other")
	d.write("src/b.txt", "not committed\n")
}

// programs of an attacker in the configuration of a repository.
const evilSettings = `[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = ./evil
	pager = ./evil
	editor = ./evil
	hooksPath = hooks
	sshCommand = ./evil
	attributesFile = attributes
[pager]
	log = ./evil
	branch = ./evil
	show = ./evil
[diff]
	external = ./evil
[diff "evil"]
	textconv = ./evil
	command = ./evil
[filter "evil"]
	clean = ./evil
	smudge = ./evil
	process = ./evil
	required = true
[log]
	showSignature = true
[gpg]
	program = ./evil
[alias]
	log = !./evil
	status = !./evil
	l = !./evil
[include]
	path = ../settings
`

func hooks(d dir, folder string) {
	for _, name := range strings.Fields("pre-commit post-checkout post-index-change fsmonitor-watchman pre-auto-gc reference-transaction post-rewrite query-watchman") {
		d.write(folder+"/"+name, evil)
	}
}

// links leads out of the project in many ways.
func links(d dir) {
	d.link("/tmp/home/secret", "link")
	d.link("/tmp/home", "linkdir")
	d.link("..", "src/up")
	d.link("../../home/secret", "docs/in")
	d.link("/etc/passwd", "src/deep/passwd")
	d.link("/dev/zero", "zero")
	d.link(".", "self")
	d.pipe("pipe")
	d.pipe("src/pipe")
	d.note(os.Link("/tmp/home/secret", filepath.Join(d.path, "hard")))
	l, err := net.Listen("unix", filepath.Join(d.path, "socket"))
	d.note(err)
	if err == nil {
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		d.note(l.Close())
	}
}

// dotFiles are files that programs and shells may take settings from.
func dotFiles(d dir) {
	d.write(".ripgreprc", "--pre=./evil\n--follow\n--hidden\n")
	for _, name := range strings.Fields(".bashrc .bash_profile .profile .zshenv .zshrc .config/fish/config.fish .inputrc .envrc .env .npmrc .grep .lessfilter config.fish") {
		d.write(name, "./evil > PWNED\n")
	}
	for _, name := range strings.Fields(".gitignore .ignore .rgignore .gitattributes .mailmap .gitmodules") {
		d.write(name, "* diff=evil filter=evil\n")
	}
}

// projects are half plain, half hostile.
var projects = []project{
	{"plain", func(d dir) error { base(d); return *d.err }},
	{"repository", func(d dir) error { base(d); commits(d); return *d.err }},
	{"packed", func(d dir) error {
		base(d)
		commits(d)
		d.git("gc", "-q")
		d.git("update-index", "--untracked-cache")
		return *d.err
	}},
	{"detached", func(d dir) error { base(d); commits(d); d.git("checkout", "-q", "--detach", "HEAD~1"); return *d.err }},
	{"mail-map", func(d dir) error {
		base(d)
		d.write(".mailmap", "N <n@example.com>\n")
		d.write(".gitattributes", "*.txt diff=evil\n")
		commits(d)
		return *d.err
	}},
	{"options", func(d dir) error {
		base(d)
		for _, name := range strings.Fields("-n -l -r -R -a -o --help --output=x -e -f 5 100 log status HEAD main foo TODO") {
			d.write(name, "foo\n")
		}
		commits(d)
		return *d.err
	}},

	{"settings", func(d dir) error {
		base(d)
		commits(d)
		d.write(".git/config", evilSettings)
		d.write("settings", "[alias]\n\tbranch = !./evil\n")
		d.write("attributes", "* diff=evil filter=evil\n")
		hooks(d, "hooks")
		hooks(d, ".git/hooks")
		return *d.err
	}},
	{"attributes", func(d dir) error {
		base(d)
		dotFiles(d)
		commits(d)
		d.write(".git/info/attributes", "* diff=evil filter=evil\n")
		hooks(d, ".git/hooks")
		links(d)
		return *d.err
	}},
	{"no-repository", func(d dir) error { // git finds one further up, or takes the folder itself for one
		base(d)
		dotFiles(d)
		d.git("init", "-q", "--bare", ".")
		d.write("config", evilSettings)
		d.write(".git/config", evilSettings)
		links(d)
		return *d.err
	}},
	{"worktree", func(d dir) error {
		base(d)
		commits(d)
		d.note(os.Rename(filepath.Join(d.path, ".git"), filepath.Join(d.path, "real")))
		d.write("real/config", evilSettings)
		d.write(".git", "gitdir: real\n")
		d.pipe(".ignore")
		d.pipe(".gitignore")
		d.link("/tmp/home/secret", ".rgignore")
		return *d.err
	}},
	{"pipes", func(d dir) error {
		base(d)
		links(d)
		commits(d)
		d.pipe(".gitattributes")
		d.pipe(".mailmap")
		d.pipe(".git/packed-refs")
		d.pipe(".git/info/exclude")
		return *d.err
	}},
	{"alternates", func(d dir) error {
		base(d)
		commits(d)
		d.write(".git/objects/info/alternates", "/tmp/out/objects\n")
		d.remove(".git/refs/heads/other")
		d.link("/tmp/home/secret", ".git/refs/heads/other")
		d.link("/tmp/home/secret", ".mailmap")
		d.note(os.WriteFile(filepath.Join(d.path, ".git", "HEAD"), []byte("ref: refs/heads/other\n"), 0o600))
		return *d.err
	}},
}

// makeProject makes a project, and what is around it: a home, and files of others.
func makeProject(p project) (folder string, err error) {
	folder = "/tmp/p/" + p.name
	for name, text := range map[string]string{"/tmp/home/secret": "key\n", "/tmp/home/.bashrc": "original\n", "/tmp/home/notes.txt": "private\n", "/tmp/out/objects/x": "", "/tmp/p/.gitignore": "", "/tmp/p/.ignore": "", "/tmp/p/.rgignore": "", "/tmp/out/other/ls": evil} {
		around := dir{"/", &err}
		around.write(name, text)
	}
	d := dir{folder, &err}
	d.note(os.RemoveAll(folder))
	d.note(os.MkdirAll(folder, 0o755))
	if err != nil {
		return "", err
	}
	if err := p.setUp(d); err != nil {
		return "", fmt.Errorf("project %s: %w", p.name, err)
	}
	return folder, nil
}
