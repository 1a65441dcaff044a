import { apiKey } from "./api.js";

// The key of the store front, if one was given in this tab, is the key of "try it" too.
const reference = window.SwaggerUIBundle({
  url: new URL("openapi.yaml", document.baseURI).href,
  domNode: document.getElementById("reference"),
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  onComplete: () => apiKey.get() && reference.preauthorizeApiKey("bearer", apiKey.get()),
});
