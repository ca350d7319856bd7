"""What users test their committees with: a server whose simulated agents misbehave on request."""
