// Questions that are asked before something is done.

const byId = (id) => document.getElementById(id);

// Opens a dialog. The promise is true if its form was sent, false if the dialog was closed otherwise.
function answered(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

for (const dialog of [byId("ask"), byId("reserve")]) {
  dialog.addEventListener("submit", (event) => {
    event.preventDefault(); // the policy of this page lets no form be sent anywhere
    dialog.close("yes");
  });
  dialog.querySelector("[type=button]").addEventListener("click", () => dialog.close());
}

/** Asks before something that cannot be undone. */
export function askFirst(title, text, label) {
  byId("ask-title").textContent = title;
  byId("ask-text").textContent = text;
  byId("ask-yes").textContent = label;
  return answered(byId("ask"));
}

/** Asks for whom and for how long. What was typed is there again if the answer was refused. */
export async function askReservation(name) {
  byId("reserve-title").textContent = `Reserve ${name}`;
  if (byId("reserve").dataset.name !== name) byId("reserve-form").reset();
  byId("reserve").dataset.name = name;
  if (!(await answered(byId("reserve")))) return undefined;
  const { reference, hold } = Object.fromEntries(new FormData(byId("reserve-form")));
  return { reference: reference || undefined, holdSeconds: Number(hold) || undefined };
}
