// alternating_bit: the alternating bit protocol of Bartlett, Scantlebury and Wilkinson (1969): buffered channels that lose messages, and a sender that sends again when nothing else can happen.
// states: 77
// transitions: 92
// levels: 55
// deadlocks: 0
// vector: 16
// property: invariant: to_receiver.len <= 1 -> holds
// property: reach: Sender.turn == 1 && Receiver.turn == 0 && Receiver.wanted == 2 -> holds at 17
// property: deadlock -> holds

#define MAX 4                           /* values that are sent, counted round */

mtype = { msg, ack };

chan to_receiver = [1] of { mtype, bit, byte };
chan to_sender   = [1] of { mtype, bit };

/* A channel may swallow a message instead of taking it. */
inline lossy_send(label, value) {
    if
    :: to_receiver!msg(label, value)
    :: nfull(to_receiver)               /* lost */
    fi
}

active proctype Sender() {
    bit turn, got;
    byte value;

    do
    :: lossy_send(turn, value);
       if
       :: to_sender?ack(got) ->
          if
          :: got == turn -> turn = 1 - turn; value = (value + 1) % MAX
          :: else                       /* an old acknowledgement: send again */
          fi
       :: timeout                       /* nothing will come any more */
       fi
    od
}

active proctype Receiver() {
    bit turn, got;
    byte value, wanted;

end:
    do
    :: to_receiver?msg(got, value) ->
       if
       :: got == turn ->
          assert(value == wanted);
          wanted = (wanted + 1) % MAX;
          turn = 1 - turn
       :: else
       fi;
       if
       :: to_sender!ack(got)
       :: nfull(to_sender)
       fi
    od
}
