package risk

import (
	"slices"
	"strings"
)

var (
	local    = lazy(`^(https?://)?(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|::1|host\.docker\.internal)([:/]|$)`)
	substs   = lazy("\\$\\(|`|<\\(")
	variable = lazy(`\$\{?(\w+)`)
)

// sendsFile are the options of curl and wget that are followed by what is sent.
var sendsFile = []string{"-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "-F", "--form", "-T", "--upload-file", "--post-file", "--body-file", "--json", "-InFile", "-Body"}

// sendsValue checks a word that the shell completes before it is sent.
func (j *judge) sendsValue(text string) {
	j.markIf(substs.MatchString(text) && !strings.Contains(text, "$(date") && !strings.Contains(text, "$(uname"), sends)
	for _, m := range variable.compiled().FindAllStringSubmatch(text, -1) {
		j.markIf(isSecretName(m[1]), sends)
	}
}

// network checks what a program sends to another machine, and what it writes.
func (j *judge) network(name string, args []word) {
	far := isFar(name, args)
	for i, a := range args {
		option, value := optionAt(name, args, i)
		j.networkOption(name, option, value, far)
		header := i > 0 && (args[i-1].text == "-H" || args[i-1].text == "--header" || args[i-1].text == "-u")
		if far && !a.literal && !header {
			j.sendsValue(a.text)
		}
	}
}

// isFar reports whether a command speaks with another machine.
func isFar(name string, args []word) bool {
	if slices.Contains([]string{"dig", "nslookup", "host", "ping", "whois", "traceroute"}, name) {
		return true
	}
	return !slices.ContainsFunc(args, func(a word) bool { return local.MatchString(a.text) }) &&
		slices.ContainsFunc(args, func(a word) bool {
			return !strings.HasPrefix(a.text, "-") && (strings.Contains(a.text, "://") || strings.Contains(a.text, "."))
		})
}

// optionAt returns an option and its value, which is a part of the same word or the next one.
func optionAt(name string, args []word, i int) (option, value string) {
	option = args[i].text
	if o, v, ok := strings.Cut(option, "="); ok && strings.HasPrefix(o, "--") {
		return o, v
	}
	if len(option) > 2 && option[0] == '-' && strings.IndexByte("dFTX", option[1]) >= 0 && name == "curl" {
		return option[:2], option[2:]
	}
	if i+1 < len(args) {
		value = args[i+1].text
	}
	return option, value
}

// networkOption checks an option with its value: what it sends, what it writes, and what it loads.
func (j *judge) networkOption(name, option, value string, far bool) {
	file := strings.HasPrefix(value, "@") || strings.Contains(value, "=@") || strings.Contains(value, "=<") || option == "-T" || option == "--upload-file" || strings.HasSuffix(option, "-file") || option == "-InFile"
	switch {
	case slices.Contains(sendsFile, option) && file && (far || secretFiles.MatchString(value)):
		j.mark(sends)
	case far && slices.Contains([]string{"-X", "--request", "--method", "-Method"}, option) && strings.EqualFold(value, "DELETE"):
		j.mark(remote)
	case slices.Contains([]string{"-o", "--output", "--output-document"}, option), name == "wget" && (option == "-O" || option == "-P"), strings.EqualFold(option, "-OutFile"):
		j.writes(word{text: value, literal: true})
	case slices.Contains([]string{"-K", "--config", "--use-askpass", "--proxy"}, option), name == "curl" && option == "-x":
		j.mark(loads)
	}
}

// connection checks programs that connect to another machine and pass everything on.
func (j *judge) connection(name string, args []word) {
	text := join(args)
	switch name {
	case "socat":
		j.mark(remoteShell)
	case "openssl":
		j.markIf(strings.HasPrefix(text, "s_client") && !strings.Contains(text, "-showcerts") && j.depth > 0 && strings.Contains(text, "-quiet"), remoteShell)
	default:
		switch {
		case has(args, 'e', "--exec") || has(args, 'c', "--sh-exec") || has(args, 'l', "--listen"):
			j.mark(remoteShell)
		case !has(args, 'z', ""):
			j.mark(sends)
		}
	}
}
