"""Tables on a cluster: Dask's workers hold the rows and count them, the search runs here."""
