"""What bench/store.py is made of: the turn that everybody saves, the bare drivers, us, and our peers."""
