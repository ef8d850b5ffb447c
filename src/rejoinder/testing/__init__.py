"""What users test their own agents, stores and streams with; our own tests stand on the same."""
