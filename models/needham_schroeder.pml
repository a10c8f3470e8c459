// needham_schroeder: the public-key protocol of Needham and Schroeder (1978) with an intruder, who passes for Alice (Lowe's attack, 1995): the assertion fails.
// states: 1050
// transitions: 1911
// levels: 20
// deadlocks: 0
// faults: 10
// vector: 19
// property: assertions -> fails at 12
// property: reach: alice_done && bob_done && Eve.knows_b -> holds at 13
// property: invariant: bob_talks_to != alice || !bob_done || alice_talks_to == bob -> fails at 12
// property: deadlock -> holds

mtype:agent = { alice, bob, eve };
mtype:nonce = { nonce_a, nonce_b, nonce_e, none };
mtype:kind  = { first, second, third };

/* kind; for whom it is encrypted; who says so or a nonce; a nonce */
chan net = [0] of { mtype:kind, mtype:agent, mtype:agent, mtype:nonce, mtype:nonce };

mtype:agent alice_talks_to = eve, bob_talks_to = eve;
bool alice_done, bob_done;

active proctype Alice() {
    mtype:agent partner;
    mtype:nonce theirs;

    if
    :: partner = bob
    :: partner = eve
    fi;
    alice_talks_to = partner;
end_first:
    net!first(partner, alice, nonce_a, none);
end_second:
    net?second(eval(alice), _, eval(nonce_a), theirs);
end_third:
    net!third(partner, alice, theirs, none);
    alice_done = true
}

active proctype Bob() {
    mtype:agent partner;
    mtype:nonce theirs;

end:
    net?first(eval(bob), partner, theirs, _);
    bob_talks_to = partner;
end_second:
    net!second(partner, bob, theirs, nonce_b);
end_third:
    net?third(eval(bob), _, eval(nonce_b), _);
    bob_done = true;
    /* whoever Bob takes for Alice is Alice, and she means Bob */
    assert(bob_talks_to != alice || alice_talks_to == bob)
}

/* Eve hears everything, opens what is meant for her, and says whatever she can. */
active proctype Eve() {
    bool knows_a, knows_b;
    mtype:kind kind;
    mtype:agent whom, from;
    mtype:nonce one, two;
    mtype:nonce x;

end:
    do
    :: net?kind(whom, from, one, two) ->
       d_step {
           if
           :: whom == eve ->
              knows_a = knows_a || one == nonce_a || two == nonce_a;
              knows_b = knows_b || one == nonce_b || two == nonce_b
           :: else
           fi;
           kind = 0; whom = 0; from = 0; one = 0; two = 0
       }
    :: atomic {
           if
           :: x = nonce_e
           :: knows_a -> x = nonce_a
           :: knows_b -> x = nonce_b
           fi;
end_say:
           if
           :: net!first(bob, alice, x, none)
           :: net!first(bob, eve, x, none)
           :: knows_a ->
end_reply:    net!second(alice, eve, nonce_a, x)
           :: net!third(bob, alice, x, none)
           fi;
           x = 0
       }
    od
}
