# ruff: noqa: RUF001 - pages are written in all kinds of letters
"""The contents of the saved pages, written for this purpose. The marks are explained in frames.py."""

from typing import NamedTuple

from .frames import (
    Site,
    accelerated,
    app,
    bare,
    blog,
    classed,
    fading,
    hashed,
    hidden_at_first,
    loose,
    metadata_only,
    semantic,
    shell,
    streamed,
    tabled,
    unscripted,
)


class Content(NamedTuple):
    """One saved page: its file name, frame, title and content, and what is special about it."""

    name: str
    site: Site
    title: str
    main: str
    lang: str = "en"
    attributes: str = ""
    encoding: str = "utf-8"
    declared: bool = True
    """Whether the page says which encoding it has."""
    stage: str | None = None
    """How its text has to be found, where that is the point of the page."""


def _news(name: str, site: Site) -> Content:
    return Content(
        name,
        site,
        "Harbour bridge reopens after two years of repairs",
        """<article><header><h1>«Harbour bridge reopens after two years of repairs»</h1>
<p class="byline">By <a href="/by/mara">Mara Lindqvist</a>, <time datetime="2026-10-02">2 October 2026</time></p></header>
<figure><img src="/img/bridge.jpg" alt="The bridge at dawn"><figcaption>«The first cyclists crossed shortly after six in the morning.»</figcaption></figure>
<p>«The old swing bridge over the inner harbour opened to traffic again on Friday, eleven months later than planned.» «Engineers replaced both bearings and more than four hundred rivets.»</p>
<p>«The city paid 31 million for the work, nine million more than the council approved in 2023.» «Most of the difference went into removing lead paint.»</p>
<h2>«What changes for drivers»</h2>
<p>«Lorries above twelve tonnes must still take the <a href="/map/tunnel">ring tunnel</a>.» «Buses on lines 4 and 17 return to their former route on Monday.»</p>
<blockquote><p>«“We did not want to patch it for ten years, we wanted to be done with it for sixty,” said project lead Anke Sorell.»</p></blockquote>
<ul><li>«The bridge swings four times a day in winter.»</li><li>«Pedestrians can wait in a heated shelter on the east bank.»</li></ul>
<p>«A public celebration with a flotilla of historic tugs is planned for the second weekend of the month.»</p></article>""",
    )


CONTENTS: tuple[Content, ...] = (
    _news("news", semantic),
    _news("news-divs", classed),
    Content(
        "news-live",
        classed,
        "Storm Ilse: live updates",
        """<h1>«Storm Ilse: live updates»</h1><p class="standfirst">«Ferries are cancelled along the whole western coast and schools stay closed on Thursday.»</p>
<div class="live"><div class="entry"><span class="time">18:40</span><h3>«Power restored in the northern districts»</h3><p>«About 3,200 households have electricity again, the grid operator says.»</p></div>
<div class="entry"><span class="time">17:05</span><h3>«Rail line cleared»</h3><p>«Trains between Olm and Vester run again at reduced speed.»</p></div>
<div class="entry"><span class="time">15:30</span><h3>«Gusts of 140 km/h measured»</h3><p>«The weather service recorded its strongest November gust since 1999 at the Holm lighthouse.»</p></div>
<div class="entry"><span class="time">12:10</span><p>«Two people were slightly injured by falling tiles in the old town.»</p></div></div>""",
    ),
    Content(
        "docs-reference",
        semantic,
        "queue.lease — Orrery 4.2 documentation",
        """<article><nav class="toc"><p>On this page</p><ul><li><a href="#sig">Signature</a></li><li><a href="#err">Errors</a></li></ul></nav>
<h1>«queue.lease»<a class="headerlink" href="#lease">¶</a></h1>
<p>«Takes the oldest message from a queue and hides it from other consumers for a while.»</p>
<h2 id="sig">«Signature»<a href="#sig">#</a></h2>
<div class="highlight"><pre><code class="language-python">«def lease(queue: str, *, seconds: float = 30.0) -&gt; Message | None:»
    ...</code></pre></div>
<p>«If the consumer does not call <code>ack</code> in time, the message becomes visible again and its attempt counter grows by one.»</p>
<table><thead><tr><th>Argument</th><th>Meaning</th></tr></thead><tbody><tr><td><code>queue</code></td><td>«Name of the queue, created on first use.»</td></tr>
<tr><td><code>seconds</code></td><td>«How long the message stays hidden, at most 43200.»</td></tr></tbody></table>
<aside class="note"><p>«Leases survive a restart of the broker but not a change of its cluster id.»</p></aside>
<h2 id="err">«Errors»</h2><dl><dt><code>QueueClosed</code></dt><dd>«The queue was deleted while the call waited.»</dd><dt><code>LeaseTooLong</code></dt><dd>«The requested time exceeds what the operator allows.»</dd></dl></article>""",
    ),
    Content(
        "docs-tutorial",
        classed,
        "Your first pipeline - Weft guide",
        """<div class="document"><h1>«Your first pipeline»</h1><p>«This tutorial builds a pipeline that counts words in ten minutes.» «You need version 3 of the command line tool and nothing else.»</p>
<h2>«Step 1: write the job»</h2><p>«Save the following as <code>count.weft</code> next to your data.»</p>
<table class="highlighttable"><tr><td class="linenos"><div class="linenodiv"><pre>1
2
3</pre></div></td><td class="code"><div class="highlight"><pre><span class="k">read</span> <span class="s">"«input/*.txt»"</span>
<span class="k">split</span> words
<span class="k">count</span> by word</pre></div></td></tr></table>
<h2>«Step 2: run it»</h2><div class="highlight-source-shell"><pre>«$ weft run count.weft --workers 2»</pre></div>
<p>«The result appears in <code>output/part-0000.csv</code> and is sorted by frequency.»</p>
<div class="admonition warning"><p class="admonition-title">Warning</p><p>«Running the job twice overwrites the first result without asking.»</p></div>
<ol><li>«Open the file in a spreadsheet.»</li><li>«Compare the first line with the sample below.»</li></ol></div>""",
    ),
    Content(
        "api-table",
        hashed,
        "Rate limits | Parcel API",
        """<div class="css-t1"><h1>«Rate limits»</h1><p>«Every key may send six hundred requests a minute, counted over a sliding window.»</p>
<table><tr><th>Plan</th><th>Requests per minute</th><th>Burst</th></tr><tr><td>«Hobby»</td><td>«600»</td><td>«50»</td></tr><tr><td>«Team»</td><td>«6,000»</td><td>«400»</td></tr><tr><td>«Carrier»</td><td>«by agreement»</td><td>«2,000»</td></tr></table>
<p>«A refused request answers with status 429 and the header Retry-After in seconds.» «Refused requests do not count against the limit.»</p>
<pre>«curl -H "Authorization: Bearer $KEY" https://api.example/v2/parcels»</pre><p>«Webhooks are exempt from all limits, but are retried at most eight times.»</p></div>""",
    ),
    Content(
        "forum",
        classed,
        "Freewheel makes a clicking noise - Workshop - CycleTalk",
        """<h1 class="thread-title">«Freewheel makes a clicking noise»</h1>
<div class="post" id="p1"><div class="author">rolf_m <span>412 posts</span></div><div class="post-body"><p>«Since last week my rear wheel clicks once per turn, but only when I coast.» «The chain is new, the cassette has about 3000 km on it.»</p></div></div>
<div class="post" id="p2"><div class="author">tandem_tina <span>2,981 posts</span></div><div class="post-body"><blockquote><p>«only when I coast»</p></blockquote><p>«That sounds like a dry pawl spring.» «Take the freehub off, clean it with white spirit and put three drops of oil on each pawl.»</p></div></div>
<div class="post" id="p3"><div class="author">old_spoke <span>87 posts</span></div><div class="post-body"><p>«Check the valve too: a loose valve nut hits the rim once per turn and sounds exactly like that.»</p></div></div>
<div class="post" id="p4"><div class="author">rolf_m <span>413 posts</span></div><div class="post-body"><p>«It was the valve nut.» «Thank you all, I feel silly and relieved.»</p></div></div>""",
    ),
    Content(
        "forum-tables",
        tabled,
        "Example Boards: which glue for canvas?",
        """<font size="4"><b>«Which glue for canvas?»</b></font><br><br><table width="100%" border="1"><tr><td width="110" valign="top">Moss</td><td>«I need to mend a tear in the cotton canvas of a 1972 tent.» «Sewing alone will let water through the holes.»</td></tr>
<tr><td valign="top">Harriet</td><td>«Use a contact adhesive with natural rubber and a patch of the same cloth.» «Iron it from the inside at low heat after a day.»</td></tr>
<tr><td valign="top">Moss</td><td>«Worked very well, it survived a night of heavy rain in the hills.»</td></tr></table>""",
    ),
    Content(
        "qa",
        classed,
        "How do I undo the last commit? - AskBench",
        """<div id="question"><h1>«How do I undo the last commit without losing the changes?»</h1><div class="votecell"><span>1204</span></div><div class="s-prose"><p>«I committed too early and have not pushed yet.» «I want my files back as they were just before the commit.»</p><pre><code>«git commit -m "oops"»</code></pre></div></div>
<div id="answers"><h2>2 Answers</h2><div class="answer accepted-answer"><div class="votecell"><span>3310</span></div><div class="s-prose"><p>«Move the branch back by one and keep the working tree.»</p><pre><code class="lang-bash">«git reset --soft HEAD~1»</code></pre><p>«The index still holds everything, so a new commit can follow at once.»</p></div></div>
<div class="answer"><div class="votecell"><span>97</span></div><div class="s-prose"><p>«If you only want to change the message or add a file, amending is simpler.»</p><pre><code>«git commit --amend»</code></pre></div></div></div>""",
    ),
    Content(
        "shop-product",
        classed,
        "Tarn 2 walking boots | Fell & Ford",
        """<div class="product"><h1>«Tarn 2 walking boots»</h1><div class="price"><span>«£164.00»</span></div><p>«A stiff boot for rough ground that still bends where your foot does.»</p>
<div class="tabs"><h2>«Description»</h2><p>«The upper is a single piece of 2.4 mm waxed leather with one seam at the heel.» «The sole can be replaced twice by any cobbler.»</p>
<h2>«Specification»</h2><table><tr><th>Weight</th><td>«1,180 g a pair in size 42»</td></tr><tr><th>Lining</th><td>«wool felt, no membrane»</td></tr><tr><th>Made in</th><td>«Kendal»</td></tr></table></div>
<div class="reviews"><h2>«Reviews»</h2><div class="review"><p>«Dry after a full day in wet heather, and comfortable from the second walk on.»</p></div></div></div>
<section class="recommendations"><h2>Customers also bought</h2><ul><li><a href="/wax">⟦Heather honey boot wax for dry leather⟧</a></li><li><a href="/laces">⟦Flat waxed laces in seven colours⟧</a></li></ul></section>""",
    ),
    Content(
        "shop-category",
        hashed,
        "Teapots - Kiln Street",
        """<div class="css-cat"><h1>«Teapots»</h1><p>«Every pot is thrown on Kiln Street and holds what its name says, measured to the brim.»</p><div class="css-grid">
<div class="css-card"><a href="/p/1"><img src="/p1.jpg" alt="Brown teapot"></a><h3><a href="/p/1">«Brown Betty, 0.8 litre»</a></h3><p>«Red clay with a dark glaze that hides every stain.»</p><span>«£38»</span></div>
<div class="css-card"><a href="/p/2"><img src="/p2.jpg" alt="White teapot"></a><h3><a href="/p/2">«Porcelain round, 1.2 litre»</a></h3><p>«Thin enough to see the tea rise against the light.»</p><span>«£64»</span></div>
<div class="css-card"><a href="/p/3"><img src="/p3.jpg" alt="Side handle pot"></a><h3><a href="/p/3">«Side handle, 0.3 litre»</a></h3><p>«Made for green tea, with a strainer cut into the wall.»</p><span>«£52»</span></div></div></div>""",
    ),
    Content(
        "wiki",
        semantic,
        "Calder lock - Openpedia",
        """<h1 id="firstHeading">«Calder lock»</h1><div id="mw-content-text"><div class="hatnote">For the canal, see <a href="/wiki/Calder_canal">Calder canal</a>.</div>
<table class="infobox"><caption>Calder lock</caption><tr><th>Built</th><td>«1794 to 1797»</td></tr><tr><th>Rise</th><td>«3.1 metres»</td></tr></table>
<p>«The <b>Calder lock</b> is a pair of staircase locks on the river <a href="/wiki/Ive">Ive</a>.»<sup><a href="#cite1">[1]</a></sup> «It was the first in the country to use iron gates.»</p>
<div id="toc" class="toc"><h2>Contents</h2><ul><li><a href="#History">1 History</a></li><li><a href="#Use">2 Present use</a></li></ul></div>
<h2><span id="History">«History»</span><span class="mw-editsection">[<a href="/edit?s=1">edit</a>]</span></h2><p>«Work began in the spring of 1794 under the engineer Tobias Hale, who had never built a lock before.» «The lower chamber collapsed twice in the first winter.»</p>
<h2><span id="Use">«Present use»</span></h2><p>«About nine hundred boats pass each year, nearly all of them for pleasure.» «The upper gates were renewed in oak in 2011.»</p>
<h2>«References»</h2><ol class="references"><li id="cite1">«Hale, T. (1801). An Account of the Iron Gates. Leeds.»</li></ol></div>""",
    ),
    Content(
        "wiki-table",
        semantic,
        "List of lighthouses of Norrland - Openpedia",
        """<h1>«List of lighthouses of Norrland»</h1><p>«This list covers the eleven lighthouses that were manned after 1900.»</p><table class="wikitable sortable"><tr><th>Name</th><th>Lit</th><th>Height</th><th>Range</th></tr>
<tr><td><a href="/wiki/Holm">«Holm»</a></td><td>«1868»</td><td>«31 m»</td><td>«17 nmi»</td></tr><tr><td><a href="/wiki/Skag">«Skag»</a></td><td>«1871»</td><td>«12 m»</td><td>«9 nmi»</td></tr><tr><td><a href="/wiki/Bjuro">«Bjurö»</a></td><td>«1859»</td><td>«22 m»</td><td>«15 nmi»</td></tr></table><p>«Heights are those of the focal plane above mean sea level.»</p>""",
    ),
    Content(
        "blog",
        blog,
        "A year without a kettle – Notes from a small desk",
        """<article id="post-77" class="post"><header class="entry-header"><h1 class="entry-title">«A year without a kettle»</h1><div class="entry-meta">Posted on <time>3 September 2026</time> by Ines</div></header><div class="entry-content">
<p>«Our kettle died on a Sunday and we decided, for no good reason, not to replace it.» «That was thirteen months ago.»</p><p>«A small pan with a lid boils half a litre in the same time and uses a tenth less power, which I know because I measured it forty times.»</p><h3>«What I miss»</h3><p>«The click.» «A pan does not tell you that it is done, it only becomes louder.»</p><p><img src="data:image/gif;base64,R0" data-src="/img/pan.jpg" alt="Our small pan"></p><p>«I have burned exactly one pan and learned to stay in the kitchen.»</p></div>
<footer class="entry-footer"><span class="tags-links">Tagged <a href="/tag/kitchen">kitchen</a>, <a href="/tag/energy">energy</a></span></footer></article>""",
    ),
    Content(
        "blog-comments",
        blog,
        "Sharpening chisels on glass – Notes from a small desk",
        """<article class="post"><h1 class="entry-title">«Sharpening chisels on glass»</h1><div class="entry-content"><p>«Glue three grades of abrasive paper to a sheet of float glass and you have everything a chisel needs.»</p><p>«Work the back first until it mirrors a window frame, and never touch it with a coarse grit again.»</p><p>«Ten strokes on each grade are enough if you strop at the end.»</p></div></article>
<section id="comments" class="comments-area"><h2>2 thoughts on this</h2><ol class="comment-list"><li class="comment"><b>Per</b><p>«I use the off-cut of a kitchen worktop instead of glass, and it stays flat.»</p></li><li class="comment"><b>Ada</b><p>«Wet the glass before you lay the paper, then you do not even need glue.»</p></li></ol>
<form id="commentform"><p>⟦Your email address will not be published, required fields are marked.⟧</p><textarea></textarea><input type="submit"></form></section>""",
    ),
    Content(
        "recipe",
        classed,
        "Leek and barley soup - Pot Luck",
        """<div class="recipe"><h1>«Leek and barley soup»</h1><div class="jump-links"><a href="#r">Jump to recipe</a> <a href="#p">Print</a></div><p>«This is the soup my grandmother made when the first frost had sweetened the leeks.»</p><div class="wprm-recipe"><ul class="times"><li>«Ready in 50 minutes»</li><li>«Serves 4»</li></ul>
<h2>«Ingredients»</h2><ul><li>«3 large leeks»</li><li>«120 g pearl barley»</li><li>«1.5 litres vegetable stock»</li><li>«a bay leaf and some nutmeg»</li></ul><h2>«Method»</h2><ol><li>«Rinse the barley until the water stays clear.»</li><li>«Soften the leeks in butter for eight minutes without letting them brown.»</li><li>«Add stock, barley and bay leaf and simmer for half an hour.»</li></ol>
<h2>«Nutrition»</h2><table><tr><td>Energy</td><td>«214 kcal»</td></tr><tr><td>Protein</td><td>«6 g»</td></tr></table></div></div>""",
    ),
    Content(
        "changelog",
        semantic,
        "Changelog · tidewater",
        """<h1>«Changelog»</h1><h2 id="v310">«3.1.0 (2026-09-14)»</h2><h3>«Added»</h3><ul><li>«<code>tide export --since</code> takes a date as well as a tag.»</li><li>«Tables are written in the order of their foreign keys.»</li></ul><h3>«Fixed»</h3><ul><li>«A crash when the lock file was removed during an export (<a href="https://example.org/issues/881">#881</a>).»</li></ul>
<h2>«3.0.2 (2026-08-30)»</h2><ul><li>«Windows paths with a trailing dot are refused instead of silently shortened.»</li></ul><h2>«3.0.0 (2026-07-01)»</h2><p>«This release drops Python 3.9 and the deprecated <code>--fast</code> option.»</p>""",
    ),
    Content(
        "landing",
        app,
        "Acme: spreadsheets that answer back",
        """<section><h1>«Spreadsheets that answer back»</h1><p>«Ask a question in plain words and get the formula, the chart and the doubt that goes with it.»</p><a class="Button_cta" href="/start">Start free</a></section>
<section><h2>«Works with what you have»</h2><p>«Connect a folder of files, a database or a form, and nothing is copied anywhere.»</p></section><section><h2>«Explains itself»</h2><p>«Each answer lists the cells it used and the ones it ignored.»</p></section>
<section><blockquote>«“It found the one wrong cell in our budget before the auditors did.”» <cite>«Noor Haddad, finance lead at Brightwater»</cite></blockquote></section><section><h2>«Runs on your machines»</h2><p>«The smallest installation needs one server with eight gigabytes of memory.»</p></section>""",
    ),
    Content(
        "pricing",
        app,
        "Pricing - Acme",
        """<h1>«Simple prices, per seat and month»</h1><div class="Plans_grid__2"><div class="Plan_card"><h3>«Solo»</h3><p>«€0 for one person and three sheets»</p><ul><li>«Community support»</li><li>«Weekly backups»</li></ul></div><div class="Plan_card"><h3>«Studio»</h3><p>«€14 for teams of up to thirty»</p><ul><li>«Answers within a working day»</li><li>«Hourly backups»</li></ul></div><div class="Plan_card"><h3>«House»</h3><p>«€39 with single sign-on and an audit log»</p><ul><li>«A named contact»</li></ul></div></div><p>«All prices exclude tax, and yearly payment is ten per cent cheaper.»</p>""",
    ),
    Content(
        "faq",
        classed,
        "Questions about the library card",
        """<h1>«Questions about the library card»</h1><div class="accordion"><h3><button aria-expanded="false">«Who can get a card?»</button></h3><div class="panel"><p>«Everyone who lives, works or studies in the county, from the age of four.»</p></div>
<h3><button aria-expanded="false">«What does it cost?»</button></h3><div class="panel"><p>«Nothing, unless you lose it: a new card costs three euros.»</p></div><details><summary>«How many books may I borrow?»</summary><p>«Forty at a time, and films for one week each.»</p></details><details><summary>«Can I return them elsewhere?»</summary><p>«Yes, in any branch and in the box at the main station.»</p></details></div>""",
    ),
    Content(
        "arabic",
        semantic,
        "افتتاح مكتبة عامة جديدة في المدينة القديمة",
        """<article><h1>«افتتاح مكتبة عامة جديدة في المدينة القديمة»</h1><p>«افتتحت البلدية يوم الخميس مكتبة عامة تضم أكثر من ستين ألف كتاب في مبنى كان سوقا للقماش.»</p><p>«وقالت مديرة المكتبة إن القاعة الكبرى ستبقى مفتوحة حتى منتصف الليل خلال أيام الامتحانات.»</p><p>«ويمكن للزوار استعارة خمسة كتب مجانا لمدة ثلاثة أسابيع.»</p></article>""",
        lang="ar",
        attributes=' dir="rtl"',
    ),
    Content(
        "persian",
        blog,
        "یک روز در بازار گل",
        """<article class="post"><h1>«یک روز در بازار گل»</h1><div class="entry-content"><p>«ساعت پنج صبح، وقتی هنوز هوا تاریک است، کامیون‌ها از راه می‌رسند.»</p><p>«فروشنده‌ها گل‌ها را بر اساس رنگ می‌چینند و قیمت‌ها را با گچ می‌نویسند.»</p><p>«تا ظهر تقریباً همه چیز فروخته شده است و زمین را آب می‌شویند.»</p></div></article>""",
        lang="fa",
        attributes=' dir="rtl"',
    ),
    Content(
        "chinese",
        hashed,
        "城市夜间公交线路调整公告",
        """<h1>«城市夜间公交线路调整公告»</h1><p>«自十一月一日起,夜间公交的末班车时间将推迟到凌晨一点半。»</p><p>«为了方便医院和车站附近的居民,新增加了三条环线,每二十分钟一班。»</p><p>«票价保持不变,老年卡和学生卡继续有效。»</p><p>«如有疑问,请拨打服务热线或者到各营业网点咨询。»</p>""",
        lang="zh",
    ),
    Content(
        "japanese-sjis",
        classed,
        "図書館の利用案内",
        """<h1>«図書館の利用案内»</h1><p>«開館時間は午前九時から午後八時までで、月曜日は休館です。»</p><p>«本は一人十冊まで、二週間借りることができます。»</p><h2>«予約について»</h2><p>«貸出中の本は窓口またはウェブサイトから予約できます。»</p>""",
        lang="ja",
        encoding="shift_jis",
    ),
    Content(
        "russian-undeclared",
        blog,
        "Как хранить яблоки зимой",
        """<article><h1>«Как хранить яблоки зимой»</h1><p>«Поздние сорта лучше всего лежат в прохладном подвале при температуре около двух градусов.»</p><p>«Каждое яблоко полезно завернуть в газетную бумагу, чтобы плоды не касались друг друга.»</p><p>«Раз в две недели ящики перебирают и убирают испорченные плоды.»</p></article>""",
        lang="ru",
        encoding="cp1251",
        declared=False,
    ),
    Content(
        "german",
        classed,
        "Stadtrat beschließt neue Radwege",
        """<article><h1>«Stadtrat beschließt neue Radwege»</h1><p>«Der Stadtrat hat am Dienstagabend mit großer Mehrheit zwölf Kilometer neue Radwege beschlossen.»</p><p>«Die Bauarbeiten beginnen im März am Südring und sollen vor den Sommerferien enden.»</p><p>«Für Parkplätze, die wegfallen, entsteht ein Parkhaus hinter dem Güterbahnhof.»</p></article>""",
        lang="de",
    ),
    Content(
        "broken",
        semantic,
        "Minutes of the spring meeting",
        """<h1>«Minutes of the spring meeting»<p>«The chair opened the meeting at seven and welcomed three new members.<p>The treasurer reported a surplus of 212 crowns.»<ul><li>«The fence will be painted in May<li>The boat shed gets a new lock»</ul><b><i>«The summer party is on the last Saturday of June»</b></i><table><tr><td>«Votes for»<td>«31»<tr><td>«Votes against»<td>«4»</table><p>«The meeting closed at half past nine»""",
    ),
    Content(
        "government",
        hashed,
        "Applying for a resident parking permit",
        """<h1>«Applying for a resident parking permit»</h1><h2>«1. Who may apply»</h2><p>«You may apply if your main home lies in one of the nineteen permit zones and a car is registered in your name.»</p><h2>«2. What you need»</h2><ol><li>«The registration certificate of the car»</li><li>«A proof of address that is not older than three months»</li></ol><h2>«3. Fees»</h2><p>«A permit costs 84 for one year and is not refunded if you move away.» «Holders of a disability badge pay nothing.»</p><h2>«4. Processing time»</h2><p>«The office decides within ten working days of receiving all documents.»</p>""",
    ),
    Content(
        "event",
        classed,
        "Organ night at St Olave",
        """<h1>«Organ night at St Olave»</h1><dl class="event-details"><dt>When</dt><dd>«Saturday, 14 November 2026, 20:00»</dd><dt>Where</dt><dd>«St Olave, Priory Lane 2»</dd><dt>Tickets</dt><dd>«£12, free for under 18s, at the door only»</dd></dl><p>«Four organists play one hour each, from Buxtehude to a first performance by Liv Aune.»</p><h2>«Programme»</h2><ul><li>«20:00 Toccatas of the north»</li><li>«21:00 The French symphonists»</li><li>«22:00 New music for old pipes»</li></ul>""",
    ),
    Content(
        "job",
        app,
        "Hydrologist (m/f/d) - Careers",
        """<h1>«Hydrologist for flood forecasting»</h1><p>«You keep the models running that warn forty thousand people when the river rises.»</p><h2>«Your tasks»</h2><ul><li>«Calibrate rainfall-runoff models for nine catchments»</li><li>«Take turns on call between October and April»</li></ul><h2>«What you bring»</h2><ul><li>«A degree in hydrology, geography or physics»</li><li>«Patience with sensors that fail at night»</li></ul><p>«The salary follows grade E12, and the position can be shared by two people.»</p>""",
    ),
    Content(
        "paper",
        semantic,
        "On the drift of cheap clocks",
        """<article><h1>«On the drift of cheap clocks»</h1><p class="authors">J. Okafor, M. Brandt</p><section><h2>«Abstract»</h2><p>«We compare the drift of forty quartz clocks over two winters and find that temperature explains most of it.»</p></section><section><h2>«1 Model»</h2><p>«The offset after a time t is <math alttext="x(t) = x_0 + y t + \\frac{1}{2} D t^2"><mi>x</mi></math>, where D is the ageing rate.»</p><table><caption>«Table 1: drift by group»</caption><tr><th>Group</th><th>n</th><th>Drift (s/month)</th></tr><tr><td>«indoor»</td><td>«22»</td><td>«3.1»</td></tr><tr><td>«outdoor»</td><td>«18»</td><td>«11.7»</td></tr></table></section><section><h2>«2 Discussion»</h2><p>«Clocks from the same batch do not drift alike, which contradicts an assumption that is often made.»</p></section></article>""",
    ),
    Content(
        "press-release",
        bare,
        "Brightwater opens second plant",
        """<header class="hero"><h1>«Brightwater opens second plant»</h1></header><nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li></ul></nav><main><p>«Brightwater AG today opened its second membrane plant in Oskarshamn.»</p><p>«The plant employs 140 people and produces enough membrane each day for a town of twenty thousand.»</p><p>«“We could have built it elsewhere for less, and would have regretted it,” said chief executive Pia Holt.»</p></main><footer>⟦Media contact only, no enquiries from private persons please.⟧</footer>""",
    ),
    Content(
        "link-directory",
        bare,
        "Links for bell ringers",
        """<h1>«Links for bell ringers»</h1><ul><li><a href="https://a.example/">«Tower finder for the southern counties»</a></li><li><a href="https://b.example/">«Method library with printable diagrams»</a></li><li><a href="https://c.example/">«Rope splicing for beginners»</a></li><li><a href="https://d.example/">«Weekly quarter peal records»</a></li><li><a href="https://e.example/">«Simulator software and sensors»</a></li></ul>""",
    ),
    Content(
        "dashboard",
        hashed,
        "River levels today",
        """<h1>«River levels today»</h1><p>«Levels in centimetres above gauge zero, updated every fifteen minutes.»</p><table><thead><tr><th>Gauge</th><th>Level</th><th>Trend</th></tr></thead><tbody><tr><td>«Upper mill»</td><td>«143»</td><td>«rising»</td></tr><tr><td>«Ferry bridge»</td><td>«287»</td><td>«steady»</td></tr><tr><td>«Old quay»</td><td>«412»</td><td>«falling»</td></tr></tbody></table><p>«The warning level at the old quay is 450.»</p>""",
    ),
    Content(
        "mail-archive",
        bare,
        "[dev] Re: dropping the old parser",
        """<h1>«[dev] Re: dropping the old parser»</h1><b>Lena Fors</b> <i>Tue Oct 13 2026</i><pre>«On Monday Karl wrote:»
&gt; «Nobody has used the old parser since version 2.»

«The import job of the museum still does, it breaks on nested notes otherwise.»
«I can port it in November if somebody reviews the patch.»
</pre>""",
    ),
    Content(
        "streamed",
        streamed,
        "Why we left the cloud",
        """<h1>«Why we left the cloud»</h1><p>«Our bill doubled twice while our traffic did not.»</p><p>«Three used servers in a rack down the road now do the same work for a ninth of the price.»</p><p>«The hardest part was not the move but finding out what we were running.»</p>""",
    ),
    Content(
        "prerendered-hidden",
        hidden_at_first,
        "Opening hours of the ice rink",
        """<h1>«Opening hours of the ice rink»</h1><p>«The rink is open every day from the first of November to the last of March.»</p><p>«Skates can be hired in all sizes from 24 to 50 and are sharpened on Mondays.»</p><p>«Evenings after eight belong to the hockey club, except during the school holidays.»</p>""",
        stage="hidden",
    ),
    Content(
        "fading",
        fading,
        "The lake house",
        """<h1>«The lake house»</h1><p style="opacity: 0; transform: translateY(20px)">«Six rooms under one roof of reed, each with a stove and a view of the water.»</p><p>«Breakfast is served until noon, and the boats are free for guests.»</p><p>«From the station a bus leaves every hour, and the last one waits for the evening train.»</p>""",
    ),
    Content(
        "metadata-only",
        metadata_only,
        "Owl returns to the quarry",
        """«The eagle owl has returned to the quarry after sixty years.»

«A ranger photographed a pair with two young in May.»

«The site stays closed to climbers until the end of August, and walkers are asked to keep to the upper path.»""",
        stage="data",
    ),
    Content(
        "statute",
        loose,
        "Act on the keeping of bees",
        """<h1>«Act on the keeping of bees»</h1><p>«This act applies to every hive within the bounds of a village.»</p>
<ol><li>«A keeper shall register each hive»<ol type="a"><li>«before the first of March;»</li><li>«after moving it, except»<ol type="i"><li>«within the same holding;»</li><li>«for less than three days.»</li></ol></li></ol></li>
<li value="7">«The register is kept by the parish clerk.»</li></ol>""",
    ),
    Content(
        "glossary",
        loose,
        "Words of the weaver",
        """<h1>«Words of the weaver»</h1><dl><dt>«Warp»<dd>«The threads that are held under tension.»<dt>«Weft»<dt>«Woof»<dd>«The thread that is drawn through them.»<dd>«In some valleys, the shuttle itself.»</dl>
<details><summary><h2>«Why is it called a heddle?»</h2></summary><p>«Nobody knows, but the word is older than the loom it hangs in.»</p></details>
<form action="/ask"><fieldset><legend>«Ask the weaver»</legend><p>«Questions are answered on the first Sunday of the month.»</p><select><option>⟦Choose a country from this list of countries.⟧</option></select></fieldset></form>""",
    ),
    Content(
        "compare-spans",
        loose,
        "Three stoves compared",
        """<h1>«Three stoves compared»</h1><table><thead><tr><th rowspan="2">Stove<th colspan="2">Heat<tr><th>low<th>high</thead>
<tbody><tr><td rowspan="2">«Number one, of cast iron»<td>«two hours on birch»<td>«four hours on beech»<tr><td>«one hour on spruce»<td>«not to be used»<tr><td>«Number two»<td colspan="2"><pre>«light(top)»
«  wait(10)»</pre></table>
<table class="highlight"><tr><td class="gutter"><pre>1
2</pre></td><td class="code"><pre>«open(damper)»
«shut(door)»</pre></td></tr></table>""",
    ),
    Content(
        "short-divs",
        bare,
        "Town notices",
        """<div class="k1"><div><a href="/">⟦Notices of the whole year⟧</a></div><div><a href="/b">⟦Meetings of the council⟧</a></div><div><a href="/c">⟦Where to find us⟧</a></div></div>
<div class="k2"><div class="k3">«Works on Mill Lane»</div><div class="k4">«Mill Lane is closed from Tuesday.»</div><div class="k4">«Walkers may pass on the north side, but not between eight and noon, when the crane is in the road.»</div><div class="k4">«Buses go by the quay.»</div><div class="k4">«The baker is open as usual, and asks for patience, for his flour has to be carried from the square.»</div></div>""",
    ),
    Content(
        "noscript",
        unscripted,
        "The ferry in winter",
        """<article><h1>«The ferry in winter»</h1><p>«From November the ferry leaves on the hour and not at the half.»</p><p>«If the lake is frozen, a sledge takes the mail and no more than two passengers.»</p><ul><li>«Tickets are sold on board.»</li><li>«Dogs travel free.»</li></ul></article>""",
        stage="noscript",
    ),
    Content(
        "accelerated",
        accelerated,
        "How a lock works",
        """<h1>«How a lock works»</h1><p>«A lock is a box of water with a door at each end, and never more than one of them is open.»</p><amp-img src="/lock.jpg" alt="«A barge between two gates»" width="4" height="3"></amp-img><amp-accordion><section><h2>«Who turns the crank?»</h2><p>«Whoever comes first, and most are proud of it.»</p></section></amp-accordion>""",
    ),
    Content(
        "app-shell",
        shell,
        "Board - Kanbanic",
        "",
        stage="shell",
    ),
)
