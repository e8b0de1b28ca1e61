// The tab of the accounts: the requests of a user about the own account.

import { $, press } from "/console/base.js";

for (const what of ["show", "export", "delete"]) {
  $(`account-${what}`).addEventListener("click", () => press(`accounts/${what}`, { user: $("account-user").value }, $("account-said")));
}

export const draw = {};
