-- What a scrape asks of runs that wait for a person or for others is answered by as many rows as it counts.
create index runs_parked on runs (id) where parked;
