"""What Worker code meets when it runs under celld-py. Standard library only: it runs in the project's interpreter."""
