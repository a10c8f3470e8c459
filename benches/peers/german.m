-- German's cache coherence protocol as in models/large/german5.dve, for rumur. 130,257 states by symmetry, 10,977,849 without.
const N: 5;
type node: scalarset(N);
var
  chan1: array [node] of 0..2;
  chan2: array [node] of 0..3;
  chan3: array [node] of 0..1;
  cache: array [node] of 0..2;
  inv: array [node] of boolean;
  shr: array [node] of boolean;
  exgntd: boolean;
  cmd: 0..2;
  ptr: node;
startstate begin
  for i: node do chan1[i] := 0; chan2[i] := 0; chan3[i] := 0; cache[i] := 0; inv[i] := false; shr[i] := false; end;
  exgntd := false; cmd := 0; undefine ptr;
end;
ruleset i: node do
rule "SendReqS" chan1[i] = 0 & cache[i] = 0 ==> begin chan1[i] := 1; end;
rule "SendReqE" chan1[i] = 0 & (cache[i] = 0 | cache[i] = 1) ==> begin chan1[i] := 2; end;
rule "RecvReqS" cmd = 0 & chan1[i] = 1 ==> begin cmd := 1; ptr := i; chan1[i] := 0; for j: node do inv[j] := shr[j]; end; end;
rule "RecvReqE" cmd = 0 & chan1[i] = 2 ==> begin cmd := 2; ptr := i; chan1[i] := 0; for j: node do inv[j] := shr[j]; end; end;
rule "SendInv" chan2[i] = 0 & inv[i] & (cmd = 2 | (cmd = 1 & exgntd)) ==> begin chan2[i] := 1; inv[i] := false; end;
rule "SendInvAck" chan2[i] = 1 & chan3[i] = 0 ==> begin chan2[i] := 0; chan3[i] := 1; cache[i] := 0; end;
rule "RecvInvAck" chan3[i] = 1 & cmd != 0 ==> begin chan3[i] := 0; shr[i] := false; exgntd := false; end;
rule "SendGntS" cmd = 1 & ptr = i & chan2[i] = 0 & !exgntd ==> begin chan2[i] := 2; shr[i] := true; cmd := 0; undefine ptr; end;
rule "SendGntE" cmd = 2 & ptr = i & chan2[i] = 0 & !exgntd & (forall j: node do !shr[j] end) ==> begin chan2[i] := 3; shr[i] := true; exgntd := true; cmd := 0; undefine ptr; end;
rule "RecvGntS" chan2[i] = 2 ==> begin cache[i] := 1; chan2[i] := 0; end;
rule "RecvGntE" chan2[i] = 3 ==> begin cache[i] := 2; chan2[i] := 0; end;
end;
invariant "exclusive" forall i: node do forall j: node do (i != j & cache[i] = 2) -> cache[j] = 0 end end;
