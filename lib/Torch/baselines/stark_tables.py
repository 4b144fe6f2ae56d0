"""Records -> Markdown: what each variant is over eager, by level and method."""
import math

from stark_measure import VARIANTS
from stark_records import MACHINE
from stark_timing import mean_of, quantile

# method -> the figure that is compared
METHODS = {"kernelbench": "mean_ms", "stark": "median_ms"}


def time_of(record, method):
    """None where there is none to compare with."""
    if record is None or record["outcome"] != "ok" or record.get("agrees") is False:
        return None
    return record[method][METHODS[method]] or None


def row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def table(head, rows):
    return row(*head) + "|---" + "|--:" * (len(head) - 1) + "|\n" + "".join(row(*cells) for cells in rows)


def ratios(tasks, variant, method):
    """Of the tasks that have both."""
    found = []
    for records in tasks:
        eager, ours = time_of(records.get("eager"), method), time_of(records.get(variant), method)
        if eager and ours:
            found.append(eager / ours)
    return found


def summary_rows(tasks):
    for variant in VARIANTS:
        records = [r[variant] for r in tasks if variant in r]
        if not records or variant == "eager":
            continue
        good = sum(r["outcome"] == "ok" for r in records)
        apart = sum(r["outcome"] == "ok" and r.get("agrees") is False for r in records)
        for method in METHODS:
            values = ratios(tasks, variant, method)
            cells = ["-"] * 4
            if values:
                geometric = math.exp(mean_of([math.log(v) for v in values]))
                fast = sum(v >= 1 for v in values) / len(values)
                cells = [f"{mean_of(values):.3f}", f"{quantile(values, 0.5):.3f}", f"{geometric:.3f}", f"{100 * fast:.1f} %"]
            yield [variant, method, f"{good} of {len(records)}", str(apart), str(len(values)), *cells]


def cell(record):
    if record is None:
        return ""
    if record["outcome"] != "ok":
        return record["outcome"]
    return f"{record['stark']['median_ms']:.4g}" + (" (differs)" if record.get("agrees") is False else "")


def machine_title(machine):
    words = [machine.get("gpu") or machine.get("processor") or machine.get("device")]
    words += [f"{name} {machine[name]}" for name in MACHINE[3:] if name != "processor" and machine.get(name)]
    return ", ".join(str(word) for word in words)


def grouped(records, of):
    groups = {}
    for record in records:
        groups.setdefault(of(record), []).append(record)
    return groups


def natural(name):
    """2_x before 10_x."""
    head = name.split("_")[0]
    return (int(head) if head.isdigit() else math.inf, name)


def level_text(level, records):
    by_task = {task: {r["variant"]: r for r in of_task} for task, of_task in grouped(records, lambda r: r["task"]).items()}
    names = sorted(by_task, key=natural)
    tasks = [by_task[name] for name in names]
    text = f"\n### {level}: {len(tasks)} task{'s' * (len(tasks) != 1)}\n\n"
    head = ["variant", "method", "ok", "differ", "compared", "mean", "median", "geometric mean", "at least as fast"]
    rows = list(summary_rows(tasks))
    if rows:
        text += "Speed over eager's:\n\n" + table(head, rows) + "\n"
    shown = [v for v in VARIANTS if any(v in r for r in tasks)]
    text += "Medians by the method `stark`, in ms:\n\n"
    text += table(["task", *shown], [[name, *(cell(by_task[name].get(v)) for v in shown)] for name in names])
    reasons = sorted({(r["task"], r["variant"], r["outcome"], r["why"]) for r in records if r["outcome"] != "ok"},
                     key=lambda reason: (natural(reason[0]), reason))
    if reasons:
        text += "\n" + "".join(f"* {task}, {variant}: {outcome}: {why}\n" for task, variant, outcome, why in reasons)
    return text


def markdown(records):
    text = "# Baselines of PyTorch\n"
    for title, of_machine in grouped(records, lambda r: machine_title(r["machine"])).items():
        text += f"\n## {title}\n"
        clocks = {r["clock"] for r in of_machine if "clock" in r}
        if "wall" in clocks:
            text += "\nTaken on the CPU by the wall clock; nothing is flushed.\n"
        for level, of_level in sorted(grouped(of_machine, lambda r: r["level"]).items()):
            text += level_text(level, of_level)
    return text
