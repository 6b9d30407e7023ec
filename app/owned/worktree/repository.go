package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"rollcall/bounded"
)

// repositoryLimit is how long a file system may take to name the repository of a folder.
const repositoryLimit = time.Second

// Repository returns the folder of the repository that contains a folder of this machine: of a worktree the folder of the repository that it belongs to, as git's
// files name it. It returns dir itself where there is no repository, and where the file system does not answer. No program is run.
func Repository(dir string) string {
	repository, _ := RepositoryOf(dir)
	return repository
}

// RepositoryOf returns what Repository does, and the checkout that contains the folder: of a worktree the folder of the worktree, else the repository.
func RepositoryOf(dir string) (repository, checkout string) {
	if !bounded.Answers(dir) { // with many folders on a file system that hangs, each further one costs less than the limit
		return dir, dir
	}
	found, err := bounded.In(dir, repositoryLimit, func(context.Context) ([2]string, error) {
		repository, checkout := repositoryOf(dir)
		return [2]string{repository, checkout}, nil
	})
	if err != nil || found[0] == "" {
		return dir, dir
	}
	return found[0], found[1]
}

func repositoryOf(dir string) (repository, checkout string) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		dotGit := filepath.Join(at, ".git")
		info, err := os.Lstat(dotGit)
		switch {
		case err == nil && info.IsDir():
			return at, at
		case err == nil && info.Mode().IsRegular():
			return ownerOf(at, dotGit), at
		case err != nil && !errors.Is(err, os.ErrNotExist), at == filepath.Dir(at):
			return "", ""
		}
	}
}

// ownerOf returns the repository of the worktree at a folder, or the folder itself for another kind of checkout, such as a submodule.
func ownerOf(at, dotGit string) string {
	admin, err := readLine(dotGit, "gitdir: ")
	if err != nil {
		return at
	}
	if !filepath.IsAbs(admin) {
		admin = filepath.Join(at, admin)
	}
	common, err := readLine(filepath.Join(admin, "commondir"), "")
	if err != nil {
		return at
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(admin, common)
	}
	if filepath.Base(common) != ".git" {
		return filepath.Clean(common) // a bare repository
	}
	return filepath.Dir(common)
}
