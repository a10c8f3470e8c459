//! Bounded model checking: runs of a given length as formulas for a SAT solver.
