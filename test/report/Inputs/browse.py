"""browse.py PAGE.html [RUN] [--screens FOLDER]: opens a report in headless Chromium, wide and
narrow, light and dark; follows every link, also into the pages beside it. Fails
on a message of the console, a request that is not for a file, a link that leads
nowhere, a page wider than the window, a script of a quoted text that ran, what
has no name, no visible focus, too little contrast to be read, or a label that
another one or a line lies on. With RUN, what the page says is held against the run's journal."""
import argparse
import base64
import json
import os
import sys
import urllib.parse
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

arguments = argparse.ArgumentParser()
arguments.add_argument("page")
arguments.add_argument("run", nargs="?")
arguments.add_argument("--screens")
A = arguments.parse_args()
problems = []


def start():
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--disable-background-networking", "--no-first-run"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def show(path, width, scheme):
    """The page at a width, in a colour scheme; its problems are noted."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.get("file://" + os.path.abspath(path))
    where = f"{os.path.basename(path)} at {width}, {scheme}"
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    if wide > width:
        problems.append(f"{where}: is {wide} wide")
    if browser.execute_script("return window.bad"):
        problems.append(f"{where}: ran what it quotes")
    for entry in browser.get_log("browser"):
        problems.append(f"{where}: console: {entry['message']}")
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith("file://"):
                problems.append(f"{where}: asks for {url}")
    if A.screens:
        height = min(4000, browser.execute_script("return document.documentElement.scrollHeight"))
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {
            "x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
        name = f"{os.path.basename(path)}-{width}-{scheme}.png"
        with open(os.path.join(A.screens, name), "wb") as file:
            file.write(base64.b64decode(shot["data"]))


def follow(path, seen):
    """Every link of a page, and of those that it links to."""
    seen.add(os.path.abspath(path))
    show(path, 1280, "light")
    links, ids = browser.execute_script(
        "return [[...new Set([...document.querySelectorAll('[href]')].map(a => a.getAttribute('href')))],"
        "        [...document.querySelectorAll('[id]')].map(e => e.id)]")
    if len(ids) != len(set(ids)):
        problems.append(f"{path}: an id is there twice")
    beside = []
    for link in links:
        if link.startswith("#"):
            if link[1:] not in ids:
                problems.append(f"{path}: {link} leads nowhere")
            continue
        target = os.path.join(os.path.dirname(path), urllib.parse.unquote(link))
        if not os.path.exists(target):
            problems.append(f"{path}: {link} leads nowhere")
        elif os.path.abspath(target) not in seen:
            beside.append(target)
    for tag in ("script", "style"):
        if browser.execute_script(f"return document.querySelectorAll('{tag}').length") != 1:
            problems.append(f"{path}: more than one <{tag}>")
    if browser.execute_script("return document.querySelectorAll('iframe,img,link,object,form,[onload],[onerror]').length"):
        problems.append(f"{path}: has an element that loads or runs something")
    for target in beside:
        follow(target, seen)
    return links


# What readers with a screen reader, with keys alone, or with weak eyes need. Each
# problem once.
ACCESS = r"""
const problems = new Set();
const say = (what, e) => problems.add(what + ': <' + e.tagName.toLowerCase() + ' class="' + (e.getAttribute('class') || '') +
  '"> ' + (e.textContent || '').trim().slice(0, 40));
document.querySelectorAll('details').forEach(d => { d.open = true; });
let level = 0;
document.querySelectorAll('h1,h2,h3,h4,h5,h6').forEach(h => {
  const own = Number(h.tagName[1]);
  if (own > level + 1) say('a heading skips a level', h);
  level = own;
});
if (document.querySelectorAll('h1').length !== 1) problems.add('not one <h1>');
if (!document.documentElement.lang || !document.title) problems.add('no language or title');
const nameOf = e => (e.getAttribute('aria-label') || e.textContent || '').trim();
const focusable = document.querySelectorAll('a[href],button,summary,[tabindex]');
focusable.forEach(e => { if (!nameOf(e)) say('has no name', e); });
document.querySelectorAll('[role=img],[role=region],[role=group],nav').forEach(e => {
  if (!(e.getAttribute('aria-label') || '').trim()) say('has a role and no label', e);
});
document.querySelectorAll('svg:not([role]):not([aria-hidden])').forEach(e => say('is a picture for no one', e));
document.querySelectorAll('[role=img] a').forEach(e => say('is a link inside a picture', e));
document.querySelectorAll('th').forEach(e => {
  if (!e.textContent.trim()) say('heads nothing', e);
  if (!e.scope) say('has no scope', e);
});
document.querySelectorAll('[aria-labelledby]').forEach(e => {
  if (!document.getElementById(e.getAttribute('aria-labelledby'))) say('is labelled by nothing', e);
});
// What may scroll is what a rule lets scroll.
const scrolling = rules => [...rules].flatMap(r => r.cssRules && r.cssRules.length ? scrolling(r.cssRules) :
  r.style && /auto|scroll/.test(r.style.overflow + r.style.overflowX + r.style.overflowY) ? [r.selectorText] : []);
const mayScroll = ['textarea', '[style*=overflow]', ...[...document.styleSheets].flatMap(s => scrolling(s.cssRules))].join();
document.querySelectorAll(mayScroll).forEach(e => {
  const style = getComputedStyle(e);
  const scrolls = (/auto|scroll/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1) ||
    (/auto|scroll/.test(style.overflowY) && e.scrollHeight > e.clientHeight + 1);
  if (scrolls && e.tabIndex < 0 && e !== document.documentElement && e !== document.body)
    say('scrolls, and keys do not get there', e);
});
const seen = new Set();
focusable.forEach(e => {
  const kind = e.tagName + '.' + (e.getAttribute('class') || '') + (e.ownerSVGElement ? e.parentNode.parentNode.getAttribute('class') : '');
  if (seen.has(kind)) return;
  seen.add(kind);
  e.focus({focusVisible: true});
  const hit = e.querySelector('.hit'), style = getComputedStyle(e);
  const shown = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) ||
    (hit && getComputedStyle(hit).stroke !== 'none');
  if (document.activeElement !== e) say('takes no focus', e);
  else if (!shown) say('does not show its focus', e);
});
document.querySelectorAll('svg').forEach(svg => {
  const texts = [...svg.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()]).filter(([, r]) => r.width);
  texts.forEach(([t, r], i) => texts.slice(i + 1).forEach(([, s]) => {
    if (Math.min(r.right, s.right) - Math.max(r.left, s.left) > 1 &&
        Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > 3) say('lies on another label', t);
  }));
  svg.querySelectorAll('path.edge,path.roof,path.best').forEach(line => {
    const toScreen = line.getScreenCTM(), whole = line.getBoundingClientRect();
    const near = texts.filter(([, r]) => r.right > whole.left && r.left < whole.right && r.bottom > whole.top && r.top < whole.bottom);
    if (!near.length) return;
    for (let at = 0; at < line.getTotalLength(); at += 2) {
      const p = line.getPointAtLength(at).matrixTransform(toScreen);
      near.forEach(([t, r]) => {
        if (p.x > r.left && p.x < r.right && p.y > r.top + 2 && p.y < r.bottom - 2) say('has a line through it', t);
      });
    }
  });
});
const rgb = text => {
  const m = text.match(/[\d.]+/g);
  return m && m.length >= 3 ? m.map(Number) : null;
};
const light = c => {
  const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
  return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]);
};
const behind = e => {
  for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    if (c && (c.length < 4 || c[3] > 0)) return c;
  }
  return [255, 255, 255];
};
const known = new Set(), looked = new Map(); // looked at, by the parent: what has one tag and class there
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const e = walker.currentNode.parentElement;
  const kinds = looked.get(e.parentElement) || new Set(), kind = e.tagName + '.' + (e.getAttribute('class') || '');
  looked.set(e.parentElement, kinds);
  if (!walker.currentNode.data.trim() || kinds.has(kind) || /SCRIPT|STYLE|title/.test(e.tagName) || !e.getClientRects().length) continue;
  kinds.add(kind);
  const style = getComputedStyle(e), svg = e.ownerSVGElement;
  const front = rgb(svg ? style.fill : style.color), back = behind(e);
  if (!front) continue;
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
  const key = [front, back, large].join();
  if (known.has(key)) continue;
  known.add(key);
  const a = light(front) + 0.05, b = light(back) + 0.05, ratio = Math.max(a, b) / Math.min(a, b);
  if (ratio < (large ? 3 : 4.5)) say('has a contrast of ' + ratio.toFixed(2), e);
}
if (!known.size) problems.add('no text was looked at');
document.querySelectorAll('details').forEach(d => { d.open = false; });
return [...problems].slice(0, 20);
"""


def look_as_others_do(where):
    for problem in browser.execute_script(ACCESS):
        problems.append(f"{where}: {problem}")


def hold_against_journal(path, folder):
    """Attempts, winner and intervals are those of the journal."""
    events = [json.loads(line) for line in open(os.path.join(folder, "journal.jsonl"), encoding="utf-8")]
    browser.get("file://" + os.path.abspath(path))
    text = browser.execute_script("return document.body.innerText")
    rows = browser.execute_script(
        "return [...document.querySelectorAll('#attempts tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim()))")
    nodes = [e["body"] for e in events if e["event"] == "node"]
    if len(rows) != len(nodes):
        problems.append(f"{len(rows)} rows for {len(nodes)} nodes")
    if browser.execute_script("return document.querySelectorAll('article.node').length") != len(nodes):
        problems.append("not a section for each node")
    for node, row in zip(nodes, rows):
        if row[0] != str(node["node"]) or node["verdict"] not in row[3]:
            problems.append(f"node {node['node']}: the row says {row}")
    end = [e["body"] for e in events if e["event"] == "end"]
    if not end or end[0]["winner"] < 0:
        return
    judged = [e["body"] for e in events if e["event"] == "verdict" and e["body"]["node"] == end[0]["winner"]]
    product = 1.0
    timings = judged[-1]["verdict"]["timings"]
    for timing in timings:
        product *= timing["speedup"]
        if timing["label"] not in text:
            problems.append(f"{timing['label']} is not in the page")
        low, high = timing["speedup_low"], timing["speedup_high"]
        digits = 1 if low >= 10 else 2 if low >= 2 else 3
        if f"{low:.{digits}f} to {high:.{digits}f}" not in text:
            problems.append(f"the interval {low} to {high} is not in the page")
    overall = product ** (1 / len(timings))
    shown = f"{overall:.{1 if overall >= 10 else 2}f}"
    headline = browser.execute_script("return document.querySelector('h1').innerText")
    if f" {shown} times" not in headline:
        problems.append(f"the headline '{headline}' does not say {shown}")
    if not any(row[0] == str(end[0]["winner"]) for row in rows):
        problems.append("the winner has no row")
    if f"{len(nodes) - 1} attempt" not in text.replace(",", ""):
        problems.append("the count of attempts is not in the page")


browser = start()
try:
    pages = set()
    follow(A.page, pages)
    for page in sorted(pages):
        for width, scheme in ((1280, "dark"), (420, "light"), (420, "dark")):
            show(page, width, scheme)
            if width == 420:
                look_as_others_do(f"{page} at {width}, {scheme}")
    show(A.page, 420, "dark")
    if A.run:
        hold_against_journal(A.page, A.run)
    # An address opens what it points into, when the page is loaded again and
    # on the way back, too; one that is none does nothing.
    shares = browser.execute_script("return [...document.querySelectorAll('details[id]')].map(d => d.id)")
    if len(shares) > 1:
        opened = "return document.getElementById(arguments[0]).open"
        browser.execute_script("location.hash = arguments[0]", shares[0])
        browser.execute_script("location.hash = arguments[0]", shares[-1])
        browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = false; })")
        browser.back()
        if not browser.execute_script(opened, shares[0]):
            problems.append("an address does not open its part on the way back")
        browser.refresh()
        if not browser.execute_script(opened, shares[0]):
            problems.append("an address does not open its part when the page is loaded again")
        browser.execute_script("location.hash = '%zz'")
    # Sorting, keys and addresses do what the page says of them.
    if browser.execute_script("return document.querySelectorAll('table.sortable th button').length"):
        browser.execute_script("document.querySelector('table.sortable th button').click()")
        if browser.execute_script("return document.querySelector('table.sortable th').getAttribute('aria-sort')") != "ascending":
            problems.append("a table does not sort")
    if browser.execute_script("return document.querySelectorAll('article.node').length > 1"):
        browser.execute_script("location.hash = 'node-0'")
        browser.execute_script("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}))")
        if browser.execute_script("return location.hash") != "#node-1":
            problems.append("the key j does not go on")
    for entry in browser.get_log("browser"):
        problems.append(f"console: {entry['message']}")
finally:
    browser.quit()
for problem in problems:
    print(problem[:400])
print(f"{len(pages)} pages, {len(problems)} problems")
sys.exit(bool(problems))
