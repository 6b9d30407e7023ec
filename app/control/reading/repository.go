package reading

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

var (
	headText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(ref: refs/heads/[A-Za-z0-9_./@+-]+|[0-9a-f]{40})\n$`)
	})
	// plainSettings is a configuration as git itself writes it, of settings that in none of these sections name a program, a file or another repository.
	plainSettings = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([ \t]*(\[(core|user|init|pull|push|branch|remote)( "[A-Za-z0-9_./@+-]+")?\]|(?i:repositoryformatversion = 0|bare = false|` +
			`(filemode|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|name|email|defaultbranch|rebase|ff|default|autosetupremote|` +
			`remote|merge|url|fetch|pushurl|tagopt) = [^"\\#;\x00-\x1f]+))\n)*$`)
	})
)

const (
	maxSettings = 64 << 10
	// maxRepository bounds the files of a repository that are looked at.
	maxRepository = 50_000
)

// isPlainRepository reports whether git, in the folder, uses the repository in it and nothing elsewhere, and its configuration names no program. What git
// would take for no repository is none: it would use one further up.
func (f *folder) isPlainRepository() bool {
	top := f.dir + "/.git"
	head, headErr := f.plainFile(top+"/HEAD", 1000)
	config, configErr := f.plainFile(top+"/config", maxSettings)
	if headErr != nil || configErr != nil || !headText().MatchString(head) || !plainSettings().MatchString(config) ||
		!strings.Contains(config, "repositoryformatversion = 0") {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		info, err := os.Lstat(top + "/" + name)
		if err != nil || !info.IsDir() {
			return false
		}
	}
	for _, name := range []string{"commondir", "gitdir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates"} {
		if _, err := os.Lstat(top + "/" + name); !os.IsNotExist(err) {
			return false
		}
	}
	for _, name := range []string{".mailmap", ".gitattributes", ".gitmodules"} { // git would wait for a named pipe
		if info, err := os.Lstat(f.dir + "/" + name); err == nil && !info.Mode().IsRegular() {
			return false
		}
	}
	return f.isWhole(top)
}

// plainFile returns the text of a file that is no link.
func (f *folder) plainFile(name string, limit int64) (string, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return "", fs.ErrInvalid
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// isWhole reports whether a repository has only files and folders, and not too many: a link in it leads elsewhere.
func (f *folder) isWhole(top string) bool {
	seen := 0
	return filepath.WalkDir(top, func(_ string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > maxRepository || f.ctx.Err() != nil || !d.IsDir() && !d.Type().IsRegular() {
			return fs.ErrInvalid
		}
		return nil
	}) == nil
}
