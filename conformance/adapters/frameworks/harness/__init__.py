"""What `run` and `matrix` share: the adapters, their known failures, and the pages made of their run files."""
