"""What the wrapper draws over a shell: suggestions, questions, consent prompts and notices."""
