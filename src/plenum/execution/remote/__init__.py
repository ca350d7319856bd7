"""Replicates on other processes and machines, through Ray: one brain, many hands.

The process of the command line keeps limits, budget, progress and tracking (``hands.py``); workers
lease replicates from it and play them as one machine does (``worker.py``), and are replaced when
they die (``crew.py``). Both sides send messages in batches (``outbox.py``): ``(lease, request,
method, arguments)``.
"""
