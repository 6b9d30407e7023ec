package reading

import "strings"

// reader is a program that only reads.
type reader struct {
	options []string // its options that only read, each a whole word
	numbers []string // those that are followed by a number, as the next word
	pattern bool     // its first operand is a pattern, not a file
	least   int      // how many operands it needs: without one it would read another file, or its input
	most    int      // how many it may have
	reads   depth    // how deep it goes into a folder
	git     bool     // it obeys the configuration of the repository
	notIn   []string // the shells in which its name is a function that does more
}

// depth is what a program reads of an operand that is a folder.
type depth int

const (
	names    depth = iota // the names in it, and in the folders below it
	contents              // the contents of all files below it
	nothing               // it must be a file: of a folder more would be read, such as what the folders above it say is ignored
)

const many = 100

// fish (3.6) replaces these by functions that first run them on other files.
var inFish = []string{"fish"}

var words = strings.Fields

var gitLog = reader{options: words("--oneline --graph --all --decorate --no-decorate --merges --no-merges --reverse --first-parent --abbrev-commit"), numbers: words("-n --max-count --skip"), git: true}

// readers are the programs that one key allows, at most 25. None of their options names a file, a program or a format.
var readers = map[string]reader{
	"pwd":       {options: words("-L -P")},
	"ls":        {options: words("-1 -a -A -d -p -r -R -S -t --all --almost-all --directory --recursive --reverse"), most: many, notIn: inFish},
	"du":        {options: words("-a -c -h -k -m -s --all --total --human-readable --summarize"), numbers: words("-d"), most: many},
	"basename":  {least: 1, most: 1},
	"dirname":   {least: 1, most: 1},
	"cat":       {options: words("-A -b -E -e -n -s -T -t -v"), least: 1, most: many, reads: contents},
	"nl":        {least: 1, most: many, reads: contents},
	"head":      {options: words("-q -v"), numbers: words("-n -c"), least: 1, most: many, reads: contents},
	"tail":      {options: words("-q -v"), numbers: words("-n -c"), least: 1, most: many, reads: contents},
	"wc":        {options: words("-c -l -L -m -w --bytes --chars --lines --words"), least: 1, most: many, reads: contents},
	"cmp":       {options: words("-l -s"), least: 2, most: 2, reads: contents},
	"diff":      {options: words("-b -B -i -N -q -r -u -w"), least: 2, most: 2, reads: contents},
	"md5sum":    {least: 1, most: many, reads: contents},
	"sha1sum":   {least: 1, most: many, reads: contents},
	"sha256sum": {least: 1, most: many, reads: contents},
	"grep": {options: words("-c -E -F -h -H -i -l -L -n -o -q -r -s -v -w -x"), numbers: words("-A -B -C -m"), pattern: true,
		least: 2, most: many, reads: contents},
	"rg": {options: words("-c -F -H -i -l -n -N -o -q -S -s -v -w -x"), numbers: words("-A -B -C -m"), pattern: true,
		least: 2, most: many, reads: nothing},
	"git log":                         gitLog,
	"git branch --show-current":       {git: true},
	"git rev-parse HEAD":              {git: true},
	"git rev-parse --show-toplevel":   {git: true},
	"git rev-parse --abbrev-ref HEAD": {git: true},
}
