"""From hits to the pool: strata, samples of known probability, and what can be estimated from them."""
