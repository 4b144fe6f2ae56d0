//===- ProviderConfig.cpp - Roles mapped to providers and models ---------===//
//
// Part of Stark, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "stark/Json/Fields.h"
#include "stark/LLM/Provider.h"
#include "stark/Support/Error.h"
#include "stark/Support/File.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"
#include <map>
#include <nlohmann/json.hpp>

using namespace stark;
using nlohmann::json;

namespace {
/// Each role's requests go to its client.
class RoleClient : public ChatClient {
public:
  using Clients = std::map<std::string, std::shared_ptr<ChatClient>>;
  explicit RoleClient(Clients Roles) : Roles(std::move(Roles)) {}

  llvm::Expected<ChatReply> complete(const ChatRequest &Request,
                                     const CallControl &Control) override {
    ChatClient *Client = clientOf(Request.Role);
    if (!Client)
      return usageError("no provider for the role '" + Request.Role +
                        "'; the configuration has neither it nor 'default'");
    return Client->complete(Request, Control);
  }

  std::optional<WorstCase>
  worstCase(const ChatRequest &Request) const override {
    ChatClient *Client = clientOf(Request.Role);
    return Client ? Client->worstCase(Request) : std::nullopt;
  }

  std::string identity() const override {
    std::string Text;
    for (const auto &[Role, Client] : Roles)
      Text += (Text.empty() ? "" : ", ") + Role + "=" + Client->identity();
    return Text;
  }

private:
  ChatClient *clientOf(const std::string &Role) const {
    auto Found = Roles.find(Role);
    if (Found == Roles.end())
      Found = Roles.find("default");
    return Found == Roles.end() ? nullptr : Found->second.get();
  }

  const Clients Roles;
};

/// Who answers for a role.
struct RoleChoice {
  std::string Provider, Model;
};

struct Configuration {
  std::string ModelsFile;
  std::map<std::string, ProviderSettings> Providers;
  std::map<std::string, RoleChoice> Roles;

  ProviderSettings settingsOf(const RoleChoice &Choice) const;
};

template <class IO> void fields(IO &F, RoleChoice &R) {
  F.required("provider", R.Provider);
  F.optional("model", R.Model);
}

template <class IO> void fields(IO &F, Configuration &C) {
  F.format("version", 1);
  F.optional("models", C.ModelsFile);
  F.optional("providers", C.Providers);
  F.optional("roles", C.Roles);
  F.check(!C.Roles.empty(), "roles",
          "an object of roles: plan, code, debug, draft, default");
  for (const auto &[Role, Choice] : C.Roles)
    if (Role != "plan" && Role != "code" && Role != "debug" &&
        Role != "single" && Role != "draft" && Role != "default")
      F.fail("roles." + Role, "an unknown role",
             "plan, code, debug, single, draft or default");
}
} // namespace

// Found in the record's namespace.
namespace stark {
template <class IO> static void fields(IO &F, ProviderSettings &S) {
  F.required("provider", S.Provider);
  F.optional("base_url", S.BaseUrl);
  F.optional("key", S.KeyVariable);
  // A key itself has no place in a file that is committed.
  if (S.KeyVariable.find_first_not_of(
          "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos)
    F.fail("key", "something else (not shown)",
           "the name of an environment variable, in capitals");
  F.optional("connect_ms", S.ConnectMs);
  F.optional("first_byte_ms", S.FirstByteMs);
  F.optional("idle_ms", S.IdleMs);
  F.optional("total_ms", S.TotalMs);
  F.optional("tries", S.Retry.Tries);
  F.check(S.Retry.Tries >= 1 && S.Retry.Tries <= 100, "tries", "1 to 100");
  F.optional("retry_total_ms", S.Retry.TotalMs);
  F.optional("first_pause_ms", S.Retry.FirstMs);
}
} // namespace stark

/// The settings of that name, else a provider of the table of models.
ProviderSettings Configuration::settingsOf(const RoleChoice &Choice) const {
  ProviderSettings S;
  S.Provider = Choice.Provider;
  if (auto Found = Providers.find(Choice.Provider); Found != Providers.end())
    S = Found->second;
  S.Model = Choice.Model;
  return S;
}

static llvm::Expected<Configuration> readConfiguration(llvm::StringRef File) {
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  json Root = json::parse(*Text, nullptr, false);
  if (Root.is_discarded())
    return usageError("'" + File + "': is not JSON; wanted a configuration");
  Configuration C;
  if (std::string Problem = readFields(Root, File.str(), "", C);
      !Problem.empty())
    return usageError(Problem);
  // Beside the configuration, wherever the program was started.
  if (!C.ModelsFile.empty() && !llvm::sys::path::is_absolute(C.ModelsFile)) {
    llvm::SmallString<128> Path(llvm::sys::path::parent_path(File));
    llvm::sys::path::append(Path, C.ModelsFile);
    C.ModelsFile = std::string(Path);
  }
  return C;
}

llvm::Expected<std::unique_ptr<ChatClient>>
stark::makeConfiguredClient(llvm::StringRef File, Clock &Time, bool NeedsKey) {
  llvm::Expected<Configuration> C = readConfiguration(File);
  if (!C)
    return C.takeError();
  llvm::Expected<ModelTable> Models = ModelTable::load(C->ModelsFile);
  if (!Models)
    return Models.takeError();
  std::shared_ptr<ProviderHub> Hub = makeProviderHub(Time);
  RoleClient::Clients Clients;
  for (const auto &[Role, Choice] : C->Roles) {
    ProviderSettings Settings = C->settingsOf(Choice);
    Settings.NeedsKey = NeedsKey;
    if (llvm::Error E = checkKeyHost(Settings, *Models))
      return withContext(std::move(E), File + ": role '" + Role + "'");
    llvm::Expected<std::unique_ptr<ChatClient>> Client =
        makeProvider(Settings, *Models, Hub);
    if (!Client)
      return withContext(Client.takeError(), File + ": role '" + Role + "'");
    Clients[Role] = std::move(*Client);
  }
  return std::make_unique<RoleClient>(std::move(Clients));
}
