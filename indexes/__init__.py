"""The local index: dump to passages, store, retrievers. Imports only `schemas`, never Beam."""
