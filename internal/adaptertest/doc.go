// Package adaptertest holds what the tests of all adapters share: the suite of
// what they all promise (Conformance), the replay of recorded agent homes with
// their processes, the comparison of an adapter's answer with what a correct
// monitor must say, and the proof that nothing was written into an agent's
// folders. Package scene, below it, plays agents at work.
//
// A recording is a folder made on Linux while real agents ran:
//
//	home/           the HOME folder as the agents left it
//	processes.json  the processes alive at that moment
//	mtimes.json     path below home/ -> modification time, unix seconds
//	expect.json     what a correct monitor must say
package adaptertest
