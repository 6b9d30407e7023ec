// Package updates asks a release feed for the newest version of Rollcall. It asks only when it is called, only the address
// that the user has set, and sends nothing about the user or the machine.
package updates

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"rollcall/app/present"
)

const (
	limit   = 15 * time.Second
	maxFeed = 1 << 20
	// maxRedirects is the number of redirects of a feed that are followed.
	maxRedirects = 5
	// maxVersion and maxPage are the lengths in bytes of the longest version and address that are taken from a feed.
	maxVersion = 100
	maxPage    = 2000
	// maxError is the number of columns that are shown of an error, which may have text of the feed's server.
	maxError = 300
)

// Release is the newest release that a feed names.
type Release struct {
	Version string // "0.2.0"
	Page    string // https address of its description; empty: the feed has none
}

// ErrNoFeed reports that the settings name no feed that could be asked.
var ErrNoFeed = errors.New("no feed is set that could be asked: write feed = \"https://…\" below [updates] in the settings")

// CheckFeed returns an error for an address that Newest does not ask.
func CheckFeed(feed string) error {
	u, err := url.Parse(feed)
	switch {
	case err != nil:
		return errors.New("feed is not a valid URL")
	case u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return errors.New("feed must begin with https://")
	case u.User != nil:
		return errors.New("feed must not have a user or password")
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Newest asks a feed for the newest release. The feed is a JSON object with tag_name ("v0.2.0") and html_url, which is what
// the address releases/latest of the interfaces of GitHub, Gitea and Forgejo answers with. Without a feed the error is ErrNoFeed.
func Newest(ctx context.Context, feed string) (Release, error) {
	if feed == "" {
		return Release{}, ErrNoFeed
	}
	if err := CheckFeed(feed); err != nil {
		return Release{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := ask(ctx, feed)
	if err != nil {
		return Release{}, fmt.Errorf("the feed %s did not report the newest version: %w", feed, plain(err))
	}
	return r, nil
}

func ask(ctx context.Context, feed string) (Release, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, feed, nil)
	if err != nil {
		return Release{}, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "rollcall")
	client := http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return errors.New("it redirects too often")
		}
		next.Header.Del("Referer")
		return CheckFeed(next.URL.String())
	}}
	resp, err := client.Do(req)
	if err != nil {
		return Release{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return Release{}, fmt.Errorf("it answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxFeed+1))
	if err != nil {
		return Release{}, err
	}
	return parse(text)
}

// parse reads the answer of a feed.
func parse(text []byte) (Release, error) {
	var answer struct {
		Tag  string `json:"tag_name"`
		Page string `json:"html_url"`
	}
	if len(text) > maxFeed {
		return Release{}, errors.New("its answer is larger than 1 MB")
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return Release{}, errors.New("its answer is not a JSON object with tag_name and html_url")
	}
	v := canonical(answer.Tag)
	if v == "" || len(v) > maxVersion {
		return Release{}, errors.New("its answer names no version: tag_name must be like v0.2.0")
	}
	r := Release{Version: strings.TrimPrefix(v, "v")}
	if u, err := url.Parse(answer.Page); err == nil && u.Scheme == "https" && u.Host != "" && len(answer.Page) <= maxPage {
		r.Page = u.String()
	}
	return r, nil
}

// plain returns the error of a request without the address, which the caller names, and with a text that is easy to understand if a limit ended the request.
func plain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer in %s", limit)
	}
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	if text := present.Line(err.Error()); present.Cut(text, maxError) != text {
		return errors.New(present.Cut(text, maxError))
	}
	return err
}

// IsNewer reports whether a release follows the version of this program. known is false for a program that was built from a commit without a version, since
// such a program can't be compared. A build between two releases (v0.1.0-3-gabcdef0) follows the first.
func (r Release) IsNewer(current string) (newer, known bool) {
	v := canonical(betweenReleases.ReplaceAllString(strings.TrimSuffix(current, "-dirty"), ""))
	if v == "" {
		return false, false
	}
	return semver.Compare(canonical(r.Version), v) > 0, true
}

// Describe returns a line that compares the release with the version of this program. It can be shown as it is.
func (r Release) Describe(current string) string {
	text := "newest: " + present.Line(r.Version)
	switch newer, known := r.IsNewer(current); {
	case !known:
		return text + "; this program was built from a commit that has no version"
	case !newer:
		return text + "; this program is up to date"
	default:
		return text + "; update with the package manager or installer that you installed Rollcall with"
	}
}

// betweenReleases is what `git describe` appends to the tag of the last release.
var betweenReleases = regexp.MustCompile(`-\d+-g[0-9a-f]+$`)

// canonical returns a version in the form v0.2.0, or an empty string if it does not consist of three numbers.
func canonical(version string) string {
	v := "v" + strings.TrimPrefix(version, "v")
	if strings.Count(strings.SplitN(v, "-", 2)[0], ".") != 2 || !semver.IsValid(v) {
		return ""
	}
	return semver.Canonical(v)
}
