//===- Nodes.cpp - One attempt after the other ----------------------------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
///   instruction, anchors in the base, diff against the parent, verdict,
/// counters, what was shown to whom, replies
/// Each stands behind a heading that opens it, with an address of its own. What
/// would make the page too large is cut, and said with the file that has it.
///
//===----------------------------------------------------------------------===//

#include "CodeDiff.h"
#include "Sections.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace stark;

const char *stark::madeBy(const RunFacts &R, unsigned Node) {
  if (Node == 0)
    return "source";
  if (R.node(Node).FromDebug)
    return "debug";
  if (R.node(Node).Tuned)
    return "tune";
  return R.Run.Identity.Options.Agents == AgentsKind::Single ? "single"
                                                             : "plan";
}

std::string stark::titleOf(const RunFacts &R, unsigned Node) {
  if (Node == 0)
    return "the source";
  size_t Cut = 0;
  llvm::StringRef Title = R.node(Node).Given.Title;
  std::string Text = headOf(Title, 160, Cut).str();
  if (Cut)
    Text += " ...";
  return Text.empty() ? "(no title)" : Text;
}

namespace {
class NodeSection {
public:
  /// \p Allowed bytes of texts of this node's.
  NodeSection(HtmlWriter &W, const RunFacts &R, unsigned Number, size_t Allowed)
      : W(W), R(R), N(R.node(Number)), Number(Number), Left(Allowed) {}

  void write() {
    W.open("article", {{"class", "node"},
                       {"id", "node-" + std::to_string(Number)},
                       {"aria-labelledby", id("title")}})
        .line();
    writeHead();
    // Of thousands, even the headings would be too long.
    constexpr size_t Headings = 1500;
    if (Number && !R.OnPath[Number] && Left < Headings) {
      W.element("p", {{"class", "cut"}},
                "Left out for want of room: `stark-tool show RUN " +
                    std::to_string(Number) + "` has it.");
      W.close().line();
      return;
    }
    if (Number)
      writeInstruction();
    writeFound();
    writeCounters();
    if (Number)
      writeChange();
    else
      writeSource();
    writeShown();
    writeReplies();
    W.close().line();
  }

private:
  std::string id(const char *Part) const {
    return "node-" + std::to_string(Number) + "-" + Part;
  }
  const RecordedAttempt *attempt() const {
    return R.AttemptOf[Number] < 0
               ? nullptr
               : &R.Run.Attempts[size_t(R.AttemptOf[Number])];
  }
  size_t take(size_t Bytes) {
    size_t Taken = std::min(Bytes, Left);
    Left -= Taken;
    return Taken;
  }
  void openPart(const char *Part, llvm::StringRef Heading, bool Opened) {
    if (Opened)
      W.open("details", {{"id", id(Part)}, {"open", ""}});
    else
      W.open("details", {{"id", id(Part)}});
    W.element("summary", {}, Heading).line();
  }
  /// As it is, as far as there is room.
  void writeText(llvm::StringRef Text, llvm::StringRef Where) {
    size_t Cut = 0;
    llvm::StringRef Head = headOf(Text, take(Text.size()), Cut);
    W.preformatted(Head);
    if (Cut)
      W.element("p", {{"class", "cut"}},
                grouped(Cut) + " bytes more are left out here" +
                    (Where.empty() ? "." : "; " + Where.str() + " has them."));
    W.line();
  }

  void writeHead();
  void writeInstruction();
  void writeFound();
  void writeCounters();
  void writeChange();
  void writeSource();
  void writeShown();
  void writeReplies();

  HtmlWriter &W;
  const RunFacts &R;
  const Node &N;
  const unsigned Number;
  size_t Left;
};
} // namespace

void NodeSection::writeHead() {
  W.open("h3", {{"id", id("title")}});
  writeInlineMark(W, N, R.Result && Number == R.Result);
  W.text("Node " + std::to_string(Number) + ": " + titleOf(R, Number) + " ");
  W.element("span", {{"class", "num"}}, outcomeOf(N)).text(" ");
  W.element("a",
            {{"class", "share"},
             {"href", nodeAddress(Number)},
             {"aria-label", "Link to node " + std::to_string(Number)}},
            "#");
  W.close().line();
  W.open("p", {{"class", "facts"}});
  W.text(std::string("By ") + madeBy(R, Number));
  if (const RecordedAttempt *A = attempt(); A && A->Select)
    W.text(" in attempt " + std::to_string(A->Select->Attempt) +
           ", chosen as " + A->Select->Chosen.Reason);
  if (N.Parent >= 0) {
    W.text("; from ");
    writeNodeLink(W, unsigned(N.Parent));
  }
  if (!N.Children.empty()) {
    W.text("; led to ");
    for (size_t I = 0; I < N.Children.size(); ++I) {
      W.text(I ? ", " : "");
      writeNodeLink(W, N.Children[I]);
    }
  }
  if (N.SameAs >= 0) {
    W.text("; the same tokens as ");
    writeNodeLink(W, unsigned(N.SameAs));
  }
  W.close().line();
}

void NodeSection::writeInstruction() {
  if (N.Given.Advice.empty() && N.Given.Anchors.empty())
    return;
  openPart("instruction", "Instruction", false);
  if (!N.Given.Advice.empty())
    writeText(N.Given.Advice, "journal.jsonl");
  if (!N.Given.Anchors.empty() && N.Base >= 0 && N.Base < int(Number)) {
    W.open("p").text("What it allows to change, in node ");
    writeNodeLink(W, unsigned(N.Base));
    W.text(":").close().line();
    writeAnchors(W, R.code(unsigned(N.Base)), N.Given.Anchors, take(24000));
  }
  W.close().line();
}

void NodeSection::writeFound() {
  const Verdict &V = N.Found;
  openPart("verdict", ("Verdict: " + verdictName(V.Kind)).str(), true);
  if (V.correct() && !V.Timings.empty()) {
    W.openScroll("Times of node " + std::to_string(Number));
    W.open("table", {{"class", "tight"}});
    W.open("thead").open("tr");
    for (const char *Head : {"size", "source µs", "quartiles", "this µs",
                             "quartiles", "samples", "times as fast", "95 %"})
      W.element("th", {{"scope", "col"}}, Head);
    W.close().close().open("tbody").line();
    for (const job::Timing &T : V.Timings) {
      W.open("tr").element("th", {{"scope", "row"}}, T.Label);
      for (const std::string &Cell :
           {fixed(T.SourceMedianUs, 2), fixed(T.SourceIqrUs, 2),
            fixed(T.MedianUs, 2), fixed(T.IqrUs, 2), grouped(T.Samples),
            fixed(T.Speedup, 3),
            fixed(T.SpeedupLow, 3) + " to " + fixed(T.SpeedupHigh, 3)})
        W.element("td", {}, Cell);
      W.close().line();
    }
    W.close().close().close().line();
    W.element("p", {{"class", "note"}},
              "Medians, " + howTaken(V) + "; quartiles: their distance.");
  }
  if (!V.Run.empty() && !(V.correct() && !V.Timings.empty())) {
    W.element("h4", {}, "What the judge says");
    writeText(V.Run, "journal.jsonl");
  }
  if (!V.Compiler.empty()) {
    W.element("h4", {}, "What the compiler says");
    writeText(V.Compiler, "journal.jsonl");
  }
  if (V.Counted) {
    W.element("h4", {}, "What the GPU's counters say");
    writeText(V.Counted->Text.empty() ? V.Counted->Problem : V.Counted->Text,
              "journal.jsonl");
  }
  if (V.correct() && !V.Run.empty() && !V.Timings.empty()) {
    W.open("details").element("summary", {}, "The judge's own words");
    writeText(V.Run, "journal.jsonl");
    W.close();
  }
  W.close().line();
}

void NodeSection::writeCounters() {
  const RecordedAttempt *A = attempt();
  if (!A || !A->Found)
    return;
  const CountersEvent &E = *A->Found;
  openPart("counters",
           "Counters of node " + std::to_string(E.Node) +
               ", which this was planned for",
           false);
  W.element("p", {{"class", "note"}},
            "Of a simulated GPU, not measured: " + E.Found.Device);
  writeText(E.Found.Text.empty() ? E.Found.Problem : E.Found.Text,
            "journal.jsonl");
  W.close().line();
}

void NodeSection::writeChange() {
  if (N.Text.empty() || N.Parent < 0) {
    W.element("p", {{"class", "note"}}, "No candidate came of it.").line();
    return;
  }
  const Code &Before = R.code(unsigned(N.Parent)), &After = R.code(Number);
  CodeDiff Diff = diffCode(Before, After);
  openPart("change",
           "Change of node " + std::to_string(N.Parent) + ": " +
               grouped(Diff.Added) + " lines added, " + grouped(Diff.Removed) +
               " removed",
           false);
  // Of what is left, as much as the replies after it.
  size_t Room = Left / 2;
  writeDiff(W, Diff, Before, After,
            "Change of node " + std::to_string(N.Parent) + " by node " +
                std::to_string(Number),
            Room, candidateFile(Number));
  size_t Cost = 0;
  for (const DiffRow &Row : Diff.Rows)
    if (Row.Changed)
      Cost += 240;
  take(std::min(Cost, Room));
  W.close().line();
}

void NodeSection::writeSource() {
  openPart("source", "Source, " + grouped(R.code(0).lines()) + " lines", false);
  W.open("table", {{"class", "code"}}).open("colgroup");
  W.empty("col", {{"class", "cn"}}).empty("col").close();
  W.open("tbody").line();
  const Code &Text = R.code(0);
  for (size_t Line = 0; Line < Text.lines(); ++Line) {
    if (!take(2 * std::min<size_t>(Text.line(Line).size(), 1000) + 60)) {
      W.open("tr", {{"class", "gap"}});
      W.element("td", {{"colspan", "2"}},
                grouped(Text.lines() - Line) + " lines more are in " +
                    candidateFile(0));
      W.close();
      break;
    }
    W.open("tr").element("td", {{"class", "n"}}, std::to_string(Line + 1));
    W.open("td", {{"class", "u"}});
    Text.writeLine(W, Line);
    W.close().close().line();
  }
  W.close().close().close().line();
}

void NodeSection::writeShown() {
  const RecordedAttempt *A = attempt();
  if (!A || !A->Select || A->Select->Shown.empty() || A->Replies.empty())
    return;
  openPart("shown", "Prompt: what each agent was shown", false);
  W.open("ul").line();
  for (const ShownTo &S : A->Select->Shown) {
    std::string Role = nameOf(S.Role);
    W.open("li").text("The " + Role + " agent: ");
    W.element("a", {{"href", "#prompt-" + Role}}, "its prompt").text(", ");
    W.element("a", {{"href", "#task"}}, "the task");
    W.text(S.Nodes.size() == 1 ? ", node " : ", nodes ");
    for (size_t I = 0; I < S.Nodes.size(); ++I) {
      W.text(I ? ", " : "");
      // A record may name what there is not.
      if (S.Nodes[I] < R.Run.Nodes.size())
        writeNodeLink(W, S.Nodes[I]);
      else
        W.text(std::to_string(S.Nodes[I]));
    }
    W.close().line();
  }
  W.close();
  W.element("p", {{"class", "note"}},
            "A run keeps the digest of each prompt and the parts that it is "
            "made of, not its text once more.");
  W.close().line();
}

void NodeSection::writeReplies() {
  const RecordedAttempt *A = attempt();
  if (!A)
    return;
  for (size_t I = 0; I < A->Replies.size(); ++I) {
    const ReplyEvent &E = A->Replies[I];
    llvm::Expected<std::string> Text = readReplyText(R.Folder, E);
    std::string Heading = "Reply " + E.Id;
    if (!E.Reply.Model.empty())
      Heading += ", " + E.Reply.Model;
    if (E.Reply.Tokens.Output)
      Heading += ", " + grouped(*E.Reply.Tokens.Output) + " tokens";
    if (E.Reply.WallMs)
      Heading += ", " + fixed(double(E.Reply.WallMs) * 1e-3, 1) + " s";
    openPart(("reply-" + std::to_string(I + 1)).c_str(), Heading, false);
    if (Text)
      writeText(*Text, E.File);
    else
      W.element("p", {{"class", "problem"}},
                "Not shown: " + llvm::toString(Text.takeError()));
    W.close().line();
  }
}

void stark::writeNodes(HtmlWriter &W, const RunFacts &R,
                       llvm::function_ref<size_t()> Written, size_t Limit) {
  W.open("section", {{"id", "nodes"}}).element("h2", {}, "Attempt by attempt");
  W.element("p", {{"class", "note"}},
            "With j and k you go to the next and the one before.");
  if (R.Result) {
    CodeDiff Diff = diffCode(R.code(0), R.code(R.Result));
    W.open("details", {{"id", "change"}, {"class", "whole"}});
    W.element("summary", {},
              "The whole change: source against node " +
                  std::to_string(R.Result))
        .line();
    writeDiff(W, Diff, R.code(0), R.code(R.Result), "The whole change",
              Limit / 8, candidateFile(R.Result));
    W.close().line();
  }
  // What one node leaves of its share, the others may have.
  size_t Nodes = R.Run.Nodes.size(), Weight = 0;
  auto WeightOf = [&](unsigned N) -> size_t { return R.OnPath[N] ? 4 : 1; };
  for (unsigned N = 0; N < Nodes; ++N)
    Weight += WeightOf(N);
  for (unsigned N = 0; N < Nodes; ++N) {
    size_t Room = Limit - std::min(Limit, Written());
    NodeSection(W, R, N, Room / Weight * WeightOf(N) * 7 / 10).write();
    Weight -= WeightOf(N);
  }
  W.close().line();
}
