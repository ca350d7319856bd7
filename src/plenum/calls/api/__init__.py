"""OpenAI-compatible providers: requests, their answers, rate limits, faults and prices."""
