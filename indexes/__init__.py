"""The local index: dump to passages, passage store, retrievers. Imports only `schemas`, never Beam."""
