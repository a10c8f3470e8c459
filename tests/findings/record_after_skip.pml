// The declaration of a record after `skip` in an option was no step: one state too few.
// expect: verified
// states: 5
typedef T { byte f };
active proctype P() { if :: skip -> T r; r.f = 1 fi }
