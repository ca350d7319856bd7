"""Studies larger than a machine or a day: batches, buckets, Ray, fleets of servers, databases."""
