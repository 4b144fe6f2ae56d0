"""sarif.py FILE LINES: holds what is in FILE against the rules of SARIF 2.1.0
that its readers rely on; LINES is how long the source is. Prints each result's
rule and regions."""
import json
import sys

with open(sys.argv[1]) as f:
    log = json.load(f)
lines = int(sys.argv[2])
assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
assert len(log["runs"]) == 1
for run in log["runs"]:
    driver = run["tool"]["driver"]
    assert driver["name"] == "stark"
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules))
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"].endswith(".")
        assert rule["defaultConfiguration"]["level"] in ("note", "warning", "error")
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error") and result["message"]["text"]
        seen = []
        for place in result["locations"]:
            physical = place["physicalLocation"]
            uri = physical["artifactLocation"]["uri"]
            assert not uri.startswith("/") and ":" not in uri, uri
            region = physical.get("region")
            if region:
                assert 1 <= region["startLine"] <= region["endLine"] <= lines, region
                seen.append(f"{region['startLine']}-{region['endLine']}")
        for place in result.get("relatedLocations", []):
            assert place["physicalLocation"]["artifactLocation"]["uri"].startswith("candidates/")
            assert place["message"]["text"] and place["id"] >= 0
        print(result["ruleId"], uri, *seen)
