/** Copies the text of an element. The promise is true if that worked. If not, the text is selected, so that a person can copy it. */
export async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.innerText); // only secure pages may do that
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}
