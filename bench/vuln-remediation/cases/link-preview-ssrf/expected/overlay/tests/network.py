"""A network in memory, to be used in place of the real one."""

from linkcard import Request, Response

PUBLIC = "93.184.216.34"
OTHER_PUBLIC = "151.101.1.140"


def page(title: str = "A page", **meta: str) -> Response:
    tags = "".join(
        f'<meta property="og:{name}" content="{value}">' for name, value in meta.items()
    )
    html = f"<html><head><title>{title}</title>{tags}</head></html>"
    headers = {"content-type": "text/html; charset=utf-8"}
    return Response(200, headers, html.encode())


def redirect(location: str, status: int = 302) -> Response:
    return Response(status, {"location": location})


def picture() -> Response:
    return Response(200, {"content-type": "image/png"})


class Network:
    """Names with addresses, and what the addresses answer.

    Attributes:
        names: The addresses of each name. A list of lists is gone through with
            one inner list for each time that the name is looked up; the last stays.
        answers: The response for an address, or for an address and a path.
        contacted: The addresses to which requests were sent, in order.
        requests: Those requests.
    """

    def __init__(self) -> None:
        self.names: dict[str, list] = {}
        self.answers: dict[str, Response] = {}
        self.contacted: list[str] = []
        self.requests: list[Request] = []
        self._lookups: dict[str, int] = {}

    def resolve(self, host: str, port: int) -> list[str]:
        # As with getaddrinfo, a literal address stands for itself.
        addresses = self.names.get(host)
        if addresses is None:
            if ":" in host or host.replace(".", "").isdigit() and host.count(".") == 3:
                return [host]
            raise OSError(f"no address for {host}")
        if isinstance(addresses[0], list):
            number = self._lookups.get(host, 0)
            self._lookups[host] = number + 1
            return addresses[min(number, len(addresses) - 1)]
        return addresses

    def send(self, address: str, request: Request) -> Response:
        self.contacted.append(address)
        self.requests.append(request)
        for key in (f"{address}{request.path}", address):
            if key in self.answers:
                return self.answers[key]
        raise OSError(f"{address} refuses")
