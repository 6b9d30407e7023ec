package keep

import (
	"context"
	"errors"
	"time"

	"rollcall/app/owned/fuse"
	"rollcall/app/owned/launch"
	"rollcall/app/self/instance"
	"rollcall/app/settings"
	"rollcall/app/store"
	"rollcall/bounded"
)

// Attendance configures Client.Attend.
type Attendance struct {
	Launches *launch.Launches
	Fuses    *fuse.Fuses
	// Settings reads the user's settings as they are now. The keeper does what they ask for, such as the webhook, while the
	// process runs, also if there is nothing else to keep.
	Settings func() (settings.Settings, error)
	// Changed receives when the result of Settings may have changed; it may be nil.
	Changed <-chan struct{}
	// Show is called with the troubles of the keeper whenever they change. It must not block.
	Show func([]string)
}

// asks reports whether the settings need a keeper although there is nothing to keep.
func (a *Attendance) asks() bool {
	s, _ := a.Settings() // settings that could not be understood are left out
	return asks(&s)
}

// asks reports whether these settings need a keeper while a tray or watch runs.
func asks(s *settings.Settings) bool { return s.Webhook.URL != "" || s.Metrics.IsSet() }

// webhook returns the webhook that this process's environment sets, since the keeper's environment may differ. It returns
// nil if the environment sets none: the keeper reads the settings itself.
func (a *Attendance) webhook() *webhookRequest {
	s, _ := a.Settings()
	if s.Webhook.URL == "" || !settings.WebhookInEnvironment() {
		return nil
	}
	return &webhookRequest{s.Webhook.URL, s.Webhook.Secret}
}

// Attend starts a keeper whenever there is something to keep and none runs, also after one was killed, until ctx is done.
// A long-running process, such as the tray, calls it.
func (c *Client) Attend(ctx context.Context, a Attendance) error {
	launches, launchesErr := a.Launches.Changes(ctx)
	fuses, fusesErr := a.Fuses.Changes(ctx)
	var pause store.Pause
	for ctx.Err() == nil {
		kept, err := ToKeep(a.Launches, a.Fuses)
		if err == nil && kept.IsNothing() && !a.asks() {
			a.Show(nil)
			select {
			case <-ctx.Done():
			case <-launches:
			case <-fuses:
			case <-a.Changed:
			case <-time.After(store.LastPause): // events may be missing
			}
			continue
		}
		began := time.Now()
		err = c.attend(ctx, &a)
		if err == nil && time.Since(began) > store.FirstPause {
			pause.Succeeded()
			continue
		}
		if err != nil && ctx.Err() == nil {
			a.Show([]string{"launches, timers and hooks are not handled: " + err.Error()})
		}
		pause.Failed(time.Now())
		_ = bounded.Wait(ctx, pause.Left(time.Now()))
	}
	return errors.Join(launchesErr, fusesErr)
}

// attend starts a keeper if none runs, and shows the troubles of the keeper until it ends.
func (c *Client) attend(ctx context.Context, a *Attendance) error {
	if err := c.Ready(ctx); err != nil {
		return err
	}
	answers, err := c.open(ctx, request{Verb: verbAttend, Webhook: a.webhook()})
	if errors.Is(err, instance.ErrNotRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	defer answers.Close()
	for {
		var now answer
		if err := answers.Next(&now, 0); err != nil {
			return nil // it has ended
		}
		if err := now.err(); err != nil || now.Status == nil {
			return nil
		}
		a.Show(now.Status.Troubles)
	}
}
