"""The command line: one file a verb, over the same board as the library and the gateway."""
