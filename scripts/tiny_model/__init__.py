"""How the tiny model is made: a teacher, its deliberations, a tokenizer, training, evaluation."""
