package ui

import "context"

// background calls do on another goroutine, and then show with its results on Fyne's goroutine, unless ctx is done or the UI is closed.
func background[T any](ctx context.Context, u *UI, do func(context.Context) (T, error), show func(T, error)) {
	go func() {
		got, err := do(ctx)
		u.post(func() {
			if ctx.Err() == nil {
				show(got, err)
			}
		})
	}()
}

// try calls do on another goroutine, and shows its error after the text failed.
func (u *UI) try(failed string, do func() error) {
	go func() {
		if err := do(); err != nil {
			u.post(func() { u.notify(failed + errorText(err)) })
		}
	}()
}
