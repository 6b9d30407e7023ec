package risk

import (
	"regexp"
	"slices"
	"strings"
)

var (
	local    = regexp.MustCompile(`^(https?://)?(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|::1|host\.docker\.internal)([:/]|$)`)
	substs   = regexp.MustCompile("\\$\\(|`|<\\(")
	variable = regexp.MustCompile(`\$\{?(\w+)`)
)

// sendsFile are the options of curl and wget that are followed by what is sent.
var sendsFile = []string{"-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "-F", "--form", "-T", "--upload-file", "--post-file", "--body-file", "--json", "-InFile", "-Body"}

// sendsValue checks a word that the shell completes before it is sent.
func (j *judge) sendsValue(text string) {
	j.markIf(substs.MatchString(text) && !strings.Contains(text, "$(date") && !strings.Contains(text, "$(uname"), sends)
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		j.markIf(isSecretName(m[1]), sends)
	}
}

// network checks what a program sends to another machine, and what it writes.
func (j *judge) network(name string, args []word) {
	far := slices.ContainsFunc(args, func(a word) bool {
		return (strings.Contains(a.text, "://") || strings.Contains(a.text, ".")) && !strings.HasPrefix(a.text, "-") && !local.MatchString(a.text)
	})
	if slices.ContainsFunc(args, func(a word) bool { return local.MatchString(a.text) }) {
		far = false
	}
	far = far || slices.Contains([]string{"dig", "nslookup", "host", "ping", "whois", "traceroute"}, name)
	for i, a := range args {
		option, next := a.text, ""
		if i+1 < len(args) {
			next = args[i+1].text
		}
		if o, v, ok := strings.Cut(option, "="); ok && strings.HasPrefix(o, "--") {
			option, next = o, v
		} else if len(option) > 2 && option[0] == '-' && strings.IndexByte("dFTX", option[1]) >= 0 && name == "curl" {
			option, next = option[:2], option[2:]
		}
		file := strings.HasPrefix(next, "@") || strings.Contains(next, "=@") || strings.Contains(next, "=<") || option == "-T" || option == "--upload-file" || strings.HasSuffix(option, "-file") || option == "-InFile"
		switch {
		case slices.Contains(sendsFile, option) && file && (far || secretFiles.MatchString(next) || envFiles.MatchString(next)):
			j.mark(sends)
		case far && (option == "-X" || option == "--request" || option == "--method" || option == "-Method") && strings.EqualFold(next, "DELETE"):
			j.mark(remote)
		case option == "-o" || option == "--output" || option == "-O" && name == "wget" || option == "--output-document" || option == "-P" && name == "wget" || option == "-outfile" || strings.EqualFold(option, "-OutFile"):
			j.writes(word{text: next, literal: true})
		case option == "-K" || option == "--config" || option == "--use-askpass" || option == "-x" && name == "curl" || option == "--proxy":
			j.mark(loads)
		}
		header := i > 0 && (args[i-1].text == "-H" || args[i-1].text == "--header" || args[i-1].text == "-u")
		if far && !a.literal && !header {
			j.sendsValue(a.text)
		}
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
