"""Writes C++ of 451 lines with a function of 82 lines and one of 80."""
body = ['  puts("}}{{ // no end");', "  char C = '}'; /* } */", '  auto F = [] { return R"(})"; };']
longest = ["template <typename T>", "void A::longest(T X) noexcept {"] + body + ["  ;"] * 76 + ["}"]
fits = ["static int fits(int X) {"] + ["  ;"] * 78 + ["}"]
table = ["const int Table[] = {"] + ["  1,"] * 100 + ["};"]
lines = ["namespace {", "#define OPEN {"] + longest + fits + table
print("\n".join(lines + ["// }"] * (450 - len(lines)) + ["} // namespace"]))
