package risk

import "strings"

// gitKeys are the keys of git's settings that name a program, a server or a folder with programs.
const gitKeys = `(core\.(hookspath|sshcommand|pager|editor|fsmonitor|gitproxy|askpass|worktree|attributesfile|excludesfile)|alias\.\S+=?\s*!|credential\.|url\..*insteadof|diff\.(external|.*\.(command|textconv))|filter\.|merge\..*\.driver|mergetool\.|difftool\.|sequence\.editor|gpg\.(program|.*\.program)|pager\.|include(if)?\.|http\.(proxy|sslverify|.*\.proxy)|remote\..*\.(url|pushurl|uploadpack|receivepack|vcs)|protocol\.|init\.templatedir|browser\.|man\.|uploadpack\.|receive\.|submodule\..*\.update|safe\.directory|trailer\..*\.command|web\.browser|instaweb\.|sendemail\.|ssh\.variant|interactive\.difffilter)`

// rule marks a command by the words after its program, joined by spaces.
type rule struct {
	programs string
	reason   string
	line     *expression
	unless   *expression // nil: always
}

// commandRules are the rules of single programs.
var commandRules = []rule{
	{"git", pushes, lazy(`^push\b.*( -[a-z]*[fd][a-z]*\b| --(force|delete|mirror|prune)| [+:]\S)`), nil},
	{"git", sends, lazy(`^push (-\S+ )*\S+://`), nil},
	{"git", "changes where git pushes to", lazy(`^remote set-url`), nil},
	{"git", discards, lazy(`^(reset\b.* --(hard|merge|keep)|checkout\b.*( -[a-z]*f| --(force|ours|theirs)| -- \S| \.( |/|$)| :/| \*)|switch\b.*( -\w*[fC]\b| --force| --discard)|stash (drop|clear)|worktree remove\b.* (-f|--force)|submodule deinit\b.* (-f|--force)|(read-tree|checkout-index)\b.*( -\w*[uf]| --(reset|force))|(am|rebase|merge|cherry-pick)\b.* --quit)`), nil},
	{"git", discards, lazy(`^clean\b.*( -\w*[fxd]| --force)`), lazy(` -\w*n| --dry-run`)},
	{"git", discards, lazy(`^restore\b`), lazy(` (--staged|-\w*S)( [^-]|$)`)},
	{"git", loses, lazy(`^(branch\b.*( -\w*[Df]\b| --force)|tag\b.*( -\w*[df]\b| --(delete|force))|update-ref\b.* (-d|--delete|--stdin)|reflog (expire|delete)|gc\b.*--prune|prune\b|symbolic-ref \S+ \S|(filter-branch|filter-repo|daemon|instaweb|send-email|cvsserver|replace)\b)`), nil},
	{"git", deletes, lazy(`^rm\b.*( -\w*[rf]| \*( |$)| \$)`), lazy(`--cached`)},
	{"git", "leaves out the checks before a commit", lazy(`^commit\b.*( -[a-z]*n[a-z]*( |$)| --no-verify)`), nil},
	{"git", loads, lazy(`(?i)((^|clone .*)(-c|--config|--config-env) ?|^config (--\S+ )*(set )?)` + gitKeys + `[ =]?`), lazy(`(?i)(core\.(pager|editor)|pager\.\w+|sequence\.editor)[ =](|cat|less|more|true|:|vi|vim|nvim|nano|emacs|code|code --wait|ed|delta|bat)( [a-z-]+)*$|^config (--get|get|list|unset|--unset)\S*|^config [^ ]+$`)},
	{"git", loads, lazy(`^--exec-path=`), nil},
	{"git", starts, lazy(`(^| )(ext::|--(upload|receive)-pack|--extcmd|--open-files-in-pager=)|^difftool.* -x`), nil},
	{"awk gawk mawk nawk", starts, lazy(`system\s*\(|\|\s*("|getline)|print[^|]*\|\s*"|"\s*\|\s*getline`), nil},
	{"vi vim nvim", starts, lazy(`!|system\(`), nil},
	{"tar", starts, lazy(`--(checkpoint-action|to-command|use-compress-program|rsh-command|info-script|new-volume-script)|(^| )-I ?\S*sh\b|(^| )-[a-zA-Z]*P[a-zA-Z]*( |$)|-C ?/( |$)|--absolute-names`), nil},
	{"zip", starts, lazy(`-TT|--unzip-command`), nil},
	{"man", starts, lazy(`-P|--pager`), nil},
	{"rg", starts, lazy(`(^| )--pre[ =]`), nil},
	{"sort", starts, lazy(`--compress-program`), nil},
	{"sed", starts, lazy(`(^|[;{}\n0-9$/]\s*)s([/|#,:@!]).*[/|#,:@!][gpiI0-9]*e[gpiI0-9]*( |$)|(^| )([0-9$]+|/.*/)?\s*e\s+\S`), lazy(`^(-\w+ )*s(.)[^/|#]*$`)},
	{"find fd fdfind", deletesMany, lazy(`(^| )-delete\b`), nil},
	{"kill", kills, lazy(`^-1$|^(-\w+ )+-\d+( |$)|^(-\w+ )*(1|0|\{\})( |$)|^(-\w+ )*("?\$\(|` + "`" + `|"?\$[a-zA-Z{])`), lazy(`\$(!|\{?[A-Za-z_]*(PID|pid))|^-[l0]|(^| )%`)},
	{"docker podman nerdctl", machine, lazy(`--privileged|--pid[= ]host|--cap-add[= ](ALL|SYS_ADMIN)|docker\.sock|(-v|--volume|--mount)[ =]("?/:|~/?:|"?\$HOME/?:|/(etc|root|home|var|usr|boot|dev|proc|sys)(/|:))|source=/,`), nil},
	{"make gmake", fromOutside, lazy(`(^| )(-[fCI]|--(file|makefile|directory))[ =]?(/|~|\.\.|-( |$))|--eval|(^| )SHELL=`), nil},
	{"cmake", fromOutside, lazy(`(^| )-P (/|~|\.\.)`), nil},
	{"chmod", rights, lazy(`(^| )(-\w*R|--recursive)|^(-\w+ )*([0-7]?[0-7][0-7][2367]|[2467][0-7]{3}|\S*[ao]\S*\+r?w\S*|[+=]r?wx?|\S*[+=][rwx]*s\S*)( |$)|\{\}`), nil},
	{"chown chgrp", rights, lazy(`(^| )(-\w*R|--recursive)|\{\}`), nil},
	{"chown", rights, lazy(`^(-\w+ )*(root|0:)`), nil},
	{"rsync", deletesMany, lazy(`--delete|--remove-source-files`), nil},
	{"rsync", starts, lazy(`(^| )(-e|--rsh)[ =]?.*(sh -c|;|\|)`), nil},
	{"rsync scp", sends, lazy(` [^/\\ ]{2,}:\S*$`), nil},
	{"truncate", "empties a file", lazy(`(-s ?0|--size[= ]0)`), nil},
	{"robocopy", deletesMany, lazy(`(?i)/mir|/purge`), nil},
	{"mv move move-item", deletes, lazy(` /dev/null$`), nil},
	{"cp", "empties a file", lazy(`^(-\w+ )*/dev/null `), nil},
	{"curl wget http https xh iwr irm invoke-webrequest invoke-restmethod aria2c", sends, lazy(`(?i)(^| )((-d|-F|--data\S*|--form|--json|-body)[ =]?\S*(@|=<)|(-T|--upload-file|--post-file|--body-file|-infile)[ =]?\S)|\$\(|` + "`" + `|\$\{?\w*(secret|token|passw|key)`), lazy(`(localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)|\$\((date|uname)|(-H|--header|-u) \S*( \S+)* ?\$`)},
	{"curl wget http https xh iwr irm invoke-webrequest invoke-restmethod", sends, lazy(`(-d|--data\S*|-F|-T|--post-file|--upload-file)[ =]?\S*(\.ssh|\.aws|\.env\b|id_rsa|\.netrc|credentials)`), nil},
	{"curl wget http https xh iwr irm invoke-webrequest invoke-restmethod", remote, lazy(`(?i)(^| )(-X|--request|--method|-method) ?DELETE`), lazy(`localhost|127\.0\.0\.1`)},
	{"curl wget", loads, lazy(`(^| )(-K|--config|--use-askpass|--proxy)\b`), nil},
	{"curl", loads, lazy(`(^| )-x `), nil},
	{"dig nslookup host ping whois traceroute", sends, lazy(`\$\(|` + "`" + `|\$\{?\w*(?i:secret|token|passw|key)`), nil},
	{"nc netcat", remoteShell, lazy(`(^| )(-\w*[ecl]|--exec|--sh-exec|--listen)`), nil},
	{"nc netcat", sends, lazy(``), lazy(`(^| )-\w*[zecl]`)},
	{"socat", remoteShell, lazy(``), nil},
	{"openssl", remoteShell, lazy(`^s_client.*-quiet`), lazy(`-showcerts`)},
	{"ssh", fed, lazy(`(?i)-o ?\w*command`), nil},
	{"ssh", remoteShell, lazy(`(^| )-[RD]`), nil},
	{"history", forgets, lazy(`^-c`), nil},
	{"unset", forgets, lazy(`^HIST`), nil},
	{"pip pip3 uv npm pnpm yarn gem cargo bundle npx", origin, lazy(`index-url|(^| )--registry|(^| )--trusted-host|(^| )http://`), nil},
	{"pip pip3", origin, lazy(`(^| )-i `), nil},
	{"npx", downloads, lazy(`https?://`), nil},
	{"source .", downloads, lazy(`(\$\(|<\() ?(curl|wget)`), nil},
	{"powershell pwsh", fed, lazy(`(?i)(^| )(-e(c|n\w*)?|-w\w* hidden)( |$)`), nil},
	{"powershell pwsh", fromOutside, lazy(`(?i)-file (/|~|\.\.|[a-z]:)`), nil},
	{"sudo doas pkexec su runuser runas gosu chroot nsenter", asRoot, lazy(``), nil},
	{"systemd-run", later, lazy(``), nil},
}

// ruled are the programs that have rules.
var ruled = map[string]bool{}

func init() { //nolint:gochecknoinits // the same rule for many names
	for _, r := range commandRules {
		for _, name := range strings.Fields(r.programs) {
			ruled[name] = true
		}
	}
}

// byRules checks the words of a command by the rules of its program.
func (j *judge) byRules(name, line string) {
	if !ruled[name] {
		return
	}
	if name == "git" { // what follows its own options decides
		j.gitRules(line)
		return
	}
	for _, r := range commandRules {
		j.markIf(r.marks(name, line), r.reason)
	}
}

func (r *rule) marks(name, line string) bool {
	return strings.Contains(" "+r.programs+" ", " "+name+" ") && r.line.MatchString(line) && (r.unless == nil || !r.unless.MatchString(line))
}

var gitOptions = lazy(`^((-C|-c|--git-dir|--work-tree|--namespace|--config-env) \S+ |-\S+ )+`)

func (j *judge) gitRules(line string) {
	for _, l := range []string{line, gitOptions.compiled().ReplaceAllString(line, "")} {
		for _, r := range commandRules {
			j.markIf(r.marks("git", l), r.reason)
		}
	}
}
