"""What each recorded run contained, a file for each family of vendors."""
