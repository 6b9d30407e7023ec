package describe

import (
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"rollcall/app/codetext"
	"rollcall/app/owned/worktree"
	"rollcall/app/present"
)

// Changes returns the sums, the commits, the files and the difference. Their texts are an agent's.
func Changes(c *worktree.Changes, since time.Time) []codetext.Part {
	sums := present.Short(c.Tree) + present.When(c.Branch != "", " · "+present.Line(c.Branch)) + "\n" + ComparedWith(c, since) + "\n" +
		english.Plural(len(c.Commits), "commit", "commits") + present.When(c.More, " and more") + " · " + c.Stat.String()
	if open := c.Unfinished(); len(open) > 0 {
		sums += "\nnot finished: " + strings.Join(open, ", ")
	}
	var commits, files, large []string
	for _, x := range c.Commits {
		commits = append(commits, present.Begin(x.ID, 10)+"  "+x.At.Local().Format("2 Jan 15:04")+"  "+present.Line(x.Subject))
	}
	for _, f := range c.Files {
		files = append(files, f.String()+"  "+present.When(f.From != "", present.Line(f.From)+" → ")+present.Line(f.Path)+present.When(f.Untracked, "  untracked"))
	}
	if c.Unlisted > 0 {
		files = append(files, "and "+english.Plural(c.Unlisted, "more untracked file", "more untracked files"))
	}
	for _, path := range c.LeftOut {
		large = append(large, present.Line(path))
	}
	parts := []codetext.Part{{Title: "Since the session began", Text: sums}, {Title: "Commits", Text: strings.Join(commits, "\n")}, {Title: "Files", Text: strings.Join(files, "\n")},
		{Title: "Difference", Text: present.Output(c.Diff), Diff: true}, {Title: "Too large to show here", Text: strings.Join(large, "\n")}}
	return slices.DeleteFunc(parts, func(p codetext.Part) bool { return p.Text == "" })
}
