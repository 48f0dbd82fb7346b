"""Logs of finished campaigns that were moved out of a store, each into a Parquet file."""
