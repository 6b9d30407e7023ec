package onekey

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rollcall/internal/must"
)

// generator makes commands: from a grammar, from attacks that succeeded once and from commands of real sessions, and by mutation of both.
type generator struct {
	*rand.Rand
	known []string
}

func newGenerator(t *testing.T, seed uint64) *generator {
	t.Helper()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	lists := must.Get(filepath.Glob("../../app/control/risk/testdata/*.txt"))(t)
	if len(lists) == 0 {
		t.Fatal("no lists of commands")
	}
	for _, name := range append(lists, "testdata/attacks.txt") {
		text := must.Get(os.ReadFile(name))(t)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if line != "" && !strings.HasPrefix(line, "##") {
				g.known = append(g.known, strings.NewReplacer(`\NL`, "\n", `\TAB`, "\t").Replace(line))
			}
		}
	}
	return g
}

var (
	programs = strings.Fields(`pwd ls cat head tail wc nl tac rev cmp diff md5sum sha1sum sha256sum cksum basename dirname realpath readlink du df stat file tree grep egrep fgrep rg find sort uniq cut
		comm join paste fold od strings hexdump base64 column tr tee test echo printf date id whoami hostname env printenv which type command exec eval source sed awk xargs less more man
		git git git git git-log jq yes seq sleep true cp mv rm touch mkdir ln chmod dd tar zip gzip xxd vi ed sh bash zsh python3 perl`)
	verbs     = strings.Fields("log log log status diff show branch rev-parse rev-parse blame ls-files grep config tag remote stash shortlog describe cat-file reflog fetch gc")
	longWords = strings.Fields(`--all --help --version --color --color=always --recursive --reverse --directory --number --lines --bytes --chars --words --oneline --graph --decorate --stat --patch --show-signature --ext-diff --textconv
		--output=x --format=%H --pretty=oneline --no-pager --paginate --show-current --show-toplevel --abbrev-ref --max-count --skip --merges --no-merges --first-parent --name-only --numstat --follow --pre --pre=./evil --hidden --no-ignore
		--search-zip --file --file=a.txt --files-from=a.txt --files0-from=a.txt --exclude-from=a.txt --include --exclude --dereference --dereference-recursive --check --total --human-readable --summarize --unified --no-index --cached --exec
		--exec=./evil --pager --pager=./evil --open-files-in-pager --git-dir=src --work-tree=.. --exec-path=. --config --hostname-bin=./evil --ignore-file=a.txt --debug --stats --json --almost-all --no-decorate --abbrev-commit --`)
	operands = strings.Fields(`a.txt src src/a.go src/b.txt src/deep docs docs/in README.md - . .. ./src ../home/secret /tmp/home/secret /etc/passwd .env .git .git/config .git/HEAD src/.hidden secrets.json id_rsa server.pem
		link linkdir linkdir/secret hard pipe src/pipe evil ls git node_modules node_modules/.bin/ls x=1 @a %1 +1 a,b a:b HEAD main main..x HEAD:.env HEAD^ refs/heads/main 5 0 100 1 foo TODO package needle src/ src//a.go /tmp/p
		log status /dev/stdin /dev/null /proc/self/environ =ls ~ ~/secret * src/* $HOME {a,b} objects config hooks empty big`)
	marks = []string{";", "&", "|", ">", "<", ">>", "&&", "||", "`", "$", "(", ")", "{", "}", "[", "]", "*", "?", "~", "=", "!", "#", "'", "\"", "\\", "\n", "\t", "\r", " ", "-", "/", ".", "..", "%", "^", "@", "+", ",", ":", "\x00", "\u00a0", "é", ">!", "=("}
)

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// option returns a word that looks like an option.
func (g *generator) option() string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	switch g.IntN(10) {
	case 0:
		return "-" + string(letters[g.IntN(len(letters))]) + pick(g, operands)
	case 1:
		return "-" + string(letters[g.IntN(len(letters))]) + string(letters[g.IntN(len(letters))])
	case 2, 3, 4:
		return pick(g, longWords)
	}
	return "-" + string(letters[g.IntN(len(letters))])
}

// common are words that appear often, so that many commands are ones that a rule may allow.
var (
	commonPrograms = strings.Fields("pwd ls cat head tail wc nl tac cmp diff md5sum sha1sum sha256sum basename dirname du grep grep rg rg git git git stat file tree realpath readlink sort find date")
	commonOperands = strings.Fields("a.txt src src/a.go src/b.txt src/deep README.md docs x=1 @a %1 +1 a,b a:b empty big needle evil ls git")
)

// grammar makes a command from words.
func (g *generator) grammar() string {
	tame := g.IntN(4) > 0
	program, files := programs, operands
	if tame {
		program, files = commonPrograms, commonOperands
	}
	words := []string{pick(g, program)}
	if words[0] == "git" {
		if g.IntN(8) == 0 {
			words = append(words, g.option())
		}
		words = append(words, pick(g, verbs))
	}
	for range g.IntN(3) {
		words = append(words, g.option())
		if g.IntN(3) == 0 {
			words = append(words, pick(g, []string{"1", "5", "100", "0", "x"}))
		}
	}
	for range g.IntN(4) {
		words = append(words, pick(g, files))
	}
	if g.IntN(10) == 0 {
		words = append(words, g.option())
	}
	return strings.Join(words, " ")
}

// mutated changes a command at some places.
func (g *generator) mutated(text string) string {
	for range 1 + g.IntN(3) {
		words := strings.Split(text, " ")
		at := g.IntN(len(text) + 1)
		switch g.IntN(6) {
		case 0:
			text = text[:at] + pick(g, marks) + text[at:]
		case 1:
			text = text[:at] + text[min(len(text), at+1+g.IntN(3)):]
		case 2:
			words[g.IntN(len(words))] = pick(g, operands)
			text = strings.Join(words, " ")
		case 3:
			words[g.IntN(len(words))] = g.option()
			text = strings.Join(words, " ")
		case 4:
			other := strings.Split(pick(g, g.known), " ")
			text = strings.Join(append(words[:g.IntN(len(words)+1)], other[g.IntN(len(other)):]...), " ")
		default:
			words[0] = pick(g, programs)
			text = strings.Join(words, " ")
		}
	}
	return text
}

// next returns the next command.
func (g *generator) next() string {
	switch n := g.IntN(100); {
	case n < 55:
		return g.grammar()
	case n < 65:
		return pick(g, g.known)
	case n < 80:
		return g.mutated(pick(g, g.known))
	}
	return g.mutated(g.grammar())
}
