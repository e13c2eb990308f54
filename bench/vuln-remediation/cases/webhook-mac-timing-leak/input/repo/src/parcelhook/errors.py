"""What can be wrong with a request. The web layer answers each with a 4xx."""


class ParcelhookError(Exception):
    """Base of everything that is the other side's fault."""


class MalformedHeader(ParcelhookError):
    """The signature header is missing or cannot be read."""


class StaleDelivery(ParcelhookError):
    """The delivery was signed too long ago, or in the future."""


class SignatureMismatch(ParcelhookError):
    """No signature belongs to a key that is in use."""


class HandshakeRefused(ParcelhookError):
    """The subscription call did not carry our token."""


class MalformedEvent(ParcelhookError):
    """The body is authentic but is not a tracking event."""
