// `len` of a channel local to a process that can stand at two places of the stack read the channel of another instance.
// expect: violated assertions
proctype C() { chan l = [1] of { byte }; l!1; assert(_pid == 2 || len(l) == 0) }
proctype Q() { skip }
init { run Q(); run C() }
