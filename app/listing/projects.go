package listing

import (
	"cmp"
	"slices"

	"github.com/dustin/go-humanize/english"

	"rollcall/app"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
)

// byProject adds the rows grouped by repository: first the one whose most urgent session is the most urgent of all, and in each the most urgent session first.
func (b *builder) byProject(families [Groups][]int) {
	var names []string
	tops := map[string][]int{}
	for g, list := range families {
		if b.s.Scope != AllGroups && b.s.Scope != ScopeOf(Group(g)) {
			continue
		}
		for _, i := range b.inOrder(list) {
			name := b.projectOf(&b.list[i])
			if tops[name] == nil {
				names = append(names, name)
			}
			tops[name] = append(tops[name], i)
		}
	}
	for _, name := range names {
		header := len(b.v.Rows)
		b.v.Rows = append(b.v.Rows, Row{Kind: HeaderRow, Title: present.Project(name), Count: len(tops[name])})
		b.v.Rows[header].Agents = b.worktrees(name, tops[name])
	}
}

// worktrees adds the sessions of a repository: first those in its own folder, then those of each of its worktrees below a row that folds them. Unless the user
// folded or unfolded it, a worktree is unfolded while one of its sessions is live.
func (b *builder) worktrees(repository string, tops []int) (agents int) {
	var own []int
	var folders []string
	in := map[string][]int{}
	for _, i := range tops {
		folder := b.s.Projects[b.list[i].CWD].Checkout
		if !b.list[i].HasLocalFolder() || folder == "" || folder == repository {
			own = append(own, i)
			continue
		}
		if in[folder] == nil {
			folders = append(folders, folder)
		}
		in[folder] = append(in[folder], i)
	}
	agents = b.families(repository, own)
	for _, folder := range folders {
		live := slices.ContainsFunc(in[folder], func(i int) bool { return b.positions[i].family != Stopped })
		title := "worktree " + present.Project(folder) + " · " + english.Plural(len(in[folder]), "session", "sessions")
		agents += b.fold(Key{ID: folder}, title, in[folder], live || b.filtering)
	}
	return agents
}

// projectOf returns the repository of a session, or its folder.
func (b *builder) projectOf(s *app.Session) string {
	if !s.HasLocalFolder() {
		return s.CWD
	}
	return cmp.Or(b.s.Projects[s.CWD].Repository, s.CWD)
}

// Project is where a folder of this machine belongs to: its repository, and the checkout of it, which is another folder for a worktree.
type Project struct{ Repository, Checkout string }

// Projects returns the repositories of the folders of a snapshot, and remembers them in known.
func Projects(known map[string]Project, s *app.Snapshot) map[string]Project {
	for x := range s.All() {
		if _, ok := known[x.CWD]; !ok && x.HasLocalFolder() {
			repository, checkout := worktree.RepositoryOf(x.CWD)
			known[x.CWD] = Project{repository, checkout}
		}
	}
	return known
}
