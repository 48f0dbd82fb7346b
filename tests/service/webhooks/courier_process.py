"""A process that does the background work for webhooks alone: ``courier_process.py STORE``."""

from __future__ import annotations

import sys
import threading

from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.webhooks import courier, sending
from askwise.service.webhooks.posting import Network
from askwise.service.webhooks.webhooks import Webhooks
from askwise.store import open_store

if __name__ == "__main__":
    sending.LEASE = 1.0  # so that a lane whose sender was killed is free soon
    courier.PAUSE = 0.02
    store = open_store(sys.argv[1])
    network = Network(private=True)
    courier.Courier(OpenCampaigns(store, 60.0), Webhooks(store, network), network).start()
    print("started", flush=True)
    threading.Event().wait()
