// Package agents runs the real coding agents for tests: it installs pinned
// releases from npm, shuts them into namespaces of their own with a model
// server on loopback and no other network, drives them in a terminal, and asks
// a real rollcall binary what it sees.
//
// The scenarios need the build tag agents:
//
//	go test -tags agents -count=1 -timeout 40m -v ./internal/agents/...
//
// Each test has namespaces of its own, and several run at once. They run the newest
// release of each agent; with ROLLCALL_AGENTS=all also the oldest one whose live
// status Rollcall determines, and the tests of rare cases.
//
// ROLLCALL_RACES is the number of races between answers per agent, from 1 to 500; by
// default it is 3. ROLLCALL_WAYS chooses, as a seed, the few ways of installing that TestWays runs; by default it is random.
//
// Nothing of the user's own agents is seen or touched: the tests have their own
// process ids, network, /tmp and HOME, and everything in them dies with the
// test program. It takes Linux, as root or with user namespaces allowed, and
// npm, node, git and tmux. Where something is missing the tests skip with the
// reason, and fail when CI=true.
//
// ROLLCALL_AGENTS_DIR says where the agents are installed; by default it is
// rollcall/agents in the user's cache folder. ROLLCALL_AGENTS_BINARY names another
// build of Rollcall, such as an old one, to hold to the same tests. ROLLCALL_DESKTOP=skip leaves out
// the tests of the tray, whose binary takes a C compiler to build.
package agents
