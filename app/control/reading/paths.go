package reading

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rollcall/app/store"
)

// folder is the folder in which a request is carried out, below that of the session. No part of its name below the session's is a link.
type folder struct {
	ctx     context.Context
	session string
	dir     string
}

// newFolder returns the folder of a request of a session. ok is false for one that is not below the session's folder, and for a session whose folder is the
// user's home, one above it, or no real folder.
func newFolder(ctx context.Context, session, dir string) (f *folder, ok bool) {
	dir = cmp.Or(dir, session)
	if !filepath.IsAbs(session) || filepath.Clean(session) != session || filepath.Clean(dir) != dir {
		return nil, false
	}
	found, err := filepath.EvalSymlinks(session)
	home, homeErr := os.UserHomeDir()
	if err != nil || homeErr != nil || isWithin(found, filepath.Clean(home)) || found == filepath.Dir(found) {
		return nil, false
	}
	f = &folder{ctx, session, session}
	if dir == session {
		info, err := os.Stat(session)
		return f, err == nil && info.IsDir()
	}
	info, ok := f.look(dir)
	f.dir = dir
	return f, ok && info.IsDir()
}

// isWithin reports whether a clean name is that of a folder, or below it.
func isWithin(folder, name string) bool {
	return name == folder || strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
}

// mayRead reports whether a name is that of a file or folder below the session's folder which is no secret, no link and no device. With contents, so must be
// all that is below it.
func (f *folder) mayRead(name string, reads depth) bool {
	info, ok := f.look(name)
	switch {
	case !ok:
		return false
	case info.IsDir():
		return reads == names || reads == contents && f.isReadable(f.absolute(name))
	}
	return info.Mode().IsRegular() && store.HardLinks(name, info) == 1
}

func (f *folder) absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return f.dir + "/" + name
}

// look returns what a name below the session's folder leads to. ok is false if it leads elsewhere, or if one of its parts begins with ".", is a link or is
// the name of a secret.
func (f *folder) look(name string) (info fs.FileInfo, ok bool) {
	below, ok := strings.CutPrefix(f.absolute(name), f.session+"/")
	if !ok || below == "" || path.Clean(below) != strings.TrimSuffix(below, "/") {
		return nil, false
	}
	at := f.session
	for part := range strings.SplitSeq(path.Clean(below), "/") {
		if info != nil && !info.IsDir() || !isPlainName(part) || f.ctx.Err() != nil {
			return nil, false
		}
		at += "/" + part
		var err error
		info, err = os.Lstat(at)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return nil, false
		}
	}
	return info, !strings.HasSuffix(below, "/") || info.IsDir()
}

func isPlainName(name string) bool { return !strings.HasPrefix(name, ".") && !IsSecret(name) }

// maxBelow bounds the files below a folder whose contents are read.
const maxBelow = 10_000

// isReadable reports whether all that is below a folder are plain files and folders: no links, no devices, nothing hidden and no secrets.
func (f *folder) isReadable(dir string) bool {
	seen := 0
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || f.ctx.Err() != nil {
			return fs.ErrInvalid
		}
		if seen++; seen > maxBelow || name != dir && !isPlainName(d.Name()) {
			return fs.ErrInvalid
		}
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || store.HardLinks(name, info) != 1 {
			return fs.ErrInvalid
		}
		return nil
	})
	return err == nil
}

// secrets are the names of files and folders that have secrets.
var secrets = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|/)(\.ssh|\.aws|\.azure|\.gnupg|\.kube|\.docker|\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.password-store|\.vault-token|\.pgpass|\.my\.cnf|\.boto|\.env(\..*)?|id_(rsa|dsa|ecdsa|ed25519)[^/]*|wallet\.dat|key[34]\.db|logins\.json|login data|cookies(\.sqlite|\.binarycookies)?|keychains|keyrings|shadow|gshadow|sudoers|environ|[^/]*_history)(/|$)` +
		`|\.(pem|p12|pfx|kdbx|jks|keystore|key|ppk|asc|gpg|age|tfstate|tfvars)$|\.env$|(secret|credential|passw|api_?key|access_?key|private_?key|service-?account)|(^|[._/-])tokens?(\.(txt|json|ya?ml|toml))?$`)
})

// IsSecret reports whether a name looks like that of a file with secrets.
func IsSecret(name string) bool { return secrets().MatchString(name) }

// shells are the shells that read a plain command in the same way: internal/onekey runs the commands in each of them.
var shells = []string{"bash", "dash", "zsh", "fish", "sh", "ash", "busybox"}

// changesReaders are the beginnings of the names of variables by which the user, or a file of the project, makes readers or shells do more.
var changesReaders = []string{
	"GIT_", "RIPGREP_", "GREP_", "LD_", "DYLD_", "BASH_ENV", "ENV=", "BASH_FUNC_", "ZDOTDIR", "fish_", "POSIXLY_CORRECT", "LOCPATH",
	"GCONV_PATH", "LOCALDOMAIN", "GLIBC_TUNABLES",
}

// shellOf returns the shell in which an agent with an environment runs its commands. ok is false if that is not known, and if the environment may make another
// program run than one of the system: by a folder in PATH that is the session's, or by a variable that readers or shells obey.
func shellOf(env []string, f *folder) (shell string, ok bool) {
	found := false
	for _, v := range env {
		obeyed := func(name string) bool { return strings.HasPrefix(v, name) }
		if slices.ContainsFunc(changesReaders, obeyed) {
			return "", false
		}
		if program, ok := strings.CutPrefix(v, "SHELL="); ok {
			shell = filepath.Base(program)
			if !filepath.IsAbs(program) {
				return "", false
			}
		}
		if folders, ok := strings.CutPrefix(v, "PATH="); ok {
			found = f.areElsewhere(folders)
			if !found {
				return "", false
			}
		}
	}
	return shell, found && slices.Contains(shells, shell)
}

// areElsewhere reports whether none of the folders in PATH is in the session's.
func (f *folder) areElsewhere(list string) bool {
	session, err := filepath.EvalSymlinks(f.session)
	if err != nil {
		return false
	}
	for _, dir := range filepath.SplitList(list) {
		found, err := filepath.EvalSymlinks(dir)
		if err != nil {
			found = filepath.Clean(dir)
		}
		own := isWithin(session, found) || isWithin(f.session, filepath.Clean(dir))
		if own || !filepath.IsAbs(dir) || f.ctx.Err() != nil {
			return false
		}
	}
	return list != ""
}
