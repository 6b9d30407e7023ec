//go:build desktop && !headless

package window

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"rollcall/internal/desktoptest"
	"rollcall/internal/must"
)

// TestDesktopFirstFrame: every frame that the window draws, from the first one on, has the theme that stays, where the desktop says nothing and where its settings say
// that it is dark.
func TestDesktopFirstFrame(t *testing.T) {
	for name, dark := range map[string]bool{"nothing": false, "dark": true} {
		t.Run(name, func(t *testing.T) {
			d := newScreen(t, desktoptest.Options{Dark: !dark})
			config := t.TempDir()
			if dark {
				file := filepath.Join(config, "gtk-3.0", "settings.ini")
				must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
				must.Do(t, os.WriteFile(file, []byte("[Settings]\ngtk-application-prefer-dark-theme=1\n"), 0o600))
			}
			wrong, drawn := 0, 0
			stop, done := make(chan struct{}), make(chan struct{})
			go func() { // from before the window is there
				defer close(done)
				for {
					select {
					case <-stop:
						return
					default:
					}
					if img, err := d.Image(); err == nil && coloursOf(img) > 150 {
						drawn++
						if isDark(img) != dark {
							wrong++
						}
					}
				}
			}()
			p := d.open("FYNE_THEME=", "XDG_CONFIG_HOME="+config)
			d.drawn()
			time.Sleep(2 * schemeWait) // a later change of the theme would come in this time
			close(stop)
			<-done
			if drawn == 0 || wrong > 0 {
				t.Errorf("%d of %d frames have the other theme", wrong, drawn)
			}
			must.Do(t, p.cmd.Process.Signal(syscall.SIGTERM))
			p.end()
		})
	}
}
