// Shows how many requests the rate limit still allows, once they run low.

import { limits } from "../shared/api.js";

const gauge = document.getElementById("gauge");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

limits.addEventListener("limits", ({ detail: { limit, remaining, reset } }) => {
  gauge.hidden = remaining >= limit / 10;
  gauge.title = `The limit resets at ${new Date(reset).toLocaleTimeString()}`;
  gauge.querySelector(".left").setAttribute("stroke-dasharray", `${(100 * remaining) / limit} 100`);
  gauge.querySelector("b").textContent = short.format(remaining);
  gauge.querySelector(".wide").textContent = `of ${short.format(limit)} requests`;
});
