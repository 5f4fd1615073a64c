"""What a model may do with the files: thin doors, one module for each kind of work."""
