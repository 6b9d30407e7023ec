package risk

import (
	"slices"
	"strings"
)

// check looks at the arguments of a program.
type check func(j *judge, name string, args []word)

// checks are the checks by the names of the programs.
var checks = map[string]check{}

func init() { //nolint:gochecknoinits // a check may come back to checks: the command that a program runs has its own
	for names, c := range map[string]check{
		"git": whatever((*judge).git),
		"rm rmdir unlink del erase rd ri remove-item trash gio": (*judge).removes,
		"find fd fdfind":    whatever((*judge).find),
		"chmod chown chgrp": (*judge).changesRights,
		"kill":              whatever((*judge).kill),
		"ln install tee touch mkdir sponge copy-item set-content add-content out-file unzip patch ed ex new-item copy xcopy": (*judge).changes,
		"cp":                (*judge).copies,
		"mv move move-item": (*judge).moves,
		"sed":               (*judge).sed,
		"perl":              (*judge).perl,
		"dd":                whatever((*judge).dd),
		"rsync":             whatever((*judge).rsync),
		"scp":               whatever((*judge).scp),
		"truncate":          (*judge).truncate,
		"robocopy":          (*judge).robocopy,
		"curl wget http https xh iwr irm invoke-webrequest invoke-restmethod aria2c dig nslookup host ping whois traceroute": (*judge).network,
		"nc netcat socat openssl": (*judge).connection,
		"cd pushd":                whatever((*judge).changeFolder),
		"docker podman nerdctl":   whatever((*judge).containers),
		"make gmake":              whatever((*judge).makes),
		"awk gawk mawk nawk vi vim nvim tar zip man rg sort": (*judge).runsByOption,
		"eval trap alias": (*judge).evaluated,
		"source .":        whatever((*judge).sources),
		"history":         whatever((*judge).clearsHistory),
		"unset":           whatever((*judge).unsets),
		"cmake":           whatever((*judge).runsRules),
		"7z 7za 7zz":      whatever((*judge).unpacks),
		"pip pip3 uv npm pnpm yarn gem cargo bundle npx": (*judge).installs,
	} {
		for _, name := range strings.Fields(names) {
			checks[name] = c
		}
	}
}

// whatever is a check that is the same whatever the program's name is.
func whatever(f func(j *judge, args []word)) check {
	return func(j *judge, _ string, args []word) { f(j, args) }
}

// sources checks a script that the shell itself runs.
func (j *judge) sources(args []word) {
	for i, a := range args {
		j.markIf(fetches(a.text) || i == 0 && strings.HasPrefix(a.text, "<("), downloads)
	}
}

func (j *judge) clearsHistory(args []word) {
	j.markIf(slices.ContainsFunc(args, func(a word) bool { return strings.HasPrefix(a.text, "-c") }), forgets)
}

func (j *judge) unsets(args []word) {
	j.markIf(strings.HasPrefix(join(args), "HIST"), forgets)
}

// runsRules checks where the file of rules is that cmake runs.
func (j *judge) runsRules(args []word) {
	if i := slices.IndexFunc(args, func(a word) bool { return a.text == "-P" }); i >= 0 && i+1 < len(args) {
		j.markIf(j.place(args[i+1].text) != inside, fromOutside)
	}
}

// unpacks checks where 7z puts what it unpacks.
func (j *judge) unpacks(args []word) {
	for _, a := range args {
		if folder, ok := strings.CutPrefix(a.text, "-o"); ok {
			j.writes(word{text: folder, literal: a.literal})
		}
	}
}

// installs checks from where packages come.
func (j *judge) installs(name string, args []word) {
	j.markIf(slices.ContainsFunc(args, func(a word) bool {
		return strings.Contains(a.text, "index-url") || strings.HasPrefix(a.text, "--registry") || strings.HasPrefix(a.text, "--trusted-host") || strings.HasPrefix(a.text, "http://") || a.text == "-i" && strings.HasPrefix(name, "pip")
	}), origin)
}
