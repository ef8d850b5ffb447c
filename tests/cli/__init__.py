"""The command line, as its users and their programs drive it."""
