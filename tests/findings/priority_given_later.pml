// A process that starts with one of two priorities and is then given the same one was two: a state too many.
// expect: verified
// states: 7
// transitions: 7
proctype C() { set_priority(_pid, 2); skip }
init {
  if
  :: run C() priority 3
  :: run C() priority 2
  fi
}
