"""Replicates on other processes and machines, through Ray.

The process of the command line keeps limits, budget, progress and tracking
(``ray_deliberations.py``); workers lease replicates from it and play them as one machine does
(``worker.py``), and are replaced when they die (``worker_pool.py``). Both sides send messages in
batches (``outbox.py``): ``(lease, request, method, arguments)``.
"""
