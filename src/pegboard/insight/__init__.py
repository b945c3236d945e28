"""What traces teach: what to bundle, batch, merge and retire, and whether it worked."""
