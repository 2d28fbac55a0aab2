"""Tables of any size, wherever they lie: files, folders, buckets, Arrow batches, frames that compute for themselves."""
