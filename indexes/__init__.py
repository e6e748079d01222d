"""Build and search the local index: dump reader, passage store and retrievers. Imports only
`schemas`."""
