"""Which proxy a request goes through, if any: what the operator said, or what the environment says."""

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

if TYPE_CHECKING:
    import httpcore
    from httpx import URL

KINDS = ("http", "https", "socks5", "socks5h")


class Routes:
    """The proxies in force. NO_PROXY counts for both ways of naming one."""

    def __init__(self, proxy_url: str | None) -> None:
        if proxy_url is not None:
            self._proxies = {"all": proxy_url}
        else:
            self._proxies = {
                scheme: url
                for scheme, url in getproxies().items()
                if scheme in ("http", "https", "all") and url
            }
        for url in self._proxies.values():
            split_proxy(url)

    def proxy_for(self, url: "URL") -> str | None:
        """The proxy for a URL, or None to connect directly."""
        from .urls import host_of, port_of

        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        if proxy is None or proxy_bypass(f"{host_of(url)}:{port_of(url)}") or proxy_bypass(host_of(url)):
            return None
        return proxy


def split_proxy(text: str) -> SplitResult:
    """The parts of a proxy's address. ValueError, which never shows a password, if it is none."""
    url = text if "://" in text else f"http://{text}"
    # Desktop settings write socks://, and mean version 5.
    parts = urlsplit(url.replace("socks://", "socks5://", 1))
    if parts.scheme not in KINDS or not parts.hostname:
        raise ValueError(f"a proxy is one of {', '.join(f'{kind}://host:port' for kind in KINDS)}")
    try:
        _ = parts.port
    except ValueError:
        raise ValueError("the port of the proxy is no number up to 65535") from None
    return parts


def read_proxy(text: str) -> "httpcore.Proxy":
    """A proxy as httpcore wants it."""
    import httpcore

    parts = split_proxy(text)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 1080)
    name = parts.hostname or ""
    host = f"[{name}]" if ":" in name else name
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return httpcore.Proxy(f"{parts.scheme}://{host}:{port}", auth=auth)
