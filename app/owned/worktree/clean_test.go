package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/app/store"
	"rollcall/internal/must"
)

var anyway = Consent{Losing: true, Unsure: true}

// TestRemove: a worktree with nothing to lose goes with its branch; one with
// something stays as it is, and goes when forced.
func TestRemove(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	got, err := w.open(w.repo).Remove(t.Context(), w.plan(nobody), nobody, Consent{})
	if err != nil || got.Branch != "try/g-000001/cc" || got.Kept != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if !store.Missing(try) || w.branches() != "main" {
		t.Errorf("left: %s", w.branches())
	}

	try = w.try("cc").Path
	w.write(try+"/n", "work")
	commit := w.commit(try, "n")
	w.write(try+"/m", "more work")
	p := w.plan(nobody)
	if p.Removable(Consent{}) || !p.Removable(anyway) {
		t.Errorf("%+v", p)
	}
	_, err = w.open(w.repo).Remove(t.Context(), p, nobody, Consent{})
	if !errors.Is(err, ErrLosesWork) || !strings.Contains(err.Error(), "1 untracked file, 1 commit that is in no other branch and no remote") || store.Missing(try+"/m") {
		t.Errorf("%v", err)
	}
	got, err = w.open(w.repo).Remove(t.Context(), p, nobody, anyway)
	if err != nil || got.Commit != commit || !store.Missing(try) || w.branches() != "main" {
		t.Errorf("forced: %+v, %v", got, err)
	}
	w.run(w.repo, "branch", got.Branch, got.Commit) // as the user is told
}

// TestNever: force makes no difference.
func TestNever(t *testing.T) {
	for _, tt := range []struct {
		name, why string
		do        func(w *world, try string) Occupants
	}{
		{"a process in it", "process 7 (node) works in it", func(w *world, try string) Occupants {
			return func(context.Context) ([]Occupant, error) {
				return []Occupant{{w.repo, "somebody else"}, {filepath.Join(try, "sub"), "process 7 (node)"}}, nil
			}
		}},
		{"through a link", "a session works in it", func(w *world, try string) Occupants {
			if err := os.Symlink(try, w.path("link")); err != nil {
				w.Skip(err)
			}
			return func(context.Context) ([]Occupant, error) { return []Occupant{{w.path("link/sub"), "a session"}}, nil }
		}},
		{"locked", "locked with git worktree lock: on a stick\n\x1b[31m", func(w *world, try string) Occupants {
			w.run(w.repo, "worktree", "lock", "--reason", "on a stick\n\x1b[31m", try)
			return nobody
		}},
		{"damaged", "is no longer a worktree", func(w *world, try string) Occupants {
			must.Do(w, os.Remove(filepath.Join(try, ".git")))
			return nobody
		}},
		{"not mounted", "is a disk not mounted?", func(w *world, try string) Occupants {
			far := w.path("disk/" + base(try))
			must.Do(w, os.Mkdir(w.path("disk"), 0o755))
			w.run(w.repo, "worktree", "move", try, far)
			must.Do(w, os.RemoveAll(w.path("disk")))
			return nobody
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			who := tt.do(w, w.try("cc").Path)
			p := w.plan(who)
			if p.Removable(anyway) || !strings.Contains(strings.Join(p.Never, "; "), tt.why) {
				t.Errorf("%q", p.Never)
			}
			// Also when it was free while it was shown.
			p.Never = nil
			if _, err := w.open(w.repo).Remove(t.Context(), p, who, anyway); !errors.Is(err, ErrInUse) {
				t.Error(err)
			}
			if w.branches() != "main try/g-000001/cc" {
				t.Error(w.branches())
			}
		})
	}
}

// TestChanged: what was not shown is not lost, forced or not.
func TestChanged(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	w.write(try+"/one", "")
	p := w.plan(nobody)
	w.write(try+"/two", "")
	if _, err := w.open(w.repo).Remove(t.Context(), p, nobody, anyway); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "2 untracked files") {
		t.Error(err)
	}
	p = w.plan(nobody)
	w.run(w.repo, "commit", "--quiet", "--allow-empty", "-m", "main goes on")
	w.run(try, "commit", "--quiet", "--allow-empty", "-m", "so does it")
	if _, err := w.open(w.repo).Remove(t.Context(), p, nobody, anyway); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	p = w.plan(nobody)
	w.run(w.repo, "worktree", "remove", "--force", try)
	if _, err := w.open(w.repo).Remove(t.Context(), p, nobody, anyway); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

func TestDoubts(t *testing.T) {
	w := newWorld(t)
	w.try("cc")
	unsure := func(context.Context) ([]Occupant, error) { return nil, errors.New("codex gave no answer") }
	p := w.plan(unsure)
	if p.Removable(Consent{Losing: true}) || !p.Removable(Consent{Unsure: true}) || !strings.Contains(p.Doubts[0], "codex gave no answer") {
		t.Errorf("%+v", p.Doubts)
	}
	if _, err := w.open(w.repo).Remove(t.Context(), p, unsure, Consent{Losing: true}); !errors.Is(err, ErrLosesWork) {
		t.Error(err)
	}
}

// TestGoneByHand: only git's record of it is left, and its branch.
func TestGoneByHand(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	w.write(try+"/n", "")
	w.commit(try, "n")
	must.Do(t, os.RemoveAll(try))
	p := w.plan(nobody)
	if !p.Gone || strings.Join(p.Loses, ", ") != "1 commit that is in no other branch and no remote" {
		t.Errorf("%+v", p)
	}
	w.run(w.repo, "merge", "--quiet", "try/g-000001/cc")
	got, err := w.open(w.repo).Remove(t.Context(), w.plan(nobody), nobody, Consent{})
	if err != nil || got.Branch == "" || w.branches() != "main" || strings.Contains(w.run(w.repo, "worktree", "list"), "try") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestBranchElsewhere: the branch is kept when another worktree has it.
func TestBranchElsewhere(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	w.run(try, "switch", "--quiet", "-c", "fix")
	w.run(w.repo, "worktree", "add", "--quiet", w.path("elsewhere"), "try/g-000001/cc")
	plans, err := w.open(w.repo).Plan(t.Context(), nobody, func(wt Worktree) bool { return wt.Path == try })
	if err != nil || len(plans) != 1 {
		t.Fatal(plans, err)
	}
	got, err := w.open(w.repo).Remove(t.Context(), &plans[0], nobody, Consent{})
	if err != nil || !strings.Contains(got.Kept, "elsewhere") || w.branches() != "fix main try/g-000001/cc" {
		t.Errorf("%+v, %v; %s", got, err, w.branches())
	}
}

// TestFromInside: the repository may be found from the very worktree that goes.
func TestFromInside(t *testing.T) {
	w := newWorld(t)
	try := w.try("cc").Path
	if got, err := w.open(try).Remove(t.Context(), w.plan(nobody), nobody, Consent{}); err != nil || got.Branch == "" {
		t.Errorf("%+v, %v", got, err)
	}
}
