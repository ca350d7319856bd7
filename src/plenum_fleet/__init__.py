"""Studies larger than a machine or a day: batches, Ray, fleets of servers."""
