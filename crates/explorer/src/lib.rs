//! Looking at a model in the browser: a local server that answers its own page and nobody else.
