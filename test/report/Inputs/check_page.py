"""check_page.py PAGE.html ...: holds a report to what it promises without opening it:
no element, attribute or address that loads or runs anything, whatever was
quoted; each link leads somewhere; the policy names the style and the script."""
import base64
import hashlib
import html.parser
import os
import re
import sys
import urllib.parse

TAGS = set("""html head meta title style script body main header section article nav a p br wbr h1 h2 h3 h4 ul ol li div span
b i em strong small code pre table colgroup col thead tbody tr th td figure figcaption details summary svg path circle
rect polygon text""".split())
ATTRIBUTES = set("""lang charset http-equiv content name id class href role aria-label aria-labelledby aria-hidden tabindex
open scope colspan value viewbox width height d cx cy r x y points transform text-anchor""".split())


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.problems, self.ids, self.links, self.raw, self.within = [], [], [], {}, None

    def handle_starttag(self, tag, attributes):
        self.within = tag
        if tag not in TAGS:
            self.problems.append(f"<{tag}> at {self.getpos()}")
        for name, value in attributes:
            if name not in ATTRIBUTES:
                self.problems.append(f"attribute {name} at {self.getpos()}")
            if name == "id":
                self.ids.append(value)
            if name == "href":
                self.links.append(value)
            if name == "content" and "default-src" in value:
                self.policy = value

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_data(self, data):
        if self.within in ("style", "script"):
            self.raw.setdefault(self.within, []).append(data)

    def handle_endtag(self, tag):
        self.within = None

    def unknown_decl(self, data):
        self.problems.append(f"declaration at {self.getpos()}")

    def handle_comment(self, data):
        self.problems.append(f"comment at {self.getpos()}")


for path in sys.argv[1:]:
    data = open(path, "rb").read()
    text = data.decode()  # an error unless it is UTF-8
    page = Page()
    page.feed(text)
    problems = page.problems
    if re.search("[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text):
        problems.append("a character that controls something")
    if len(page.ids) != len(set(page.ids)):
        problems.append("an id is there twice")
    for link in page.links:
        if link.startswith("#"):
            if link[1:] not in page.ids:
                problems.append(f"{link} leads nowhere")
        elif not re.fullmatch("[A-Za-z0-9_./%+-]+", link) or not os.path.exists(os.path.join(os.path.dirname(path), urllib.parse.unquote(link))):
            problems.append(f"link to {link}")
    for tag in ("style", "script"):
        parts = page.raw.get(tag, [])
        digest = base64.b64encode(hashlib.sha256("".join(parts).encode()).digest()).decode()
        if len(re.findall(f"<{tag}", text)) != 1 or f"{tag}-src 'sha256-{digest}'" not in page.policy:
            problems.append(f"not one {tag}, with its digest in the policy")
    if "default-src 'none'" not in page.policy:
        problems.append("the policy allows more than it names")
    print(f"{os.path.basename(path)}: {len(data)} bytes, {len(page.links)} links, {len(problems)} problems", *problems[:10])
    if problems:
        sys.exit(1)
