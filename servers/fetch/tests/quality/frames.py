"""What stands around the content of the saved pages: the frames of six kinds of site.

`«...»` marks a sentence of the content, `⟦...⟧` one of the frame; generate.py takes the marks out and writes them
into the manifest.
"""

from collections.abc import Callable
from html import escape

COOKIES = "⟦We and our 214 partners use cookies to personalise content and ads.⟧ ⟦You can change your preferences at any time.⟧"
LETTER = "⟦Get the best stories in your inbox every Friday morning.⟧"
LEGAL = "⟦All rights reserved, including those for text and data mining.⟧"


def _links(*names: str) -> str:
    return "".join(
        f'<li><a href="/{name.lower().replace(" ", "-")}">{escape(name)}</a></li>' for name in names
    )


NAV = _links("Home", "World", "Business", "Technology", "Science", "Health", "Sport", "Culture", "Travel")
MORE = _links(
    "About us",
    "Careers",
    "Press",
    "Contact",
    "Help centre",
    "Terms of use",
    "Privacy policy",
    "Accessibility",
)
RELATED = "".join(
    f'<li><a href="/story/{number}">⟦{text}⟧</a></li>'
    for number, text in enumerate(
        (
            "Ten small towns that are worth the detour this autumn",
            "Why your next phone may not have a single button",
            "The quiet return of the night train across the continent",
            "What the new parking rules mean for your street",
        )
    )
)


def page(title: str, body: str, *, head: str = "", lang: str = "en", attributes: str = "") -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="{lang}"{attributes}>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width">\n<link rel="stylesheet" href="/main.css">\n'
        f"<script>window.dataLayer = window.dataLayer || [];</script>\n{head}</head>\n{body}\n</html>\n"
    )


def semantic(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A site that uses the elements HTML has for this."""
    body = f"""<body>
<a class="skip" href="#main">Skip to content</a>
<header><a href="/"><img src="/logo.svg" alt="The Daily Example"></a>
<nav aria-label="Main"><ul>{NAV}</ul></nav>
<form role="search" action="/search"><label>Search<input name="q"></label><button>Go</button></form></header>
<main id="main">{main}</main>
<aside><h2>Most read</h2><ol>{RELATED}</ol></aside>
<footer><form action="/letter"><p>{LETTER}</p><input type="email"><button>Sign up</button></form>
<ul>{MORE}</ul><p><small>© 2026 The Daily Example. {LEGAL}</small></p></footer>
<div role="dialog" aria-label="Cookies"><p>{COOKIES}</p><button>Accept all</button><button>Settings</button></div>
<script src="/app.js"></script></body>"""
    return page(title, body, lang=lang, attributes=attributes)


def classed(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A site of divs whose classes say what they are."""
    body = f"""<body class="page page-article">
<div class="cookie-banner" id="cookie-consent"><div class="inner"><p>{COOKIES}</p><a class="btn" href="#">Accept</a></div></div>
<div id="header" class="site-header"><div class="logo"><a href="/">Example</a></div>
<div class="main-navigation"><ul class="menu">{NAV}</ul></div></div>
<div class="breadcrumbs"><a href="/">Home</a> &gt; <a href="/world">World</a> &gt; <span>Here</span></div>
<div class="wrapper"><div class="content-area" id="content">{main}
<div class="share-buttons"><span>Share this:</span> <a href="#f">Facebook</a> <a href="#x">X</a> <a href="#m">Mail</a></div>
<div class="related-posts"><h3>You may also like</h3><ul>{RELATED}</ul></div></div>
<div class="sidebar"><div class="widget newsletter"><h4>Newsletter</h4><p>{LETTER}</p></div>
<div class="widget ad-slot">⟦Advertisement: drive the new electric estate for 299 a month.⟧</div></div></div>
<div class="site-footer"><div class="footer-links"><ul>{MORE}</ul></div><div class="copyright">© 2026 Example Media. {LEGAL}</div></div>
<script>init()</script></body>"""
    return page(title, body, lang=lang, attributes=attributes)


def hashed(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A site whose classes are made by a machine and say nothing."""
    body = f"""<body><div id="root"><div class="css-1dbjc4n"><div class="css-8fj2k"><a href="/">Example</a>
<div class="css-77kk1"><a href="/a">World</a><a href="/b">Business</a><a href="/c">Technology</a><a href="/d">Science</a><a href="/e">Sport</a></div></div>
<div class="css-0sl2m"><div class="css-p0w3r">{main}</div>
<div class="css-1q2w3"><div class="css-hd">More from Example</div><ul class="css-ls">{RELATED}</ul></div></div>
<div class="css-f00t"><div><ul>{MORE}</ul></div><div>© 2026 Example Ltd. {LEGAL}</div></div>
<div class="css-b4r"><div>{COOKIES}</div><button>Got it</button></div></div></div>
<script>window.__STATE__={{"a":1}}</script></body>"""
    return page(title, body, lang=lang, attributes=attributes)


def tabled(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A site laid out with tables, as it was done once."""
    body = f"""<body bgcolor="#ffffff"><center><table width="780" border="0" cellpadding="4"><tr><td colspan="2" bgcolor="#003366">
<font size="5" color="white"><b>Example Boards</b></font><br><a href="/">Index</a> | <a href="/faq">FAQ</a> | <a href="/members">Members</a> | <a href="/login">Log in</a></td></tr>
<tr><td width="140" valign="top"><font size="2"><a href="/1">General chat</a><br><a href="/2">Buying and selling</a><br><a href="/3">Workshop</a><br><a href="/4">Pictures</a><br><a href="/5">Off topic</a></font></td>
<td valign="top">{main}</td></tr>
<tr><td colspan="2" align="center"><font size="1"><a href="/rules">Rules</a> - <a href="/contact">Contact</a> - <a href="/archive">Archive</a><br>{LEGAL}</font></td></tr></table></center></body>"""
    return page(title, body, lang=lang, attributes=attributes)


def blog(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A blog made with the usual software."""
    body = f"""<body class="post-template-default single single-post"><div id="page" class="hfeed site">
<header id="masthead" class="site-header"><p class="site-title"><a href="/" rel="home">Notes from a small desk</a></p>
<nav id="site-navigation" class="main-navigation"><ul id="primary-menu" class="menu">{_links("Home", "About", "Archive", "Projects", "Contact")}</ul></nav></header>
<div id="content" class="site-content"><div id="primary" class="content-area"><main id="main" class="site-main">{main}
<nav class="post-navigation"><div class="nav-previous"><a href="/p">⟦Previous: How I sorted four thousand photographs⟧</a></div></nav></main></div>
<aside id="secondary" class="widget-area"><section class="widget widget_recent_entries"><h2>Recent Posts</h2><ul>{RELATED}</ul></section>
<section class="widget widget_archive"><h2>Archives</h2><ul>{_links("October 2026", "September 2026", "August 2026")}</ul></section>
<section class="widget"><p>{LETTER}</p></section></aside></div>
<footer id="colophon" class="site-footer"><div class="site-info">Proudly run on a very small server. {LEGAL}</div></footer></div></body>"""
    return page(title, body, lang=lang, attributes=attributes)


def app(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A product's site, rendered on the server by a framework."""
    body = f"""<body><div id="__next"><div class="Layout_layout__3x1"><div class="Header_header__9dk"><a href="/">Acme</a>
<div class="Header_links__2k1"><a href="/product">Product</a><a href="/pricing">Pricing</a><a href="/docs">Docs</a><a href="/blog">Blog</a><a href="/login">Log in</a><a class="Button_cta" href="/start">Start free</a></div></div>
<div class="Page_content__77x">{main}</div>
<div class="Footer_footer__x92"><div><b>Company</b><ul>{MORE}</ul></div><div class="Footer_legal__1">© 2026 Acme Inc. {LEGAL}</div></div>
<div class="CookieBar_bar__1s"><p>{COOKIES}</p><button>OK</button></div></div></div>
<script id="__NEXT_DATA__" type="application/json">{{"props":{{}}}}</script></body>"""
    return page(title, body, lang=lang, attributes=attributes)


def bare(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """No frame at all."""
    return page(title, f"<body>{main}</body>", lang=lang, attributes=attributes)


def loose(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A page by hand, without the tags that may be left out: html, head and body."""
    return f"""<!doctype html>
<meta charset="utf-8">
<title>{title}</title>
<nav><ul>{NAV}</ul></nav>
<main>{main}</main>
<footer><ul>{MORE}</ul><p>© 2026 {LEGAL}</p></footer>
"""


def unscripted(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """An app that has its text ready for readers without scripts."""
    body = f"""<body><header><nav>{NAV}</nav></header><div id="app"></div>
<noscript><p>⟦Please enable JavaScript for the full experience.⟧</p>{main}</noscript>
<footer>© 2026 {LEGAL}</footer><script src="/app.js"></script></body>"""
    return page(title, body, lang=lang, attributes=attributes)


def accelerated(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A page made for phones, of elements of its own."""
    head = (
        "<style amp-boilerplate>body{-webkit-animation:-amp-start 8s steps(1,end) 0s 1 normal both}</style>"
    )
    body = f"""<body><amp-sidebar id="menu" layout="nodisplay"><ul>{NAV}</ul></amp-sidebar>
<article>{main}<amp-ad width="300" height="250" type="x"><div placeholder>⟦The best shoes of the year are at our shop.⟧</div></amp-ad></article>
<amp-consent layout="nodisplay"><p>{COOKIES}</p></amp-consent><footer><ul>{MORE}</ul><p>{LEGAL}</p></footer></body>"""
    return page(title, body, head=head, lang=lang, attributes=attributes)


def streamed(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """An app whose content was sent ahead, hidden, and is put in place by a script."""
    body = f"""<body><div id="__next"><nav><a href="/">Home</a><a href="/blog">Blog</a></nav><template id="B:0"></template><p>Loading</p></div>
<div hidden id="S:0"><main>{main}</main></div><script>$RC("B:0","S:0")</script></body>"""
    return page(title, body)


def hidden_at_first(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A page that shows nothing until a script has run."""
    body = f"""<body><div id="app" style="display: none">{main}</div><script src="/hydrate.js"></script></body>"""
    return page(title, body)


def fading(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """A page that fades in."""
    body = f"""<body><nav><ul><li><a href="/">Home</a></li><li><a href="/rooms">Rooms</a></li></ul></nav>
<div class="reveal">{main}</div><script>fadeIn()</script></body>"""
    style = "<style>.reveal { opacity: 0; transition: opacity 1s } @media print { .reveal { opacity: 1 } }</style>"
    return page(title, body, head=style)


def metadata_only(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """An app that tells search engines what it says, and readers nothing."""
    data = (
        '{"@context":"https://schema.org","@graph":[{"@type":"NewsArticle","headline":"x","articleBody":"'
        + main.replace("\n", "\\n")
        + '"}]}'
    )
    head = f'<script type="application/ld+json">{data}</script>'
    return page(title, '<body><div id="root"></div><script src="/bundle.js"></script></body>', head=head)


def shell(title: str, main: str, lang: str = "en", attributes: str = "") -> str:
    """An app that is nothing without its script."""
    body = """<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>
<script src="/static/js/main.4f2a.js"></script></body>"""
    return page(title, body)


Site = Callable[[str, str, str, str], str]
