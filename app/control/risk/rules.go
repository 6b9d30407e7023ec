package risk

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The reasons in words.
const (
	asRoot      = "runs as another user"
	deletes     = "deletes folders with all they contain"
	deletesMany = "deletes files that are only known when it runs"
	outside     = "writes outside its folder"
	downloads   = "runs what it downloads"
	fed         = "runs text that it reads or makes"
	pushes      = "overwrites or deletes what others have pushed"
	discards    = "throws away changes that are not committed"
	loses       = "deletes branches or the history of the repository"
	disk        = "can destroy a disk or stop the machine"
	rights      = "changes the rights of many files, or gives rights to everyone"
	kills       = "ends processes that are only known when it runs, or by their name"
	sends       = "sends files or secrets to another machine"
	secrets     = "reads secrets"
	remoteShell = "lets another machine control this one"
	later       = "changes what is run later without a question"
	loads       = "changes which code other programs run"
	database    = "deletes the data of a database"
	remote      = "deletes or changes what a server or cloud has"
	system      = "changes the system, its users or its network"
	origin      = "installs from an unusual place"
	starts      = "has code that starts programs or deletes files"
	fromOutside = "runs a program from outside its folder"
	forgets     = "deletes the history of commands"
	endless     = "starts itself without an end"
	tooLong     = "is very long: read it to its end"
)

// gitKeys are the keys of git's settings that name a program, a server or a folder with programs.
const gitKeys = `(core\.(hookspath|sshcommand|pager|editor|fsmonitor|gitproxy|askpass|worktree|attributesfile|excludesfile)|alias\.\S+=?\s*!|credential\.|url\..*insteadof|diff\.(external|.*\.(command|textconv))|filter\.|merge\..*\.driver|mergetool\.|difftool\.|sequence\.editor|gpg\.(program|.*\.program)|pager\.|include(if)?\.|http\.(proxy|sslverify|.*\.proxy)|remote\..*\.(url|pushurl|uploadpack|receivepack|vcs)|protocol\.|init\.templatedir|browser\.|man\.|uploadpack\.|receive\.|submodule\..*\.update|safe\.directory|trailer\..*\.command|web\.browser|instaweb\.|sendemail\.|ssh\.variant|interactive\.difffilter)`

// Programs that share rules.
const (
	languages = "python pypy ipython xonsh nu perl ruby jruby lua luajit rscript elixir julia ghc groovy scala raku tclsh octave osascript node nodejs bun deno ts-node tsx php gdb lldb emacs guile sbcl erl"
	shells    = " sh bash zsh dash ksh fish ash mksh yash csh tcsh rbash posh powershell pwsh "
	databases = "psql mysql mariadb sqlite3 sqlite mongo mongosh redis-cli cqlsh clickhouse-client clickhouse sqlcmd duckdb cockroach influx mysqlsh pgcli mycli usql sqlplus bq impala-shell hive beeline litecli arangosh cypher-shell surreal tursodb turso"
	clouds    = "aws gcloud gsutil bq az kubectl oc helm doctl pulumi heroku fly flyctl vercel netlify firebase supabase gh glab hub eksctl vault consul nomad etcdctl cdk sls serverless wrangler railway render hcloud linode-cli ibmcloud oci openstack mc s3cmd rclone ossutil scw exo argocd flux istioctl ctr crictl nerdctl rancher docker-machine terraform tofu cf sam copilot amplify eb stripe auth0 okta datadog sentry-cli ng-cli confluent ccloud planetscale pscale turso neonctl mongocli atlas databricks snow b2 databricks velero rke2 k3s kustomize tkn cfn upsun platform yc tccli aliyun hubot ngrok cloudflare flarectl"
)

// withCode is an option of a language that is followed by code.
const withCode = `(?is)(^| )(-[a-z]*[cepr]|--eval|--print|-eval|eval)[ =]?.*`

// expression is a regular expression that is compiled when it is used first: most runs of the program judge no command.
type expression func() *regexp.Regexp

// MatchString does the same as that of regexp.Regexp.
func (e expression) MatchString(s string) bool { return e().MatchString(s) }

func lazy(text string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// rule marks a command by the words after its program, joined by spaces.
type rule struct {
	programs string
	reason   string
	line     expression
	unless   expression // nil: always
}

// rules returns those of single programs.
func rules() []rule {
	return []rule{
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
		{"ed ex vi vim nvim gdb", starts, lazy(`!|system\(`), nil},
		{"tar", starts, lazy(`--(checkpoint-action|to-command|use-compress-program|rsh-command|info-script|new-volume-script)|(^| )-I ?\S*sh\b|(^| )-[a-zA-Z]*P[a-zA-Z]*( |$)|-C ?/( |$)|--absolute-names`), nil},
		{"zip", starts, lazy(`-TT|--unzip-command`), nil},
		{"man", starts, lazy(`-P|--pager`), nil},
		{"rg", starts, lazy(`(^| )--pre[ =]`), nil},
		{"sort", starts, lazy(`--compress-program`), nil},
		{"sed", starts, lazy(`(^|[;{}\n0-9$/]\s*)s([/|#,:@!]).*[/|#,:@!][gpiI0-9]*e[gpiI0-9]*( |$)|(^| )([0-9$]+|/.*/)?\s*e\s+\S`), lazy(`^(-\w+ )*s(.)[^/|#]*$`)},
		{"find fd fdfind", deletesMany, lazy(`(^| )-delete\b`), nil},
		{"kill", kills, lazy(`^-1$|^(-\w+ )+-\d+( |$)|^(-\w+ )*(1|0|\{\})( |$)|^(-\w+ )*("?\$\(|` + "`" + `|"?\$[a-zA-Z{])`), lazy(`\$(!|\{?[A-Za-z_]*(PID|pid))|^-[l0]|(^| )%`)},
		{"docker podman nerdctl", "gives a container the whole machine", lazy(`--privileged|--pid[= ]host|--cap-add[= ](ALL|SYS_ADMIN)|docker\.sock|(-v|--volume|--mount)[ =]("?/:|~/?:|"?\$HOME/?:|/(etc|root|home|var|usr|boot|dev|proc|sys)(/|:))|source=/,`), nil},
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
		{"pip uv npm pnpm yarn gem cargo bundle npx", origin, lazy(`index-url|(^| )--registry|(^| )--trusted-host|(^| )http://`), nil},
		{"pip", origin, lazy(`(^| )-i `), nil},
		{"npx", downloads, lazy(`https?://`), nil},
		{"powershell pwsh", fed, lazy(`(?i)(^| )(-e(c|n\w*)?|-w\w* hidden)( |$)`), nil},
		{"powershell pwsh", fromOutside, lazy(`(?i)-file (/|~|\.\.|[a-z]:)`), nil},
		{"sudo doas pkexec su runuser runas gosu chroot nsenter", asRoot, lazy(``), nil},
		{"systemd-run", later, lazy(``), nil},
		{languages, starts, lazy(withCode + `(` + `\b(os\.(system|popen|exec\w*|spawn\w*|remove|unlink|rmdir|removedirs|kill|chmod|chown|rename|replace|truncate|putenv)|subprocess|rmtree|remove_tree|pty\.spawn|child_process|exec(file)?(sync)?\s*\(|spawn(sync)?\s*\(|popen|eval\s*\(|__import__|compile\s*\(|importlib|getattr\s*\(|base64|b64decode|atob|fromcharcode|marshal|pickle\.loads?|rm(dir)?sync|unlink(sync)?|rm_rf?|rm_r|remove_dir_all|fileutils|dir\.(delete|rmdir|unlink)|file\.(delete|unlink|write|rename)|files?\.delete\w*|deltree|rimraf|writefile(sync)?|truncate(sync)?|fs\.(rm|unlink|write|append|cp|rename|chmod)\w*|system\s*[("'{ ]|passthru|shell_exec|proc_open|pcntl_exec|os\.execute|io\.popen|kernel\.|open\s*\([^)]*['"][wax]\+?b?t?['"]|write_(text|bytes)\s*\(|shutil\.(move|copy\w*)|pathlib[^\n]*\.unlink|socket|urllib|urlopen|urlretrieve|requests\.|httpx|http\.client|net/http|open-uri|lwp::|https?\.(get|request)|fetch\s*\(|xmlhttprequest|smtplib|ftplib|paramiko|telnetlib|webbrowser|ctypes|setuid|deno\.(remove|run|command|write)|bun\.(spawn|write|\$)|process\.kill|posix\.|invoke-|remove-item|start-process|downloadstring|new-object\s+net|glob\s*\(?["']?\*|do shell script|keystroke|backtick|%x[\[{(]|qx[/{(]|runtime\.getruntime|processbuilder|winreg|_winapi|deleteall|send_file|file_put_contents|unlink\s*\(|fopen\s*\([^)]*['"][wax])|` + "`[^`]*`" + `|\b(os|environ|env)\b[^\n]*(secret|token|password|api_?key)` + `)`), nil},
		{languages + shells + "source . eval", downloads, lazy(`([$<]\( ?|` + "`" + `)(curl|wget|fetch|https?|aria2c|iwr|irm|lynx|w3m|axel|xh)\b`), nil},
		{languages + shells, fromOutside, lazy(`^(-[^c ]+ )*(/(var/|private/)?tmp/|/dev/shm/|~|\.\./|\$(TMPDIR|HOME)|https?:)`), nil},
		{"eval trap", fed, lazy(`\$[A-Za-z_{(]`), nil},
		{shells, fed, lazy(`(^| )-\w*c \$[A-Za-z_{]`), nil},
		{databases, database, lazy(`(?is)\b(drop|truncate)\s+(table|database|schema|index|view|user|role|keyspace|collection|owned|column|only\b|[a-z_."]+\s*;?$)|\bdelete\s+from\b|\balter\s+table\b.*\bdrop\b|\bflush(all|db)\b|\bdropdatabase\b|\.(drop|deletemany|remove)\(|\bcopy\b.*\bprogram\b|(^|[\s;])\.(shell|system|import)\b|\\!|\bxp_cmdshell\b|\bload_extension\b|\binto\s+(outfile|dumpfile)\b|^\.(shell|system)|\bgrant\s+all\b|\bsystem\s+(rm|sh)\b`), nil},
		{databases, database, lazy(`(?is)\bupdate\s+\S+\s+set\s`), lazy(`(?i)\bwhere\b`)},
		{clouds, remote, lazy(`(?i)^(-\S+ (\S+ )?)*([^-\s]\S* ){0,4}([a-z0-9-]+:)?(delete|destroy|remove|rm|rb|drop|terminate|purge|uninstall|prune|wipe|reset|erase|deregister|revoke|disable|detach|flush|unlink)($|[-: ])`), lazy(`--dry|--help`)},
		{"mount", system, lazy(`.`), nil},
		{"mkfs newfs dd", disk, lazy(``), nil},
		// A variable that is set for commands.
		{"=", loads, lazy(`^(LD_(PRELOAD|AUDIT)|DYLD_\w+|GIT_(SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND|EXTERNAL_DIFF|EXEC_PATH|TEMPLATE_DIR|CONFIG\w*|SSL_NO_VERIFY|DIR)|SSH_ASKPASS|BASH_ENV|ENV|ZDOTDIR|PROMPT_COMMAND|PS[0-4]|IFS|SHELLOPTS|BASHOPTS|PYTHON(STARTUP|HOME|WARNINGS|INSPECT|BREAKPOINT)|PERL5(OPT|LIB|DB)|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|RUSTC_(WRAPPER|WORKSPACE_WRAPPER)|RUSTC|HISTFILE|HISTCONTROL|HISTSIZE|(?i:https?_proxy|all_proxy)|NODE_(TLS_REJECT_UNAUTHORIZED|EXTRA_CA_CERTS|PATH)|(?i:npm_config_registry|npm_config_script_shell|npm_config_userconfig)|PIP_(EXTRA_)?INDEX_URL|UV_(DEFAULT_)?INDEX\w*|SSL_CERT_FILE|CURL_CA_BUNDLE|DOCKER_HOST|LESSOPEN|LESSCLOSE|MANPAGER|BROWSER|TAR_OPTIONS|RSYNC_RSH|CVS_RSH|SUDO_ASKPASS|GCONV_PATH|LOCPATH|MAKEFLAGS|MAKE|SHELL|GLIBC_TUNABLES|KUBECONFIG_EXEC|PSMODULEPATH|COMSPEC|BUNDLE_GEMFILE|GEM_HOME|ELECTRON_RUN_AS_NODE|CLASSPATH)=`), nil},
		{"=", loads, lazy(`^PATH=`), lazy(`^PATH=("?\$\{?(PATH|HOME|PWD|GOPATH|VIRTUAL_ENV)\b|/usr/|/bin|/sbin|/opt/|~/(\.cargo|\.local|go|\.bun|\.deno|\.nvm|\.pyenv|\.rbenv)/|\.?/?(node_modules/\.bin|\.?venv/bin)|\$\((go env|pwd|npm bin))`)},
		{"=", loads, lazy(`^(LD_LIBRARY_PATH|PYTHONPATH)=.*/tmp`), nil},
		{"=", loads, lazy(`^((GIT_)?(PAGER|EDITOR|SEQUENCE_EDITOR)|VISUAL|LESS)=`), lazy(`=(|cat|less|more|true|:|vi|vim|nvim|nano|emacs|code|code --wait|code -w|subl -w|ed|micro|hx|delta|bat|-?[FRXSiM]+)$`)},
		{"=", loads, lazy(`^(NODE_OPTIONS|GOFLAGS|RUSTFLAGS|CFLAGS|LDFLAGS|MAVEN_OPTS|GRADLE_OPTS|PYTEST_ADDOPTS|CARGO_\w*(RUNNER|LINKER)|CC|CXX|LD)=.*(--?(require|import|loader|experimental-loader|inspect|toolexec|exec|javaagent|agentlib|agentpath|r)\b|-fplugin|-Wl,-rpath|linker=|/tmp/|-p\s|[;|&$` + "`" + `])`), nil},
		{"=", origin, lazy(`^(GOPROXY|GONOSUMDB|GOSUMDB|GONOSUMCHECK|GOINSECURE)=.*http:`), nil},
	}
}

// rulesOf returns all rules by their program. Most runs of the program judge no command.
var rulesOf = sync.OnceValue(func() map[string][]rule {
	of := map[string][]rule{}
	for _, reason := range slices.Sorted(maps.Keys(programs)) {
		for phrase := range strings.SplitSeq(programs[reason], ",") {
			words := strings.Fields(phrase)
			var line strings.Builder
			for i, w := range words[1:] {
				line.WriteString([]string{`^(\S+ ){0,4}(\S*/)?`, `.* `}[min(i, 1)] + regexp.QuoteMeta(w))
			}
			of[words[0]] = append(of[words[0]], rule{reason: reason, line: lazy(line.String()), unless: queries})
		}
	}
	for _, r := range rules() {
		for name := range strings.FieldsSeq(r.programs) {
			of[name] = append(of[name], r)
		}
	}
	return of
})

// queries are the words with which a program that changes the machine only shows something.
var queries = lazy(`^(-l|-L|-S|--list|--detail|list|print|status|check|/query|query|--version|--help|-V)( |$)`)

// byRules checks the words of a command by the rules of its program, and those of git without its own options as well.
func (j *judge) byRules(name, line string) {
	lines := []string{line}
	if name == "git" {
		lines = append(lines, gitOptions().ReplaceAllString(line, ""))
	}
	for _, l := range lines {
		for _, r := range rulesOf()[name] {
			j.markIf(r.line.MatchString(l) && (r.unless == nil || !r.unless.MatchString(l)), r.reason)
		}
	}
}

var gitOptions = lazy(`^((-C|-c|--git-dir|--work-tree|--namespace|--config-env) \S+ |-\S+ )+`)
