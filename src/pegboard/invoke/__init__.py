"""What happens around a call: one middleware a file."""
