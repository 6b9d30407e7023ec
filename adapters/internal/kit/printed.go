package kit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"rollcall/proc"
)

// Printed keeps what programs print with some arguments, such as --version, until they are replaced. The zero value is empty. It is safe for concurrent use.
type Printed struct{ Memo[string, string] }

// Of returns what a program prints. It runs the program unless that is known, for limit at most; what failed is tried again.
func (p *Printed) Of(program string, limit time.Duration, args ...string) (string, error) {
	key := fmt.Sprint(program, args)
	if info, err := os.Stat(program); err == nil {
		key += fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	}
	if printed, known := p.Get(key); known {
		return printed, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := proc.WithoutWindow(exec.CommandContext(ctx, program, args...))
	cmd.WaitDelay = time.Second
	printed, err := cmd.Output()
	if err == nil {
		p.Put(key, string(printed))
	}
	return string(printed), err
}
