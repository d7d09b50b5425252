"""The tests of refsim; `oracles` holds the definitions, `golden` rows computed elsewhere."""
