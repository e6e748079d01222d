"""The version of the package, for manifests and fingerprints."""

VERSION = "0.1.0"
