// A guard was evaluated where `provided` keeps its process from moving: an index out of range was seen, the deadlock not.
// expect: violated deadlock
// states: 1
// faults: 0
byte a[3];
byte i = 3;
bit go;
active proctype P() provided (go) {
	do
	:: go = go
	:: a[i] == 0 -> break
	od
}
