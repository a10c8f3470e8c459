// `len` of a channel local to a process that can stand at two places of the stack read the channel of another instance.
// expect: verified
proctype C() { chan l = [1] of { byte }; l!1; assert(len(l) == 1) }
proctype Q() { skip }
init { run Q(); run C() }
