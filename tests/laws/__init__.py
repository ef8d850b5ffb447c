"""Laws: what holds for every message, shown on generated ones."""
