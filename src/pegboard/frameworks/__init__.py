"""A board inside other people's frameworks, one a file; each needs the extra of its name."""
