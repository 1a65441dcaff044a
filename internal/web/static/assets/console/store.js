// The view of the store itself.

import { getStore } from "./operations.js";
import { showFacts, size } from "./words.js";

const byId = (id) => document.getElementById(id);
const databases = { sqlite: "SQLite, a file beside the server", postgres: "PostgreSQL" };
const environments = { production: "Production", staging: "Staging, for trying things out" };

export const storeView = {
  section: byId("store"),
  tab: "store",
  title: "The store",
  lead: "What this server runs, and how much room it takes.",

  prepare() {
    byId("store-facts").ariaBusy = "true";
  },

  async load(signal) {
    const store = await getStore(signal);
    byId("store-facts").ariaBusy = null;
    showFacts(byId("store-facts"), [
      ["Version", store.version],
      ["Environment", environments[store.environment] ?? store.environment],
      ["Database", databases[store.database] ?? store.database],
      ["Size of the database", size(store.databaseBytes), "photos included"],
      ["Size of the photos", size(store.photoBytes)],
    ]);
  },

  clear() {
    byId("store-facts").ariaBusy = null;
    byId("store-facts").replaceChildren();
  },

  focus: () => byId("title").focus(),
};
