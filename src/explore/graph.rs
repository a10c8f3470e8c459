//! State graph.
