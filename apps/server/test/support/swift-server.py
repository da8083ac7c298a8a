"""Runs a whole OpenStack Swift with its S3 API in one process: account, container, object and proxy server on the
loopback address, one copy of everything. Swift's own start scripts make a process of each, which takes four times as
long to load. Arguments: the folder with the .conf files, then the ports of account, container, object and proxy."""

import os
import sys
import time

from swift.common import utils

utils.eventlet_monkey_patch()

import eventlet  # noqa: E402
import eventlet.debug  # noqa: E402
from eventlet import wsgi  # noqa: E402
from swift.common.ring import RingBuilder  # noqa: E402
from swift.common.storage_policy import reload_storage_policies  # noqa: E402
from swift.common.wsgi import RestrictedGreenPool, SwiftHttpProtocol, loadapp  # noqa: E402

home, *ports = sys.argv[1:]
servers = list(zip(("account", "container", "object", "proxy"), map(int, ports)))

os.environ["TZ"] = "UTC+0"
time.tzset()
utils.set_swift_dir(home)
reload_storage_policies()
eventlet.hubs.use_hub(utils.get_hub())
eventlet.debug.hub_exceptions(False)
utils.FALLOCATE_RESERVE = 0

for name, port in servers[:3]:
    ring = os.path.join(home, name + ".ring.gz")
    if os.path.exists(ring):
        continue
    builder = RingBuilder(2, 1, 1)
    place = {"ip": "127.0.0.1", "port": port, "replication_ip": "127.0.0.1", "replication_port": port}
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "device": "disk", "weight": 1, "meta": "", **place})
    builder.rebalance()
    builder.get_ring().save(ring)

running = []
for name, port in servers:
    socket = eventlet.listen(("127.0.0.1", port))
    app = loadapp(os.path.join(home, name + ".conf"), global_conf={"log_name": name})
    options = {
        "custom_pool": RestrictedGreenPool(size=1024),
        "protocol": SwiftHttpProtocol,
        "socket_timeout": 60,
        # As Swift's own start does it: the S3 API needs the header ETag, not Etag.
        "capitalize_response_headers": False,
    }
    running.append(eventlet.spawn(wsgi.server, socket, app, utils.NullLogger(), **options))
for server in running:
    server.wait()
