"""Read a secret by Google's client from an address: `read_secret.py HOST:PORT VARIABLE=SECRET`."""

import os
import sys
from functools import partial

from google.auth.credentials import AnonymousCredentials
from google.cloud.secretmanager import SecretManagerServiceClient
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (
    SecretManagerServiceRestTransport,
)

from ufo.schemas.errors import UfoError
from ufo.transforms.secrets import from_google, into_environment, named_secrets

address, named = sys.argv[1:]
secrets = named_secrets(named)
transport = SecretManagerServiceRestTransport(
    host=address, url_scheme="http", credentials=AnonymousCredentials()
)
try:
    client = SecretManagerServiceClient(transport=transport)
    into_environment(secrets, partial(from_google, client=client))
except UfoError as error:
    sys.exit(error.message)
print(*(os.environ[name] for name in secrets))
