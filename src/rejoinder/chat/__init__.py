"""Everything that a chat can be asked, apart from the ways in which it is asked: one object over store and agent."""
