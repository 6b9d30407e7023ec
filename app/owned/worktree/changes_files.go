package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rollcall/bounded"
)

const (
	// maxFileLines and maxDiffLines are how many changed lines of a file, and of all files, are shown.
	maxFileLines = 5000
	maxDiffLines = 20_000
	// maxDiffFiles is how many files git is asked for at once, by their paths as arguments.
	maxDiffFiles = 200
	// maxNewFile and maxNewFiles are the sizes of an untracked file that is read, and of all of them.
	maxNewFile  = 1 << 20
	maxNewFiles = 32 << 20
)

// addFiles adds the files that differ from From. c.Files has the untracked ones.
func (c *Changes) addFiles(ctx context.Context, tree *snapshot, diff bool) error {
	from := c.From
	if from == "" {
		out, err := tree.git.ask(ctx, tree.tree, "hash-object", "-t", "tree", "--stdin") // the id of an empty tree
		if err != nil {
			return err
		}
		from = line(out)
	}
	compared := []string{"-M", "--no-ext-diff", "--no-textconv", "--no-relative"}
	out, err := tree.ask(ctx, "diff", slices.Concat([]string{"--raw", "--numstat", "-z"}, compared, []string{from})...)
	if err != nil {
		return err
	}
	tracked := parseDiff(out)
	untracked := c.Files
	texts, err := bounded.Within(ctx, readLimit, func() ([]string, error) { return readNew(ctx, tree.tree, tracked, untracked) })
	if err != nil {
		return err
	}
	c.Files = slices.Concat(tracked, untracked)
	c.Stat = sum(c.Files)
	c.Stat.Files += c.Unlisted
	if !diff {
		return nil
	}
	args := slices.Concat(compared, []string{"--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", from, "--"})
	return c.addDiff(ctx, tree, args, texts)
}

// addDiff adds the text of the differences: of the tracked files as git prints it when it is run with args, and of the untracked ones, which have these texts.
func (c *Changes) addDiff(ctx context.Context, tree *snapshot, args, texts []string) error {
	left := maxDiffLines
	fits := func(f FileStat) bool {
		lines := f.Insertions + f.Deletions
		if lines > min(left, maxFileLines) {
			c.LeftOut = append(c.LeftOut, f.Path)
			return false
		}
		left -= lines
		return true
	}
	tracked, untracked := c.Files[:len(c.Files)-len(texts)], c.Files[len(c.Files)-len(texts):]
	var paths []string
	for _, f := range tracked {
		if len(paths) > 2*maxDiffFiles {
			left = -1
		}
		if f.Binary || !fits(f) {
			continue
		}
		paths = append(paths, literal+f.Path)
		if f.From != "" {
			paths = append(paths, literal+f.From)
		}
	}
	if len(paths) > 0 {
		out, err := tree.ask(ctx, "diff", append(args, paths...)...)
		switch {
		case errors.Is(err, errLarge): // with very long lines
			for _, p := range paths {
				c.LeftOut = append(c.LeftOut, strings.TrimPrefix(p, literal))
			}
		case err != nil:
			return err
		}
		c.Diff = string(out)
	}
	for i, f := range untracked {
		switch {
		case texts[i] == "" && !f.Binary && f.Size > 0:
			c.LeftOut = append(c.LeftOut, f.Path)
		case fits(f):
			c.Diff += newFile(f, texts[i])
		}
	}
	return nil
}

// literal begins an argument of git that is a path and no pattern.
const literal = ":(top,literal)"

// readNew sets the sizes of binary and untracked files, and the lines of the untracked ones. It returns the texts of the untracked ones; an empty one was not read.
func readNew(ctx context.Context, dir string, tracked, untracked []FileStat) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	for i := range tracked {
		if f := &tracked[i]; f.Binary {
			f.Size, _ = sizeIn(root, f.Path)
		}
	}
	texts := make([]string, len(untracked))
	left := int64(maxNewFiles)
	for i := range untracked {
		f := &untracked[i]
		size, regular := sizeIn(root, f.Path)
		f.Size = size
		if !regular || size > min(left, maxNewFile) || ctx.Err() != nil {
			continue
		}
		left -= size
		text, err := readIn(root, f.Path)
		if err != nil {
			continue // gone since, or not for us
		}
		if len(text) == 0 {
			continue
		}
		f.Binary = bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 // as git tells it
		if !f.Binary {
			f.Insertions = bytes.Count(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) + 1
			texts[i] = string(text)
		}
	}
	return texts, ctx.Err()
}

// sizeIn returns the size of a file, and whether it is a regular one.
func sizeIn(root *os.Root, path string) (int64, bool) {
	info, err := root.Lstat(filepath.FromSlash(path))
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// readIn reads the beginning of a regular file.
func readIn(root *os.Root, path string) ([]byte, error) {
	f, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxNewFile))
}

// newFile returns the difference of an untracked file as git would print it.
func newFile(f FileStat, text string) string {
	name := strconv.Quote("b/" + f.Path)
	if name == `"b/`+f.Path+`"` {
		name = "b/" + f.Path
	}
	head := "untracked " + name + "\n"
	switch {
	case f.Binary:
		return head + "Binary file, " + f.String() + "\n"
	case text == "":
		return head
	}
	text = "+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+") + "\n"
	return fmt.Sprintf("%s--- /dev/null\n+++ %s\n@@ -0,0 +1,%d @@\n%s", head, name, strings.Count(text, "\n"), text)
}
