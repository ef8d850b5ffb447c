"""What must hold when processes, databases and connections die: proven by killing them."""
