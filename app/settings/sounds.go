package settings

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rollcall/adapters"
	"rollcall/bounded"
)

// themeSound is what a name in a sound theme consists of (freedesktop.org, Sound Naming Specification).
var themeSound = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// checkSounds returns what is wrong with the setting notifications.sounds, and removes those entries.
func (s *Settings) checkSounds() (bad []mistake) {
	n := &s.Notifications
	for _, of := range slices.Sorted(maps.Keys(n.Sounds)) {
		why, value := "", n.Sounds[of]
		_, isAgent := adapters.Describe(adapters.Name(of))
		switch {
		case n.Manners()[of] == nil && !isAgent:
			why = "it is one of permission, question, reply, failed, limit and ended, or an agent: " + s.agentNames(false)
		case !filepath.IsAbs(ExpandHome(value)) && !themeSound.MatchString(value):
			why = fmt.Sprintf("%q is neither a file, as an absolute path or one that begins with ~/, nor a name of the sound theme such as \"bell\"", value)
		default:
			continue
		}
		bad = append(bad, mistake{[]string{"notifications", "sounds", of}, fmt.Sprintf("notifications.sounds.%s is ignored: %s", of, why)})
		delete(n.Sounds, of)
	}
	return bad
}

// SoundFiles returns the sounds by kind or agent, with the home folder in place of "~".
func (n *Notifications) SoundFiles() map[string]string {
	files := map[string]string{}
	for of, value := range n.Sounds {
		files[of] = ExpandHome(value)
	}
	return files
}

// SoundProblems returns which sounds can't be played: files that can't be read, and names that are in no sound theme of data, the folders with the data of
// programs. Without any theme there names are not checked.
func (n *Notifications) SoundProblems(data []string) (problems []string) {
	for of, value := range n.SoundFiles() {
		switch {
		case !filepath.IsAbs(value):
			if known, themed := inThemes(data, value); themed && !known {
				problems = append(problems, fmt.Sprintf("notifications.sounds.%s: no sound theme has %q", of, value))
			}
		case !bounded.Answers(value):
			problems = append(problems, fmt.Sprintf("notifications.sounds.%s: %s: its file system does not answer", of, value))
		default:
			f, err := os.Stat(value)
			if err != nil || !f.Mode().IsRegular() {
				problems = append(problems, fmt.Sprintf("notifications.sounds.%s: %s is no file that can be read", of, value))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// inThemes reports whether a sound theme has a sound of that name, and whether there is any theme.
func inThemes(data []string, name string) (known, themed bool) {
	for _, dir := range data {
		files, _ := fs.Glob(os.DirFS(dir), "sounds/*/*/*") // theme, sound system, file; no error: the pattern is right
		for _, file := range files {
			themed = true
			base := path.Base(file)
			known = known || strings.TrimSuffix(base, path.Ext(base)) == name
		}
	}
	return known, themed
}
