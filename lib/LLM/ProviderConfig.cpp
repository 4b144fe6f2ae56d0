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

class ConfigReader {
public:
  ConfigReader(llvm::StringRef File) : File(File.str()) {}

  llvm::Expected<std::unique_ptr<ChatClient>> read(const json &Root);

private:
  llvm::Error readProviders(const json &List);
  llvm::Expected<ProviderSettings> readRole(const std::string &Role,
                                            const json &Value);

  const std::string File;
  std::map<std::string, ProviderSettings> Providers;
};
} // namespace

llvm::Error ConfigReader::readProviders(const json &List) {
  if (!List.is_object())
    return usageError(File + ": field 'providers': got " + describeJson(List) +
                      ", wanted an object of named providers");
  for (const auto &[Name, Value] : List.items()) {
    ProviderSettings S;
    FieldReader<json> R(Value, File, "providers." + Name);
    R.required("provider", S.Provider);
    R.optional("base_url", S.BaseUrl);
    R.optional("key", S.KeyVariable);
    // A key itself has no place in a file that is committed.
    if (R.good() &&
        S.KeyVariable.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != std::string::npos)
      R.fail("key", "something else (not shown)",
             "the name of an environment variable, in capitals");
    R.optional("connect_ms", S.ConnectMs);
    R.optional("first_byte_ms", S.FirstByteMs);
    R.optional("idle_ms", S.IdleMs);
    R.optional("total_ms", S.TotalMs);
    uint64_t Tries = S.Retry.Tries;
    R.optional("tries", Tries);
    if (R.good() && (Tries < 1 || Tries > 100))
      R.fail("tries", std::to_string(Tries), "1 to 100");
    S.Retry.Tries = unsigned(Tries);
    R.optional("retry_total_ms", S.Retry.TotalMs);
    R.optional("first_pause_ms", S.Retry.FirstMs);
    if (std::string Problem = R.problem(); !Problem.empty())
      return usageError(Problem);
    Providers[Name] = std::move(S);
  }
  return llvm::Error::success();
}

llvm::Expected<ProviderSettings> ConfigReader::readRole(const std::string &Role,
                                                        const json &Value) {
  FieldReader<json> R(Value, File, "roles." + Role);
  std::string Provider, Model;
  R.required("provider", Provider);
  R.optional("model", Model);
  if (std::string Problem = R.problem(); !Problem.empty())
    return usageError(Problem);
  ProviderSettings S;
  S.Provider = Provider;
  if (auto Found = Providers.find(Provider); Found != Providers.end())
    S = Found->second;
  S.Model = Model;
  return S;
}

llvm::Expected<std::unique_ptr<ChatClient>>
ConfigReader::read(const json &Root) {
  FieldReader<json> R(Root, File, "");
  uint64_t Version = 0;
  R.required("version", Version);
  if (R.good() && Version != 1)
    R.fail("version", std::to_string(Version), "1");
  std::string ModelsFile;
  R.optional("models", ModelsFile);
  const json *Named = R.raw("providers");
  const json *Roles = R.raw("roles");
  if (R.good() && (!Roles || !Roles->is_object() || Roles->empty()))
    R.fail("roles", Roles ? describeJson(*Roles) : "nothing",
           "an object of roles: plan, code, debug, default");
  if (std::string Problem = R.problem(); !Problem.empty())
    return usageError(Problem);
  // Beside the configuration, wherever the program was started.
  if (!ModelsFile.empty() && !llvm::sys::path::is_absolute(ModelsFile)) {
    llvm::SmallString<128> Path(llvm::sys::path::parent_path(File));
    llvm::sys::path::append(Path, ModelsFile);
    ModelsFile = std::string(Path);
  }
  llvm::Expected<ModelTable> Models = ModelTable::load(ModelsFile);
  if (!Models)
    return Models.takeError();
  if (Named)
    if (llvm::Error E = readProviders(*Named))
      return E;
  std::shared_ptr<ProviderHub> Hub = makeProviderHub();
  RoleClient::Clients Clients;
  for (const auto &[Role, Value] : Roles->items()) {
    if (Role != "plan" && Role != "code" && Role != "debug" &&
        Role != "single" && Role != "default")
      return usageError(File + ": field 'roles." + Role +
                        "': got an unknown role, wanted plan, code, debug, "
                        "single or default");
    llvm::Expected<ProviderSettings> Settings = readRole(Role, Value);
    if (!Settings)
      return Settings.takeError();
    llvm::Expected<std::unique_ptr<ChatClient>> Client =
        makeProvider(*Settings, *Models, Hub);
    if (!Client)
      return withContext(Client.takeError(), File + ": role '" + Role + "'");
    Clients[Role] = std::move(*Client);
  }
  return std::make_unique<RoleClient>(std::move(Clients));
}

llvm::Expected<std::unique_ptr<ChatClient>>
stark::makeConfiguredClient(llvm::StringRef File) {
  llvm::Expected<std::string> Text = readFile(File);
  if (!Text)
    return Text.takeError();
  json Root = json::parse(*Text, nullptr, false);
  if (Root.is_discarded())
    return usageError("'" + File + "': is not JSON; wanted a configuration");
  return ConfigReader(File).read(Root);
}
