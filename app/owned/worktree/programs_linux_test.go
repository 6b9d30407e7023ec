package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rollcall/internal/must"
)

// programs is a repository with a try, in which an agent left programs for git to run. Each writes its name to a file.
type programs struct {
	*world
	try  string
	mark string
}

// program returns a shell command that leaves a trace.
func (p *programs) program(name string) string { return "echo " + name + " >> '" + p.mark + "'; cat" }

// script makes an executable file that leaves a trace.
func (p *programs) script(path string) string {
	p.write(path, "#!/bin/sh\necho "+filepath.Base(path)+" >> '"+p.mark+"'\n")
	must.Do(p, os.Chmod(p.path(path), 0o755))
	return p.path(path)
}

// set changes the configuration of the repository.
func (p *programs) set(key, value string) { p.run(p.repo, "config", key, value) }

// filter lets git filter all files of a folder.
func (p *programs) filter(dir, name string) {
	p.write(filepath.Join(dir, ".gitattributes"), "* filter="+name+" diff="+name+"\n")
}

// module adds a submodule to the repository and checks it out in a try.
func (p *programs) module() (inTry string) {
	p.run(p.home, "clone", "--quiet", p.repo, "lib")
	p.run(p.repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", p.path("lib"), "lib")
	p.commit(p.repo, "lib")
	p.run(p.try, "merge", "--quiet", "main")
	p.run(p.try, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	return filepath.Join(p.try, "lib")
}

// Looking at the worktrees of a repository runs no program that the repository names. Wherever control is set, git itself
// would run the program for it.
func TestNoProgramsOfTheRepository(t *testing.T) {
	status := []string{"status"}
	for name, tt := range map[string]struct {
		plant   func(p *programs)
		control []string
	}{
		"clean": {func(p *programs) { p.set("filter.x.clean", p.program("clean")); p.filter(p.try, "x") }, status},
		"process": {func(p *programs) {
			p.set("filter.x.process", p.program("process"))
			p.set("filter.x.required", "true")
			p.filter(p.try, "x")
		}, status},
		"odd name": {func(p *programs) {
			p.run(p.repo, "config", "filter.a=b.c.clean", p.program("odd"))
			p.filter(p.try, "a=b.c")
		}, status},
		"main worktree": {func(p *programs) {
			p.set("filter.x.clean", p.program("clean"))
			p.filter(p.repo, "x")
			p.write("proj/a.txt", "x")
		}, nil},
		"info/attributes": {func(p *programs) {
			p.set("filter.x.clean", p.program("clean"))
			p.write("proj/.git/info/attributes", "* filter=x\n")
		}, status},
		"attributes file": {func(p *programs) {
			p.set("filter.x.clean", p.program("clean"))
			p.write("attributes", "* filter=x\n")
			p.set("core.attributesFile", p.path("attributes"))
		}, status},
		"include": {func(p *programs) {
			p.write("more", "[filter \"x\"]\n\tclean = \""+p.program("include")+"\"\n[core]\n\tfsmonitor = "+p.script("fsmonitor")+"\n")
			p.set("include.path", p.path("more"))
			p.filter(p.try, "x")
		}, status},
		"worktree's own configuration": {func(p *programs) {
			p.set("extensions.worktreeConfig", "true")
			p.run(p.try, "config", "--worktree", "filter.x.clean", p.program("own"))
			p.run(p.try, "config", "--worktree", "core.fsmonitor", p.script("fsmonitor"))
			p.filter(p.try, "x")
		}, status},
		"monitor":  {func(p *programs) { p.set("core.fsmonitor", p.script("fsmonitor")) }, status},
		"textconv": {func(p *programs) { p.set("diff.x.textconv", p.script("textconv")); p.filter(p.try, "x") }, []string{"diff"}},
		"diff command": {func(p *programs) {
			p.set("diff.x.command", p.script("command"))
			p.set("diff.external", p.script("external"))
			p.filter(p.try, "x")
		}, []string{"diff"}},
		"hooks": {func(p *programs) {
			for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman"} {
				p.script("proj/.git/hooks/" + hook)
			}
		}, status},
		"hooks elsewhere": {func(p *programs) { p.script("hooks/post-index-change"); p.set("core.hooksPath", p.path("hooks")) }, status},
		"pager, signatures, alternates": {func(p *programs) {
			p.set("core.pager", p.script("pager"))
			p.set("gpg.program", p.script("gpg"))
			p.set("log.showSignature", "true")
			p.set("core.alternateRefsCommand", p.script("alternates"))
			p.set("core.editor", p.script("editor"))
			p.set("core.askPass", p.script("askpass"))
		}, nil},
		"submodule": {func(p *programs) {
			lib := p.module()
			p.run(lib, "config", "filter.x.clean", p.program("submodule"))
			p.run(lib, "config", "core.fsmonitor", p.script("submonitor"))
			p.filter(lib, "x")
			p.write(filepath.Join(lib, "a.txt"), "other")
		}, status},
		"partial clone": {func(p *programs) {
			p.run(p.repo, "repack", "-q", "-a", "-d")
			for _, setting := range [][2]string{{"core.repositoryFormatVersion", "1"}, {"extensions.partialClone", "origin"}, {"remote.origin.promisor", "true"},
				{"remote.origin.url", "ssh://example.invalid/x"}, {"core.sshCommand", p.script("ssh")}, {"credential.helper", p.script("credential")},
				{"remote.origin.uploadpack", p.script("uploadpack")}} {
				p.set(setting[0], setting[1])
			}
			packs, err := filepath.Glob(p.path("proj/.git/objects/pack/*"))
			if err != nil || len(packs) == 0 {
				p.Fatal("no packs", err)
			}
			p.write("keep", p.run(p.repo, "cat-file", "commit", "HEAD")+"\n")
			for _, pack := range packs {
				must.Do(p, os.Remove(pack))
			}
			p.run(p.repo, "hash-object", "-t", "commit", "-w", p.path("keep"))
		}, []string{"diff", "HEAD"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &programs{world: newWorld(t)}
			p.try, p.mark = p.world.try("cc").Path, p.path("mark")
			tt.plant(p)
			p.write(filepath.Join(p.try, "a.txt"), "one\ntwo\n3\n")
			ran := func() string {
				text, _ := os.ReadFile(p.mark)
				_ = os.Remove(p.mark)
				return strings.Join(strings.Fields(string(text)), " ")
			}
			ran()
			p.look()
			if got := ran(); got != "" {
				t.Errorf("git ran %s", got)
			}
			if tt.control != nil {
				_ = exec.Command("git", append([]string{"-C", p.try}, tt.control...)...).Run()
				if ran() == "" {
					t.Error("git alone runs nothing either: this is no test")
				}
			}
		})
	}
}

// look does everything that shows the worktrees of a repository. A repository that is damaged may show errors.
func (p *programs) look() {
	r, err := p.git.Open(p.Context(), p.try)
	must.Do(p, err)
	_, err = r.List(p.Context())
	p.Log(err)
	_, err = r.Plan(p.Context(), nobody, all)
	p.Log(err)
	_, err = r.Place(p.Context(), "g-000002", []string{"pi"}, Wanted{})
	p.Log(err)
	for _, dir := range []string{p.repo, p.try} {
		r, err = p.git.Open(p.Context(), dir)
		if err == nil {
			_, _, err = r.Uncommitted(p.Context())
		}
		p.Log(err)
		_, err = p.git.changesSince(p.Context(), dir, time.Now().Add(-time.Hour), true)
		p.Log(err)
	}
}
