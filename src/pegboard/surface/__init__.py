"""Wire formats: one a file, with the same three verbs each (`tools`, `call`, `output`)."""
