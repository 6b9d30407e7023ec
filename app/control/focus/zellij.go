package focus

import (
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"rollcall/proc"
)

// zellijName is the variable with the name of the session of zellij in which a process runs (zellij 0.44, read).
const zellijName = "ZELLIJ_SESSION_NAME"

// zellijSession matches the name of a session that is passed on to zellij: it looks like no option.
var zellijSession = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,80}$`) })

// isZellij reports whether a process is the server of a session of zellij: its command line is "zellij --server FOLDER/SESSION" (0.44, read).
func (f *Finder) isZellij(id proc.Identity, session string) bool {
	if !zellijSession().MatchString(session) {
		return false
	}
	args, err := f.table.Args(id)
	at := slices.Index(args, "--server") + 1
	return err == nil && at > 1 && at < len(args) && filepath.Base(args[0]) == "zellij" && filepath.Base(args[at]) == session
}

// showInZellij offers a terminal with the session of zellij in which a place is. Which terminals show the session is not known, so that none is raised.
func (r *request) showInZellij(p *Place, server proc.Identity) {
	if r.isDetached(p, slices.Index(p.chain(), server)) {
		r.plan.Note = noteBackground
		return
	}
	r.plan.Note = "it runs in zellij, which does not tell which terminal shows it"
	r.plan.Attach = []string{"zellij", "attach", p.vars[zellijName]}
}
