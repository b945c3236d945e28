"""JSON Schema alone: nothing here knows of tools, sources or providers' clients."""
