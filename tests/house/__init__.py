"""How the house is kept: floors, sizes, manners."""
