package app

import (
	"errors"
	"maps"
	"slices"

	"rollcall/adapters"
	"rollcall/app/places"
	"rollcall/proc"
)

// errFolderMissing is the cause of the problem with a folder that vanished while sessions in it run.
var errFolderMissing = errors.New("the folder is missing, and sessions in it still run")

// missingFolders returns the live sessions that a does not list because the folder of their file was renamed or deleted, with that folder. An adapter that
// finds nothing there reports no problem. A session whose own file was deleted is not one of them: its folder exists.
func (s *source) missingFolders(a *Answer, now *liveness) map[string]string {
	folders := map[string]string{}
	for id, l := range s.lifetimes {
		x := &l.session
		if l.stopped || !a.asked(id) || a.lists(id) || !l.runsOrIsStale(now) {
			continue
		}
		if len(x.Files) == 0 || x.Remote != "" || x.Container != "" { // a container's files vanish with its processes
			continue
		}
		if folder := places.MissingFolder(x.Files[0]); folder != "" {
			folders[id] = folder
		}
	}
	return folders
}

// runsOrIsStale reports whether a process of the session runs, or the session could not be read before its process ended.
func (l *lifetime) runsOrIsStale(now *liveness) bool {
	return l.session.Stale != nil || slices.ContainsFunc(l.processes, func(p proc.Identity) bool { return now.alive(p) })
}

// lists reports whether the answer contains a session.
func (a *Answer) lists(id string) bool {
	return slices.ContainsFunc(a.Sessions, func(x adapters.Session) bool { return x.ID == id })
}

// addMissingFolders makes a complete answer incomplete if it does not list one of the sessions of folders, which missingFolders returned, since the state of
// these sessions is not known.
func (a *Answer) addMissingFolders(folders map[string]string) {
	if !a.complete() {
		return
	}
	maps.DeleteFunc(folders, func(id, _ string) bool { return a.lists(id) })
	var problems []error
	for _, folder := range slices.Compact(slices.Sorted(maps.Values(folders))) {
		problems = append(problems, &adapters.Problem{Kind: adapters.ErrUnreadable, Path: folder, Err: errFolderMissing,
			Fix: "move it back, or stop the agent"})
	}
	if len(problems) > 0 {
		a.Err = errors.Join(problems...)
	}
}
