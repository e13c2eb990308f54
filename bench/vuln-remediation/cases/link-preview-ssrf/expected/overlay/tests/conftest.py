import pytest
from network import PUBLIC, Network, page

from linkcard import Fetcher, LinkPreviewer, Policy


@pytest.fixture
def network():
    network = Network()
    network.names["example.com"] = [PUBLIC]
    network.answers[PUBLIC] = page("Example", description="Nothing here")
    return network


@pytest.fixture
def previewer(network):
    policy = Policy(trusted_hosts={"wiki.corp.example", "files.corp.example"})
    fetcher = Fetcher(policy=policy, resolver=network.resolve, transport=network.send)
    return LinkPreviewer(fetcher, clock=lambda: 0.0)
