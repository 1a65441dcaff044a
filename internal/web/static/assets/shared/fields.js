// The server's messages at the fields of a form. A field has an element for its message, whose id is the field's with -error.

const byId = (id) => document.getElementById(id);

/**
 * Shows each clause of a refusal at its field, and moves the focus to the first of these fields. Each clause begins with the
 * name of a field: "name is required; categoryId is required." The labels are the fields' names as people see them. Returns
 * the clauses that belong to no field, as a sentence.
 */
export function placeErrors(form, labels, message) {
  const rest = [];
  for (const clause of message.replace(/\.$/, "").split("; ")) {
    const [, field, problem] = clause.match(/^(\w+) (.*)$/s) ?? [];
    if (!Object.hasOwn(labels, field ?? "")) {
      rest.push(clause);
      continue;
    }
    byId(`${field}-error`).textContent = `${labels[field]} ${problem}.`;
    byId(field).ariaInvalid = "true";
  }
  form.querySelector("[aria-invalid=true]")?.focus();
  const left = rest.join("; ");
  return left && `${left.charAt(0).toUpperCase()}${left.slice(1)}.`;
}

export function clearErrors(labels) {
  for (const field of Object.keys(labels)) {
    byId(`${field}-error`).textContent = "";
    byId(field).removeAttribute("aria-invalid");
  }
}
