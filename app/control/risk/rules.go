package risk

import (
	"maps"
	"slices"
	"strings"
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
	publishes   = "publishes for everyone"
	database    = "deletes the data of a database"
	remote      = "deletes or changes what a server or cloud has"
	containers  = "deletes containers or their data"
	machine     = "gives a container the whole machine"
	system      = "changes the system, its users or its network"
	origin      = "installs from an unusual place"
	starts      = "has code that starts programs or deletes files"
	fromOutside = "runs a program from outside its folder"
	forgets     = "deletes the history of commands"
	endless     = "starts itself without an end"
	notInTime   = "could not be judged in time: read it to its end"
	tooLong     = "is very long: read it to its end"
)

// programs are the programs that are marked whatever their arguments are.
var programs = reasons(map[string]string{
	disk:        "mkfs fdisk gdisk sgdisk sfdisk parted wipefs blkdiscard shutdown reboot halt poweroff init telinit diskpart format format-volume clear-disk stop-computer restart-computer hdparm cryptsetup badblocks mkswap pvremove vgremove lvremove zpool mdadm",
	deletes:     "shred srm wipe",
	kills:       "pkill killall skill slay xkill",
	asRoot:      "sudoedit visudo vipw",
	system:      "iptables ip6tables nft ufw firewall-cmd pfctl ipfw ipset useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup passwd chpasswd chsh gpasswd mount umount losetup swapoff modprobe insmod rmmod kextload bcdedit netsh takeown setenforce update-alternatives csrutil spctl tccutil dscl nvram set-executionpolicy set-mppreference new-localuser vssadmin wbadmin auditctl ebtables grub-install update-grub depmod",
	rights:      "setfacl chattr setcap icacls cacls",
	later:       "at batch schtasks crontab launchctl update-rc.d chkconfig register-scheduledtask anacron new-service sc",
	remoteShell: "ncat telnet ngrok xmrig rlogin rsh chisel",
	sends:       "ftp tftp sftp lftp ncftpput",
	database:    "dropdb dropuser pg_resetwal",
	loads:       "doskey mshta regsvr32 rundll32 installutil certutil bitsadmin msiexec",
	fed:         "iex invoke-expression invoke-command",
	secrets:     "secret-tool lesspass mimikatz",
	publishes:   "twine",
	starts:      "expect",
})

func reasons(byReason map[string]string) map[string]string {
	out := map[string]string{}
	for reason, names := range byReason {
		for _, name := range strings.Fields(names) {
			out[name] = reason
		}
	}
	return out
}

// verbs are the commands that are marked if these words follow one another among those that are no options, and these options
// are there.
var verbs = map[string][]string{
	publishes: {"npm publish", "npm unpublish", "npm deprecate", "npm owner", "npm access", "npm token", "npm dist-tag", "pnpm publish", "yarn publish", "yarn npm publish", "bun publish",
		"cargo publish", "cargo yank", "cargo owner", "gem push", "gem yank", "poetry publish", "uv publish", "flit publish", "hatch publish", "docker push", "docker image push", "podman push",
		"dotnet nuget push", "nuget push", "mvn deploy", "gradle publish", "gradlew publish", "lerna publish", "vsce publish", "ovsx publish", "gh release create", "gh gist create", "helm push",
		"conda upload", "anaconda upload", "mix hex.publish", "pod trunk push", "firebase deploy", "gh repo edit --visibility", "cargo login", "npm adduser", "deno publish", "jsr publish", "clojars deploy", "crane push", "skopeo copy", "cdk deploy", "serverless deploy", "sls deploy", "sam deploy", "wrangler deploy", "wrangler publish", "vercel deploy", "vercel --prod", "netlify deploy --prod", "fly deploy", "flyctl deploy", "gcloud app deploy", "eb deploy"},
	containers: {"docker system prune", "docker volume prune", "docker volume rm", "docker container prune", "docker image prune -a", "docker builder prune -a", "docker network prune", "docker rm -f", "docker rm --force", "docker rmi -f",
		"docker container rm -f", "docker compose down -v", "docker compose down --volumes", "docker compose rm -v", "docker-compose down -v", "docker-compose down --volumes", "docker swarm leave", "docker stack rm", "docker service rm", "docker network rm",
		"podman system prune", "podman system reset", "podman volume rm", "podman volume prune", "podman rm -f", "podman pod rm", "vagrant destroy", "minikube delete", "kind delete", "multipass delete", "lxc delete", "virsh undefine", "virsh destroy", "colima delete", "docker context use", "k3d cluster delete", "wsl --unregister", "docker container kill", "docker kill"},
	database: {"rails db:drop", "rails db:reset", "rake db:drop", "rake db:reset", "prisma migrate reset", "prisma db push --force-reset", "prisma db push --accept-data-loss", "alembic downgrade base", "mysqladmin drop", "redis-cli flushall", "redis-cli flushdb",
		"redis-cli FLUSHALL", "redis-cli FLUSHDB", "redis-cli shutdown", "redis-cli SHUTDOWN", "redis-cli DEL", "redis-cli del", "artisan migrate:fresh", "artisan migrate:reset", "artisan db:wipe", "etcdctl del", "influx delete", "sequelize db:drop", "knex migrate:rollback --all", "typeorm schema:drop", "kafka-topics --delete",
		"rabbitmqctl reset", "rabbitmqctl force_reset", "php migrate:fresh", "php db:wipe", "doctrine:database:drop", "console doctrine:database:drop", "supabase db reset", "hasura migrate --down", "goose reset", "dbmate drop", "migrate drop", "ecto.drop", "mix ecto.drop", "mix ecto.reset", "python manage.py flush", "python3 manage.py flush", "manage.py flush", "django-admin flush", "manage.py reset_db", "flyway clean", "liquibase drop-all", "pg_dropcluster", "nodetool drop", "drizzle-kit drop"},
	remote: {"terraform apply -auto-approve", "terraform apply --auto-approve", "terraform destroy", "terraform apply -destroy", "terraform state rm", "terraform state push", "terraform force-unlock", "terraform workspace delete", "tofu destroy", "tofu apply -auto-approve", "tofu state rm",
		"terragrunt destroy", "terragrunt run-all destroy", "kubectl drain", "kubectl cordon", "kubectl replace --force", "kubectl rollout undo", "kubectl scale --replicas=0", "kubectl apply -f http", "gh auth logout", "gh secret set", "gh pr merge --admin", "gh api -X DELETE", "gh api --method DELETE", "gh api -XDELETE", "gh repo archive",
		"heroku pg:reset", "ansible-playbook --become", "ansible -m shell", "ansible -m command", "rclone purge", "rclone delete", "rclone sync", "s3cmd del", "s3cmd sync --delete-removed", "aws s3 sync --delete", "aws s3api put-bucket-policy", "aws iam create-access-key", "aws iam attach-user-policy", "aws iam put-user-policy", "borg delete", "restic forget", "gh workflow disable", "gh repo rename", "vault operator seal", "helm rollback"},
	secrets: {"gh auth token", "security find-generic-password", "security find-internet-password", "security dump-keychain", "pass show", "op read", "op item get", "vault kv get", "vault read", "kubectl get secret", "kubectl get secrets", "aws configure get", "aws secretsmanager get-secret-value", "aws ssm get-parameter --with-decryption",
		"gcloud auth print-access-token", "gcloud secrets versions access", "gpg --export-secret-keys", "gpg --export-secret-key", "gpg --export-secret-subkeys", "gpg --delete-secret-keys", "gpg --delete-secret-and-public-keys", "gcloud auth print-identity-token", "az account get-access-token", "az keyvault secret show", "doppler secrets", "heroku config", "docker config inspect", "bw get", "lpass show", "git credential fill", "printenv AWS_SECRET_ACCESS_KEY", "cmdkey /list", "keyring get", "ssh-keygen -p", "railway variables"},
	origin: {"npm config set registry", "npm config set", "yarn config set", "pnpm config set", "pip config set", "pip3 config set", "gem sources -a", "gem sources --add", "go env -w", "apt-key add", "add-apt-repository", "npm install http", "npm install git+http", "npm i http", "npm i git+http", "npm add http", "pip install http:", "pip3 install http:", "yarn add http", "pnpm add http", "helm repo add http:",
		"npm install -g http", "cargo install --git http", "conda config --add", "brew tap http", "dnf config-manager", "yum-config-manager", "composer config", "pip install git+http:", "pip install --break-system-packages http", "code --install-extension", "pipx install http:", "gem install http:", "gem install --source", "docker login", "npm set registry", "npm set", "nuget sources add", "uv tool install http:", "deno run http", "bun run http", "bun x http", "uvx --from git+http", "pipx run --spec http"},
	later:       {"systemctl enable", "systemctl edit", "systemctl link", "loginctl enable-linger", "service enable", "brew services start", "pm2 startup", "gsettings set", "defaults write", "sc create", "reg add", "new-itemproperty", "set-itemproperty", "systemctl --user start", "supervisorctl update", "pre-commit install", "systemctl set-environment", "systemctl daemon-reload", "nssm install", "rc-update add", "dconf write", "dconf load", "git maintenance start"},
	system:      {"systemctl stop", "systemctl restart", "systemctl disable", "systemctl mask", "systemctl kill", "systemctl isolate", "systemctl poweroff", "systemctl reboot", "systemctl start", "service stop", "service restart", "sysctl -w", "ip link set", "ip route add", "ip route del", "ip route flush", "ip addr", "ifconfig down", "route add", "route del", "hostnamectl set-hostname", "timedatectl set", "apt-get remove", "apt-get purge", "apt remove", "apt purge", "apt-get autoremove", "dpkg -r", "dpkg -P", "dpkg --purge", "dnf remove", "yum remove", "pacman -R", "pacman -Rns", "rpm -e", "brew uninstall", "brew services stop", "net user", "net localgroup", "net stop", "net share", "sc delete", "sc stop", "sc config", "reg delete", "wmic process", "wmic shadowcopy", "stop-service", "remove-localuser", "pip freeze uninstall", "xattr -d", "date -s", "hwclock --set", "networksetup", "nmcli connection delete", "nmcli networking off", "scutil --set", "tc qdisc add", "apk del", "snap remove", "flatpak uninstall", "zypper remove", "loginctl terminate-user", "journalctl --vacuum-time", "dmesg -C", "ssh-add -D", "defaults delete", "swapoff -a", "setx PATH"},
	deletes:     {"tmutil delete", "tmutil deletelocalsnapshots", "pass rm"},
	outside:     {"git apply --unsafe-paths"},
	kills:       {"taskkill", "stop-process", "pm2 delete all", "pm2 kill", "tmux kill-server", "screen -X quit", "fuser -k", "wmic process delete", "loginctl kill-user", "tmux kill-session", "loginctl kill-session"},
	disk:        {"diskutil erasedisk", "diskutil eraseDisk", "diskutil eraseVolume", "diskutil partitionDisk", "diskutil apfs", "diskutil zeroDisk", "cipher /w", "zfs destroy", "btrfs subvolume delete", "fallocate -p", "nvme format", "hdiutil detach", "systemctl halt", "fsutil"},
	remoteShell: {"ssh-copy-id", "cloudflared tunnel", "tailscale up", "ssh-keygen -s", "tailscale funnel", "localtunnel", "nc -e", "nc -c", "code tunnel", "gotty", "ttyd", "teleport start", "npx localtunnel", "bore local", "socat exec", "serveo", "screen -x", "enable-psremoting"},
	loads:       {"rustup override set", "git lfs install --skip-repo", "update-ca-certificates", "ldconfig", "alias -p", "mkcert -install", "security add-trusted-cert", "certmgr -add", "npm config set script-shell", "enable -f", "ln /bin", "import-module http"},
}

// cloud are the command lines of servers and clouds, and destroys is a word of theirs that destroys something.
var (
	cloud = strings.Fields("aws gcloud gsutil bq az kubectl oc helm doctl pulumi heroku fly flyctl vercel netlify firebase supabase gh glab hub eksctl vault consul nomad etcdctl cdk sls serverless wrangler railway render hcloud linode-cli ibmcloud oci openstack mc s3cmd rclone ossutil scw exo argocd flux istioctl ctr crictl nerdctl rancher docker-machine terraform tofu cf sam copilot amplify eb stripe auth0 okta datadog sentry-cli ng-cli confluent ccloud planetscale pscale turso neonctl mongocli atlas databricks snow b2 databricks velero rke2 k3s kustomize tkn cfn upsun platform yc tccli aliyun hubot ngrok cloudflare flarectl")

	destroys = lazy(`(?i)^(?:[a-z0-9-]+:)?(delete|destroy|remove|rm|rb|drop|terminate|purge|uninstall|prune|wipe|reset|erase|deregister|revoke|disable|detach|flush|unlink)(?:$|[-:])`)
)

// sql is a statement that deletes data, or leaves the database for the shell.
var sql = lazy(`(?is)\b(drop|truncate)\s+(table|database|schema|index|view|user|role|keyspace|collection|owned|column|only\b|[a-z_."]+\s*;?$)|\bdelete\s+from\b|\balter\s+table\b.*\bdrop\b|\bupdate\s+\S+\s+set\s+[^;]*$|\bflush(all|db)\b|\bdropdatabase\b|\.(drop|deletemany|remove)\(|\bcopy\b.*\bprogram\b|(^|[\s;])\.(shell|system|import)\b|\\!|\bxp_cmdshell\b|\bload_extension\b|\binto\s+(outfile|dumpfile)\b|^\.(shell|system)|\bgrant\s+all\b|\bsystem\s+(rm|sh)\b`)

var sqlPrograms = strings.Fields("psql mysql mariadb sqlite3 sqlite mongo mongosh redis-cli cqlsh clickhouse-client clickhouse sqlcmd duckdb cockroach influx mysqlsh pgcli mycli usql sqlplus bq impala-shell hive beeline litecli arangosh cypher-shell surreal tursodb turso")

// losesData reports whether a text deletes data of a database. An UPDATE does so without a WHERE.
func losesData(text string) bool {
	m := strings.ToLower(sql.compiled().FindString(text))
	return m != "" && (!strings.HasPrefix(strings.TrimSpace(m), "update") || !strings.Contains(m, "where"))
}

// code is what a program in the language of an interpreter calls to start programs, to delete files, to run text or to use the network.
var code = lazy(`(?i)\b(os\.(system|popen|exec\w*|spawn\w*|remove|unlink|rmdir|removedirs|kill|chmod|chown|rename|replace|truncate|putenv)|subprocess|rmtree|remove_tree|pty\.spawn|child_process|exec(file)?(sync)?\s*\(|spawn(sync)?\s*\(|popen|eval\s*\(|__import__|compile\s*\(|importlib|getattr\s*\(|base64|b64decode|atob|fromcharcode|marshal|pickle\.loads?|rm(dir)?sync|unlink(sync)?|rm_rf?|rm_r|remove_dir_all|fileutils|dir\.(delete|rmdir|unlink)|file\.(delete|unlink|write|rename)|files?\.delete\w*|deltree|rimraf|writefile(sync)?|truncate(sync)?|fs\.(rm|unlink|write|append|cp|rename|chmod)\w*|system\s*[("'{ ]|passthru|shell_exec|proc_open|pcntl_exec|os\.execute|io\.popen|kernel\.|open\s*\([^)]*['"][wax]\+?b?t?['"]|write_(text|bytes)\s*\(|shutil\.(move|copy\w*)|pathlib[^\n]*\.unlink|socket|urllib|urlopen|urlretrieve|requests\.|httpx|http\.client|net/http|open-uri|lwp::|https?\.(get|request)|fetch\s*\(|xmlhttprequest|smtplib|ftplib|paramiko|telnetlib|webbrowser|ctypes|setuid|deno\.(remove|run|command|write)|bun\.(spawn|write|\$)|process\.kill|posix\.|invoke-|remove-item|start-process|downloadstring|new-object\s+net|glob\s*\(?["']?\*|do shell script|keystroke|backtick|%x[\[{(]|qx[/{(]|runtime\.getruntime|processbuilder|winreg|_winapi|deleteall|send_file|file_put_contents|unlink\s*\(|fopen\s*\([^)]*['"][wax])|` + "`[^`]*`" + `|\b(os|environ|env)\b[^\n]*(secret|token|password|api_?key)`)

// interpreters are the programs that run code: the letters of the options that are followed by code, and whether they run their input if they get no file.
type interpreter struct {
	options []string
	shell   bool
}

var interpreters = map[string]interpreter{}

// verb is a list of words that mark a command.
type verb struct {
	words  []string
	reason string
}

// verbsOf are verbs by their program.
var verbsOf = map[string][]verb{}

func init() { //nolint:gochecknoinits // the same rule for many names
	for _, reason := range slices.Sorted(maps.Keys(verbs)) {
		for _, v := range verbs[reason] {
			words := strings.Fields(v)
			verbsOf[words[0]] = append(verbsOf[words[0]], verb{words[1:], reason})
		}
	}
	for options, names := range map[string]string{
		"-c": "python python2 python3 pypy pypy3 ipython xonsh nu", "-e -E": "perl ruby jruby lua luajit rscript elixir julia ghc groovy scala raku tclsh octave crystal osascript",
		"-e --eval -p --print -pe": "node nodejs bun deno ts-node tsx", "-r": "php", "-x": "gdb lldb", "--eval -eval": "emacs guile sbcl erl swipl",
	} {
		for _, name := range strings.Fields(names) {
			interpreters[name] = interpreter{options: strings.Fields(options)}
		}
	}
	for _, name := range strings.Fields("sh bash zsh dash ksh fish ash mksh yash csh tcsh rbash posh powershell pwsh") {
		interpreters[name] = interpreter{options: []string{"-c"}, shell: true}
	}
}

// downloaders are commands that fetch a file from elsewhere.
var downloaders = []string{"curl", "wget", "fetch", "http", "https", "aria2c", "iwr", "irm", "invoke-webrequest", "invoke-restmethod", "lynx", "w3m", "axel", "xh", "curlie", "httpie"}

// isVersion reports whether a name is an interpreter with its version, such as python3.12.
var versioned = lazy(`^(python|pypy|perl|ruby|node|php|lua)[0-9.]+$`)

func interpreterOf(name string) (interpreter, bool) {
	if m := versioned.compiled().FindStringSubmatch(name); m != nil {
		name = m[1]
	}
	i, ok := interpreters[name]
	return i, ok
}

// variables that change which code programs run, or with whom they speak.
var (
	loadingVariables = lazy(`^(LD_(PRELOAD|AUDIT)|DYLD_\w+|GIT_(SSH|SSH_COMMAND|ASKPASS|PROXY_COMMAND|EXTERNAL_DIFF|EXEC_PATH|TEMPLATE_DIR|CONFIG\w*|SSL_NO_VERIFY|DIR)|SSH_ASKPASS|BASH_ENV|ENV|ZDOTDIR|PROMPT_COMMAND|PS[0-4]|IFS|SHELLOPTS|BASHOPTS|PYTHON(STARTUP|HOME|WARNINGS|INSPECT|BREAKPOINT)|PERL5(OPT|LIB|DB)|RUBYOPT|RUBYLIB|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|RUSTC_(WRAPPER|WORKSPACE_WRAPPER)|RUSTC|HISTFILE|HISTCONTROL|HISTSIZE|(?i:https?_proxy|all_proxy)|NODE_(TLS_REJECT_UNAUTHORIZED|EXTRA_CA_CERTS|PATH)|(?i:npm_config_registry|npm_config_script_shell|npm_config_userconfig)|PIP_(EXTRA_)?INDEX_URL|UV_(DEFAULT_)?INDEX\w*|SSL_CERT_FILE|CURL_CA_BUNDLE|DOCKER_HOST|LESSOPEN|LESSCLOSE|MANPAGER|BROWSER|TAR_OPTIONS|RSYNC_RSH|CVS_RSH|SUDO_ASKPASS|GCONV_PATH|LOCPATH|MAKEFLAGS|MAKE|SHELL|GLIBC_TUNABLES|KUBECONFIG_EXEC|PSMODULEPATH|COMSPEC|BUNDLE_GEMFILE|GEM_HOME|ELECTRON_RUN_AS_NODE|CLASSPATH)$`)
	pagerVariables   = lazy(`^(GIT_)?(PAGER|EDITOR|SEQUENCE_EDITOR)$|^VISUAL$|^LESS$`)
	optionVariables  = lazy(`^(NODE_OPTIONS|GOFLAGS|RUSTFLAGS|CFLAGS|LDFLAGS|MAVEN_OPTS|GRADLE_OPTS|PYTEST_ADDOPTS|CARGO_\w*(RUNNER|LINKER)|CC|CXX|LD)$`)
	loadingOption    = lazy(`--?(require|import|loader|experimental-loader|inspect|toolexec|exec|javaagent|agentlib|agentpath|r)\b|-fplugin|-Wl,-rpath|linker=|/tmp/|-p\s|[;|&$` + "`" + `]`)
	registryVariable = lazy(`^(GOPROXY|GONOSUMDB|GOSUMDB|GONOSUMCHECK|GOINSECURE)$`)
	plainProgram     = lazy(`^(|cat|less|more|true|:|vi|vim|nvim|nano|emacs|code|code --wait|code -w|subl -w|ed|micro|hx|delta|bat|-?[FRXSiM]+)$`)
	plainPath        = lazy(`^("?\$\{?(PATH|HOME|PWD|GOPATH|VIRTUAL_ENV)\b|/usr/|/bin|/sbin|/opt/|~/(\.cargo|\.local|go|\.bun|\.deno|\.nvm|\.pyenv|\.rbenv)/|\.?/?(node_modules/\.bin|\.?venv/bin)|\$\((go env|pwd|npm bin))`)
)

// assign checks a variable that is set for commands.
func (j *judge) assign(name, v string) {
	switch {
	case loadingVariables.MatchString(name):
		j.mark(loads)
	case name == "PATH" && !plainPath.MatchString(v), name == "LD_LIBRARY_PATH" && strings.Contains(v, "/tmp"), name == "PYTHONPATH" && strings.Contains(v, "/tmp"):
		j.mark(loads)
	case pagerVariables.MatchString(name) && !plainProgram.MatchString(v), optionVariables.MatchString(name) && loadingOption.MatchString(v):
		j.mark(loads)
	case registryVariable.MatchString(name) && strings.Contains(v, "http:"):
		j.mark(origin)
	}
}
